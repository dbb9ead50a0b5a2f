// One simulated service: the product's handlers in mortal processes around the embedded AWS, on virtual time.
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { groups, workers } from "../../functions/index.ts";
import { makeResources } from "../../local/account.ts";
import { openDatabase } from "../../local/aws/database.ts";
import { createDynamoDb, type StreamRecord } from "../../local/aws/dynamodb/index.ts";
import { createKms } from "../../local/aws/kms.ts";
import { type ServiceName, type Services, sendThrough } from "../../local/aws/protocol.ts";
import { createScheduler } from "../../local/aws/scheduler.ts";
import { createSqs } from "../../local/aws/sqs.ts";
import type { Wire } from "../../local/aws/stand-in.ts";
import { proxyEvent } from "../../local/gateway-event.ts";
import { API_TIMEOUT_SECONDS } from "../../local/world.ts";
import { idsFrom } from "../../shared/clock.ts";
import { routeKeyOf } from "../../shared/http/endpoint.ts";
import { serve } from "../../shared/http/serve.ts";
import type { Parts } from "../../shared/parts.ts";
import { queueVariable } from "../../shared/resources.ts";
import { clientsFor } from "./clients.ts";
import { createFleet, type Fleet, type Handler, type Process } from "./fleet.ts";
import type { Kernel } from "./kernel.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { type Commit, createMirror, type Mirror } from "./mirror.ts";
import { FAULTS_END_MS, type Profile } from "./profiles.ts";
import { driveQueues, type Received } from "./queues.ts";
import type { Random } from "./random.ts";
import { driveSchedules, lateDelivery } from "./schedules.ts";
import { driveStream } from "./streams.ts";
import { openTenants, type Tenant } from "./tenants.ts";

/** A bug put in on purpose, to see that the invariants find it. */
export interface Planted {
  name: string;
  scenario: string;
  profile: "calm" | "firstLine" | "storm";
  /** Changes requests of the product. */
  request?(service: ServiceName, operation: string, input: Wire, process: Process): void;
  /** Failed messages and records are taken for done. */
  swallows?: boolean;
}

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
}

export interface SimWorld {
  kernel: Kernel;
  random: Random;
  profile: Profile;
  mirror: Mirror;
  ledger: Ledger;
  /** When faults end, in virtual milliseconds since the epoch. */
  faultsEnd: number;
  start: number;
  fleet: Fleet;
  stream: ReturnType<typeof driveStream>;
  queues: ReturnType<typeof driveQueues>;
  /** Makes a workspace, without faults. */
  tenant(): Promise<Tenant>;
  /** A client's request, by the route of its declaration. */
  call(tenant: Tenant, credential: "sdk" | "dashboard", route: string, request?: Request): Promise<Answer>;
  /** Runs an actor `ms` from now. */
  act(ms: number, deed: () => Promise<void>): void;
  /** What actors threw: the simulation itself is wrong. */
  errors: readonly unknown[];
  /** Trace points: called when a batch goes to its worker. */
  onStart(listener: (queue: string, messages: Received[]) => void): void;
  onCommit(listener: (commit: Commit) => void): void;
  /** An AWS request of a process, before it is carried out. */
  onRequest(listener: (process: Process, service: ServiceName, operation: string, input: Wire) => void): void;
  /** An answer of the service to a client. */
  onAnswer(listener: (route: string, answer: Answer) => void): void;
  /** Gives an id a name that the story tells it by. */
  name(id: string, name: string): void;
  names: ReadonlyMap<string, string>;
  /** How much was healed by whoever comes round. */
  rescues: { sweep: number; watchdog: number };
  calls(): number;
  close(): void;
}

export interface WorldOptions {
  kernel: Kernel;
  profile: Profile;
  signingKey: string;
  viaSdk?: boolean;
  planted?: Planted | undefined;
}

