// Members of static segments, packed in sorted leaves: some fifty in a row of 1 KB (docs/decisions/0057). A leaf holds
// the ids from its sort key up to the next leaf. It keeps its range, except that a split gives the upper part away.
import { timestamp } from "../../kernel/clock.ts";
import { uuidFrom } from "../../kernel/ids.ts";
import { byText } from "../../kernel/order.ts";
import { asRead } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { type ItemWrite, putItem, type RowOf } from "../item.ts";
import type { Key } from "../model.ts";
import { contended, done, transacted, untilUncontended } from "../refusals.ts";
import type { ReadOptions } from "../rows.ts";
import { shardOf } from "../shards.ts";
import { type GroupMember, MemberLeaf } from "./items.ts";
import { countWrite } from "./member-counts.ts";

/** With its key and its other attributes, a leaf of this size is at most 1 KB, the billed unit. */
const MAX_BYTES = 820;
const ID_BYTES = 16;
const TIME_BYTES = 6;
/** Added to the time of a member who entered by history: years that no clock shows. */
const BY_HISTORY = 2 ** 47;
/** How often a change starts again after another one came first. */
const MAX_ATTEMPTS = 10;
/** Members of a leaf that are expected where many leaves are read. */
const USUAL = 40;

type LeafRow = RowOf<typeof MemberLeaf>;

interface Leaf {
  /** Its sort key; the first leaf of a shard begins at the digit of the shard. */
  low: string;
  /** Where the next leaf begins; undefined: it is the last one of its shard. */
  high: string | undefined;
  /** When it was last changed; undefined: it is not stored yet. */
  at: number | undefined;
  /** In the order of their ids. */
  members: GroupMember[];
  /** The ids of people who left it by history with its last change. */
  left?: readonly string[] | undefined;
}

const packedTime = ({ entered_at, historical }: GroupMember): number =>
  Date.parse(entered_at) + (historical ? BY_HISTORY : 0);

/** The number of distinct times, the times, then of each member its id and the number of its time. */
function packMembers(members: readonly GroupMember[]): Uint8Array {
  const times = [...new Set(members.map(packedTime))];
  const bytes = Buffer.alloc(1 + times.length * TIME_BYTES + members.length * (ID_BYTES + 1));
  let end = bytes.writeUInt8(times.length);
  for (const time of times) end = bytes.writeUIntBE(time, end, TIME_BYTES);
  for (const member of members) {
    end += bytes.write(member.subscriber.replaceAll("-", ""), end, "hex");
    end = bytes.writeUInt8(times.indexOf(packedTime(member)), end);
  }
  return bytes;
}

/** The members that `packMembers` packed, in their order. */
export function unpackMembers(packed: Uint8Array): GroupMember[] {
  const bytes = Buffer.from(packed);
  const first = 1 + bytes.readUInt8() * TIME_BYTES;
  return Array.from({ length: (bytes.length - first) / (ID_BYTES + 1) }, (_, i) => {
    const begin = first + i * (ID_BYTES + 1);
    const time = bytes.readUIntBE(1 + bytes.readUInt8(begin + ID_BYTES) * TIME_BYTES, TIME_BYTES);
    const historical = time >= BY_HISTORY;
    return {
      subscriber: uuidFrom(bytes.subarray(begin, begin + ID_BYTES)),
      entered_at: timestamp(historical ? time - BY_HISTORY : time),
      ...(historical && { historical }),
    };
  });
}

const leafOf = ({ sk: low, high, at, members, left }: LeafRow): Leaf => {
  return { low, high, at, members: unpackMembers(members), left };
};

const covers = ({ low, high }: Pick<Leaf, "low" | "high">, id: string): boolean =>
  low <= id && (high === undefined || id < high);

/** The leaf that has an id or would have it; undefined if the shard never had a member. */
async function leafFor(
  store: StoreReader,
  segment: string,
  subscriber: string,
  options: ReadOptions = {},
): Promise<Leaf | undefined> {
  const range = { to: subscriber, newestFirst: true, limit: 1, ...options };
  const { items } = await store.query(MemberLeaf, { segment, shard: shardOf(subscriber) }, range);
  return items[0] && leafOf(items[0]);
}

/** A member of a segment, with when it entered; undefined if the subscriber is none. */
export async function leafMember(
  store: StoreReader,
  segment: string,
  subscriber: string,
  options: ReadOptions = {},
): Promise<GroupMember | undefined> {
  const leaf = await leafFor(store, segment, subscriber, options);
  return leaf?.members.find((member) => member.subscriber === subscriber);
}

