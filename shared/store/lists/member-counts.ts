// The numbers of members of lists and segments, in a counter for each shard (docs/decisions/0024).
import type { StoreReader } from "../context.ts";
import { countChange } from "../counters.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { type Group, MemberCount } from "./items.ts";

/** The change of a counter, for the transaction that adds or removes members. */
export const countWrite = ({ kind, id }: Group, shard: string, n: number): ItemWrite<"workspace"> =>
  changeItem(MemberCount, { kind, id, shard }, countChange({ n }));

/** The number of members, from the counters. */
export async function countMembers(store: StoreReader, { kind, id }: Group): Promise<number> {
  const { items } = await store.query(MemberCount, { kind }, { prefix: `${id}#` });
  return items.reduce((sum, { n }) => sum + n, 0);
}

/** The numbers of members of several groups: `asRange` reads them by one query, else by one for each group. */
export async function countsOfMany(
  store: StoreReader,
  kind: Group["kind"],
  ids: readonly string[],
  { asRange }: { asRange: boolean },
): Promise<Map<string, number>> {
  if (!asRange)
    return new Map(await Promise.all(ids.map(async (id) => [id, await countMembers(store, { kind, id })] as const)));
  const counts = new Map(ids.map((id) => [id, 0]));
  const sorted = [...ids].sort();
  if (sorted.length === 0) return counts;
  const range = { from: `${sorted[0]}#`, to: `${sorted.at(-1)}#~`, eventual: true };
  for (const { sk, n } of await store.queryAll(MemberCount, { kind }, range)) {
    const id = sk.slice(0, sk.indexOf("#"));
    const sum = counts.get(id);
    if (sum !== undefined) counts.set(id, sum + n);
  }
  return counts;
}
