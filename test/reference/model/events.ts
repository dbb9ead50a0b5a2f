// Behavioural events: ingestion, identity and export (EVT, IDN, EXP).
import { type Operation, ok } from "./access.ts";
import { lookForConversions } from "./attribution.ts";
import { listing, requiredText } from "./checks.ts";
import { eventArrived } from "./entries.ts";
import {
  type Body,
  DAY,
  Exactly,
  HOUR,
  instant,
  invalid,
  isOwnName,
  iso,
  isRecord,
  MINUTE,
  OrderedBy,
  Refusal,
  type Request,
  SECOND,
  Unpromised,
} from "./kit.ts";
import { personOf } from "./people.ts";
import { inPeriod, limits } from "./plans.ts";
import type { Event } from "./records/people.ts";
import { subscriberChanged } from "./segments.ts";
import { ownerOf } from "./stitching.ts";
import { at, found, newId, type World } from "./world.ts";

export interface Tier {
  source: "client" | "server";
  /** EVT-14, EVT-17. */
  max: number;
  backdating: number;
}
const CLIENT: Tier = { source: "client", max: 50, backdating: 48 * HOUR };
const SERVER: Tier = { source: "server", max: 1000, backdating: 90 * DAY };

export const tierOf = ({ as }: Request): Tier => (as.kind === "sdk" ? CLIENT : SERVER);

/** EVT-6. */
function arePropertiesFine(properties: Body): boolean {
  if (properties === undefined) return true;
  if (!isRecord(properties) || Object.keys(properties).length > 50) return false;
  return Object.entries(properties).every(
    ([key, value]) => key.length <= 256 && !(typeof value === "string" && value.length > 256),
  );
}

/** The fields of one event that are wrong (EVT-2, EVT-4, EVT-10, EVT-17, AMB-24, AMB-25, AMB-58, AMB-135). */
function faultsOf(world: World, tier: Tier, event: Body, before: Body[]): string[] {
  const faults: string[] = [];
  const { event_name, subscriber_id, anonymous_id, external_id, properties } = event;
  if (typeof event_name !== "string" || event_name.length < 1 || event_name.length > 128) faults.push("event_name");
  // D-EVTYPE: names that begin with `$` are ours.
  else if (isOwnName(event_name)) faults.push("event_name");
  const actors = [subscriber_id, anonymous_id, external_id].filter((actor) => actor !== undefined);
  if (actors.length !== 1) faults.push("actor");
  if (external_id !== undefined && tier === CLIENT) faults.push("external_id");
  // AMB-114: a repeat is a repeat, whatever it says; also of one in the same request.
  const key = event.idempotency_key;
  const isAgain = isRepeat(world, event) || before.some((other) => key !== undefined && other.idempotency_key === key);
  if (anonymous_id === undefined && !isAgain && !personOf(world, event)) faults.push("actor");
  if (!arePropertiesFine(properties)) faults.push("properties");
  const time = event.occurred_at === undefined ? world.now : instant(event.occurred_at);
  const isAhead = time !== undefined && time > world.now + 5 * MINUTE;
  const isOut = time !== undefined && ((isAhead && tier !== CLIENT) || time < world.now - tier.backdating);
  if (time === undefined || (isOut && !isAgain)) faults.push("occurred_at");
  return faults;
}

/** EVT-11, AMB-22, AMB-23: one bad event refuses the whole request; repeats are counted, not stored again. */
function ingest(world: World, request: Request) {
  const { body } = request;
  const tier = tierOf(request);
  const batch: Body[] = Array.isArray(body?.events) ? body.events : [body];
  if (batch.length === 0 || batch.length > tier.max) invalid();
  // AMB-134: only a server key says so.
  if (body?.historical !== undefined && (tier === CLIENT || typeof body.historical !== "boolean")) invalid();
  if (batch.some((event, n) => faultsOf(world, tier, event, batch.slice(0, n)).length > 0)) invalid();
  needEventsLeft(world, batch.length);
  for (const event of batch) store(world, tier, event, body.historical === true);
  return { status: 202, body: { accepted: batch.length } };
}

export function needEventsLeft(world: World, more: number): void {
  const times = world.events.map(({ received_at }) => received_at);
  if (inPeriod(world, times) + more > limits(world.plan).events) throw new Refusal(402, { code: "PAYMENT_REQUIRED" });
}

const isRepeat = (world: World, { idempotency_key: key }: Body) =>
  key !== undefined && world.events.some((other) => other.idempotency_key === key);

/** Events of an anonymous id within the minute of an erasure may be the erased person's. */
const forgottenAs = ({ forgotten, now }: World, id: string | null) =>
  forgotten.find(({ anonymous_id, until }) => anonymous_id === id && now <= until);

