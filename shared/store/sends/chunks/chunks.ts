// How an audience is stored: ranges cut into chunks of at most 200 candidates. Each chunk is an immutable snapshot that
// says where the next one begins, so that the chain has no gaps and no overlaps even when several planners write it
// (docs/decisions/0002).
import { DAY, ttl } from "../../../kernel/clock.ts";
import { packId, unpackId } from "../../../kernel/ids.ts";
import type { Judgement } from "../../../rules/audience.ts";
import { classOf } from "../../../rules/channel-types.ts";
import { numberOfEach } from "../../../rules/counting.ts";
import { absent } from "../../conditions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { type ItemWrite, type NewRowOf, putItem, type RowOf, ref } from "../../item.ts";
import { fromJson, toJson } from "../../json-text.ts";
import { failuresOf, oldRow, onConditionFailed } from "../../refusals.ts";
import type { LivingProfile } from "../../subscribers/subscribers.ts";
import { ChunkItem, ClaimItem, SkippedIds } from "../audience/audience-items.ts";
import { type ExtraReads, NO_EXTRA_READS, readsOfLong, sumOfReads } from "../audience/extra-reads.ts";
import { withContent } from "../jobs/job-content.ts";
import { JobItem } from "../jobs/job-items.ts";
import type { Job } from "../jobs/job-record.ts";
import { jobOf } from "../jobs/jobs.ts";
import type { ChunkRef } from "../ledger/touches.ts";
import { packRecipients, type Recipient, unpackRecipients } from "./recipients.ts";
import { NO_COUNTS, NO_TALLY, type Tally } from "./tallies.ts";

/** Closing a chunk and reading its subscribers cost the same for any size: at 200 a push stays within its budget. */
export const CHUNK_SIZE = 200;
/** How long the ids of skipped recipients are kept: they have no other row by which an erasure could find them. */
export const SKIPPED_KEPT_MS = 30 * DAY;

export interface Chunk {
  recipients: Recipient[];
  heldOut: string[];
  /** How many were skipped, by reason. */
  skipped: Record<string, number>;
  /** Where the next chunk of the range begins; undefined at its end. */
  next: string | undefined;
  /** When its candidates were known to exist, in milliseconds. */
  plannedAt: number;
  /** The cost of reading its candidates beyond the rates of recipients. */
  extra?: ExtraReads | undefined;
}

/** A chunk as it is planned: with the ids of its skipped recipients, which are stored in an item of their own. */
export interface PlannedChunk {
  chunk: Chunk;
  skippedIds: Record<string, string[]>;
}

/** Packs judged candidates. @param ofExcluded the reads of candidates that the filters exclude */
export function packChunk(
  judged: readonly { id: string; judgement: Judgement; profile?: LivingProfile | undefined }[],
  { next, plannedAt, ofExcluded = NO_EXTRA_READS }: Pick<Chunk, "next" | "plannedAt"> & { ofExcluded?: ExtraReads },
): PlannedChunk {
  const extra = sumOfReads(readsOfLong(judged), ofExcluded);
  const chunk: Chunk = { recipients: [], heldOut: [], skipped: {}, next, plannedAt };
  if (extra.pages > 0) chunk.extra = extra;
  const skippedIds: Record<string, string[]> = {};
  for (const { id, judgement } of judged)
    if (judgement.kind === "send") {
      const { kind: verdict, ...how } = judgement;
      chunk.recipients.push({ subscriber: id, ...how });
    } else if (judgement.kind === "held_out") chunk.heldOut.push(id);
    else if (judgement.kind === "skip") {
      const { reason } = judgement;
      chunk.skipped[reason] = (chunk.skipped[reason] ?? 0) + 1;
      skippedIds[reason] ??= [];
      skippedIds[reason].push(id);
    }
  return { chunk, skippedIds };
}

const chunkRow = ({ recipients, heldOut, skipped, next, plannedAt, extra }: Chunk): NewRowOf<typeof ChunkItem> => ({
  planned_at: plannedAt,
  recipients: packRecipients(recipients),
  held_out: heldOut.length > 0 ? heldOut.map(packId).join(" ") : undefined,
  skipped: Object.keys(skipped).length > 0 ? toJson(skipped) : undefined,
  next,
  extra: extra && toJson(extra),
});

