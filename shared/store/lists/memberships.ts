// Who is in a list or a segment: a row under the subscriber and a row in a shard of the list, which come and go
// together with the shard's counter, so that counts are exact and a repeat changes nothing.

import { DAY, SECOND, timestamp } from "../../clock.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { absent, any, is, present } from "../conditions.ts";
import { type Grouping, keys, SHARDS, shardOf } from "../keys.ts";
import type { Item, Key } from "../model.ts";
import { allItems } from "../pages.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import { chunksOf, type TransactItem } from "../table.ts";

/** Changes of one transaction: two rows each and a counter, of at most 100. */
const CHANGES_AT_ONCE = 24;
/** A row that tells of an exit is read by reactions only, soon after. */
const EXIT_KEPT_MS = 30 * DAY;

/** A list or a segment. */
export interface Group {
  kind: Grouping;
  id: string;
}

export interface Member {
  subscriber: string;
  /** RFC 3339. */
  entered_at: string;
}

/** The two rows of a membership: the subscriber's own, and the one that is listed. */
export const membershipKeys = ({ tenant }: Pick<Store, "tenant">, kind: Grouping, id: string, subscriber: string) => ({
  own:
    kind === "list" ? keys.membershipOfList(tenant, subscriber, id) : keys.membershipOfSegment(tenant, subscriber, id),
  listed: keys.member(tenant, kind, id, subscriber),
});

type MembershipWrites = [own: TransactItem, listed: TransactItem];

function enterWrites(store: Store, { kind, id }: Group, subscriber: string): MembershipWrites {
  const { own, listed } = membershipKeys(store, kind, id, subscriber);
  const entered_at = timestamp(store.clock.now());
  const row: Item =
    kind === "list"
      ? { ...own, list_id: id, subscriber_id: subscriber, entered_at }
      : { ...own, react: "membership", segment_id: id, subscriber_id: subscriber, member: true, entered_at };
  return [{ put: row, when: any(absent(), is("member", false)) }, { put: { ...listed, entered_at } }];
}

/** A segment's row stays for a while to tell of the exit: journeys begin with it (JND-10). */
function leaveWrites(store: Store, { kind, id }: Group, subscriber: string): MembershipWrites {
  const { own, listed } = membershipKeys(store, kind, id, subscriber);
  if (kind === "list") return [{ remove: own, when: present() }, { remove: listed }];
  const now = store.clock.now();
  const exit = { member: false, exited_at: timestamp(now), expires: Math.ceil((now + EXIT_KEPT_MS) / SECOND) };
  return [{ update: own, change: { set: exit }, when: is("member", true) }, { remove: listed }];
}

/**
 * Lets subscribers enter or leave. Whoever is in (or out) already stays so; shards are worked on side by side.
 * @returns whom it changed.
 */
export async function changeMembers(
  store: Store,
  group: Group,
  { enter = [], leave = [] }: { enter?: readonly string[]; leave?: readonly string[] },
): Promise<{ entered: string[]; left: string[] }> {
  const entered: string[] = [];
  const left: string[] = [];
  const changeSome = async (ids: readonly string[], writesOf: typeof enterWrites, sign: 1 | -1, done: string[]) => {
    const shards = [...Map.groupBy(ids, shardOf).values()];
    await Promise.all(
      shards.map(async (shard) => {
        for (const batch of chunksOf(shard, CHANGES_AT_ONCE))
          done.push(...(await changeBatch(store, group, batch, writesOf, sign)));
      }),
    );
  };
  await changeSome(leave, leaveWrites, -1, left);
  await changeSome(enter, enterWrites, 1, entered);
  return { entered, left };
}

/** Changes of one shard, all or nothing; those that are refused are left out, and the rest is tried again. */
async function changeBatch(
  store: Store,
  group: Group,
  batch: readonly string[],
  writesOf: typeof enterWrites,
  sign: 1 | -1,
): Promise<readonly string[]> {
  for (let pending = batch; pending.length > 0; ) {
    const writes = pending.flatMap((id) => writesOf(store, group, id));
    const refusals = await store
      .transact([...writes, countWrite(store, group, pending[0]!, sign * pending.length)])
      .then(
        () => undefined,
        onTransactionCanceled((refusedOf) => refusedOf),
      );
    if (!refusals) return pending;
    pending = pending.filter((_, i) => !refusals[2 * i]);
  }
  return [];
}

