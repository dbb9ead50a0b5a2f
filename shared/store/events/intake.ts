// Event ingestion: repeats are recognized, unknown actors refused, and every other event is durable before it is
// accepted (EVT-11).
import { timestamp } from "../../kernel/clock.ts";
import { perEnvironment } from "../../kernel/deps.ts";
import { invalid } from "../../kernel/errors.ts";
import type { Tier } from "../../rules/event-limits.ts";
import type { Store } from "../context.ts";
import { ref } from "../item.ts";
import type { Value } from "../model.ts";
import type { RootSecrets } from "../secrets.ts";
import { Profile, type ProfileRow } from "../subscribers/items.ts";
import { nameLearner } from "../subscribers/names.ts";
import { findByExternalId, isLiving, subscriberId } from "../subscribers/subscribers.ts";
import type { Allowance } from "../workspaces/usage.ts";
import { actorText, anonymousActor, subscriberActor } from "./actors.ts";
import type { NewEvent as NewBlockEvent } from "./blocks.ts";
import { dayRegister } from "./days.ts";
import { type EventRow, eventId } from "./events.ts";
import { type Actor, EventItem } from "./items.ts";
import { completeRepeats, storeEvents } from "./storing.ts";
import { takeEvents, usageWatch } from "./usage.ts";
import { WatchVersion } from "./watcher-items.ts";
import { watchedNames } from "./watchers.ts";

export interface NewEvent {
  event_name: string;
  /** Exactly one of the three. */
  subscriber_id?: string | undefined;
  anonymous_id?: string | undefined;
  external_id?: string | undefined;
  platform?: string | undefined;
  properties?: { [name: string]: Value } | undefined;
  occurred_at?: string | undefined;
  idempotency_key?: string | undefined;
}

/** The most fields that a refusal names. */
const MAX_FIELDS = 20;

interface Intake {
  learnNames: ReturnType<typeof nameLearner>;
  noteDays: ReturnType<typeof dayRegister>;
  watched: ReturnType<typeof watchedNames>;
  watchUsage: ReturnType<typeof usageWatch>;
}

/** What an environment that ingests events caches from one request to the next. */
export const eventIntake = /* @__PURE__ */ perEnvironment(
  "intake",
  {},
  (): Intake => ({
    learnNames: nameLearner(),
    noteDays: dayRegister(),
    watched: watchedNames(),
    watchUsage: usageWatch(),
  }),
);

interface IngestInput {
  events: readonly NewEvent[];
  /** Problems with the times of events, by position. They do not count for a repeated event. */
  late?: ReadonlyMap<number, string>;
  source: Tier;
  /** The events start no journey (AMB-134). */
  isHistorical: boolean;
  /** When the request was received, in milliseconds. */
  receivedAt: number;
  allowance: Allowance;
  /** The name of a field of the n-th event in a refusal. */
  name(n: number, field: string): string;
}

interface IdentifiedEvent {
  id: string;
  /** The position in the request. */
  n: number;
  event: NewEvent;
}

/**
 * Stores the new events of a request; when it returns, all are durable. A repeat of an idempotency key stores nothing
 * and changes nothing (AMB-114), even if its actor was erased since. @throws 422 naming each actor that is unknown or
 * erased, and each time out of range; nothing is stored then @throws 402 beyond the quota
 */
