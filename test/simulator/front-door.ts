// How clients reach the service: requests through the gateway, live streams through a URL of their own.
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { groups } from "../../functions/index.ts";
import { proxyEvent } from "../../local/gateway-event.ts";
import { API_TIMEOUT_SECONDS } from "../../local/hosted-functions.ts";
import { awslambda, responseStream } from "../../local/lambda-stream.ts";
import { routeKeyOf } from "../../shared/http/endpoint.ts";
import type { Fleet, Process } from "./fleet.ts";
import type { Kernel } from "./kernel.ts";
import type { Random } from "./random.ts";
import type { Tenant } from "./tenants.ts";

export interface Answer {
  /** 0 if no answer came. */
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a scenario reads whatever JSON came back
  body: any;
}

export interface Request {
  params?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  /** In place of a JSON body. */
  raw?: Buffer;
}

/** What a client has of a live stream when it goes away or the stream ends. */
interface Heard {
  status: number;
  /** The `id:` lines of the frames, in their order: each begins with the id of its message. */
  positions: string[];
}

/** A server key is given by its text. */
type CredentialKind = "sdk" | "dashboard" | { key: string };

interface Stay {
  ms: number;
  lastEventId?: string | undefined;
  /** Reads every frame before it goes. */
  isPatient?: boolean;
}

export interface FrontDoor {
  /** A client's request, by the route of its declaration. */
  call(tenant: Tenant, credential: CredentialKind, route: string, request?: Request): Promise<Answer>;
  /** Listens to a subscriber's live stream for `ms`. */
  listen(tenant: Tenant, subscriber: string, stay: Stay): Promise<Heard>;
}

const STREAM = "GET /v1/in-app/stream";
const STREAM_TIMEOUT_SECONDS = 120;
/** A frame just written need not have been read when the connection breaks. */
const UNREAD_CHANCE = 0.5;

interface DoorDeps {
  kernel: Kernel;
  fleet: Fleet;
  random: Random;
  base: Parameters<typeof proxyEvent>[0];
  arrives(route: string, tenant: Tenant): void;
  answered(route: string, answer: Answer, tenant: Tenant): void;
}

export function openFrontDoor({ kernel, fleet, random, base, arrives, answered }: DoorDeps): FrontDoor {
  Object.assign(globalThis, { awslambda });
  const functions = new Map(
    groups.flatMap(({ name, endpoints }) => endpoints.map(({ route }) => [routeKeyOf(route), `api-${name}`] as const)),
  );
  const onTheWay = () => kernel.sleep(random.between(5, 100));

  const call: FrontDoor["call"] = async (tenant, credential, route, request = {}) => {
    await onTheWay();
    const event = eventOf(base, route, request, await headersOf(tenant, credential));
    const what = `${route} ${Object.values(request.params ?? {})}`;
    arrives(route, tenant);
    kernel.note(`client ${what} ${event.body ?? ""}`);
    const work = { tenants: [tenant.id], timeoutSeconds: API_TIMEOUT_SECONDS };
    const outcome = await fleet.invoke(functions.get(route)!, event, work);
    await onTheWay();
    const answer = answerOf(outcome);
    kernel.note(`client got ${answer.status} of ${what} ${answer.body?.id ?? ""}`);
    answered(route, answer, tenant);
    return answer;
  };

  const listen: FrontDoor["listen"] = async (tenant, subscriber, { ms, lastEventId, isPatient = false }) => {
    await onTheWay();
    const event = eventOf(
      base,
      STREAM,
      { query: { subscriber_id: subscriber }, headers: lastEventId ? { "last-event-id": lastEventId } : {} },
      await tenant.headers("sdk"),
    );
    kernel.note(`client ${STREAM} of ${subscriber} after ${lastEventId ?? "nothing"}`);
    const heard: Heard = { status: 0, positions: [] };
    const out = responseStream({
      start: (status) => {
        heard.status = status;
      },
      write: (chunk) => {
        heard.positions.push(
          ...String(chunk)
            .matchAll(/^data: .*\nid: (\S+)$/gm)
            .map(([, id]) => id!),
        );
        return true;
      },
      end: () => undefined,
    });
    let process: Process | undefined;
    let isCut = true;
    const callOff = kernel.after(ms, () => process && fleet.stop(process, "its client went away"));
    const work = {
      tenants: [tenant.id],
      timeoutSeconds: STREAM_TIMEOUT_SECONDS,
      begins: (by: Process) => {
        process = by;
      },
    };
    const outcome = await fleet.invoke("stream", { event, response: out.stream }, work);
    if ("answer" in outcome) isCut = false;
    callOff();
    if (isCut && !isPatient && heard.positions.length > 0 && random.chance(UNREAD_CHANCE)) heard.positions.pop();
    kernel.note(`client heard ${heard.status} ${heard.positions} of the stream of ${subscriber}`);
    answered(STREAM, { status: heard.status, body: undefined }, tenant);
    return heard;
  };

  return { call, listen };
}

const headersOf = (tenant: Tenant, credential: CredentialKind): Promise<Record<string, string>> =>
  typeof credential === "string"
    ? tenant.headers(credential)
    : Promise.resolve({ authorization: `Bearer ${credential.key}` });

function eventOf(
  base: DoorDeps["base"],
  route: string,
  { params = {}, query = {}, headers = {}, body, raw }: Request,
  credential: Record<string, string>,
): APIGatewayProxyEventV2 {
  const [method = "", template = ""] = route.split(" ");
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  return proxyEvent(
    base,
    {
      method,
      path: search ? `${path}?${search}` : path,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...credential, ...headers },
      body: raw ?? (body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))),
      sourceIp: "203.0.113.7",
    },
    { routeKey: route, parameters: params },
  );
}

function answerOf(outcome: { answer: unknown } | { failed: string }): Answer {
  if ("failed" in outcome) return { status: 0, body: undefined };
  const { statusCode, body } = outcome.answer as { statusCode: number; body?: string };
  return { status: statusCode, body: body ? JSON.parse(body) : undefined };
}