const countWrite = ({ tenant }: Store, { kind, id }: Group, subscriber: string, n: number): TransactItem => ({
  update: keys.memberCount(tenant, kind, id, shardOf(subscriber)),
  change: { add: { n } },
});

/** Rows that say where a subscriber is a member, or was. */
export const isMembership = ({ pk, sk }: Key): boolean => pk.includes("#U#") && /^[LG]#/.test(sk);

/** Takes an erased subscriber out of everything, counts included (SUB-9). */
export async function forgetMemberships(store: Store, subscriber: string, rows: readonly Key[]): Promise<void> {
  for (const { sk } of rows) {
    const group: Group = { kind: sk.startsWith("L#") ? "list" : "segment", id: sk.slice(2) };
    const { own, listed } = membershipKeys(store, group.kind, group.id, subscriber);
    const isIn = group.kind === "list" ? present() : is("member", true);
    const left = await store
      .transact([{ remove: own, when: isIn }, { remove: listed }, countWrite(store, group, subscriber, -1)])
      .then(
        () => true,
        onTransactionCanceled(() => false),
      );
    if (!left) await store.remove(own, is("member", false)).catch(onConditionFailed(() => undefined));
  }
}

/** How many members there are, from the counters. */
export async function countMembers(store: StoreReader, { kind, id }: Group): Promise<number> {
  const { items } = await store.query({ pk: keys.memberCounts(store.tenant, kind), prefix: `${id}#` });
  return items.reduce((sum, { n }) => sum + Number(n), 0);
}

/** The counts of several lists, whose ids are in order: by one query where they `adjoin`, else by one each. */
export async function countsOfMany(
  store: StoreReader,
  kind: Grouping,
  ids: readonly string[],
  { asRange }: { asRange: boolean },
): Promise<Map<string, number>> {
  if (!asRange)
    return new Map(await Promise.all(ids.map(async (id) => [id, await countMembers(store, { kind, id })] as const)));
  const counts = new Map(ids.map((id) => [id, 0]));
  const sorted = [...ids].sort();
  if (sorted.length === 0) return counts;
  const range = { from: `${sorted[0]}#`, to: `${sorted.at(-1)}#~` };
  for (const { sk, n } of await allItems(store, {
    pk: keys.memberCounts(store.tenant, kind),
    ...range,
    eventual: true,
  })) {
    const id = sk.slice(0, sk.indexOf("#"));
    const cached = counts.get(id);
    if (cached !== undefined) counts.set(id, cached + Number(n));
  }
  return counts;
}

/** How many members there are by their rows: what the counters must say. */
export async function recountMembers(store: StoreReader, { kind, id }: Group): Promise<number> {
  let count = 0;
  for (const shard of SHARDS)
    for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
      const page = await memberShard(store, { kind, id }, shard, after, {});
      count += page.members.length;
      after = page.next;
    }
  return count;
}

/** Members of one shard in the order of their ids, after a given one. `next` is absent at the end. */
export async function memberShard(
  store: StoreReader,
  { kind, id }: Group,
  shard: string,
  after: string | undefined,
  options: { eventual?: boolean; limit?: number },
): Promise<{ members: Member[]; next: string | undefined }> {
  const pk = keys.members(store.tenant, kind, id, shard);
  const page = await store.query({ pk, ...options, ...(after !== undefined && { after: { pk, sk: after } }) });
  return {
    members: page.items.map(({ sk, entered_at }) => ({ subscriber: sk, entered_at: String(entered_at) })),
    next: page.next?.sk,
  };
}

/** Members of all shards in the order of their ids, `limit` of them. `next` is absent at the end. */
export async function memberPage(
  store: StoreReader,
  group: Group,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ members: Member[]; next?: string }> {
  const members: Member[] = [];
  let position = after;
  for (const shard of SHARDS.slice(after === undefined ? 0 : SHARDS.indexOf(shardOf(after)))) {
    do {
      const page = await memberShard(store, group, shard, position, { limit: limit - members.length });
      members.push(...page.members);
      position = page.next;
      if (members.length === limit) return { members, next: members.at(-1)!.subscriber };
    } while (position !== undefined);
  }
  return { members };
}
