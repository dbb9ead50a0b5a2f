// Outbound webhooks (HOK, WEV, D-HOOKS, AMB-124): what is owed to each endpoint, in the order of acceptance.
import type { Operation } from "./access.ts";
import { read, write } from "./access.ts";
import { limitOf, listing } from "./checks.ts";
import { ANY, type Body, DAY, invalid, iso, notFound, OrderedBy, type Request, Unordered } from "./kit.ts";
import { needWebhooks } from "./plans.ts";
import { found, type Hook, newId, type World } from "./world.ts";

const TYPES = ["subscriber.created", "notification.dispatched", "notification.terminal", "notification.interaction"];
const KNOWN = [...TYPES, "notification.halted", "journey.halted"];
const MAX_ENDPOINTS = 10;
/** D-HOOKS. */
const KEPT = 30 * DAY;

/** WEV-11: one delivery for each endpoint that wants the type, numbered from 1 without gaps. */
export function notifyHooks(world: World, event_type: string, data: Body): void {
  for (const hook of world.hooks) {
    if (!hook.active || !hook.events.includes(event_type)) continue;
    hook.sequence++;
    world.hookDeliveries.push({ hook_id: hook.id, sequence: hook.sequence, event_type, data, created_at: world.now });
  }
}

/** SUB-10: the log keeps that somebody was created, not who. */
export function forgetPayloads(world: World, subscriber: string): void {
  for (const row of world.hookDeliveries) if (row.data?.subscriber_id === subscriber) row.data = null;
}

const hookOf = (world: World, id: unknown): Hook => found(world.hooks, id) ?? notFound();

/** HOK-1, HOK-3, HOK-5, AMB-30. */
function create(world: World, { body }: Request): Hook {
  if (typeof body.target_url !== "string" || !/^https:\/\/[^\s/]+/.test(body.target_url)) invalid("target_url");
  const { events } = body;
  if (!Array.isArray(events) || events.length === 0 || events.some((type) => !KNOWN.includes(type))) invalid();
  if (world.hooks.length >= MAX_ENDPOINTS) invalid();
  const rest = { active: true, failures: 0, created_at: world.now, sequence: 0, description: body.description ?? null };
  const hook = { id: newId(world, "hook"), target_url: body.target_url, events: [...new Set<string>(events)], ...rest };
  world.hooks.push(hook);
  return hook;
}

const short = ({ id, target_url, events }: Hook): Body => ({ id, target_url, events: new Unordered(events) });
const record = (hook: Hook): Body => ({
  ...short(hook),
  ...{ description: hook.description, active: hook.active, created_at: iso(hook.created_at) },
});

function remove(world: World, _: Request, { id }: Record<string, string>) {
  const hook = hookOf(world, id);
  world.hooks = world.hooks.filter((other) => other !== hook);
  return { status: 204 };
}

function patch(world: World, { body }: Request, { id }: Record<string, string>) {
  const hook = hookOf(world, id);
  const { target_url = hook.target_url, events = hook.events, active = hook.active } = body;
  Object.assign(hook, { target_url, events: [...new Set<string>(events)], active });
  return { status: 200, body: record(hook) };
}

/** WHK-10: the log keeps the payload, newest first. Whether a receiver answered is not known here. */
function log(world: World, request: Request, { id }: Record<string, string>) {
  hookOf(world, id);
  const size = limitOf(request, 20, 100);
  const own = world.hookDeliveries.filter(
    ({ hook_id, event_type, created_at }) =>
      hook_id === id && world.now < created_at + KEPT && [undefined, event_type].includes(request.query.event_type),
  );
  const items = own.toReversed().map(({ event_type, data, created_at }) => ({
    event_type,
    created_at: iso(created_at),
    sequence: ANY,
    payload: data && { event_type, timestamp: iso(created_at), data },
  }));
  return listing("items", new OrderedBy(items, ({ created_at }) => created_at), size);
}

export const hookOperations: Operation[] = [
  {
    ...{ route: "POST /v1/hooks", who: ["server"], scope: "hooks:write", plan: needWebhooks },
    run: (world, request) => ({ status: 201, body: { ...short(create(world, request)), secret: ANY } }),
  },
  {
    ...{ route: "GET /v1/hooks", who: ["server"], scope: "hooks:read" },
    run: (world) => ({ status: 200, body: new Unordered(world.hooks.map(short)) }),
  },
  { route: "DELETE /v1/hooks/:id", who: ["server"], scope: "hooks:write", run: remove },
  write("POST /api/v1/webhooks", "credentials:manage", (world, request) => ({
    status: 201,
    body: { ...record(create(world, request)), secret: ANY },
  })),
  read("GET /api/v1/webhooks", (world) => ({ status: 200, body: { items: new Unordered(world.hooks.map(record)) } })),
  read("GET /api/v1/webhooks/:id", (world, _, { id }) => ({ status: 200, body: record(hookOf(world, id)) })),
  write("PATCH /api/v1/webhooks/:id", "credentials:manage", patch),
  write("DELETE /api/v1/webhooks/:id", "credentials:manage", remove),
  read("GET /api/v1/webhooks/:id/deliveries", log),
];
