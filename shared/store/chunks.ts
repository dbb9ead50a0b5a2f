// How an audience lies in the table: ranges cut into chunks of at most 100 candidates, each chunk an immutable
// snapshot that says where the next one begins. A chain has no gaps and no overlaps, whoever writes it (decision 7).
import { SECOND } from "../clock.ts";
import type { Store, StoreReader } from "../resources.ts";
import type { Judgement } from "../rules/audience.ts";
import { type Counts, NO_COUNTS } from "../rules/job-states.ts";
import { absent, all, any, below, is, present } from "./conditions.ts";
import { countChanges, type JobItem, jobOf } from "./jobs.ts";
import { keys } from "./keys.ts";
import type { Item } from "./model.ts";
import { refused, refusedSteps } from "./refusals.ts";

export const CHUNK_SIZE = 100;
/** A worker's time limit and 10 s: when it is over, nobody works on the group any more. */
export const LEASE_MS = 70 * SECOND;

export interface Recipient {
  subscriber: string;
  arm?: "a" | "b" | undefined;
}

export interface Chunk {
  recipients: Recipient[];
  heldOut: string[];
  skipped: Record<string, string[]>;
  /** Where the next chunk of the range begins; undefined at its end. */
  next: string | undefined;
  /** When its candidates were known to be alive, in milliseconds. */
  plannedAt: number;
}

/** Packs judged candidates; those the filters left out are no part of it. */
export function packChunk(
  judged: readonly { id: string; judgement: Judgement }[],
  next: string | undefined,
  plannedAt: number,
): Chunk {
  const chunk: Chunk = { recipients: [], heldOut: [], skipped: {}, next, plannedAt };
  for (const { id, judgement } of judged)
    if (judgement.verdict === "send") chunk.recipients.push({ subscriber: id, arm: judgement.arm });
    else if (judgement.verdict === "held_out") chunk.heldOut.push(id);
    else if (judgement.verdict === "skip") {
      chunk.skipped[judgement.reason] ??= [];
      chunk.skipped[judgement.reason]!.push(id);
    }
  return chunk;
}

export function chunkItem(store: Pick<Store, "tenant">, job: string, range: string, n: number, chunk: Chunk): Item {
  const { recipients, heldOut, skipped, next, plannedAt } = chunk;
  return {
    ...keys.chunk(store.tenant, job, range, n),
    at: plannedAt,
    to: recipients.map(({ subscriber, arm }) => (arm ? `${subscriber}:${arm}` : subscriber)).join(" "),
    ...(heldOut.length > 0 && { held: heldOut.join(" ") }),
    ...(Object.keys(skipped).length > 0 && { skipped: JSON.stringify(skipped) }),
    ...(next !== undefined && { next }),
  };
}

export function chunkOf(item: Item): Chunk {
  const words = (text: Item[string]) => (text ? String(text).split(" ") : []);
  return {
    recipients: words(item.to).map((word) => {
      const [subscriber, arm] = word.split(":");
      return { subscriber: subscriber!, arm: arm as "a" | "b" | undefined };
    }),
    heldOut: words(item.held),
    skipped: item.skipped ? JSON.parse(String(item.skipped)) : {},
    next: item.next as string | undefined,
    plannedAt: Number(item.at),
  };
}

/** Puts a chunk, or takes the one that somebody put there first. */
export async function settleChunk(store: Store, job: string, range: string, n: number, chunk: Chunk): Promise<Chunk> {
  return store.put(chunkItem(store, job, range, n, chunk), absent()).then(
    () => chunk,
    refused((old) => chunkOf(old!)),
  );
}

/** A chunk and the job it belongs to, in one request. */
export async function getChunk(
  store: StoreReader,
  job: string,
  range: string,
  n: number,
): Promise<{ job: JobItem; chunk: Chunk } | undefined> {
  const [whole, part] = await store.getAll([keys.job(store.tenant, job), keys.chunk(store.tenant, job, range, n)]);
  return whole && part && { job: jobOf(whole), chunk: chunkOf(part) };
}

export const sizeOf = ({ recipients, heldOut, skipped }: Chunk): Counts => {
  const skippedCount = Object.values(skipped).reduce((sum, ids) => sum + ids.length, 0);
  const sent = recipients.length;
  return {
    ...NO_COUNTS,
    total: sent + heldOut.length + skippedCount,
    sent,
    skipped: skippedCount,
    held_out: heldOut.length,
  };
};

