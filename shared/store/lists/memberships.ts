// Memberships in lists and dynamic segments. Each has a row with its subscriber and a row in a shard of its group, and
// both change in one transaction with the counter of the shard: counts are exact, and a repeated change has no effect.
// Those of static segments are in leaves (`leaves.ts`), which are read here too.
import { DAY, timestamp, ttl } from "../../kernel/clock.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { absent, any, is, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { changeItem, type ItemWrite, keyOf, putItem, removeItem } from "../item.ts";
import type { Item, Key } from "../model.ts";
import { failuresOf, transacted, whereItHolds } from "../refusals.ts";
import { SHARDS, shardOf } from "../shards.ts";
import { removeUncounted } from "./imported-members.ts";
import { type Group, type GroupMember, ListMembership, Member, memberKey, SegmentMembership } from "./items.ts";
import { countLeaves, leafShard, type ShardPage } from "./leaves.ts";
import { countWrite } from "./member-counts.ts";

/** Changes of one transaction: two rows each and a counter, of at most 100 items. */
const CHANGES_PER_TRANSACTION = 24;
/** The stream's reactions to an exit read the row soon after. */
const EXIT_KEPT_MS = 30 * DAY;

type MembershipWrites = [own: ItemWrite<"workspace">, member: ItemWrite<"workspace">];

interface MembershipChange {
  group: Group;
  subscriber: string;
  /** It starts no journey. */
  historical: true | undefined;
  /** When it happened, in milliseconds. */
  at: number;
}

/** Puts a subscriber into a list or segment, on both sides. */
export function enterWrites({ group, subscriber, historical, at }: MembershipChange): MembershipWrites {
  const entered_at = timestamp(at);
  const member = putItem(Member, memberKey(group, subscriber), { entered_at });
  if (group.kind === "list") {
    const row = { list_id: group.id, subscriber_id: subscriber, entered_at };
    return [putItem(ListMembership, { subscriber, list: group.id }, row, absent()), member];
  }
  const row = { segment_id: group.id, subscriber_id: subscriber, entered_at };
  return [
    putItem(
      SegmentMembership,
      { subscriber, segment: group.id },
      { ...row, react: "membership", member: true, historical, entered_by_history: historical },
      any(absent(), is("member", false)),
    ),
    member,
  ];
}

/** The row of a membership in a segment stays for a while and records the exit, which can start journeys (JND-10). */
function leaveWrites({ group, subscriber, historical, at }: MembershipChange): MembershipWrites {
  const member = removeItem(Member, memberKey(group, subscriber));
  if (group.kind === "list") return [removeItem(ListMembership, { subscriber, list: group.id }, present()), member];
  const exit = { member: false, exited_at: timestamp(at), expires: ttl(at + EXIT_KEPT_MS) };
  const set = { ...exit, ...(historical && { historical }) };
  const change = { set, remove: historical ? [] : (["historical"] as const) };
  return [changeItem(SegmentMembership, { subscriber, segment: group.id }, change, is("member", true)), member];
}

interface MemberChanges {
  enter?: readonly string[];
  leave?: readonly string[];
  /** Changes because of historical events: they start no journey. */
  historical?: ReadonlySet<string> | undefined;
  /** When the membership of a subscriber changed, in milliseconds; left out: now. */
  since?: ReadonlyMap<string, number> | undefined;
  /** Part of every transaction: where its condition fails, nothing is changed. */
  hold?: ItemWrite<"workspace"> | undefined;
}

/**
 * Adds subscribers to a group and removes others from it; a subscriber that is already in, or out, is left alone. The
 * shards are worked on concurrently.
 * @returns the subscribers whose membership changed
 */
export async function changeMembers(
  store: Store,
  group: Group,
  { enter = [], leave = [], ...more }: MemberChanges,
): Promise<{ entered: string[]; left: string[] }> {
  const changeAll = async (ids: readonly string[], writesOf: typeof enterWrites, sign: 1 | -1) => {
    const changed = await Promise.all(
      [...Map.groupBy(ids, shardOf)].map(async ([shard, members]) => {
        const done: string[] = [];
        for (const batch of chunksOf(members, CHANGES_PER_TRANSACTION))
          done.push(...(await changeBatch(store, { group, shard, sign, ...more }, batch, writesOf)));
        return done;
      }),
    );
    return changed.flat();
  };
  const left = await changeAll(leave, leaveWrites, -1);
  const entered = await changeAll(enter, enterWrites, 1);
  return { entered, left };
}

