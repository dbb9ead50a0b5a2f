// Export of events in the order of time, page by page: a merge of the partitions that hold them (EXP-7 to EXP-11).
import * as v from "valibot";
import { cursorsOf, pageRoom } from "../../contract/paging.ts";
import { invalid } from "../../kernel/errors.ts";
import type { StoreReader } from "../context.ts";
import type { RootSecrets } from "../secrets.ts";
import { SHARDS } from "../shards.ts";
import { firstOf } from "../sorted.ts";
import { subscribersOf } from "../subscribers/aliases.ts";
import { type ErasureInExports, erasingAmong } from "../subscribers/erasing.ts";
import { actorText, anonymousActor, anonymousIdsOf, subscriberActor } from "./actors.ts";
import { type DayShard, noted } from "./days.ts";
import { dayOf, type ExportedEvent, type StoredEvent } from "./events.ts";
import { AFTER, openSource, placeOf, type Source } from "./export-sources.ts";

interface ExportQuery {
  /** Included. */
  from?: string | undefined;
  /** Not included; frozen at the first page when it is not given. */
  to?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

const Cursor = v.object({
  from: v.string(),
  to: v.string(),
  /** `occurred_at#id` of the last row of the previous page. */
  last: v.string(),
});

type Pass = Pick<v.InferOutput<typeof Cursor>, "from" | "to"> & { last?: string };

const BEGINNING = "0000-01-01T00:00:00.000Z";

/**
 * One page of a pass. A row that exists at the first page is on exactly one page, whatever is stored in the meantime.
 * An event that arrives late, with a time before the cursor, is not in this pass (ARC-6). @throws 422 for a window that
 * ends before it begins, or a cursor of another workspace or window
 */
export async function exportEvents(
  store: StoreReader,
  root: Pick<RootSecrets, "cursorKey">,
  query: ExportQuery,
): Promise<{ items: ExportedEvent[]; next_cursor: string }> {
  const cursors = cursorsOf(root, `events:${store.tenant}`, Cursor);
  const window = windowOf(store, cursors.open(query.cursor), query);
  const merged = merge(store, window, query.limit);
  const takes = pageRoom();
  const page: StoredEvent[] = [];
  for await (const event of merged) {
    if (page.length === query.limit || !takes(event)) {
      const last = placeOf(page.at(-1)!);
      return { items: await resolve(store, page), next_cursor: cursors.seal({ ...window, last }) };
    }
    page.push(event);
  }
  return { items: await resolve(store, page), next_cursor: "" };
}

function windowOf(store: StoreReader, begun: Pass | undefined, { from, to }: ExportQuery): Pass {
  if (begun) {
    if ((from ?? begun.from) !== begun.from || (to ?? begun.to) !== begun.to)
      throw invalid({ cursor: "belongs to another window" });
    return begun;
  }
  const window = { from: from ?? BEGINNING, to: to ?? new Date(store.clock.now()).toISOString() };
  if (window.from > window.to) throw invalid({ to: "must not lie before from" });
  return window;
}

/** Events read from each partition beyond its even share of a page. */
const SPARE = 4;
const MIN_LIMIT = 16;

/** The events of a window in order. Quiet days are read together, so that each does not cost a request of its own. */
async function* merge(store: StoreReader, { from, to, last }: Pass, limit: number): AsyncGenerator<StoredEvent> {
  const start = last === undefined ? from : last + AFTER;
  let left = limit + 1;
  for await (const dayShards of grouped(noted(store, dayOf(start), dayOf(to)))) {
    const sources = dayShards.map((dayShard) => openSource(store, dayShard, { from: start, to }));
    const first = Math.ceil(left / sources.length) + SPARE;
    await Promise.all(sources.map((source) => source.fill(first)));
    const exported = new Map<Source, number>();
    let all = 0;
    for (let next = earliest(sources); next; next = earliest(sources)) {
      const event = next.head();
      if (!event) break;
      next.shift();
      left--;
      const exportedCount = (exported.get(next) ?? 0) + 1;
      exported.set(next, exportedCount);
      all++;
      yield event;
      // Reads from each partition in proportion to its share of the page so far.
      await next.fill(Math.max(MIN_LIMIT, Math.ceil((left * exportedCount) / all) + SPARE));
    }
  }
}

const earliest = (sources: readonly Source[]): Source | undefined =>
  firstOf<StoredEvent, Source>(sources, (one, other) => placeOf(one) < placeOf(other));

/** Groups whole days: at first one, because it may fill the page, then up to as many partitions as a busy day has. */
async function* grouped(days: AsyncIterable<DayShard[]>): AsyncGenerator<DayShard[]> {
  let group: DayShard[] = [];
  let most = 1;
  for await (const day of days) {
    if (group.length > 0 && group.length + day.length > most) {
      yield group;
      group = [];
      most = Math.min(SHARDS.length, 2 * most);
    }
    group.push(...day);
  }
  if (group.length > 0) yield group;
}

/** Adds the subscribers of anonymous ids. An erased subscriber is not named, from its tombstone on (EXP-11). */
async function resolve(store: StoreReader, events: readonly StoredEvent[]): Promise<ExportedEvent[]> {
  const actors = events.map(({ actor }) => actor);
  const anonymousIds = [...new Set(anonymousIdsOf(actors))];
  const subscriberOf = await subscribersOf(store, actors);
  const subscribers = new Set(actors.map(subscriberOf).filter((id) => id !== undefined));
  const erasing = await erasingOf(store, anonymousIds, [...subscribers]);
  return events.map((event) => {
    const { actor, ...rest } = event;
    const subscriber = subscriberOf(actor);
    const [anonymous] = anonymousIdsOf([actor]);
    const ofAnonymous = anonymous === undefined ? undefined : erasing.get(actorText(anonymousActor(anonymous)));
    const erasure =
      (subscriber === undefined ? undefined : erasing.get(actorText(subscriberActor(subscriber)))) ??
      (event.received_at <= (ofAnonymous?.until ?? "") ? ofAnonymous : undefined);
    const bare = erasure?.erase_properties === true && { properties: {} };
    if (erasure) return { ...rest, ...bare, subscriber_id: null, anonymous_id: null };
    return { ...rest, subscriber_id: subscriber ?? null, anonymous_id: anonymous ?? null };
  });
}

/** The subscribers that are being erased, from the register. */
async function erasingOf(
  store: StoreReader,
  anonymousIds: readonly string[],
  subscribers: readonly string[],
): Promise<ReadonlyMap<string, ErasureInExports>> {
  const actors = [...anonymousIds.map(anonymousActor), ...subscribers.map(subscriberActor)];
  if (actors.length === 0) return new Map();
  return erasingAmong(store, actors);
}
