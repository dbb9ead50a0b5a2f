// The sequence numbers of deliveries (AMB-124): from 1 for each endpoint, without gaps, in the order in which the rows of
// deliveries were written. The table's stream reports the rows of an endpoint in that order
// (docs/decisions/0026).
import { DAY, MINUTE, ttl } from "../../kernel/clock.ts";
import { timeOfUuid } from "../../kernel/ids.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { absent, is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import type { Key } from "../model.ts";
import { type Attempt, busy, contended, done, happened, untilUncontended, whereItHolds } from "../refusals.ts";
import { pagesOf } from "../table.ts";
import { SequenceBlock, type SequenceBlockRow } from "./delivery-items.ts";

/** Deliveries of one queue message at most, and of one block. */
export const MAX_GROUP = 20;
const KEPT_MS = 31 * DAY;
/** A new delivery is held so long for its first attempt. */
export const FIRST_LEASE_MS = 5 * MINUTE;
/** After it, a delivery without a number may have been numbered by the watchdog's message instead of the stream's. */
export const STREAM_MS = 10 * MINUTE;
const CLOCK_TOLERANCE_MS = MINUTE;
const SCAN_PAGE = 100;

/** Deliveries that share a queue message: the number of the first, and all in order. */
interface Group {
  first: number;
  ids: readonly string[];
}

/** A block as it is written and read, without its key. */
type Block = Omit<SequenceBlockRow, "pk" | "sk">;

/** A delivery that the stream reports, and its place in the stream. */
interface AcceptedDelivery {
  id: string;
  acceptedAt: number;
  position: string;
}

interface DeliveryTime {
  id: string;
  lease?: number | undefined;
}

const numberedByOthers = busy.transient("The deliveries of a webhook endpoint are being numbered by others.");

/** When a delivery was accepted, as far as its row tells: until the first claim the lease was set then. */
export const acceptedAt = ({ id, lease }: DeliveryTime): number =>
  lease === undefined ? timeOfUuid(id) : lease - FIRST_LEASE_MS;

/**
 * Numbers deliveries that the stream reports, in its order.
 * @returns the groups that they belong to. A group that was made before is returned as it was made.
 */
export async function numberAccepted(
  store: Store,
  webhook: string,
  stream: string,
  accepted: readonly AcceptedDelivery[],
): Promise<Group[]> {
  return untilUncontended(numberedByOthers, async () => {
    const tail = await newestBlock(store, webhook);
    const now = store.clock.now();
    const mayBeNumbered = accepted.filter(
      (delivery) => isBehind(tail, stream, delivery.position) || delivery.acceptedAt < now - STREAM_MS,
    );
    const groups = await groupsOf(store, webhook, mayBeNumbered);
    const numbered = new Set(groups.flatMap(({ ids }) => ids));
    const fresh = accepted.filter(({ id }) => !numbered.has(id));
    const made = await append(store, webhook, { tail, stream, fresh });
    return made.kind === "done" ? done([...groups, ...made.value]) : contended;
  });
}

/** Numbers a delivery that the stream did not report in time. @returns its number. */
export async function numberLate(store: Store, webhook: string, row: DeliveryTime): Promise<number> {
  const delivery = { id: row.id, acceptedAt: acceptedAt(row), position: "" };
  return untilUncontended(numberedByOthers, async () => {
    const tail = await newestBlock(store, webhook);
    const found = (await sequencesOf(store, webhook, [delivery])).get(row.id);
    if (found !== undefined) return done(found);
    const made = await appendGroup(store, webhook, { tail, stream: tail?.stream ?? "", fresh: [delivery] });
    return made.kind === "done" ? done(lastGroupOf(made.value)) : contended;
  });
}

/** The numbers of deliveries, as far as they are numbered, read from the blocks. */
export async function sequencesOf(
  store: StoreReader,
  webhook: string,
  deliveries: readonly Pick<AcceptedDelivery, "id" | "acceptedAt">[],
): Promise<Map<string, number>> {
  const numbers = new Map<string, number>();
  for await (const block of blocksSince(store, webhook, deliveries)) {
    const wanted = new Set(deliveries.map(({ id }) => id));
    for (const [i, id] of block.ids.entries()) if (wanted.has(id)) numbers.set(id, block.first + i);
    if (numbers.size === wanted.size) break;
  }
  return numbers;
}

export async function groupsOf(
  store: StoreReader,
  webhook: string,
  deliveries: readonly Pick<AcceptedDelivery, "id" | "acceptedAt">[],
): Promise<Group[]> {
  const missing = new Set(deliveries.map(({ id }) => id));
  const groups: Group[] = [];
  for await (const block of blocksSince(store, webhook, deliveries)) {
    for (const group of groupsIn(block)) {
      if (!group.ids.some((id) => missing.delete(id))) continue;
      for (const id of group.ids) missing.delete(id);
      groups.unshift(group);
    }
    if (missing.size === 0) break;
  }
  return groups;
}

