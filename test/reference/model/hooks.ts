// Outbound webhooks (HOK, WEV, D-HOOKS, AMB-103, AMB-124): what is owed to each endpoint, and what became of it.
import { created, type Operation, ok, read, write } from "./access.ts";
import { note } from "./annotations.ts";
import { limitOf, listing } from "./checks.ts";
import {
  ANY,
  type Body,
  conflict,
  DAY,
  instant,
  invalid,
  iso,
  isoOrNull,
  notFound,
  OneOf,
  OrderedBy,
  type Request,
  SECOND,
  Unordered,
  Unpromised,
} from "./kit.ts";
import { needWebhooks, reaches } from "./plans.ts";
import type { Hook, HookDelivery } from "./records/sends.ts";
import { ANSWER_TIME } from "./tallies.ts";
import { at, existing, found, newId, type World } from "./world.ts";

const TYPES = ["subscriber.created", "notification.dispatched", "notification.terminal", "notification.interaction"];
const KNOWN = [...TYPES, "notification.halted", "journey.halted"];
const MAX_ENDPOINTS = 10;
/** D-HOOKS. */
const KEPT = 30 * DAY;

/** WHK-8: further attempts, each so long after the one before. */
const RETRIES = [SECOND, 2 * SECOND, 4 * SECOND];
/** AMB-103. */
const FAILURES = 20;

/** WEV-11: one delivery for each endpoint that wants the type, numbered from 1 without gaps. */
export function notifyHooks(world: World, event_type: string, data: Body, created_at = world.now): void {
  for (const hook of world.hooks)
    if (hook.active && hook.events.includes(event_type)) send(world, hook, event_type, { data, created_at });
}

function send(world: World, hook: Hook, event_type: string, said: { data: Body; created_at: number }): HookDelivery {
  hook.sequence++;
  const rest = { ...said, attempts: [], tries: 0, outcome: "pending", isOpen: false };
  const row = { id: newId(world, "delivery"), hook_id: hook.id, sequence: hook.sequence, event_type, ...rest };
  world.hookDeliveries.push(row);
  at(world, world.now, () => attempt(world, row));
  return row;
}

/** WHK-7 to WHK-11. */
function attempt(world: World, row: HookDelivery): void {
  const hook = found(world.hooks, row.hook_id);
  if (!hook) return;
  // What waits when its endpoint is switched off, when who it is of is erased, or when the plan has no webhooks any more, is
  // not sent: no failure of its receiver.
  if (!hook.active || row.data === null || !reaches(world, "starter")) {
    row.outcome = "failed";
    row.isOpen = hook.disabled_at === world.now;
    if (row.isOpen) hook.besides++;
    return;
  }
  row.attempts.push({ at: world.now, status: world.receiver });
  const wait = RETRIES[row.tries++];
  if (world.receiver < 300) Object.assign(row, { outcome: "delivered" });
  else if (world.receiver < 500 || wait === undefined) Object.assign(row, { outcome: "failed" });
  else at(world, world.now + wait, () => attempt(world, row));
  if (row.outcome === "delivered") hook.failures = [];
  if (row.outcome === "failed") hook.failures.push(world.now);
  // From the first to the last of those in a row.
  const isLong = (hook.failures.at(-1) ?? 0) - (hook.failures[0] ?? 0) >= DAY;
  if (!hook.active || hook.failures.length < FAILURES || !isLong) return;
  const isBegun = (other: HookDelivery) =>
    other.hook_id === hook.id && other.created_at === world.now && other.outcome === "pending";
  if (world.hookDeliveries.some(isBegun))
    throw new Unpromised("an endpoint is switched off at the instant of an event");
  note(world, "webhook_disabled", hook.id);
  Object.assign(hook, { active: false, disabled_at: world.now });
}

/** AMB-104: with the same id and body. */
function again(world: World, row: HookDelivery): void {
  Object.assign(row, { tries: 0, outcome: "pending" });
  at(world, world.now, () => attempt(world, row));
}

/** SUB-10: the log keeps that somebody was created, not who. */
export function forgetPayloads(world: World, subscriber: string): void {
  for (const row of world.hookDeliveries) if (row.data?.subscriber_id === subscriber) row.data = null;
}

/** HOK-1, HOK-3, HOK-5, AMB-30. */
function create(world: World, { body }: Request): Hook {
  if (typeof body.target_url !== "string" || !/^https:\/\/[^\s/]+/.test(body.target_url)) invalid("target_url");
  const { events } = body;
  if (!Array.isArray(events) || events.length === 0 || events.some((type) => !KNOWN.includes(type))) invalid();
  if (world.hooks.length >= MAX_ENDPOINTS) invalid();
  const rest = { active: true, failures: [], besides: 0, disabled_at: null, created_at: world.now, sequence: 0 };
  const { target_url, description = null } = body;
  const hook = { id: newId(world, "hook"), target_url, description, events: [...new Set<string>(events)], ...rest };
  world.hooks.push(hook);
  return hook;
}

/** Others of the instant that switches it off are attempted, or not any more. */
const failuresOf = ({ failures, besides }: Hook): Body =>
  new OneOf(Array.from({ length: besides + 1 }, (_, more) => failures.length + more));

const short = ({ id, target_url, events }: Hook): Body => ({ id, target_url, events: new Unordered(events) });
const record = (hook: Hook): Body => ({
  ...short(hook),
  ...{ description: hook.description, active: hook.active, created_at: iso(hook.created_at) },
  ...{ consecutive_failures: failuresOf(hook), disabled_at: isoOrNull(hook.disabled_at) },
});

