// The control surface of the local service: workspaces, time, faults, meters. It is not part of a deployment.
import * as v from "valibot";
import { Plan } from "../functions/operator/changes.ts";
import { parseBody, parseQuery } from "../shared/http/input.ts";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../shared/kernel/clock.ts";
import { ApiError, invalid, notFound, toApiError } from "../shared/kernel/errors.ts";
import { parseTimestamp } from "../shared/rules/timestamps.ts";
import { type DemoName, prepareDemo } from "./demo.ts";
import { Fault, type Faults } from "./faults.ts";
import type { GatewayRequest, GatewayResponse } from "./gateway.ts";
import type { LocalService } from "./local-service.ts";
import { openMeter } from "./meter.ts";
import { OutboxQuery, openOutbox } from "./outbox.ts";
import { openState, rememberOffset } from "./state.ts";
import { type Tenancy, Text, TokenRequest, WorkspaceChange } from "./tenancy.ts";

/** Handles requests under `/_local`; unknown ones get 404. */
type Control = (request: GatewayRequest) => Promise<GatewayResponse>;

interface ControlRequest {
  id: string;
  query: Record<string, string>;
  body: unknown;
  /** Aborts when the client leaves. */
  signal?: AbortSignal | undefined;
}
type Handler = (
  request: ControlRequest,
) => [status: number, body?: unknown] | Promise<[status: number, body?: unknown]>;

const PREFIX = "/_local/";
const LATEST = Date.UTC(9999, 11, 31);
const UNITS = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

const NewWorkspace = v.strictObject({ name: v.optional(Text), plan: v.optional(Plan) });
const Move = v.union(
  [
    v.strictObject({
      advance: v.pipe(v.string(), v.regex(/^\d{1,9}[smhd]$/, "must be a time in s, m, h or d, such as 72h")),
    }),
    v.strictObject({
      to: v.pipe(
        v.string(),
        v.check((text) => parseTimestamp(text) !== undefined, "must be an RFC 3339 timestamp"),
      ),
    }),
  ],
  'must be {"advance": "72h"} (units s, m, h, d) or {"to": an RFC 3339 timestamp}',
);
const Record = v.union([v.strictObject({ name: Text, text: Text }), v.strictObject({ name: Text, alias: Text })]);

const CloudWatchCall = v.strictObject({ operation: Text, input: v.record(v.string(), v.unknown()) });

const read = <S extends v.GenericSchema>(schema: S, body: unknown) =>
  parseBody({ body: schema }, body) as v.InferOutput<S>;