/** Changes members of one shard in one transaction. Refused changes are left out, and the others are tried again. */
async function changeBatch(
  store: Store,
  {
    group,
    shard,
    sign,
    historical,
    since,
    hold,
  }: { group: Group; shard: string; sign: 1 | -1 } & Pick<MemberChanges, "historical" | "since" | "hold">,
  batch: readonly string[],
  writesOf: typeof enterWrites,
): Promise<readonly string[]> {
  const held = hold ? [hold] : [];
  for (let pending = batch; pending.length > 0; ) {
    const now = store.clock.now();
    const writes = pending.flatMap((subscriber) =>
      writesOf({
        group,
        subscriber,
        historical: historical?.has(subscriber) ? true : undefined,
        at: since?.get(subscriber) ?? now,
      }),
    );
    const counted = countWrite(group, shard, sign * pending.length);
    const failures = await failuresOf(store, [...held, ...writes, counted]);
    if (failures.length === 0) return pending;
    if (hold && failures[0]) return [];
    pending = pending.filter((_, i) => !failures[held.length + 2 * i]);
  }
  return [];
}

/** Whether a row is a membership, present or past. */
export const isMembership = ({ pk, sk }: Key): boolean => pk.includes("#U#") && /^[LG]#/.test(sk);

/** Removes an erased subscriber from all its groups and their counts (SUB-9). */
export async function forgetMemberships(store: Store, subscriber: string, rows: readonly Item[]): Promise<void> {
  for (const { sk, pack } of rows) {
    const group: Group = { kind: sk.startsWith("L#") ? "list" : "segment", id: sk.slice(2) };
    const uncounted = typeof pack === "string" ? [{ sk: subscriber, pack }] : [];
    const removed = await removeUncounted(store, group.id, uncounted);
    if (removed.length > 0) continue;
    const segment = { subscriber, segment: group.id };
    const removal =
      group.kind === "list"
        ? removeItem(ListMembership, { subscriber, list: group.id }, present())
        : removeItem(SegmentMembership, segment, is("member", true));
    const isRemoved = await transacted(store, [
      removal,
      removeItem(Member, memberKey(group, subscriber)),
      countWrite(group, shardOf(subscriber), -1),
    ]);
    if (!isRemoved && group.kind === "segment")
      await whereItHolds(store.remove(SegmentMembership, segment, is("member", false)));
  }
}

/** The number of members of a shard by its rows: what its counter must say. */
export async function countRows(store: StoreReader, { kind, id }: Group, shard: string): Promise<number> {
  const rows = await store.count(Member, { kind, id, shard });
  return kind === "list" ? rows : rows + (await countLeaves(store, id, shard));
}

/** Members of one shard in the order of their ids, after a given one. `next` is absent on the last page. */
export async function memberShard(
  store: StoreReader,
  group: Group,
  { shard, after, ...options }: ShardPage,
): Promise<{ members: GroupMember[]; next: string | undefined }> {
  const inLeaves = group.kind === "segment" && (await leafShard(store, group.id, { shard, after, ...options }));
  if (inLeaves) return inLeaves;
  const position =
    after === undefined ? undefined : keyOf(Member, store.tenant, { ...group, shard, subscriber: after });
  const page = await store.query(Member, { ...group, shard }, { ...options, after: position });
  return {
    members: page.items.map(({ sk, entered_at }) => ({ subscriber: sk, entered_at })),
    next: page.next?.sk,
  };
}

/** Members of all shards in the order of their ids, at most `limit`. `next` is absent on the last page. */
export async function memberPage(
  store: StoreReader,
  group: Group,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ members: GroupMember[]; next?: string | undefined }> {
  const members: GroupMember[] = [];
  let position = after;
  for (const shard of SHARDS.slice(after === undefined ? 0 : SHARDS.indexOf(shardOf(after)))) {
    do {
      const page = await memberShard(store, group, { shard, after: position, limit: limit - members.length });
      members.push(...page.members);
      position = page.next;
      if (members.length === limit) return { members, next: members.at(-1)?.subscriber };
    } while (position !== undefined);
  }
  return { members };
}