export async function createSimWorld(options: WorldOptions): Promise<SimWorld> {
  const { kernel, profile, signingKey, planted, viaSdk = false } = options;
  const start = kernel.now();
  const faultsEnd = start + FAULTS_END_MS;
  const faultsOn = () => kernel.now() < faultsEnd;
  const random = kernel.random.fork();
  const clock = { now: kernel.now, sleep: kernel.sleep };
  const database = openDatabase(":memory:");
  const base = { clock, ids: idsFrom(kernel.random.fork().bytes), database };
  const faults = faultsOfTables(kernel, profile, faultsOn);
  const dynamodb = createDynamoDb({ ...base, faults });
  const sqs = createSqs({
    ...base,
    faults: {
      duplicate: () => faultsOn() && kernel.random.chance(profile.duplicate),
      reorder: () => kernel.random.chance(profile.reorder),
    },
  });
  const kms = createKms({ ...base, rsaKey: () => signingKey });
  const scheduler = createScheduler({ ...base, deliver: lateDelivery(kernel, sqs, { profile, faultsOn }) });
  const services: Services = { dynamodb, sqs, scheduler, kms };
  const env: Record<string, string> = {
    ...(await makeResources(services)),
    TOKEN_ISSUER: "http://127.0.0.1",
    TOKEN_AUDIENCE: "engagement-dashboard",
    DEFAULT_PLAN: "enterprise",
  };

  const starts: ((queue: string, messages: Received[]) => void)[] = [];
  const commits: ((commit: Commit) => void)[] = [];
  const requests: ((process: Process, service: ServiceName, operation: string, input: Wire) => void)[] = [];
  const answers: ((route: string, answer: Answer) => void)[] = [];
  const names = new Map<string, string>();
  const errors: unknown[] = [];
  const rescues = { sweep: 0, watchdog: 0 };
  let calls = 0;

  const log: Parts["log"] = ({ level, message, ...fields }) => {
    if (level === "info") return;
    if (typeof fields.rescued === "number") rescues.sweep += fields.rescued;
    kernel.note(`log ${message} ${fields.error ?? ""} ${fields.stack ?? ""}`);
  };
  const create = (process: Process): Handler => {
    const aws = clientsFor(process, {
      ...{ kernel, services, profile, faultsOn, viaSdk },
      fleet: () => fleet,
      inspect: (...request) => {
        calls++;
        const [, service, operation, input] = request;
        planted?.request?.(service, operation, input, process);
        for (const listener of requests) listener(...request);
      },
      carriedOut: (by, service) => {
        if (service === "dynamodb") mirror.sync(by.label);
        if (service === "scheduler") schedules.arm();
      },
    });
    const parts: Parts = { aws, clock: process.clock, ids: process.ids, env, log };
    const worker = workers.find(({ name }) => name === process.name);
    if (worker) return worker.create(parts) as Handler;
    return serve(groups.find(({ name }) => `api-${name}` === process.name)!, parts) as Handler;
  };

  const fleet = createFleet(kernel, { skewMs: profile.skewMs, create });
  const swallows = planted?.swallows ?? false;
  const stream = driveStream({ kernel, fleet, profile, faultsOn, swallows });
  const mirror = createMirror(dynamodb, {
    record: (record: StreamRecord) => stream.take(record),
    commit: (commit) => {
      for (const listener of commits) listener(commit);
    },
  });
  const schedules = driveSchedules(kernel, scheduler);
  const queues = driveQueues({
    ...{ kernel, sqs, fleet, profile, faultsOn, swallows },
    urlOf: (queue) => env[queueVariable(queue)]!,
    starts: (queue, messages) => {
      for (const { body } of messages) if (body.watch) rescues.watchdog++;
      for (const listener of starts) listener(queue, messages);
    },
  });

  const setupSend = sendThrough(services);
  const setupParts: Parts = {
    // One stub stands for every client class: what differs is in the command.
    aws: (() => ({ send: setupSend })) as unknown as Parts["aws"],
    ...{ clock, ids: base.ids, env },
    log: () => undefined,
  };
  const tenants = openTenants(setupParts);
  const routes = new Map(
    groups.flatMap(({ name, endpoints }) => endpoints.map(({ route }) => [routeKeyOf(route), `api-${name}`] as const)),
  );

  const call: SimWorld["call"] = async (tenant, credential, route, request = {}) => {
    await kernel.sleep(random.between(5, 100));
    const event = eventOf(base, route, request, await tenant.headers(credential));
    kernel.note(`client ${route} ${Object.values(request.params ?? {})} ${event.body ?? ""}`);
    const work = { tenants: [tenant.id], timeoutSeconds: API_TIMEOUT_SECONDS };
    const outcome = await fleet.invoke(routes.get(route)!, event, work);
    await kernel.sleep(random.between(5, 100));
    const answer = answerOf(outcome);
    kernel.note(
      `client got ${answer.status} of ${route} ${Object.values(request.params ?? {})} ${answer.body?.id ?? ""}`,
    );
    for (const listener of answers) listener(route, answer);
    return answer;
  };

  return {
    ...{ kernel, random, profile, mirror, faultsEnd, start, fleet, stream, queues, call, names, rescues },
    ledger: openLedger(),
    tenant: async () => {
      const made = await tenants.make();
      mirror.sync("setup");
      return made;
    },
    act: (ms, deed) => void kernel.after(ms, () => void deed().catch((error: unknown) => void errors.push(error))),
    errors,
    onStart: (listener) => void starts.push(listener),
    onCommit: (listener) => void commits.push(listener),
    onRequest: (listener) => void requests.push(listener),
    onAnswer: (listener) => void answers.push(listener),
    name: (id, name) => void names.set(id, name),
    calls: () => calls,
    close: () => database.close(),
  };
}

function faultsOfTables({ random }: Kernel, profile: Profile, faultsOn: () => boolean) {
  return {
    unprocessed: (_: string, count: number) =>
      faultsOn() && random.chance(profile.unprocessed) ? random.between(1, count) : 0,
    indexLag: () => (faultsOn() ? random.between(0, profile.indexLagMs) : 0),
  };
}

function eventOf(
  base: Parameters<typeof proxyEvent>[0],
  route: string,
  { params = {}, query = {}, headers = {}, body }: Request,
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
      body: body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body)),
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