/** EVT-8, AMB-114: the first event of an idempotency key stands. */
export function store(world: World, tier: Tier, event: Body, historical: boolean): void {
  const { idempotency_key = null, anonymous_id = null, platform = tier === SERVER ? "server" : null } = event;
  if (isRepeat(world, event)) return;
  const said = event.occurred_at === undefined ? world.now : instant(event.occurred_at)!;
  const forgotten = forgottenAs(world, anonymous_id);
  const row: Event = {
    ...{ id: newId(world, "event"), event_name: event.event_name, anonymous_id, platform, idempotency_key },
    ...{
      subscriber_id: personOf(world, event)?.id ?? null,
      properties: forgotten?.isAll ? {} : (event.properties ?? {}),
    },
    erased: forgotten !== undefined,
    ...{ occurred_at: tier === CLIENT ? Math.min(said, world.now) : said, received_at: world.now, source: tier.source },
    ...{ order: world.order++, looks: [], historical },
  };
  world.events.push(row);
  const owner = found(world.subscribers, ownerOf(world, row));
  if (!owner || row.erased) return;
  lookForConversions(world, row);
  subscriberChanged(world, owner, { event: row.event_name, isHistorical: historical });
  at(world, world.now, () => {
    if (world.subscribers.includes(owner)) eventArrived(world, row, owner);
  });
}

/** When what an anonymous id did is looked at again after it was linked. */
const ALIAS_AGAIN = 5 * SECOND;

/** Of a subscriber: each is looked through for what the subscriber did (docs/decisions/0139). */
const MAX_ANONYMOUS_IDS = 200;

/** IDN-1. */
function identify(world: World, { body }: Request) {
  requiredText(body, "anonymous_id");
  requiredText(body, "subscriber_id");
  return linkOf(world, body);
}

/** IDN-2, AMB-26: the first link wins. */
export function linkOf(world: World, body: Body) {
  const subscriber = found(world.subscribers, body.subscriber_id) ?? invalid("subscriber_id");
  const link = world.aliases.find(({ anonymous_id }) => anonymous_id === body.anonymous_id);
  if (link) return ok({ linked: link.subscriber_id === subscriber.id, backfilled: 0 });
  const own = world.aliases.filter(({ subscriber_id }) => subscriber_id === subscriber.id);
  if (own.length >= MAX_ANONYMOUS_IDS) return ok({ linked: false, backfilled: 0 });
  if (forgottenAs(world, body.anonymous_id))
    throw new Unpromised("an id of somebody erased stands for another at once");
  world.aliases.push({ anonymous_id: body.anonymous_id, subscriber_id: subscriber.id, linked_at: world.now });
  const stored = world.events.filter((event) => event.anonymous_id === body.anonymous_id && !event.erased);
  // Events of a moment ago are looked at once more, as they may have been under way (IDN-2).
  const look = () => {
    for (const event of stored) lookForConversions(world, event);
  };
  look();
  at(world, world.now + ALIAS_AGAIN, look);
  if (stored.length > 0) subscriberChanged(world, subscriber, "linked");
  return ok({ linked: true, backfilled: stored.length });
}

/** EXP-1 to EXP-11, AMB-98: ordered by (occurred_at, id); erased rows have no actor. */
function exportEvents(world: World, { query }: Request) {
  const from = query.from === undefined ? Number.NEGATIVE_INFINITY : (instant(query.from) ?? invalid());
  // AMB-98: `to` is exclusive, and so is the present moment.
  const to = query.to === undefined ? world.now : (instant(query.to) ?? invalid());
  if (query.to !== undefined && from > to) invalid();
  const size = query.limit === undefined ? 1000 : Number(query.limit);
  if (!/^\d+$/.test(query.limit ?? "1000") || size < 1 || size > 1000) invalid();
  const rows = world.events.filter(({ occurred_at }) => occurred_at >= from && occurred_at < to);
  const items = rows
    .toSorted((a, b) => a.occurred_at - b.occurred_at)
    .map((event) => ({
      ...{
        id: event.id,
        event_name: event.event_name,
        platform: event.platform,
        properties: new Exactly(event.properties),
      },
      ...{ occurred_at: iso(event.occurred_at), received_at: iso(event.received_at), source: event.source },
      subscriber_id: event.erased ? null : ownerOf(world, event),
      anonymous_id: event.erased ? null : event.anonymous_id,
    }));
  return listing("items", new OrderedBy(items, ({ occurred_at }) => occurred_at), size);
}

export const eventOperations: Operation[] = [
  { route: "POST /v1/events", who: ["sdk", "server"], scope: "events:write", run: ingest },
  { route: "POST /v1/events/identify", who: ["sdk", "server"], scope: "events:write", run: identify },
  { route: "GET /v1/events/export", who: ["server"], scope: "events:read", run: exportEvents },
];
