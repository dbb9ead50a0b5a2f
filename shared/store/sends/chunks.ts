// How an audience lies in the table: ranges cut into chunks of at most 200 candidates, each chunk an immutable
// snapshot that says where the next one begins. A chain has no gaps and no overlaps, whoever writes it
// (docs/decisions/0002).
import { DAY, SECOND } from "../../clock.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { Judgement } from "../../rules/audience.ts";
import { NO_COUNTS } from "../../rules/job-states.ts";
import { classOf } from "../../rules/reach.ts";
import { absent, all, any, below, type Condition, is, lessThan } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import { type JobItem, jobOf } from "./jobs.ts";
import { packId, packRecipient, type Recipient, unpackId, unpackRecipient } from "./recipients.ts";
import { addends, beyond, NO_TALLY, type Tally } from "./tallies.ts";

/** Closing a chunk and finding its people cost the same for any size: at 200 a push stays within its budget. */
export const CHUNK_SIZE = 200;
/** A worker's time limit and 10 s: when it is over, nobody works on the group any more. */
export const LEASE_MS = 70 * SECOND;
/** How long it is kept who was skipped: no erasure finds them, for they have no other row. */
const SKIPPED_KEPT_MS = 30 * DAY;

export interface Chunk {
  recipients: Recipient[];
  heldOut: string[];
  /** How many were skipped, by reason. */
  skipped: Record<string, number>;
  /** Where the next chunk of the range begins; undefined at its end. */
  next: string | undefined;
  /** When its candidates were known to be alive, in milliseconds. */
  plannedAt: number;
}

/** A chunk as it is planned: with the ids of those who are skipped, which lie beside it. */
export interface PlannedChunk {
  chunk: Chunk;
  skippedIds: Record<string, string[]>;
}

/** Packs judged candidates; those the filters left out are no part of it. */
export function packChunk(
  judged: readonly { id: string; judgement: Judgement }[],
  next: string | undefined,
  plannedAt: number,
): PlannedChunk {
  const chunk: Chunk = { recipients: [], heldOut: [], skipped: {}, next, plannedAt };
  const skippedIds: Record<string, string[]> = {};
  for (const { id, judgement } of judged)
    if (judgement.verdict === "send") {
      const { verdict, ...how } = judgement;
      chunk.recipients.push({ subscriber: id, ...how });
    } else if (judgement.verdict === "held_out") chunk.heldOut.push(id);
    else if (judgement.verdict === "skip") {
      const { reason } = judgement;
      chunk.skipped[reason] = (chunk.skipped[reason] ?? 0) + 1;
      skippedIds[reason] ??= [];
      skippedIds[reason].push(id);
    }
  return { chunk, skippedIds };
}

export function chunkItems(
  store: Pick<Store, "tenant">,
  job: string,
  range: string,
  n: number,
  { chunk, skippedIds }: PlannedChunk,
): Item[] {
  const { recipients, heldOut, skipped, next, plannedAt } = chunk;
  const item: Item = {
    ...keys.chunk(store.tenant, job, range, n),
    at: plannedAt,
    to: recipients.map(packRecipient).join(" "),
    ...(heldOut.length > 0 && { held: heldOut.map(packId).join(" ") }),
    ...(Object.keys(skipped).length > 0 && { skipped: JSON.stringify(skipped) }),
    ...(next !== undefined && { next }),
  };
  if (Object.keys(skippedIds).length === 0) return [item];
  const expires = Math.ceil((plannedAt + SKIPPED_KEPT_MS) / SECOND);
  return [item, { ...keys.skipped(store.tenant, job, range, n), ids: JSON.stringify(skippedIds), expires }];
}

export function chunkOf(item: Item): Chunk {
  const words = (text: Item[string]) => (text ? String(text).split(" ") : []);
  return {
    recipients: words(item.to).map(unpackRecipient),
    heldOut: words(item.held).map(unpackId),
    skipped: item.skipped ? JSON.parse(String(item.skipped)) : {},
    next: item.next as string | undefined,
    plannedAt: Number(item.at),
  };
}

