// Where the rows of runs are: the newest run of a subscriber in a journey has a key without its id, so that one write can
// begin it and guard entry. The one before it is kept under its id (docs/decisions/0067).

import { absent, all, is } from "../conditions.ts";
import type { StoreReader } from "../context.ts";
import { type ConditionOf, type ItemWrite, putItem, type RowOf, removeItem } from "../item.ts";
import { NEWEST, RunHead, RunItem, type RunKey, type RunRow } from "./run-items.ts";

/** A subscriber in a journey. */
export interface RunPlace {
  subscriber: string;
  journey: string;
}

/** The newest run of a subscriber in a journey. */
export interface NewestRun {
  row: RunRow | undefined;
  /** Of a run that an earlier release began. */
  head: RowOf<typeof RunHead> | undefined;
}

export const newestKey = ({ subscriber, journey }: RunPlace): RunKey => ({ subscriber, journey, run: NEWEST });

/** Rows of runs in the order of their keys, which name the runs by id. */
export async function runRows(store: StoreReader, keys: readonly RunKey[]): Promise<(RunRow | undefined)[]> {
  const newest = await store.getAll(RunItem, keys.map(newestKey));
  // A run that is replaced as the newest one meanwhile is under its id by then.
  const others = keys.filter(({ run }, i) => newest[i]?.id !== run);
  const found = others.length === 0 ? [] : await store.getAll(RunItem, others);
  const byId = new Map(found.flatMap((row) => (row ? [[row.id, row] as const] : [])));
  return keys.map(({ run }, i) => (newest[i]?.id === run ? newest[i] : byId.get(run)));
}

/** The newest runs, in the order of their places. */
export async function newestRuns(store: StoreReader, places: readonly RunPlace[]): Promise<NewestRun[]> {
  if (places.length === 0) return [];
  const [newest, heads] = await Promise.all([
    store.getAll(RunItem, places.map(newestKey)),
    // Nothing sets them any more, so they do not lag.
    store.getAll(RunHead, places, { eventual: true }),
  ]);
  const former = places.flatMap((place, i) => {
    const run = newest[i] ? undefined : heads[i]?.active;
    return run === undefined ? [] : [{ ...place, run }];
  });
  const rows = former.length === 0 ? [] : await store.getAll(RunItem, former);
  const byId = new Map(rows.flatMap((row) => (row ? [[row.id, row] as const] : [])));
  return places.map((_, i) => ({
    row: newest[i] ?? byId.get(heads[i]?.active ?? ""),
    head: newest[i] ? undefined : heads[i],
  }));
}

/** What must be true for a run to begin, and the run before it. */
export interface EntryGuard {
  when: ConditionOf<typeof RunItem>;
  /** The newest run until now. It has ended. */
  former?: RunRow;
  head?: RowOf<typeof RunHead>;
}

/**
 * Whether a subscriber may enter, by its newest run.
 * @returns the condition that this has not changed since; undefined if not
 */
export function entryGuard(
  { row, head }: NewestRun,
  { reentryAfter, now }: { reentryAfter: number | undefined; now: number },
): EntryGuard | undefined {
  if (!row && !head) return { when: absent() };
  const began = head ? head.last : Date.parse(row?.entered_at ?? "");
  if (reentryAfter === undefined || began > now - reentryAfter || row?.status === "active") return undefined;
  if (head || !row) return { when: absent(), ...(head && { head }) };
  return { when: all(is("id", row.id), is("seq", row.seq)), former: row };
}

/** The writes that make a run the newest one, and keep the one before it. */
export function newestWrites(
  place: RunPlace,
  row: Parameters<typeof putItem<typeof RunItem>>[2],
  { when, former, head }: EntryGuard,
): ItemWrite<"workspace">[] {
  const begin = putItem(RunItem, newestKey(place), row, when);
  if (head) return [begin, removeItem(RunHead, place, isSame(head))];
  if (!former) return [begin];
  const { pk: _, sk: __, ...kept } = former;
  return [begin, putItem(RunItem, { ...place, run: former.id }, kept)];
}

const isSame = ({ active, last }: RowOf<typeof RunHead>): ConditionOf<typeof RunHead> =>
  all(active === undefined ? absent("active") : is("active", active), is("last", last));