/** When a subscriber entered a segment; undefined if it is no member. */
export const enteredLeaf = async (...whose: Parameters<typeof leafMember>): Promise<string | undefined> =>
  (await leafMember(...whose))?.entered_at;

/** The ids of a page: those after `after`, up to and with `until`. */
interface IdRange {
  shard: string;
  /** Empty at the beginning of the shard. */
  after: string;
  /** Undefined at the end of the shard. */
  until: string | undefined;
}

/** The leaves that have ids of a range, or would have them. The lowest is read first: a split moves members upwards. */
export async function leavesBetween(
  store: StoreReader,
  segment: string,
  { shard, after, until = "~" }: IdRange,
): Promise<Leaf[]> {
  const lowest = after === "" ? undefined : await leafFor(store, segment, after);
  const range = { from: lowest ? `${after}!` : shard, to: until };
  const rows = await store.queryAll(MemberLeaf, { segment, shard }, range);
  const leaves = [...(lowest ? [lowest] : []), ...rows.map(leafOf)];
  return leaves.length > 0 ? leaves : [{ low: shard, high: undefined, at: undefined, members: [] }];
}

interface LeafChange {
  leaf: Leaf;
  /** The new members of the leaf, in the order of the ids. */
  members: GroupMember[];
  /** Others are to enter it afterwards. */
  isPartial?: boolean;
  /** The ids of people who leave it by history. */
  left?: string[] | undefined;
}

/** The people that belong to a segment, when that was judged, and those that history moves (AMB-134). */
export interface Wanted {
  ids: ReadonlySet<string>;
  historical: ReadonlySet<string>;
  /** In milliseconds. */
  at: number;
}

/**
 * Brings the members with ids of a range in line with a set. Where some leave a leaf and others split it, they leave first:
 * the stream shows who left a leaf only below its new end.
 * @returns the changes, of leaves that differ
 */
export function leafChanges(
  leaves: readonly Leaf[],
  { after, until }: IdRange,
  { ids, historical, at }: Wanted,
): LeafChange[] {
  const isInRange = (id: string) => id > after && (until === undefined || id <= until);
  return leaves.flatMap((leaf) => {
    const kept = leaf.members.filter(({ subscriber: id }) => !isInRange(id) || ids.has(id));
    const there = new Set(kept.map(({ subscriber }) => subscriber));
    const entering = [...ids].filter((id) => covers(leaf, id) && !there.has(id));
    if (entering.length === 0 && kept.length === leaf.members.length) return [];
    const entered_at = timestamp(at);
    const byHistory = (id: string) => (historical.has(id) ? { historical: true as const } : {});
    const members = [...kept, ...entering.map((subscriber) => ({ subscriber, entered_at, ...byHistory(subscriber) }))];
    members.sort(byText(({ subscriber }) => subscriber));
    const isPartial = kept.length < leaf.members.length && inPieces(members).length > 1;
    const gone = leaf.members.filter(({ subscriber: id }) => !there.has(id) && historical.has(id));
    const left = gone.length > 0 ? gone.map(({ subscriber }) => subscriber) : undefined;
    return [{ leaf, members: isPartial ? kept : members, isPartial, left }];
  });
}

/** The time of a change of leaves: later than that of every earlier one. */
export const timeAfter = (leaves: readonly Leaf[], now: number): number =>
  Math.max(now, ...leaves.map(({ at = 0 }) => at + 1));

/**
 * The writes of changes in one shard, with its counter. Each is refused if its leaf was changed since it was read. A leaf
 * that is too large is split evenly.
 * @param forgets the leaving member was erased: no reaction follows
 */
export function leafWrites(
  segment: string,
  changes: readonly LeafChange[],
  at: number,
  forgets?: true,
): ItemWrite<"workspace">[] {
  const [first] = changes;
  if (!first) return [];
  const difference = changes.reduce((sum, { leaf, members }) => sum + members.length - leaf.members.length, 0);
  const shard = shardOf(first.leaf.low);
  const writes = changes.flatMap(({ leaf, members, left }) => {
    const pieces = inPieces(members);
    return pieces.map((piece, i) => {
      const low = i === 0 ? leaf.low : (piece[0]?.subscriber ?? "");
      const high = pieces[i + 1]?.[0]?.subscriber ?? leaf.high;
      const row = { react: "leaf" as const, at, high, members: packMembers(piece), forgets, left };
      const isAsRead = asRead("at", i > 0 ? undefined : leaf.at);
      return putItem(MemberLeaf, { segment, shard, low }, row, isAsRead);
    });
  });
  return [...writes, countWrite({ kind: "segment", id: segment }, shard, difference)];
}

