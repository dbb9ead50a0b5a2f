// What happens to the members of a list or segment when it is deleted: a row says so, workers remove them page by page.
import { MINUTE } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { type Grouping, keys, SHARDS } from "../keys.ts";
import type { Item } from "../model.ts";
import type { TransactItem } from "../table.ts";
import type { Timers } from "../timers.ts";
import { membershipKeys } from "./memberships.ts";

/** Whoever read the list before it was deleted has long written by then. */
const SECOND_PASS_MS = 10 * MINUTE;
/** A pass that comes after this is the second one, whatever the clocks of two processes say. */
const LATE_PASS_MS = 5 * MINUTE;
const ROWS_A_PAGE = 200;

/** Sees to it that members that are still being added go too; to be called before the deletion. */
export const planSecondPass = (store: Pick<Store, "clock">, timers: Timers, kind: Grouping, id: string) =>
  timers.set([{ kind: "disband", id: `${kind}#${id}`, at: store.clock.now() + SECOND_PASS_MS }]);

/** The step of the deletion from which the members' removal follows. */
export const membershipDeletionWrite = (
  store: Pick<Store, "tenant" | "clock">,
  kind: Grouping,
  id: string,
): TransactItem => ({
  put: { ...keys.deletedMemberships(store.tenant, kind, id), react: "disband", kind, id, at: store.clock.now() },
});

/** Removes members until there are none left or `isTimeUp`. @returns whether there are none left. */
export async function deleteSomeMemberships(
  store: Store,
  kind: Grouping,
  id: string,
  isTimeUp: () => boolean,
): Promise<boolean> {
  const row = await store.get(keys.deletedMemberships(store.tenant, kind, id));
  if (!row) return true;
  for (const shard of SHARDS)
    for (let members = await pageOf(store, kind, id, shard); members.length > 0; ) {
      if (isTimeUp()) return false;
      const pairs = members.map(({ sk }) => membershipKeys(store, kind, id, sk));
      // A row under a subscriber is found by its row in the shard, so that one goes last.
      await store.writeAll(pairs.map(({ own }) => ({ remove: own })));
      await store.writeAll(pairs.map(({ listed }) => ({ remove: listed })));
      members = await pageOf(store, kind, id, shard);
    }
  if (store.clock.now() >= Number(row.at) + LATE_PASS_MS) {
    const counters = SHARDS.map((shard) => ({ remove: keys.memberCount(store.tenant, kind, id, shard) }));
    await store.writeAll([...counters, { remove: keys.deletedMemberships(store.tenant, kind, id) }]);
  }
  return true;
}

const pageOf = async (store: Store, kind: Grouping, id: string, shard: string): Promise<Item[]> =>
  (await store.query({ pk: keys.members(store.tenant, kind, id, shard), limit: ROWS_A_PAGE })).items;
