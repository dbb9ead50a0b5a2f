// What counters must say: the same numbers from the rows that they count.
import type { Store, StoreReader } from "../../shared/store/context.ts";
import { type Addends, sumOf } from "../../shared/store/journeys/counts.ts";
import { countRuns } from "../../shared/store/journeys/recount.ts";
import type { Group } from "../../shared/store/lists/items.ts";
import { countRows } from "../../shared/store/lists/memberships.ts";
import { ReportedInteraction } from "../../shared/store/sends/interactions/items.ts";
import { countersOf, type InteractionTotals, totalsOf } from "../../shared/store/sends/interactions/totals.ts";
import { SHARDS } from "../../shared/store/shards.ts";

/** The numbers of a journey by all of its runs. */
export async function recountRuns(store: Store, journey: string): Promise<Addends> {
  const parts: Addends[] = [];
  for (const shard of SHARDS) parts.push(await countRuns(store, journey, shard));
  return sumOf(...parts);
}

/** The totals of a job by the reports of its interactions. */
export async function recountInteractions(store: StoreReader, job: string): Promise<InteractionTotals> {
  const parts = SHARDS.flatMap((first) => SHARDS.map((second) => first + second));
  const rows = await Promise.all(parts.map((part) => store.queryAll(ReportedInteraction, { job, part })));
  return totalsOf(rows.flat().flatMap((row) => Object.entries(countersOf(row))));
}

/** The number of members of a list or segment by their rows. */
export async function recountMembers(store: StoreReader, group: Group): Promise<number> {
  const counts = await Promise.all(SHARDS.map((shard) => countRows(store, group, shard)));
  return counts.reduce((sum, n) => sum + n, 0);
}
