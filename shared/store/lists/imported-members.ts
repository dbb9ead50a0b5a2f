// Members of a list that an import adds: single rows that name its pack, and are counted by its seal (docs/decisions/0115).
// The row in the shard comes first, so a subscriber that has a membership has both rows.
import { timestamp } from "../../kernel/clock.ts";
import { absent, is, present } from "../conditions.ts";
import type { Store } from "../context.ts";
import { changeItem, type ItemWrite, putItem, removeItem } from "../item.ts";
import { happened, onConditionFailed, transacted } from "../refusals.ts";
import { shardOf } from "../shards.ts";
import { writeEach } from "../single-writes.ts";
import { ImportPack } from "../subscribers/import-items.ts";
import { ListMembership, listGroup, Member, memberKey } from "./items.ts";
import { countWrite } from "./member-counts.ts";

/** The fields of a member's row that a pack needs. */
interface MemberRow {
  /** The id of the subscriber. */
  sk: string;
  pack?: string | undefined;
}

/** Adds subscribers to a list. @returns those that entered it with this pack; others are in it already */
export async function enterWithPack(
  store: Store,
  { id: pack, list }: { id: string; list: string },
  subscribers: readonly string[],
): Promise<string[]> {
  const group = listGroup(list);
  const distinct = [...new Set(subscribers)];
  const keys = distinct.map((id) => memberKey(group, id));
  const members = await store.getAll(Member, keys);
  const outside = distinct.filter((_, i) => !members[i]);
  const entered_at = timestamp(store.clock.now());
  await store.writeAll(outside.map((id) => putItem(Member, memberKey(group, id), { entered_at, pack })));
  const entered = await writeEach(outside, async (subscriber) => {
    const row = { list_id: list, subscriber_id: subscriber, entered_at, pack };
    const isEntered = await store.put(ListMembership, { subscriber, list }, row, absent()).then(
      () => true,
      // The reply to this very write may have been lost.
      onConditionFailed(ListMembership, (old) => old?.pack === pack),
    );
    return isEntered ? [subscriber] : [];
  });
  return entered.flat();
}

/**
 * Completes the work of a worker that stopped: a member without a membership does not count. @returns the subscribers
 * who entered
 */
export async function settleMembers(
  store: Store,
  { id: pack, list }: { id: string; list: string },
  subscribers: readonly string[],
): Promise<string[]> {
  const group = listGroup(list);
  const listKeys = subscribers.map((subscriber) => ({ subscriber, list }));
  const memberKeys = subscribers.map((id) => memberKey(group, id));
  const [members, memberships] = await Promise.all([
    store.getAll(Member, memberKeys),
    store.getAll(ListMembership, listKeys),
  ]);
  const unfinished = subscribers.filter((_, i) => members[i]?.pack === pack && !memberships[i]);
  await writeEach(unfinished, (id) => happened(store.remove(Member, memberKey(group, id), is("pack", pack))));
  return subscribers.filter((_, i) => memberships[i]?.pack === pack);
}

/**
 * Removes members that an import has not counted yet; others stay. @param hold if its condition fails, no member is
 * removed @returns the ids of the removed members
 */
export async function removeUncounted(
  store: Store,
  list: string,
  members: readonly MemberRow[],
  hold?: ItemWrite<"workspace">,
): Promise<string[]> {
  const packs = [...new Set(members.flatMap(({ pack }) => pack ?? []))];
  const keys = packs.map((pack) => ({ pack }));
  const rows = await store.getAll(ImportPack, keys);
  const open = new Set(packs.filter((_, i) => rows[i]));
  const removed = await writeEach(
    members.filter(({ pack }) => pack !== undefined && open.has(pack)),
    async ({ sk: id, pack = "" }) => ((await removeFromPack(store, { list, id, pack, hold })) ? [id] : []),
  );
  return removed.flat();
}

/**
 * Removes a member of an open pack, which notes the removal: its seal counts an entry that is gone.
 * @returns false where the pack is sealed, or the membership is another one
 */
function removeFromPack(
  store: Store,
  {
    list,
    id: subscriber,
    pack,
    hold,
  }: { list: string; id: string; pack: string; hold: ItemWrite<"workspace"> | undefined },
): Promise<boolean> {
  const group = listGroup(list);
  const shard = shardOf(subscriber);
  const noted = { add: { [`gone:${shard}`]: 1, removals: 1 } };
  return transacted(store, [
    removeItem(ListMembership, { subscriber, list }, is("pack", pack)),
    removeItem(Member, memberKey(group, subscriber)),
    countWrite(group, shard, -1),
    changeItem(ImportPack, { pack }, noted, present()),
    ...(hold ? [hold] : []),
  ]);
}
