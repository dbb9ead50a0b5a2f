// The ledger rows of a round, and the release of its chunk with the known outcomes (docs/decisions/0013).
import { type Clock, MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import { elementAt } from "../../../shared/rules/element-at.ts";
import { mailboxProviderOf } from "../../../shared/rules/mailbox-providers.ts";
import { note } from "../../../shared/rules/progress.ts";
import { waitingFor } from "../../../shared/rules/progress-rounds.ts";
import { progressText } from "../../../shared/rules/progress-text.ts";
import type { ItemWrite } from "../../../shared/store/item.ts";
import { release } from "../../../shared/store/sends/chunks/claims.ts";
import { touchWrite } from "../../../shared/store/sends/ledger/touches.ts";
import { talliedBy } from "./tally.ts";
import { isThrottle, type LeasedChunk, recipientOf, type SentMessage, targetOf, timesOf, type Work } from "./work.ts";

/** The longest delay of a queue. */
export const MAX_DELAY_MS = 15 * MINUTE;
/** Ledger rows of one request. */
const BATCH = 25;
/** How long the worker still writes after the last group may begin: until ten seconds before its time is over. */
const WRITING_MS = 15 * SECOND;

export type Ledger = ReturnType<typeof createLedger>;

/** The ledger rows of a round, written in batches after the outcomes they record. */
export function createLedger(work: Work, leased: LeasedChunk) {
  const { store, chunkRef, chunk, addressees, clock, log } = work;
  const { progress } = leased;
  /** One place for each unit; undefined for a unit without a row. */
  let rows: (ItemWrite<"workspace"> | undefined)[] = [];
  let isHandedOver = false;

  const inTime = <T>(writing: Promise<T>): Promise<T> => before(clock, work.until + WRITING_MS, writing);

  /**
   * The claim, or else a message, carries the outcomes without their rows. The worker that continues writes the rows.
   */
  const keepOutcomes = async () => {
    const isGroupInProgress = progress.noted + progress.pending.length < progress.to;
    if (isGroupInProgress) return;
    try {
      await inTime(releaseChunk(work, leased, 0)).catch(async (error) => {
        log({ level: "warn", message: "outcomes are handed over", ...chunkRef, ...errorFields(error) });
        await handOver(work, leased);
        isHandedOver = true;
      });
      rows = [];
    } catch (error) {
      log({ level: "warn", message: "outcomes were not stored", ...chunkRef, ...errorFields(error) });
    }
  };
  const write = async (count: number) => {
    const written = rows.slice(0, count).filter((row) => row !== undefined);
    await inTime(store.writeAll(written)).catch(async (error) => {
      await keepOutcomes();
      throw error;
    });
    rows = rows.slice(count);
    progress.noted += count;
    progress.pending.splice(0, count);
  };

  return {
    note: ({ message: { unit, subscriber, address, claimedWith }, outcome }: SentMessage): void => {
      const { arm } = recipientOf(chunk, unit);
      const target = targetOf(chunk, unit);
      const addressee = elementAt(addressees, unit.recipient);
      const mailbox = address?.kind === "email" ? mailboxProviderOf(address.address) : undefined;
      const { tries, ...verdict } = note(progress, unit, addressee, { outcome, at: clock.now(), mailbox });
      progress.pending.push(verdict);
      // The inbox is its own ledger.
      const isInInbox = target.channel === "in_app" && verdict.state === "sent";
      const { providerId, isShortened } = outcome.kind === "accepted" ? outcome : {};
      const seen = outcome.kind === "skipped" ? outcome.seen : undefined;
      const isWaiting = isThrottle(outcome) && verdict.state === "retryable";
      const touch = { subscriber, target, arm, verdict, tries, providerId, isShortened, seen, claimedWith };
      rows.push(isInInbox || isWaiting ? undefined : touchWrite(timesOf(leased), chunkRef, touch));
    },
    write: () => write(rows.length),
    /** Whether a message carries the outcomes and continues the chunk. */
    isHandedOver: () => isHandedOver,
    writeFullBatches: async () => {
      if (rows.length >= BATCH) await write(rows.length - (rows.length % BATCH));
    },
  };
}

/** Waits until this time. @throws when it has come; the write goes on, and is not waited for */
async function before<T>(clock: Clock, time: number, writing: Promise<T>): Promise<T> {
  const done = new AbortController();
  // A provider may have taken until then. A table that accepts writes does so at once.
  const late = clock.sleep(Math.max(SECOND, time - clock.now()), done.signal).then(() => {
    throw new Error("The worker's time is over.");
  });
  try {
    return await Promise.race([writing, late]);
  } finally {
    done.abort();
    late.catch(() => undefined);
  }
}

/** Hands the outcomes to a queue if the table does not accept them; the message continues the chunk. */
const handOver = ({ deliverQueue, message }: Work, { lease: { step }, progress }: LeasedChunk): Promise<void> =>
  deliverQueue.send([{ ...message, outcomes: { step, progress: progressText(progress) } }]);

/** Releases the chunk with its progress. Beyond a queue's longest delay, a timer continues it. */
export async function releaseChunk(
  work: Work,
  { lease, progress }: LeasedChunk,
  ms: number,
): Promise<{ kind: "wait"; ms: number }> {
  const { store, timers, clock, chunkRef, job, chunk } = work;
  progress.from = progress.to;
  const waits = clock.now() + ms;
  if (ms > MAX_DELAY_MS) await timers.set([{ kind: "job-release", id: chunkRef.job, at: waits }]);
  const deferred = waitingFor(progress).size;
  const tally = talliedBy(chunk, progress);
  const { category } = job;
  const state = { chunkRef, lease, progress: progressText(progress) };
  await release(store, state, { waits, deferred, tally, category });
  return { kind: "wait", ms };
}