export function createControl({
  service,
  tenancy,
  faults,
  demo = "demo",
}: {
  service: LocalService;
  tenancy: Tenancy;
  faults: Faults;
  /** The name under which the demo workspace is remembered. */
  demo?: DemoName;
}): Control {
  const { clock, time, database, ids } = service;
  const state = openState(database);
  const outbox = openOutbox(database);
  const meter = openMeter(service);
  const now = () => ({ now: timestamp(clock.now()) });

  const stack = () => {
    if (!service.stack)
      throw new ApiError("NOT_FOUND", "There are no alarms: start with STACK_TEMPLATE (docs/local.md).");
    return service.stack;
  };

  const move = async (body: unknown) => {
    const wanted = read(Move, body);
    const to = "to" in wanted ? parseTimestamp(wanted.to)! : clock.now() + millisecondsOf(wanted.advance);
    if (to < clock.now())
      throw new ApiError("BAD_REQUEST", `Service time is ${now().now} already; it never goes back.`);
    if (to > LATEST) throw invalid({ advance: "must end before the year 10000" });
    // The new time is stored before any work at it, so that a restart after a crash does not go back in time.
    rememberOffset(state, clock.offset() + to - clock.now());
    await time.advance(to);
    rememberOffset(state, clock.offset());
    return now();
  };

  const routes: Record<string, Handler> = {
    "GET health": () => [200, { status: "ready" }],
    "POST workspaces": ({ body }) =>
      time.enter(async () => [201, await tenancy.createWorkspace(read(NewWorkspace, body))]),
    "PATCH workspaces/:id": ({ id, body }) =>
      time.enter(async () => [200, await tenancy.changeWorkspace(id, read(WorkspaceChange, body))]),
    "POST operator": ({ body }) => time.enter(async () => [200, await service.host.invoke("operator", body)]),
    "GET demo": () => {
      if (!state.read(demo)) throw notFound("demo workspace");
      return time.enter(async () => [200, await prepareDemo(tenancy, state, demo)]);
    },
    "POST tokens": ({ body }) =>
      time.enter(async () => [201, { access_token: await tenancy.issueToken(read(TokenRequest, body)) }]),
    "GET clock": () => [200, now()],
    "POST clock": async ({ body }) => [200, await move(body)],
    "POST settle": async ({ signal }) => {
      await time.settle(signal);
      rememberOffset(state, clock.offset());
      return [200, { idle: true }];
    },
    "GET outbox": ({ query }) => {
      const filter = parseQuery({ query: OutboxQuery }, query) as v.InferOutput<typeof OutboxQuery>;
      return [200, { items: outbox.list(filter) }];
    },
    "DELETE outbox": () => {
      outbox.clear();
      return [204];
    },
    "GET alarms": () => [200, { items: stack().alarms.seen() }],
    "POST cloudwatch": async ({ body }) => {
      const { operation, input } = read(CloudWatchCall, body);
      return [200, await stack().alarms.operate(operation, input)];
    },
    "GET subscriptions/:id": ({ id }) => {
      const confirmed = stack().topics.confirm(id);
      if (confirmed === undefined) throw notFound("subscription");
      return [200, { confirmed }];
    },
    "GET event-bus": () => [200, { items: service.eventbridge.events(service.env.EVENT_BUS ?? "") }],
    "POST faults": ({ body }) => {
      const fault = read(Fault, body);
      faults.add(fault);
      return [201, fault];
    },
    "DELETE faults": () => {
      faults.clear();
      return [204];
    },
    "POST dns": ({ body }) => {
      const record = read(Record, body);
      if ("text" in record) service.providers.dns.add(record.name, "TXT", record.text);
      else service.providers.dns.add(record.name, "CNAME", record.alias);
      return [201, record];
    },
    "GET meter": () => [200, meter.read()],
    "DELETE meter": () => {
      meter.reset();
      return [204];
    },
  };

  return async (request) => {
    const { pathname, searchParams } = new URL(request.path, "http://127.0.0.1");
    const [place = "", id = "", more] = pathname.slice(PREFIX.length).split("/");
    const handler = more === undefined ? routes[`${request.method} ${id ? `${place}/:id` : place}`] : undefined;
    try {
      if (!handler || !pathname.startsWith(PREFIX)) throw notFound("control call");
      const query = Object.fromEntries(searchParams);
      const [status, body] = await handler({ id, query, body: jsonOf(request.body), signal: request.signal });
      return answer(status, body);
    } catch (error) {
      const refusal = toApiError(error, ids.uuid());
      if (refusal.status < 500) return answer(refusal.status, refusal.body());
      return answer(refusal.status, { code: refusal.code, message: String(error) });
    }
  };
}

const millisecondsOf = (duration: string): number =>
  Number(duration.slice(0, -1)) * UNITS[duration.at(-1) as keyof typeof UNITS];

function jsonOf(body: Buffer): unknown {
  if (body.length === 0) return {};
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new ApiError("BAD_REQUEST", "The body is not valid JSON.");
  }
}

const answer = (status: number, body?: unknown): GatewayResponse => ({
  status,
  headers: body === undefined ? {} : { "content-type": "application/json" },
  body: Buffer.from(body === undefined ? "" : `${JSON.stringify(body)}\n`),
});