export async function ingest(store: Store, root: RootSecrets, intake: Intake, input: IngestInput): Promise<void> {
  const { events, source, isHistorical, receivedAt, allowance } = input;
  const identified = events.map((event, n): IdentifiedEvent => {
    const { idempotency_key: key } = event;
    return { id: key === undefined ? store.ids.uuidAt(receivedAt) : eventId(root, store.tenant, key), n, event };
  });
  const found = await read(store, root, identified);
  const firsts = new Set<string>();
  const fresh = identified.filter(({ id }) => {
    if (found.stored.has(id) || firsts.has(id)) return false;
    firsts.add(id);
    return true;
  });
  const late = fresh.flatMap(({ n }) =>
    input.late?.has(n) ? [[input.name(n, "occurred_at"), input.late.get(n)!]] : [],
  );
  if (late.length > 0) throw invalid(Object.fromEntries(late.slice(0, MAX_FIELDS)));
  const attributed = await findActors(store, root, { profiles: found.profiles, fresh, name: input.name });
  const watched = await intake.watched(store, found.watchVersion);
  await completeRepeats(store, [...found.stored.values()], watched);
  if (fresh.length === 0) return;

  const received_at = timestamp(receivedAt);
  const rows = attributed.map(({ id, event, actor }): NewBlockEvent => {
    const { event_name, properties = {}, occurred_at = received_at } = event;
    const platform = event.platform ?? (source === "server" ? "server" : null);
    const isKeyed = event.idempotency_key !== undefined;
    return { id, event_name, actor: actorText(actor), platform, properties, occurred_at, isKeyed };
  });
  const names = rows.map(({ event_name }) => event_name).filter((name) => !name.startsWith("$"));
  await intake.learnNames(store, "events", names);
  await takeEvents(store, rows.length, allowance, receivedAt);
  const origin = { received_at, source, historical: isHistorical ? true : undefined } as const;
  await storeEvents(store, rows, { origin, watched, noteDays: intake.noteDays });
  await intake.watchUsage(store, allowance);
}

/** Reads in one batch: events with these keys, the actors, and the version of the watched names. */
async function read(store: Store, root: RootSecrets, identified: readonly IdentifiedEvent[]) {
  const subscribers = new Set(
    identified.flatMap(({ event: { subscriber_id, external_id } }) =>
      external_id !== undefined ? [subscriberId(root, store.tenant, external_id, 0)] : (subscriber_id ?? []),
    ),
  );
  const keyed = identified.filter(({ event }) => event.idempotency_key !== undefined);
  const [watchVersion, ...rows] = await store.getEach([
    ref(WatchVersion, {}),
    ...keyed.map(({ id }) => ref(EventItem, { id })),
    ...[...subscribers].map((id) => ref(Profile, { id })),
  ]);
  const events = rows.slice(0, keyed.length) as (EventRow | undefined)[];
  const stored = new Map(keyed.flatMap(({ id }, i) => (events[i] ? [[id, events[i]] as const] : [])));
  const profiles = rows.slice(keyed.length).filter((row) => row !== undefined) as ProfileRow[];
  return { stored, profiles: new Map(profiles.map((row) => [row.id, row])), watchVersion };
}

interface EventAttribution {
  /** Profiles by the ids that the events name. */
  profiles: ReadonlyMap<string, ProfileRow>;
  fresh: readonly IdentifiedEvent[];
  name: IngestInput["name"];
}

/** Finds the actors. @throws 422 naming each actor that is unknown or erased */
async function findActors(
  store: Store,
  root: RootSecrets,
  { profiles, fresh, name }: EventAttribution,
): Promise<(IdentifiedEvent & { actor: Actor })[]> {
  const problems: Record<string, string> = {};
  const lookups = new Map<string, Promise<string | undefined>>();
  /** Finds the subscriber that was created again under an external id after an erasure. */
  const findCurrent = (external: string) => {
    const lookup =
      lookups.get(external) ?? findByExternalId(store, root, external).then((subscriber) => subscriber?.id);
    lookups.set(external, lookup);
    return lookup;
  };
  const actorOf = async ({ n, event }: IdentifiedEvent): Promise<Actor> => {
    const { subscriber_id, external_id = "", anonymous_id } = event;
    if (anonymous_id !== undefined) return anonymousActor(anonymous_id);
    const id = subscriber_id ?? subscriberId(root, store.tenant, external_id, 0);
    const profile = profiles.get(id);
    if (profile && isLiving(profile)) return subscriberActor(id);
    const current = profile && subscriber_id === undefined ? await findCurrent(external_id) : undefined;
    if (current === undefined)
      problems[name(n, subscriber_id === undefined ? "external_id" : "subscriber_id")] = "names no subscriber";
    return subscriberActor(current ?? id);
  };
  const attributed = await Promise.all(fresh.map(async (event) => ({ ...event, actor: await actorOf(event) })));
  const named = Object.entries(problems).slice(0, MAX_FIELDS);
  if (named.length > 0) throw invalid(Object.fromEntries(named));
  return attributed;
}
