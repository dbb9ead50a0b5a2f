// Subscribers newest first: sixteen sorted shards of a sparse index, merged (D-SUB-LIST,
// docs/decisions/0021#subscriber-listing).
import * as v from "valibot";
import { openCursor, pageRoom, sealCursor } from "../../http/paging.ts";
import type { StoreReader } from "../../resources.ts";
import { indexes, keys, SHARDS } from "../keys.ts";
import type { Key } from "../model.ts";
import type { RootSecrets } from "../secrets.ts";
import { findByExternalId, isLiving, type Subscriber, subscriberOf } from "./subscribers.ts";

export interface SubscriberQuery {
  limit: number;
  cursor?: string | undefined;
  updated_since?: string | undefined;
  external_id?: string | undefined;
  email?: string | undefined;
}

interface SubscriberPage {
  items: Subscriber[];
  /** Empty on the last page. */
  next_cursor: string;
}

/** Rows looked at for one page: a filter that leaves most out gives a short page and a cursor. */
const MAX_EXAMINED = 5_000;
/** Rows read at a time, so that large ones are not read in vain when the page closes early. */
const MAX_CONCURRENT = 100;
const SPARE = 8;

export async function listSubscribers(
  store: StoreReader,
  secrets: RootSecrets,
  query: SubscriberQuery,
): Promise<SubscriberPage> {
  const scope = `subscribers:${store.tenant}`;
  if (query.external_id !== undefined) {
    const found = await findByExternalId(store, secrets, query.external_id);
    return { items: [found].filter((one) => one !== undefined).filter(matches(query)), next_cursor: "" };
  }
  const newest = newestFirst(
    store,
    query.cursor === undefined ? undefined : positionOf(secrets, scope, query.cursor),
    query.limit,
  );
  const items: Subscriber[] = [];
  const isWanted = matches(query);
  const takes = pageRoom();
  let last: string | undefined;
  for (let examined = 0; items.length < query.limit && examined < MAX_EXAMINED; ) {
    const batch = await newest(Math.min(MAX_CONCURRENT, query.limit - items.length));
    if (batch.length === 0) return { items, next_cursor: "" };
    examined += batch.length;
    const rows = await store.getAll(
      batch.map((place) => keys.subscriber(store.tenant, idOf(place))),
      { eventual: true },
    );
    for (const [i, row] of rows.entries()) {
      const subscriber = row && isLiving(row) ? subscriberOf(row) : undefined;
      if (subscriber && isWanted(subscriber)) {
        if (!takes(subscriber)) return { items, next_cursor: sealCursor(secrets, scope, last) };
        items.push(subscriber);
      }
      last = batch[i];
    }
  }
  return { items, next_cursor: sealCursor(secrets, scope, last) };
}

const Position = v.pipe(v.string(), v.regex(/^[0-9T:.Z-]{24}#[0-9a-f-]{36}$/));

const positionOf = (secrets: RootSecrets, scope: string, cursor: string) =>
  v.parse(Position, openCursor(secrets, scope, cursor));

const matches =
  ({ updated_since, email }: SubscriberQuery) =>
  (subscriber: Subscriber) =>
    (updated_since === undefined || subscriber.updated_at >= updated_since) &&
    (email === undefined || subscriber.email?.toLowerCase() === email.toLowerCase());

const idOf = (place: string) => place.slice(place.indexOf("#") + 1);

/** Hands out places (`created_at#id`) below `before`, newest first over all shards, as many as asked for. */
function newestFirst(store: StoreReader, before: string | undefined, expected: number) {
  const perRead = Math.ceil(expected / SHARDS.length) + SPARE;
  const shards = SHARDS.map((shard) => ({
    shard,
    places: [] as string[],
    after: undefined as Key | undefined,
    ended: false,
  }));

  const refill = async (state: (typeof shards)[number]) => {
    while (state.places.length === 0 && !state.ended) {
      const page = await store.query({
        pk: indexes.i3(store.tenant, state.shard),
        index: "i3",
        newestFirst: true,
        limit: perRead,
        ...(before !== undefined && { to: before }),
        after: state.after,
      });
      state.places.push(...page.items.map(({ i3sk }) => String(i3sk)).filter((place) => place !== before));
      state.after = page.next;
      state.ended = page.next === undefined;
    }
  };

  return async (count: number): Promise<string[]> => {
    const taken: string[] = [];
    await Promise.all(shards.map(refill));
    while (taken.length < count) {
      const next = shards
        .filter(({ places }) => places.length > 0)
        .reduce<(typeof shards)[number] | undefined>(
          (best, state) => (!best || state.places[0]! > best.places[0]! ? state : best),
          undefined,
        );
      if (!next) break;
      taken.push(next.places.shift()!);
      await refill(next);
    }
    return taken;
  };
}
