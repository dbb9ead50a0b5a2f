// Moves waiting runs to another version of their journey (F20). A run keeps its timers: it moves to the corresponding
// step with the same times. Runs are moved in transactions with the counts and the progress, so that each is counted
// once.
import { DAY, MINUTE, timestamp, ttl } from "../../kernel/clock.ts";
import { invalid, namedError, requireFound } from "../../kernel/errors.ts";
import { chunksOf } from "../../rules/chunks.ts";
import type { Graph } from "../../rules/journey-graph.ts";
import type { Store, StoreReader } from "../context.ts";
import { changeItem, type NewRowOf, type RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { transacted } from "../refusals.ts";
import { SHARDS } from "../shards.ts";
import type { Timers } from "../timers.ts";
import { countWrites, sumOf } from "./counts.ts";
import { MigrationItem, MigrationShard } from "./migration-items.ts";
import { moveWrites, type RunState, readActive } from "./runs.ts";

export type Migration = RowOf<typeof MigrationItem>;

const KEPT_MS = 30 * DAY;
const WATCH_MS = 10 * MINUTE;
/** After this time lost messages are not sent again. */
const WATCHED_MS = DAY;
/** Runs of one transaction, which has the counts and the progress too. */
const MAX_RUNS = 30;
/** How often runs are read again after other workers moved them. */
const MAX_ATTEMPTS = 10;

/**
 * The corresponding steps: the named ones, and those with the same id and type in both versions. @throws 422 for a step
 * that is in neither version, or of another type
 */
export function correspondingSteps(
  from: Graph,
  to: Graph,
  named: Readonly<Record<string, string>>,
): Record<string, string> {
  const [old, now] = [new Map(Object.entries(from.steps)), new Map(Object.entries(to.steps))];
  for (const [oldStep, newStep] of Object.entries(named)) {
    const [before, after] = [old.get(oldStep), now.get(newStep)];
    if (!before) throw invalid({ [`steps.${oldStep}`]: "is no step of the version from which runs move" });
    if (!after) throw invalid({ [`steps.${oldStep}`]: "names no step of the version to which runs move" });
    if (before.type !== after.type) throw invalid({ [`steps.${oldStep}`]: `must name a step of type ${before.type}` });
  }
  const same = [...old.values()].filter(({ id, type }) => now.get(id)?.type === type).map(({ id }) => [id, id]);
  return { ...Object.fromEntries(same), ...named };
}

/** Creates a migration; its insertion into the table starts it. The watchdog is set before. */
export async function createMigration(
  store: Store,
  timers: Timers,
  { journey, from, to, steps }: Pick<Migration, "journey" | "from" | "to"> & { steps: Record<string, string> },
): Promise<Migration> {
  const now = store.clock.now();
  const id = store.ids.uuidAt(now);
  await watchMigration(store, timers, { journey, id });
  const row: NewRowOf<typeof MigrationItem> = {
    react: "migration",
    id,
    journey,
    from,
    to,
    steps: toJson(steps),
    created_at: timestamp(now),
    expires: ttl(now + KEPT_MS),
  };
  // Without a condition: otherwise the row of the first attempt would refuse a repeated one.
  await store.put(MigrationItem, { journey, migration: id }, row);
  return getMigration(store, journey, id);
}

const watchMigration = ({ clock }: Store, timers: Timers, { journey, id }: Pick<Migration, "journey" | "id">) =>
  timers.set([{ kind: "migration-watch", id: `${journey}#${id}`, at: clock.now() + WATCH_MS }]);

export const findMigration = (store: StoreReader, journey: string, id: string): Promise<Migration | undefined> =>
  store.get(MigrationItem, { journey, migration: id });

/** Gets a migration. @throws 404 */
export async function getMigration(store: StoreReader, journey: string, id: string): Promise<Migration> {
  return requireFound(await findMigration(store, journey, id), "migration");
}

/** How many runs were moved, and the share of the journey's runs that was processed: 0 to 1. */
export async function progressOfMigration(store: StoreReader, { id }: Migration) {
  const parts = await store.queryAll(MigrationShard, { migration: id });
  const done = parts.filter((part) => part.done).length;
  return { moved: parts.reduce((sum, { moved = 0 }) => sum + moved, 0), progress: done / SHARDS.length };
}

/** The remaining shards, which are processed again later. */
export async function shardsLeft(store: Store, timers: Timers, migration: Migration): Promise<string[]> {
  const parts = await store.queryAll(MigrationShard, { migration: migration.id });
  const done = new Set(parts.flatMap((part) => (part.done ? [part.sk] : [])));
  const left = SHARDS.filter((shard) => !done.has(shard));
  const isWatched = store.clock.now() < Date.parse(migration.created_at) + WATCHED_MS;
  if (left.length > 0 && isWatched) await watchMigration(store, timers, migration);
  return left;
}

export const noteShardDone = (store: Store, { id, expires }: Migration, shard: string) =>
  store.change(MigrationShard, { migration: id, shard }, { set: { done: true, expires } });

/** Moves those of these runs that are on the former version and on a step with a corresponding one. */
export async function migrateRuns(
  store: Store,
  migration: Migration,
  shard: string,
  runs: readonly RunState[],
): Promise<void> {
  const steps = new Map(Object.entries(fromJson(migration.steps)));
  const movable = ({ version, current_step }: RunState) => version === migration.from && steps.has(current_step);
  for (const batch of chunksOf(runs.filter(movable), MAX_RUNS)) {
    let open: readonly RunState[] = batch;
    for (let attempt = 0; open.length > 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw contended();
      const isStored = await storeMigrated(store, migration, { shard, runs: open, steps });
      if (isStored) break;
      const keys = open.map(({ subscriber_id: subscriber, journey_id: journey, id: run }) => ({
        subscriber,
        journey,
        run,
      }));
      open = (await readActive(store, keys)).filter(movable);
    }
  }
}

/** The message is delivered again. */
const contended = () => namedError("TransactionConflictException", "Runs were moved too often by other workers.");

/** Stores a migrated batch. @returns false if another worker moved one of the runs */
function storeMigrated(
  store: Store,
  { id, to, expires }: Migration,
  { shard, runs, steps }: { shard: string; runs: readonly RunState[]; steps: ReadonlyMap<string, string> },
): Promise<boolean> {
  const moves = runs.map((run) => {
    const step = steps.get(run.current_step) ?? run.current_step;
    return moveWrites(run, { kind: "at", position: { ...run.position, step }, version: to }, []);
  });
  const [first] = runs;
  const counts = first ? countWrites(first.journey_id, first.id, sumOf(...moves.map((move) => move.counts))) : [];
  const change = { add: { moved: runs.length }, set: { expires } };
  const progress = changeItem(MigrationShard, { migration: id, shard }, change);
  return transacted(store, [...moves.flatMap(({ rows }) => rows), ...counts, progress]);
}
