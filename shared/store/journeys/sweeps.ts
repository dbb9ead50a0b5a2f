// What happens to all runs of a journey at once: they go on after a pause, are canceled, or are removed.
import type { Store } from "../../resources.ts";
import { keys } from "../keys.ts";
import type { Item, Key } from "../model.ts";
import { chunksOf } from "../table.ts";
import { COUNT_SHARDS } from "./counts.ts";
import { goneKey, SECOND_PASS_MS, VERSION } from "./journeys.ts";
import { endRun, type RunItem, runOf } from "./runs.ts";
import { drive, type JourneyDeps } from "./ticks.ts";

const ROWS_A_PAGE = 100;
/** Runs that are worked on side by side. */
const AT_ONCE = 10;

interface Sweep {
  journey: string;
  mode: "resume" | "cancel" | "delete";
  shard: string;
  after?: string | undefined;
}

/** Works through a shard until its end or `isTimeUp`. @returns where to go on; undefined at the end. */
export async function sweepRuns(
  deps: JourneyDeps,
  { journey, mode, shard, after }: Sweep,
  isTimeUp: () => boolean,
): Promise<string | undefined> {
  const { store } = deps;
  const pk = keys.journeyRuns(store.tenant, journey, shard);
  let position: Key | undefined = after === undefined ? undefined : { pk, sk: after };
  do {
    const page = await store.query({ pk, limit: ROWS_A_PAGE, after: position });
    if (mode === "delete") await removeRuns(store, journey, page.items);
    else
      for (const batch of chunksOf(await activeOf(store, journey, page.items), AT_ONCE)) {
        const operation = mode === "cancel" ? cancel : resume;
        await Promise.all(batch.map((run) => operation(deps, run)));
      }
    position = page.next;
    if (position && isTimeUp()) return position.sk;
  } while (position);
  return undefined;
}

async function activeOf(store: Store, journey: string, rows: readonly Item[]): Promise<RunItem[]> {
  const wanted = rows.filter(({ status, subscriber }) => status === "active" && subscriber !== undefined);
  const items = await store.getAll(
    wanted.map(({ sk, subscriber }) => keys.run(store.tenant, String(subscriber), journey, sk)),
  );
  return items.flatMap((item) => (item?.status === "active" ? [runOf(item)] : []));
}

async function cancel({ store }: JourneyDeps, run: RunItem): Promise<void> {
  const isDone = await endRun(store, run, "the journey was archived");
  // Somebody else moved it just now: the message comes again.
  if (!isDone)
    throw Object.assign(new Error("A run moved while it was canceled."), { name: "TransactionConflictException" });
}

/** What came due, or happened, during a pause. A delay that is still running has its timer. */
async function resume(deps: JourneyDeps, run: RunItem): Promise<void> {
  await drive(deps, run);
}

async function removeRuns(store: Store, journey: string, rows: readonly Item[]): Promise<void> {
  const owned = rows.filter(({ subscriber }) => subscriber !== undefined);
  await store.writeAll(
    owned.flatMap(({ sk, subscriber }) => [{ remove: keys.run(store.tenant, String(subscriber), journey, sk) }]),
  );
  const subscribers = [...new Set(owned.map(({ subscriber }) => String(subscriber)))];
  await store.writeAll(subscribers.map((subscriber) => ({ remove: keys.runHead(store.tenant, subscriber, journey) })));
  // A row under a subscriber is found by its row in the shard, so that one goes last.
  await store.writeAll(rows.map(({ pk, sk }) => ({ remove: { pk, sk } })));
}

/** Removes what is left of a deleted journey itself, once late writers are done. */
export async function clearJourney(store: Store, id: string): Promise<void> {
  const gone = await store.get(goneKey(store, id));
  if (!gone || store.clock.now() < Number(gone.at) + SECOND_PASS_MS) return;
  const counters = Array.from({ length: COUNT_SHARDS }, (_, shard) => keys.journeyCount(store.tenant, id, shard));
  await store.writeAll(counters.map((remove) => ({ remove })));
  // Its jobs stay, and what says that they are its own.
  const versionsOf = () => store.query({ pk: gone.pk, prefix: VERSION, limit: ROWS_A_PAGE });
  for (let page = await versionsOf(); page.items.length > 0; page = await versionsOf())
    await store.writeAll(page.items.map(({ pk, sk }) => ({ remove: { pk, sk } })));
  await store.remove(goneKey(store, id));
}