/** Blocks that may hold some deliveries, newest first. */
async function* blocksSince(
  store: StoreReader,
  webhook: string,
  deliveries: readonly Pick<AcceptedDelivery, "acceptedAt">[],
): AsyncGenerator<SequenceBlockRow> {
  if (deliveries.length === 0) return;
  const since = Math.min(...deliveries.map((delivery) => delivery.acceptedAt)) - CLOCK_TOLERANCE_MS;
  const range = { newestFirst: true, limit: SCAN_PAGE };
  for await (const { items } of pagesOf((after?: Key) => store.query(SequenceBlock, { webhook }, { ...range, after })))
    for (const block of items) {
      if (block.at < since) return;
      yield block;
    }
}

const newestBlock = async (store: StoreReader, webhook: string): Promise<SequenceBlockRow | undefined> =>
  (await store.query(SequenceBlock, { webhook }, { newestFirst: true, limit: 1 })).items[0];

const groupsIn = ({ first, ids, starts }: SequenceBlockRow): Group[] =>
  starts.map((start, i) => ({ first: first + start, ids: ids.slice(start, starts[i + 1]) }));

const isBehind = (tail: Block | undefined, stream: string, position: string): boolean =>
  tail !== undefined && tail.stream === stream && tail.position !== "" && BigInt(position) <= BigInt(tail.position);

/** The place up to which deliveries are numbered after an addition. */
const furthest = (tail: Block | undefined, stream: string, position: string): string =>
  tail && (position === "" || isBehind(tail, stream, position)) ? tail.position : position;

interface Addition {
  /** The newest block. */
  tail: Block | undefined;
  stream: string;
  fresh: readonly AcceptedDelivery[];
  /** Another group comes at once: a block that is full is then ended as it is made. */
  isFollowed?: boolean;
}

/** Adds deliveries after the newest block; contended where another writer added some since it was read. */
async function append(store: Store, webhook: string, { tail, stream, fresh }: Addition): Promise<Attempt<Group[]>> {
  const groups: Group[] = [];
  let newest = tail;
  const chunks = chunksOf(fresh, MAX_GROUP);
  for (const [i, chunk] of chunks.entries()) {
    const isFollowed = i < chunks.length - 1;
    const written = await appendGroup(store, webhook, { tail: newest, stream, fresh: chunk, isFollowed });
    if (written.kind === "contended") return contended;
    newest = written.value;
    groups.push({ first: lastGroupOf(newest), ids: chunk.map(({ id }) => id) });
  }
  return done(groups);
}

/** The number of the first delivery of the group that was added last. */
const lastGroupOf = ({ first, starts }: Block): number => first + (starts.at(-1) ?? 0);

/** @returns the block that the group is in, a new one where the tail is full */
async function appendGroup(
  store: Store,
  webhook: string,
  { tail, stream, fresh, isFollowed = false }: Addition,
): Promise<Attempt<Block>> {
  const now = store.clock.now();
  const ids = fresh.map(({ id }) => id);
  const place = { at: now, stream, position: furthest(tail, stream, fresh.at(-1)?.position ?? "") };
  const isFull = tail !== undefined && tail.n + ids.length > MAX_GROUP;
  if (tail && !isFull) {
    const set = { ...place, ids: [...tail.ids, ...ids], starts: [...tail.starts, tail.n], n: tail.n + ids.length };
    const change = { set, remove: ["expires"] as const };
    const changed = await whereItHolds(
      store.change(SequenceBlock, { webhook, first: tail.first }, change, is("n", tail.n)),
    );
    return changed ? done(changed) : contended;
  }
  const first = tail ? tail.first + tail.n : 1;
  const expires = ttl(now + KEPT_MS);
  const isEnded = isFollowed && ids.length === MAX_GROUP;
  const row = { ...place, first, ids, starts: [0], n: ids.length, ...(isEnded && { expires }) };
  // A full block is never extended, so no other worker can number beside it.
  const isTailEnded = tail?.n === MAX_GROUP && tail.expires !== undefined;
  if (tail && !isTailEnded) {
    const isStillNewest = await happened(
      store.change(SequenceBlock, { webhook, first: tail.first }, { set: { expires } }, is("n", tail.n)),
    );
    if (!isStillNewest) return contended;
  }
  const isMade = await happened(store.put(SequenceBlock, { webhook, first }, row, absent()));
  return isMade ? done(row) : contended;
}
