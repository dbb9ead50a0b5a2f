// Takes events in: known ones again, unknown actors not at all, everything else durably before it is accepted (EVT-11).
import { timestamp } from "../../clock.ts";
import type { Capability } from "../../deps.ts";
import { invalid } from "../../http/errors.ts";
import type { Store } from "../../resources.ts";
import type { Tier } from "../../rules/event-limits.ts";
import { keys } from "../keys.ts";
import type { Item, Value } from "../model.ts";
import type { RootSecrets } from "../secrets.ts";
import { nameLearner } from "../subscribers/names.ts";
import { findByExternalId, isLiving, subscriberId } from "../subscribers/subscribers.ts";
import type { Allowance } from "../workspaces/usage.ts";
import { dayRegister } from "./days.ts";
import { type Actor, dayOf, eventId, eventRow, shardsFor } from "./events.ts";
import { releaseQuota, takeEvents, usageWatch } from "./usage.ts";
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

const MAX_FIELDS = 20;

interface Intake {
  learnNames: ReturnType<typeof nameLearner>;
  noteDays: ReturnType<typeof dayRegister>;
  watched: ReturnType<typeof watchedNames>;
  watchUsage: ReturnType<typeof usageWatch>;
}

/** What an environment that takes events in remembers from one request to the next. */
export const eventIntake: Capability<"intake", Intake> = {
  as: "intake",
  env: [],
  grants: [],
  open: () => {
    const intake = {
      learnNames: nameLearner(),
      noteDays: dayRegister(),
      watched: watchedNames(),
      watchUsage: usageWatch(),
    };
    return () => intake;
  },
};

interface IngestInput {
  events: readonly NewEvent[];
  source: Tier;
  /** When the request was received, in milliseconds. */
  receivedAt: number;
  allowance: Allowance;
  /** How a refusal names a field of the n-th event. */
  name(n: number, field: string): string;
}

/**
 * Stores what is new of these events; when it returns, all of them are durable. A repeat of an idempotency key stores
 * nothing, whoever its actor is by now.
 * @throws 422 naming each actor that is unknown or erased, and nothing is stored. @throws 402 beyond the quota.
 */
export async function ingest(store: Store, root: RootSecrets, intake: Intake, given: IngestInput): Promise<void> {
  const { events, source, receivedAt, allowance } = given;
  const ids = events.map(({ idempotency_key }) =>
    idempotency_key === undefined ? store.ids.uuidAt(receivedAt) : eventId(root, store.tenant, idempotency_key),
  );
  const keyed = ids.filter((_, n) => events[n]!.idempotency_key !== undefined);
  const found = await read(store, root, events, keyed);
  const firsts = new Set<string>();
  const fresh = ids.flatMap((id, n) => {
    if (found.known.has(id) || firsts.has(id)) return [];
    firsts.add(id);
    return [{ id, n, event: events[n]! }];
  });
  const actors = await actorsOf(store, root, found.profiles, fresh, given.name);
  if (fresh.length === 0) return;

  const received_at = timestamp(receivedAt);
  const days = fresh.map(({ event }) => dayOf(event.occurred_at ?? received_at));
  const shards = shardsFor(days, store.ids.bytes(1)[0]!);
  const names = fresh.map(({ event }) => event.event_name);
  const [watched] = await Promise.all([
    intake.watched(store, found.watchVersion),
    intake.learnNames(
      store,
      "events",
      names.filter((name) => !name.startsWith("$")),
    ),
    intake.noteDays(
      store,
      days.map((day, i) => ({ day, shard: shards[i]! })),
    ),
  ]);
  const rows = fresh.map(({ id, event }, i) =>
    eventRow(store, {
      ...{ id, source, received_at },
      event_name: event.event_name,
      actor: actors[i]!,
      platform: event.platform ?? (source === "server" ? "server" : null),
      properties: event.properties ?? {},
      occurred_at: event.occurred_at ?? received_at,
      shard: shards[i]!,
      isWatched: watched.has(event.event_name),
    }),
  );
  await takeEvents(store, rows.length, allowance);
  await write(store, rows);
  await intake.watchUsage(store, allowance);
}

/** Everything that must be known, in one batch: events with these keys, the actors, and whether the watched names moved. */
async function read(store: Store, root: RootSecrets, events: readonly NewEvent[], keyed: readonly string[]) {
  const subscribers = new Set(
    events.flatMap(({ subscriber_id, external_id }) =>
      external_id !== undefined ? [subscriberId(root, store.tenant, external_id, 0)] : (subscriber_id ?? []),
    ),
  );
  const wanted = [
    keys.watchVersion(store.tenant),
    ...keyed.map((id) => keys.event(store.tenant, id)),
    ...[...subscribers].map((id) => keys.subscriber(store.tenant, id)),
  ];
  const [watchVersion, ...items] = await store.getAll(wanted);
  const found = new Set(keyed.filter((_, i) => items[i] !== undefined));
  const profiles = new Map([...subscribers].map((id, i) => [id, items[keyed.length + i]]));
  return { known: found, profiles, watchVersion };
}

async function actorsOf(
  store: Store,
  root: RootSecrets,
  profiles: ReadonlyMap<string, Item | undefined>,
  fresh: readonly { n: number; event: NewEvent }[],
  name: IngestInput["name"],
): Promise<Actor[]> {
  const problems: Record<string, string> = {};
  const again = new Map<string, Promise<string | undefined>>();
  /** Erased and perhaps created anew: only then is another look needed. */
  const currentOf = (external: string) => {
    const looked = again.get(external) ?? findByExternalId(store, root, external).then((one) => one?.id);
    again.set(external, looked);
    return looked;
  };
  const actors = await Promise.all(
    fresh.map(async ({ n, event: { subscriber_id, external_id, anonymous_id } }): Promise<Actor> => {
      if (anonymous_id !== undefined) return { anonymous: anonymous_id };
      const id = subscriber_id ?? subscriberId(root, store.tenant, external_id!, 0);
      const profile = profiles.get(id);
      if (profile && isLiving(profile)) return { subscriber: id };
      const current = profile && external_id !== undefined ? await currentOf(external_id) : undefined;
      if (current === undefined)
        problems[name(n, subscriber_id === undefined ? "external_id" : "subscriber_id")] = "names no subscriber";
      return { subscriber: current ?? id };
    }),
  );
  const named = Object.entries(problems).slice(0, MAX_FIELDS);
  if (named.length > 0) throw invalid(Object.fromEntries(named));
  return actors;
}

async function write(store: Store, rows: readonly Item[]): Promise<void> {
  try {
    await store.writeAll(rows.map((put) => ({ put })));
  } catch (error) {
    const stored = await store.getAll(rows.map(({ pk, sk }) => ({ pk, sk })));
    await releaseQuota(store, stored.filter((row) => row === undefined).length);
    throw error;
  }
}