function inPieces(members: readonly GroupMember[]): GroupMember[][] {
  for (let count = 1; ; count++) {
    const pieces = Array.from({ length: count }, (_, i) =>
      members.slice(Math.round((i * members.length) / count), Math.round(((i + 1) * members.length) / count)),
    );
    if (pieces.every((piece) => packMembers(piece).length <= MAX_BYTES)) return pieces;
  }
}

/** Removes an erased subscriber from a segment and its count, and from the ids of people who left it by history (SUB-9). @returns whether it was a member */
export async function forgetInLeaf(store: Store, segment: string, subscriber: string): Promise<boolean> {
  return untilUncontended(
    () => new Error(`The members of segment ${segment} changed ${MAX_ATTEMPTS} times while one was erased.`),
    async () => {
      const leaf = await leafFor(store, segment, subscriber);
      const members = leaf?.members.filter((member) => member.subscriber !== subscriber) ?? [];
      const isMember = members.length !== leaf?.members.length;
      if (!leaf || !(isMember || leaf.left?.includes(subscriber))) return done(false);
      const at = timeAfter([leaf], store.clock.now());
      const isForgotten = await transacted(store, leafWrites(segment, [{ leaf, members }], at, true));
      return isForgotten ? done(isMember) : contended;
    },
  );
}

export interface ShardPage {
  shard: string;
  /** The id of the last one of the page before. */
  after: string | undefined;
  limit?: number;
  eventual?: boolean;
}

/**
 * Members of one shard after a given one, in the order of their ids; undefined if it has no leaves. A leaf that is
 * split in the meantime is read twice in part.
 */
export async function leafShard(
  store: StoreReader,
  segment: string,
  { shard, after, limit = Number.POSITIVE_INFINITY, eventual = false }: ShardPage,
): Promise<{ members: GroupMember[]; next: string | undefined } | undefined> {
  const lowest = after === undefined ? undefined : await leafFor(store, segment, after, { eventual });
  if (after !== undefined && !lowest) return undefined;
  const members: GroupMember[] = [];
  const take = (page: readonly GroupMember[]) => {
    const last = members.at(-1)?.subscriber ?? after ?? "";
    members.push(...page.filter(({ subscriber }) => subscriber > last));
  };
  take(lowest?.members ?? []);
  const leaves = Number.isFinite(limit) && { limit: Math.ceil(limit / USUAL) };
  let isAny = lowest !== undefined;
  for (let from = lowest ? lowest.high : shard; from !== undefined && members.length <= limit; ) {
    const { items, next } = await store.query(MemberLeaf, { segment, shard }, { from, eventual, ...leaves });
    for (const row of items) take(unpackMembers(row.members));
    isAny ||= items.length > 0;
    from = next && `${next.sk}!`;
  }
  if (!isAny) return undefined;
  const shown = members.slice(0, limit);
  return { members: shown, next: members.length > limit ? shown.at(-1)?.subscriber : undefined };
}

export async function countLeaves(store: StoreReader, segment: string, shard: string): Promise<number> {
  const rows = await store.queryAll(MemberLeaf, { segment, shard });
  return rows.reduce((sum, { members }) => sum + unpackMembers(members).length, 0);
}

export const segmentOfLeaf = ({ pk }: Pick<Key, "pk">): string => pk.split("#").at(-2) ?? "";

interface Mover {
  subscriber: string;
  historical?: boolean | undefined;
}

/** The members who entered and left by a change of a leaf, without moves of members by a split, and without erasures. */
export function movesIn(
  before: Pick<LeafRow, "members"> | undefined,
  { at, high, members, forgets, left = [] }: Pick<LeafRow, "at" | "high" | "members" | "forgets" | "left">,
): { entered: Mover[]; left: Mover[]; at: string } {
  const after = unpackMembers(members);
  const there = new Set(after.map(({ subscriber }) => subscriber));
  const time = timestamp(at);
  return {
    entered: after.filter(({ entered_at }) => entered_at === time),
    left: (before && !forgets ? unpackMembers(before.members) : [])
      .filter(({ subscriber: id }) => !there.has(id) && (high === undefined || id < high))
      .map(({ subscriber }) => ({ subscriber, historical: left.includes(subscriber) || undefined })),
    at: time,
  };
}