export interface Claim {
  owner: string;
  /** When the chunk was first claimed: every repeat makes the same message ids of it. */
  at: number;
  /** Somebody claimed it before, and may have done a part of it. */
  repeats: boolean;
}

export type Claiming = { claim: Claim } | { closed: true } | { busyUntil: number };

/** Takes a chunk for the time of a lease. Somebody else's live claim is respected, a dead one is taken over. */
export function claimChunk(store: Store, job: string, range: string, n: number, owner: string): Promise<Claiming> {
  const now = store.clock.now();
  return store
    .update(
      keys.claim(store.tenant, job, range, n),
      { set: { owner, lease: now + LEASE_MS }, initial: { at: now } },
      all(absent("closed"), any(absent("owner"), is("owner", owner), below("lease", now))),
    )
    .then(
      ({ at }): Claiming => ({ claim: { owner, at: Number(at), repeats: Number(at) !== now } }),
      refused((old): Claiming => (old?.closed ? { closed: true } : { busyUntil: Number(old?.lease) })),
    );
}

/**
 * Closes a chunk into its range, once: both change together or not at all.
 * @returns false if somebody else closed it first.
 */
export function closeChunk(
  store: Store,
  job: string,
  range: string,
  n: number,
  { owner }: Claim,
  result: { counts: Counts; skip_reasons: Record<string, number> },
): Promise<boolean> {
  const added = countChanges(result.counts, result.skip_reasons);
  return store
    .transact([
      {
        update: keys.claim(store.tenant, job, range, n),
        change: { set: { closed: true }, add: added },
        when: all(is("owner", owner), absent("closed")),
      },
      {
        update: keys.range(store.tenant, job, range),
        change: { add: { ...added, chunks_closed: 1 } },
        when: absent("closed"),
      },
    ])
    .then(
      () => true,
      refusedSteps(() => false),
    );
}

export interface RangeState {
  /** Chunks known so far, and where planning goes on. */
  chunks: number;
  cursor: string | undefined;
  planned: boolean;
  chunksClosed: number;
  closed: boolean;
}

const rangeOf = (item: Item | undefined): RangeState => ({
  chunks: Number(item?.chunks ?? 0),
  cursor: item?.cursor as string | undefined,
  planned: item?.planned === true,
  chunksClosed: Number(item?.chunks_closed ?? 0),
  closed: item?.closed === true,
});

export async function getRange(store: StoreReader, job: string, range: string): Promise<RangeState> {
  return rangeOf(await store.get(keys.range(store.tenant, job, range)));
}

/** Notes how far a range is planned; a slower planner changes nothing. */
export async function notePlanned(
  store: Store,
  job: string,
  range: string,
  { chunks, cursor, planned }: Pick<RangeState, "chunks" | "cursor" | "planned">,
): Promise<RangeState> {
  const change = { set: { chunks, planned, ...(cursor !== undefined && { cursor }) } };
  return store
    .update(
      keys.range(store.tenant, job, range),
      change,
      all(absent("closed"), any(absent("chunks"), below("chunks", chunks), is("chunks", chunks))),
    )
    .then(rangeOf, refused(rangeOf));
}

export function rangeItem(store: Pick<Store, "tenant">, job: string, range: string, chunks: number): Item {
  return { ...keys.range(store.tenant, job, range), chunks, planned: true };
}

/**
 * Closes a range whose chunks are all closed into its job, once.
 * @returns whether to look if the job can end: this call closed the range, or it was closed before (by somebody who
 * may have stopped right after).
 */
export async function closeRange(store: Store, job: string, range: string): Promise<boolean> {
  const item = await store.get(keys.range(store.tenant, job, range));
  const state = rangeOf(item);
  if (state.closed) return true;
  if (!item || !isComplete(state)) return false;
  const added = Object.fromEntries(
    Object.entries(item).filter(([name]) => name.startsWith("n:") || name.startsWith("skip:")),
  ) as Record<string, number>;
  return store
    .transact([
      {
        update: keys.range(store.tenant, job, range),
        change: { set: { closed: true } },
        when: all(present(), absent("closed")),
      },
      {
        update: keys.job(store.tenant, job),
        change: { add: { ...added, ranges_closed: 1 } },
        when: is("status", "processing"),
      },
    ])
    .then(
      () => true,
      refusedSteps(() => false),
    );
}

/** All its chunks are known and closed. */
export const isComplete = ({ planned, chunks, chunksClosed }: RangeState): boolean => planned && chunksClosed >= chunks;