/** Puts a chunk, or takes the one that somebody put there first. */
export async function completeChunk(
  store: Store,
  job: string,
  range: string,
  n: number,
  planned: PlannedChunk,
): Promise<Chunk> {
  const [item, ...beside] = chunkItems(store, job, range, n, planned);
  if (beside.length === 0)
    return store.put(item!, absent()).then(
      () => planned.chunk,
      onConditionFailed((old) => chunkOf(old!)),
    );
  return store.transact([{ put: item!, when: absent() }, ...beside.map((put) => ({ put }))]).then(
    () => planned.chunk,
    onTransactionCanceled(([failure]) => chunkOf(failure!.old!)),
  );
}

/** A chunk, the job it belongs to and who works on it, in one request. */
export async function getChunk(
  store: StoreReader,
  job: string,
  range: string,
  n: number,
): Promise<{ job: JobItem; chunk: Chunk; claim: Item | undefined } | undefined> {
  const [whole, part, claim] = await store.getAll([
    keys.job(store.tenant, job),
    keys.chunk(store.tenant, job, range, n),
    keys.claim(store.tenant, job, range, n),
  ]);
  return whole && part && { job: jobOf(whole), chunk: chunkOf(part), claim };
}

/** What a chunk says of itself before anything was sent. */
export function tallyOfChunk({ recipients, heldOut, skipped }: Chunk): Tally {
  const skippedCount = Object.values(skipped).reduce((sum, n) => sum + n, 0);
  const sent = recipients.length;
  const chosen: Record<string, number> = {};
  let suppressed_devices = 0;
  for (const { targets, source } of recipients) {
    if (!source) continue;
    const first = classOf(targets[0]!.channel);
    chosen[`${first}:${source}`] = (chosen[`${first}:${source}`] ?? 0) + 1;
    suppressed_devices += targets.filter(({ channel, device }) => device && classOf(channel) !== first).length;
  }
  const rank_errors = recipients.filter(({ rankFailed }) => rankFailed).length;
  return {
    ...NO_TALLY,
    counts: {
      ...NO_COUNTS,
      total: sent + heldOut.length + skippedCount,
      sent,
      skipped: skippedCount,
      held_out: heldOut.length,
    },
    skip_reasons: skipped,
    arbitration: { ...NO_TALLY.arbitration, chosen, suppressed_devices, rank_errors },
  };
}

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
      onConditionFailed((old): Claiming => (old?.closed ? { closed: true } : { busyUntil: Number(old?.lease) })),
    );
}

interface Closing {
  owner: string;
  isFinal: boolean;
  /** Who waits, and what was counted of the chunk, as the range knows it so far. */
  deferred: number;
  reported: Record<string, number>;
}

/**
 * Closes a chunk into its range, once: both change together or not at all. `isFinal`: no chunk follows it in the range.
 * @returns whether the range may be complete with it, or was closed by others: nobody need look before.
 */
export async function closeChunk(
  store: Store,
  job: string,
  range: string,
  n: number,
  { owner, isFinal, deferred, reported }: Closing,
  tally: Tally,
): Promise<boolean> {
  const added = addends(tally);
  const rest = { ...beyond(added, reported), ...(deferred > 0 && { deferred: -deferred }) };
  const attempt = (when: Condition): Promise<"closed" | "refused"> =>
    store
      .transact([
        {
          update: keys.claim(store.tenant, job, range, n),
          change: { set: { closed: true }, add: added, remove: ["progress", "waits", "deferred", "told"] },
          when: all(is("owner", owner), absent("closed")),
        },
        {
          update: keys.range(store.tenant, job, range),
          change: { add: { ...rest, chunks_closed: 1 } },
          when,
        },
      ])
      .then(
        () => "closed" as const,
        onTransactionCanceled(() => "refused" as const),
      );
  if (!isFinal && (await attempt(all(absent("closed"), isNotLast))) === "closed") return false;
  await attempt(absent("closed"));
  return true;
}

/** Others will close after this chunk, or it is not known yet how many there are: then the planner looks. */
const isNotLast: Condition = any(absent("last"), lessThan("chunks_closed", "last"));
