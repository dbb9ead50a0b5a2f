// Where the rows of runs are: the newest run of a subscriber in a journey has a key without its id, so that one write can
// begin it and guard entry. The one before it is kept under its id (docs/decisions/0067).
import { elementAt } from "../../rules/element-at.ts";
import { absent, all, is, present } from "../conditions.ts";
import type { StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { type ConditionOf, type ItemWrite, putItem } from "../item.ts";
import { NEWEST, RunItem, type RunKey, type RunRow, runPrefix } from "./run-items.ts";

export interface RunPlace {
  subscriber: string;
  journey: string;
}

export const newestKey = ({ subscriber, journey }: RunPlace): RunKey => ({ subscriber, journey, run: NEWEST });

/** Rows of runs in the order of their keys, which name the runs by id. */
export async function runRows(store: StoreReader, keys: readonly RunKey[]): Promise<(RunRow | undefined)[]> {
  const newest = await store.getAll(RunItem, keys.map(newestKey));
  // A run that is replaced as the newest one in the meantime has a row under its id by then.
  const others = keys.filter(({ run }, i) => newest[i]?.id !== run);
  const found = others.length === 0 ? [] : await store.getAll(RunItem, others);
  const byId = new Map(found.flatMap((row) => (row ? [[row.id, row] as const] : [])));
  return keys.map(({ run }, i) => (newest[i]?.id === run ? newest[i] : byId.get(run)));
}

/** A row that is no run: it keeps a late one of its pack out (entry-packs.ts). */
export const isWithdrawn = ({ expires }: Pick<RunRow, "expires">): boolean => expires !== undefined;

/** The newest runs, in the order of their places; some may be withdrawn. */
export const newestRuns = (store: StoreReader, places: readonly RunPlace[]): Promise<(RunRow | undefined)[]> =>
  store.getAll(RunItem, places.map(newestKey));

/** The runs that were the newest at a time, in the order of their places: one that began later is another visit. */
export async function runsAt(
  store: StoreReader,
  places: readonly RunPlace[],
  at: string,
): Promise<(RunRow | undefined)[]> {
  const newest = await newestRuns(store, places);
  const found = newest.map(async (run, i) => {
    if (!run) return undefined;
    if (run.entered_at <= at) return isWithdrawn(run) ? undefined : run;
    const { subscriber, journey } = elementAt(places, i);
    const former = await store.queryAll(RunItem, { subscriber }, { prefix: runPrefix(journey) });
    return former.findLast((row) => !isWithdrawn(row) && row.entered_at <= at);
  });
  return Promise.all(found);
}

/** Outcomes that follow a message later, without a move of the run (late-outcomes.ts). */
const MAY_CHANGE = /\|(sent|failed|bounced)$/;

/** The condition that a run is as it was read. */
export function isAsRead(row: RunRow) {
  const following = familyOf(row, "o:").filter(([name]) => MAY_CHANGE.test(name));
  return all(is("id", row.id), is("seq", row.seq), ...following.map(([name, n]) => is(`o:${name}`, n)));
}

/** The conditions for a run to begin, and the run before it. */
export interface EntryGuard {
  when: ConditionOf<typeof RunItem>;
  /** The newest run until now. It has ended. */
  former?: RunRow;
}

/**
 * Whether a subscriber may enter, by its newest run.
 * @param options.at when what starts the run was received, in milliseconds
 * @returns the condition that this has not changed since; undefined if not
 */
export function entryGuard(
  row: RunRow | undefined,
  { reentryAfter, at }: { reentryAfter: number | undefined; at: number },
): EntryGuard | undefined {
  if (!row) return { when: absent() };
  if (isWithdrawn(row)) return { when: withdrawnGuard(row) };
  const mayReenter = reentryAfter !== undefined && Date.parse(row.entered_at) <= at - reentryAfter;
  if (!mayReenter || row.status === "active") return undefined;
  return { when: isAsRead(row), former: row };
}

/** The condition that a row is still withdrawn as it was read: a second withdrawal prevents this entry. */
export const withdrawnGuard = ({ pack = "" }: Pick<RunRow, "pack">): EntryGuard["when"] =>
  all(present("expires"), is("pack", pack));

/** The writes that make a run the newest one, and keep the one before it. */
export function newestWrites(
  place: RunPlace,
  row: Parameters<typeof putItem<typeof RunItem>>[2],
  { when, former }: EntryGuard,
): ItemWrite<"workspace">[] {
  const begin = putItem(RunItem, newestKey(place), row, when);
  if (!former) return [begin];
  const { pk: _, sk: __, ...kept } = former;
  return [begin, putItem(RunItem, { ...place, run: former.id }, kept)];
}
