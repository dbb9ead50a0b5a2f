// Runs that begin in a pack, at the price of single writes (docs/decisions/0123): first the row of the newest run,
// which guards entry, then the row that indexes it by journey. A worker that ends an open pack replaces each run that
// has not begun by a withdrawn row: it is not a run, and prevents a late write.
import { timestamp, ttl } from "../../kernel/clock.ts";
import { absent, any, present } from "../conditions.ts";
import type { Store } from "../context.ts";
import type { NewRowOf } from "../item.ts";
import { toJson } from "../json-text.ts";
import { inTheWayOf, onConditionFailed, whereItHolds } from "../refusals.ts";
import { writeEach } from "../single-writes.ts";
import { RunEntry, RunItem, type RunRow, runEntryKey } from "./run-items.ts";
import { type EntryGuard, isWithdrawn, newestKey, type RunPlace, withdrawnGuard } from "./run-rows.ts";

interface BeginningRun {
  row: NewRowOf<typeof RunItem>;
  /** The condition of a first run: there is no guard. */
  when: EntryGuard["when"];
}

/** `withdrawn`: another worker has ended the pack, and the run may begin in another one. */
type BeginResult = { kind: "begun" } | { kind: "refused" } | { kind: "withdrawn"; when: EntryGuard["when"] };

/** Longer than any request to a pack may take. */
export const LATEST_WRITE_SECONDS = 7 * 86_400;

/** Begins the runs of an open pack; an earlier attempt may have begun some. @returns the result of each */
export const beginEach = (store: Store, pack: string, beginnings: readonly BeginningRun[]): Promise<BeginResult[]> =>
  writeEach(beginnings, async ({ row, when }): Promise<BeginResult> => {
    const place = { subscriber: row.subscriber_id, journey: row.journey_id };
    const other = await store.put(RunItem, newestKey(place), { ...row, pack }, when).then(
      () => undefined,
      onConditionFailed(RunItem, (old) => old ?? ("gone" as const)),
    );
    if (other === "gone") return { kind: "withdrawn", when: absent() };
    if (other && isWithdrawn(other)) return { kind: "withdrawn", when: withdrawnGuard(other) };
    if (other && !isOf(other, pack, row.id)) return { kind: "refused" };

    await putEntry(store, row);
    return { kind: "begun" };
  });

const isOf = (row: RunRow, pack: string, run: string): boolean => row.pack === pack && row.id === run;

/**
 * Writes the index row. Another worker may have written it, and an erasure or the end of the journey may have changed
 * it since.
 */
function putEntry(store: Store, run: Pick<RunRow, "id" | "journey_id" | "subscriber_id" | "status">): Promise<void> {
  const entry = { subscriber: run.subscriber_id, status: run.status };
  return whereItHolds(store.put(RunEntry, runEntryKey(run.journey_id, run.id), entry, absent()));
}

/** Prevents that a run begins in a pack. @returns whether it has begun; its index row exists then */
export async function withdrawEntry(store: Store, pack: string, place: RunPlace, run: string): Promise<boolean> {
  const now = store.clock.now();
  const withdrawn: NewRowOf<typeof RunItem> = {
    id: "",
    journey_id: place.journey,
    version: 0,
    subscriber_id: place.subscriber,
    status: "canceled",
    step: "",
    entered_at: timestamp(now),
    seq: 0,
    context: toJson({}),
    pack,
    expires: ttl(now) + LATEST_WRITE_SECONDS,
  };
  const withdrawing = store.put(RunItem, newestKey(place), withdrawn, any(absent(), present("expires")));
  const row = await inTheWayOf(RunItem, withdrawing);
  if (!row || !isOf(row, pack, run)) return false;

  await putEntry(store, row);
  return true;
}
