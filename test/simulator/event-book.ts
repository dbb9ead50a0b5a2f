// The responses that clients got about their events, and the clients: they send, link and export until they succeed.
import { HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { plans } from "../../shared/rules/plans.ts";
import type { ExportedEvent } from "../../shared/store/events/events.ts";
import { exportEvents } from "../../shared/store/events/export.ts";
import { EventUsage } from "../../shared/store/workspaces/items.ts";
import { EVENT_USAGE_SHARDS, periodAt, shareOf } from "../../shared/store/workspaces/usage.ts";
import { untilAnswered } from "./actors.ts";
import type { Person } from "./ledger.ts";
import type { Tenant } from "./tenants.ts";
import type { SimWorld } from "./world.ts";

export const SEND_EVENTS = "POST /v1/events";
const IDENTIFY = "POST /v1/events/identify";

export interface SentEvent {
  tenant: string;
  /** Also its property, so that it is known again in an export. */
  key: string;
  person: Person | undefined;
  anonymous: string | undefined;
  startedAt: number;
  /** When the first 202 came. */
  acceptedAt: number | undefined;
  /** Sent twice at once: both may find it new, and pay for it. */
  isRaced: boolean;
}

export interface Pass {
  tenant: string;
  /** Keys of events that must be on one of its pages. */
  present: string[];
  rows: ExportedEvent[];
  /** Rows of pages that began after the erasure of their subscriber was acknowledged, and that name it. */
  named: { row: ExportedEvent; person: Person }[];
}

export interface Book {
  tenants: Tenant[];
  sent: Map<string, SentEvent>;
  /** Anonymous ids and whose they were answered to be, one after the other. */
  links: Map<string, { person: Person; at: number }[]>;
  passes: Pass[];
  /** Workspaces that are near their quota: how many events are left of the period, and what was used before. */
  quotas: Map<string, { period: string; left: number; before: number }>;
  /** Requests that were refused with 402, and how many events they had. */
  refusals: { tenant: string; events: number }[];
}

const books = new WeakMap<SimWorld, Book>();

export function bookOf(world: SimWorld): Book {
  const book = books.get(world) ?? {
    tenants: [],
    sent: new Map(),
    links: new Map(),
    passes: [],
    quotas: new Map(),
    refusals: [],
  };
  books.set(world, book);
  return book;
}

/** Leaves so many events of the quota of this period, unevenly spread over its shards. */
export async function leaveOfQuota(world: SimWorld, { id, store }: Tenant, left: number): Promise<void> {
  const quota = plans.enterprise.events;
  const { name: period } = periodAt(store.clock.now());
  bookOf(world).quotas.set(id, { period, left, before: quota - left });
  const rest = Array.from({ length: EVENT_USAGE_SHARDS }, () => 0);
  for (let n = left; n > 0; n--) rest[world.random.between(0, EVENT_USAGE_SHARDS - 1)]!++;
  for (const [shard, n] of rest.entries())
    await store.change(EventUsage, { shard, period }, { set: { events: shareOf(quota, shard) - n } });
}

/** Sends a batch, perhaps twice at once, of a known subscriber or of an anonymous visitor. */
export async function sendEvents(world: SimWorld, tenant: Tenant, people: readonly Person[]): Promise<void> {
  const { kernel, random } = world;
  const { sent, refusals } = bookOf(world);
  const isRaced = random.chance(0.2);
  const batch = Array.from({ length: random.between(1, 12) }, (): SentEvent => {
    const key = `event-${sent.size + 1}`;
    const person = random.chance(0.4) ? random.pick(people) : undefined;
    const anonymous = person ? undefined : `device-${random.between(1, 4)}`;
    const event = {
      tenant: tenant.id,
      key,
      person,
      anonymous,
      startedAt: kernel.now(),
      acceptedAt: undefined,
      isRaced,
    };
    sent.set(key, event);
    return event;
  });
  const events = batch.map(({ key, person, anonymous }) => ({
    event_name: random.pick(["seen", "bought"]),
    idempotency_key: key,
    properties: { key },
    occurred_at: timestamp(kernel.now() - random.pick([SECOND, 10 * MINUTE, 30 * HOUR])),
    ...(person ? { subscriber_id: person.id } : { anonymous_id: anonymous }),
  }));
  const ask = async () => {
    const answer = await world.call(tenant, "sdk", SEND_EVENTS, { body: { events } });
    const { status } = answer;
    if (status === 202) for (const event of batch) event.acceptedAt ??= kernel.now();
    if (status === 402) refusals.push({ tenant: tenant.id, events: batch.length });
    return answer;
  };
  await Promise.all(Array.from({ length: isRaced ? 2 : 1 }, () => untilAnswered(world, ask)));
}

/** A visitor signs in. */
export async function link(world: SimWorld, tenant: Tenant, person: Person): Promise<void> {
  const anonymous_id = `device-${world.random.between(1, 4)}`;
  const { links } = bookOf(world);
  await untilAnswered(world, async () => {
    const body = { anonymous_id, subscriber_id: person.id };
    const answer = await world.call(tenant, "sdk", IDENTIFY, { body });
    if (answer.status === 200 && answer.body.linked) {
      const name = `${tenant.id} ${anonymous_id}`;
      links.set(name, [...(links.get(name) ?? []), { person, at: world.kernel.now() }]);
    }
    return answer;
  });
}

/** Index entries are there by then. */
const SETTLED_MS = 10 * SECOND;
const cursorKey = Buffer.alloc(32, 7);

/** Exports everything up to now in small pages, while the others go on. */
export async function exportSlowly(world: SimWorld, tenant: Tenant, pauseMs: number): Promise<void> {
  const { kernel, random } = world;
  const book = bookOf(world);
  const present = [...book.sent.values()]
    .filter(
      (event) =>
        event.tenant === tenant.id && (event.acceptedAt ?? Number.POSITIVE_INFINITY) < kernel.now() - SETTLED_MS,
    )
    .map(({ key }) => key);
  const rows: ExportedEvent[] = [];
  const named: Pass["named"] = [];
  let cursor = "";
  do {
    const erased = new Map(
      [...world.ledger.people.values()].filter(({ erasedAt }) => erasedAt !== undefined).map((one) => [one.id, one]),
    );
    const query = { limit: random.between(1, 20), ...(cursor && { cursor }) };
    const page = await exportEvents(tenant.store, { cursorKey }, query);
    rows.push(...page.items);
    for (const row of page.items) {
      const person = erased.get(row.subscriber_id ?? "");
      if (person) named.push({ row, person });
    }
    cursor = page.next_cursor;
    if (pauseMs > 0) await kernel.sleep(random.between(1, pauseMs));
  } while (cursor);
  book.passes.push({ tenant: tenant.id, present, rows, named });
}
