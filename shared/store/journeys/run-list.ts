// The runs of a journey, newest first: all of them by the shards of the journey, those of one subscriber by its rows.
import { chunksOf } from "../../rules/chunks.ts";
import type { StoreReader } from "../context.ts";
import { keyOf } from "../item.ts";
import { SHARDS } from "../shards.ts";
import { RunEntry, RunItem, runKeys, runPrefix } from "./run-items.ts";
import { isWithdrawn, runRows } from "./run-rows.ts";
import { type RunState, runOf } from "./runs.ts";
import { haltsOf } from "./step-states.ts";

interface RunQuery {
  journey: string;
  status?: string | undefined;
  /** Only active runs that are on this step. */
  step?: string | undefined;
  subscriber?: string | undefined;
  /** The id of the last run of the page before. */
  after?: string | undefined;
  limit: number;
}

interface RunPage {
  runs: RunState[];
  /** The id after which the next page begins; absent on the last page. */
  next: string | undefined;
}

/** Runs that are read for one page. */
const MAX_EXAMINED = 300;

/** Lists runs. With a filter a page may have fewer runs than `limit`. */
export async function listRuns(store: StoreReader, query: RunQuery): Promise<RunPage> {
  const { runs, next } = await (query.subscriber === undefined
    ? runsOfAll(store, query)
    : runsOfOne(store, query, query.subscriber));
  const waiting = runs.map(({ journey_id: journey, version, current_step: step, status, position }) => ({
    journey,
    version,
    step,
    isWaiting: status === "active" && position.since === undefined,
  }));
  const halts = await haltsOf(store, waiting);
  return { runs: runs.map((run, i) => ({ ...run, ...(halts[i] && { halted: halts[i] }) })), next };
}

async function runsOfOne(
  store: StoreReader,
  { journey, after, limit, ...filter }: RunQuery,
  subscriber: string,
): Promise<RunPage> {
  const position = after === undefined ? undefined : keyOf(RunItem, store.tenant, { subscriber, journey, run: after });
  const prefix = runPrefix(journey);
  const page = await store.query(RunItem, { subscriber }, { prefix, newestFirst: true, limit, after: position });
  const runs = page.items
    .filter((row) => !isWithdrawn(row))
    .map(runOf)
    .filter(isWanted(filter));
  return { runs, next: page.next?.sk.slice(prefix.length) };
}

const isWanted =
  ({ status, step }: Pick<RunQuery, "status" | "step">) =>
  (run: RunState): boolean =>
    (status === undefined || run.status === status) &&
    (step === undefined || (run.current_step === step && run.status === "active"));

async function runsOfAll(store: StoreReader, { journey, after, limit, ...filter }: RunQuery): Promise<RunPage> {
  const pages = await Promise.all(
    SHARDS.map((shard) => {
      const position = after === undefined ? undefined : keyOf(RunEntry, store.tenant, { journey, shard, run: after });
      return store.query(RunEntry, { journey, shard }, { newestFirst: true, limit, after: position });
    }),
  );
  // A shard that was not read to its end may have newer runs than the others beyond its last row.
  const unread = pages.flatMap(({ next }) => (next ? [next.sk] : [])).sort();
  const from = unread.at(-1) ?? "";
  const found = pages.flatMap(({ items }) => items).filter(({ sk }) => sk >= from);
  const entries = found.sort((a, b) => (a.sk < b.sk ? 1 : -1));
  const runs: RunState[] = [];
  let last: string | undefined;
  for (const batch of chunksOf(entries.slice(0, MAX_EXAMINED), limit)) {
    const rows = await runRows(store, runKeys(journey, batch));
    const byId = new Map(rows.flatMap((row) => (row ? [[row.id, row] as const] : [])));
    for (const { sk } of batch) {
      if (runs.length === limit) break;
      last = sk;
      const row = byId.get(sk);
      const run = row && runOf(row);
      if (run && isWanted(filter)(run)) runs.push(run);
    }
    if (runs.length === limit) break;
  }
  const isMore = unread.length > 0 || last !== entries.at(-1)?.sk;
  return { runs, next: isMore ? last : undefined };
}