function remove(world: World, _: Request, { id }: Record<string, string>) {
  const hook = existing(world.hooks, id);
  world.hooks = world.hooks.filter((other) => other !== hook);
  return { status: 204 };
}

/** Who enables an endpoint again begins to count anew. */
function patch(world: World, { body }: Request, { id }: Record<string, string>) {
  const hook = existing(world.hooks, id);
  const { events, ...rest } = body;
  Object.assign(hook, rest, events && { events: [...new Set<string>(events)] });
  if (body.active === true) Object.assign(hook, { failures: [], besides: 0, disabled_at: null });
  return ok(record(hook));
}

const logOf = ({ now, hookDeliveries }: World, id: unknown) =>
  hookDeliveries.filter(({ hook_id, created_at }) => hook_id === id && now < created_at + KEPT);

/** WHK-10, AMB-124: newest first. Which of one instant was accepted first is open. */
function log(world: World, request: Request, { id }: Record<string, string>) {
  existing(world.hooks, id);
  const size = limitOf(request, 20, 100);
  const { event_type, outcome, missing } = request.query;
  const all = logOf(world, id);
  const own = all.filter(
    (row) =>
      [undefined, row.event_type].includes(event_type) &&
      [undefined, row.outcome].includes(outcome) &&
      !(missing === "true" && row.attempts.some(({ status }) => status < 300)),
  );
  const items = (missing === "true" ? own : own.toReversed()).map((row) => ({
    ...{ id: row.id, event_type: row.event_type, created_at: iso(row.created_at) },
    sequence: new OneOf(all.filter((other) => other.created_at === row.created_at).map(({ sequence }) => sequence)),
    payload: row.data && { event_type: row.event_type, timestamp: iso(row.created_at), data: row.data },
    ...(row.isOpen ? {} : progressOf(world, row)),
  }));
  return listing("items", new OrderedBy(items, ({ created_at }) => created_at), size);
}

/** One clock for all: what is due while a mail waits for its answer is tried after it. */
const timeOf = ({ unanswered }: World, tried: number) =>
  unanswered.some(({ at }) => at <= tried && tried <= at + 2 * ANSWER_TIME) ? ANY : iso(tried);

const progressOf = (world: World, { outcome, attempts }: HookDelivery): Body => ({
  ...{ outcome, attempt_count: attempts.length, last_status_code: attempts.at(-1)?.status ?? null },
  attempts: attempts.map((tried) => ({ at: timeOf(world, tried.at), status_code: tried.status })),
});

/** A sample, sent to an endpoint that wants it or not. */
function test(world: World, { body }: Request, { id }: Record<string, string>) {
  const hook = existing(world.hooks, id);
  if (!KNOWN.includes(body.event)) invalid("event");
  if (!hook.active) conflict();
  return { status: 202, body: { delivery_id: send(world, hook, body.event, { data: ANY, created_at: world.now }).id } };
}

function redeliver(world: World, _: Request, { id, deliveryId }: Record<string, string>) {
  const hook = existing(world.hooks, id);
  const row = logOf(world, id).find((one) => one.id === deliveryId && one.data !== null) ?? notFound();
  if (!hook.active || row.outcome === "pending") conflict();
  again(world, row);
  return { status: 202, body: { delivery_id: row.id } };
}

/** Both ends of the span are in it. */
function replay(world: World, { body }: Request, { id }: Record<string, string>) {
  const hook = existing(world.hooks, id);
  const [from, to] = [instant(body.from) ?? invalid("from"), instant(body.to) ?? invalid("to")];
  if (!hook.active) conflict();
  const rows = logOf(world, id).filter(
    (row) =>
      row.created_at >= from &&
      row.created_at <= to &&
      [undefined, row.outcome].includes(body.outcome) &&
      row.outcome !== "pending",
  );
  for (const row of rows) again(world, row);
  return { status: 202, body: { queued: rows.length } };
}

export const hookOperations: Operation[] = [
  {
    ...{ route: "POST /v1/hooks", who: ["server"], scope: "hooks:write", plan: needWebhooks },
    run: (world, request) => created({ ...short(create(world, request)), secret: ANY }),
  },
  {
    ...{ route: "GET /v1/hooks", who: ["server"], scope: "hooks:read" },
    run: (world) => ok(new Unordered(world.hooks.map(short))),
  },
  { route: "DELETE /v1/hooks/:id", who: ["server"], scope: "hooks:write", run: remove },
  {
    ...write("POST /api/v1/webhooks", "credentials:manage", (world, request) =>
      created({ ...record(create(world, request)), secret: ANY }),
    ),
    plan: needWebhooks,
  },
  read("GET /api/v1/webhooks", (world) => ok({ items: new Unordered(world.hooks.map(record)) })),
  read("GET /api/v1/webhooks/:id", (world, _, { id }) => ok(record(existing(world.hooks, id)))),
  write("PATCH /api/v1/webhooks/:id", "credentials:manage", patch),
  write("DELETE /api/v1/webhooks/:id", "credentials:manage", remove),
  write("POST /api/v1/webhooks/:id/secret/rotate", "credentials:manage", (world, _, { id }) => {
    existing(world.hooks, id);
    return ok({ secret: ANY });
  }),
  read("GET /api/v1/webhooks/:id/deliveries", log),
  write("POST /api/v1/webhooks/:id/test", "credentials:manage", test),
  write("POST /api/v1/webhooks/:id/deliveries/:deliveryId/redeliver", "credentials:manage", redeliver),
  write("POST /api/v1/webhooks/:id/replay", "credentials:manage", replay),
];
