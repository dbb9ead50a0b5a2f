// Sweeps over all runs of a journey: they are resumed after a pause, canceled, removed, or moved to another version.
import { namedError } from "../../kernel/errors.ts";
import { chunksOf } from "../../rules/chunks.ts";
import type { Store } from "../context.ts";
import { keyOf, removeItem } from "../item.ts";
import { countKeys } from "./counts.ts";
import { DeletedJourney, JourneyVersion } from "./items.ts";
import { SECOND_PASS_MS } from "./journeys.ts";
import { type Migration, migrateRuns } from "./migrations.ts";
import {
  JourneyCount,
  RefusalCount,
  RunEntry,
  type RunEntryRow,
  RunItem,
  rowKeyOf,
  runEntryKey,
  runKeys,
} from "./run-items.ts";
import { runRows } from "./run-rows.ts";
import { endRun, type RunState, readActive } from "./runs.ts";
import { clearSteps } from "./step-states.ts";
import { drive, type JourneyDeps } from "./ticks.ts";

const ROWS_PER_PAGE = 100;
const CONCURRENT_RUNS = 10;

interface Sweep {
  journey: string;
  mode: "resume" | "cancel" | "delete" | "migrate";
  shard: string;
  after?: string | undefined;
  /** The migration, in the mode `migrate`. */
  migration?: Migration | undefined;
}

interface SweepPosition {
  /** The id to continue after; undefined for the start of the shard. */
  after: string | undefined;
  /** A run of the next page cannot move while the workspace is suspended (AMB-112). */
  isHeld: boolean;
}

/** Works through a shard until its end, `isTimeUp`, or a page with a held run. @returns undefined at the end */
export async function sweepRuns(
  deps: JourneyDeps,
  { journey, mode, shard, after, migration }: Sweep,
  isTimeUp: () => boolean,
): Promise<SweepPosition | undefined> {
  const { store } = deps;
  let position = after === undefined ? undefined : keyOf(RunEntry, store.tenant, { journey, shard, run: after });
  do {
    const page = await store.query(RunEntry, { journey, shard }, { limit: ROWS_PER_PAGE, after: position });
    if (mode === "delete") await removeRuns(store, journey, page.items);
    else {
      // The entry of a run that ended at once shows that; other entries do not show whether their run has ended.
      const entries = page.items.filter(({ status }) => status === "active");
      let runs = await readActive(store, runKeys(journey, entries));
      if (migration) {
        await migrateRuns(store, migration, shard, runs);
        // Runs that an earlier delivery moved are evaluated again: it may have stopped before that.
        const moved = await readActive(store, runKeys(journey, entries));
        runs = moved.filter(({ version }) => version === migration.to);
      }
      if (mode === "cancel") await cancelAll(deps, runs);
      else {
        const visits = runs.map((run) => ({ run }));
        const held = await drive(deps, visits);
        if (held.size > 0) return { after: position?.sk, isHeld: true };
      }
    }
    position = page.next;
    if (position && isTimeUp()) return { after: position.sk, isHeld: false };
  } while (position);
  return undefined;
}

async function cancelAll({ store }: JourneyDeps, runs: readonly RunState[]): Promise<void> {
  for (const batch of chunksOf(runs, CONCURRENT_RUNS)) {
    const canceled = await Promise.all(batch.map((run) => endRun(store, run, "the journey was archived")));
    // Another worker moved a run: the message is delivered again.
    if (canceled.includes("moved"))
      throw namedError("TransactionConflictException", "A run moved while it was canceled.");
  }
}

async function removeRuns(store: Store, journey: string, entries: readonly RunEntryRow[]): Promise<void> {
  const keys = runKeys(journey, entries);
  const rows = (await runRows(store, keys)).filter((row) => row !== undefined);
  await store.writeAll(rows.map((row) => removeItem(RunItem, rowKeyOf(row))));
  // The row of a subscriber is found by the entry in the shard, which therefore is removed last.
  await store.writeAll(entries.map(({ sk }) => removeItem(RunEntry, runEntryKey(journey, sk))));
}

/** Removes the other rows of a deleted journey, once late writers have ended. Its jobs stay. */
export async function clearJourney(store: Store, id: string): Promise<void> {
  const deleted = await store.get(DeletedJourney, { journey: id });
  if (!deleted || store.clock.now() < deleted.at + SECOND_PASS_MS) return;
  const counters = [JourneyCount, RefusalCount] as const;
  await store.writeAll(counters.flatMap((counter) => countKeys(id).map((key) => removeItem(counter, key))));
  await clearSteps(store, id);
  const readVersions = () => store.query(JourneyVersion, { journey: id }, { limit: ROWS_PER_PAGE });
  for (let page = await readVersions(); page.items.length > 0; page = await readVersions())
    await store.removeRows(page.items);
  await store.remove(DeletedJourney, { journey: id });
}