/** The write of the ids that a chunk skips, if there are any. */
function skippedWrites(key: ChunkRef, { chunk, skippedIds }: PlannedChunk): ItemWrite<"workspace">[] {
  if (Object.keys(skippedIds).length === 0) return [];
  const expires = ttl(chunk.plannedAt + SKIPPED_KEPT_MS);
  return [putItem(SkippedIds, key, { ids: toJson(skippedIds), expires })];
}

export const chunkWrites = (key: ChunkRef, planned: PlannedChunk): ItemWrite<"workspace">[] => [
  putItem(ChunkItem, key, chunkRow(planned.chunk)),
  ...skippedWrites(key, planned),
];

export const chunkOf = (row: RowOf<typeof ChunkItem>): Chunk => ({
  recipients: unpackRecipients(row.recipients),
  heldOut: wordsIn(row.held_out).map(unpackId),
  skipped: row.skipped ? fromJson(row.skipped) : {},
  next: row.next,
  plannedAt: row.planned_at,
  ...(row.extra !== undefined && { extra: fromJson(row.extra) }),
});

const wordsIn = (text: string | undefined): string[] => (text ? text.split(" ") : []);

/** Puts a chunk, or returns the one that another planner put there first. */
export async function completeChunk(store: Store, key: ChunkRef, planned: PlannedChunk): Promise<Chunk> {
  const { chunk } = planned;
  const row = chunkRow(chunk);
  const skipped = skippedWrites(key, planned);
  if (skipped.length === 0)
    return store.put(ChunkItem, key, row, absent()).then(
      () => chunk,
      onConditionFailed(ChunkItem, (old) => (old ? chunkOf(old) : chunk)),
    );
  const [failure] = await failuresOf(store, [putItem(ChunkItem, key, row, absent()), ...skipped]);
  const old = oldRow(ChunkItem, failure);
  return old ? chunkOf(old) : chunk;
}

/** A chunk, the job it belongs to and the worker that has it, in one request. */
export async function getChunk(
  store: StoreReader,
  key: ChunkRef,
): Promise<{ job: Job; chunk: Chunk; claim: RowOf<typeof ClaimItem> | undefined } | undefined> {
  const [whole, part, claim] = await store.getEach([ref(JobItem, key), ref(ChunkItem, key), ref(ClaimItem, key)]);
  return whole && part && { job: await withContent(store, jobOf(whole)), chunk: chunkOf(part), claim };
}

const skippedIn = ({ skipped }: Chunk): number => Object.values(skipped).reduce((sum, n) => sum + n, 0);

/** The number of people in a chunk, including held-out and skipped ones. */
export const peopleIn = (chunk: Chunk): number => chunk.recipients.length + chunk.heldOut.length + skippedIn(chunk);

/** How many recipients of a chunk are in each arm. @param isReached by their place in the chunk */
export function byArm({ recipients }: Chunk, isReached: (recipient: Recipient, n: number) => boolean) {
  return numberOfEach(
    recipients.flatMap((recipient, n) => (recipient.arm && isReached(recipient, n) ? [recipient.arm] : [])),
  );
}

/** The tally of a chunk before anything was sent. */
export function tallyOfChunk(chunk: Chunk): Tally {
  const { recipients, heldOut, skipped } = chunk;
  const sent = recipients.length;
  const chosen: Record<string, number> = {};
  let suppressed_devices = 0;
  for (const { targets, source } of recipients) {
    const [target] = targets;
    if (!source || !target) continue;
    const first = classOf(target.channel);
    chosen[`${first}:${source}`] = (chosen[`${first}:${source}`] ?? 0) + 1;
    suppressed_devices += targets.filter(({ channel, device }) => device && classOf(channel) !== first).length;
  }
  const rank_errors = recipients.filter(({ rankFailed }) => rankFailed).length;
  return {
    ...NO_TALLY,
    counts: {
      ...NO_COUNTS,
      total: peopleIn(chunk),
      sent,
      skipped: skippedIn(chunk),
      held_out: heldOut.length,
    },
    skip_reasons: skipped,
    extra: chunk.extra ?? NO_EXTRA_READS,
    arbitration: { ...NO_TALLY.arbitration, chosen, suppressed_devices, rank_errors },
  };
}
