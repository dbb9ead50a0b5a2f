// Works through a chunk in rounds of groups: rendered first, claimed, sent with nothing in between, then recorded.
import { type Clock, type Ids, MINUTE, SECOND } from "../../../shared/clock.ts";
import type { Context, Deps } from "../../../shared/deps.ts";
import { errorFields } from "../../../shared/log.ts";
import type { mailLinks } from "../../../shared/mail-links.ts";
import type { providers } from "../../../shared/providers/providers.ts";
import type { deliverQueue, storeWrite, timers, workspaceRead } from "../../../shared/resources.ts";
import { elementAt } from "../../../shared/rules/element-at.ts";
import {
  type Addressee,
  endRound,
  groupEnd,
  newProgress,
  nextRound,
  note,
  type SendOutcome,
  unitsOf,
  waitingFor,
} from "../../../shared/rules/progress.ts";
import { progressOf, progressText } from "../../../shared/rules/progress-text.ts";
import type { ItemWrite } from "../../../shared/store/item.ts";
import type { Chunk } from "../../../shared/store/sends/chunks.ts";
import { advance, leaseOf, release, takeOver } from "../../../shared/store/sends/claims.ts";
import type { Job } from "../../../shared/store/sends/jobs.ts";
import type { ClaimState, Lease } from "../../../shared/store/sends/leases.ts";
import type { Standing } from "../../../shared/store/sends/standing.ts";
import type { Tally } from "../../../shared/store/sends/tallies.ts";
import { type ChunkRef, touchWrite } from "../../../shared/store/sends/touches.ts";
import type { vaultOpening } from "../../../shared/vault.ts";
import { recipientOf, targetOf } from "./addresses.ts";
import { counting, createChunkWatch, keepCanaryFirst, noteRound, type sendFigures } from "./brake.ts";
import { claimCapped } from "./caps.ts";
import type { openedCredentials } from "./channel-credentials.ts";
import type { DeadAddresses } from "./dead-addresses.ts";
import { noteAnswers, type notedAnswers } from "./health.ts";
import { type foundRates, keepRate, slowThrottled, takeSlots } from "./pacing.ts";
import { createMessageBuilder, type Prepared } from "./prepare.ts";
import { recover } from "./recovery.ts";
import { beginRound, type LeasedProgress, timesOf } from "./round-start.ts";
import { askGate, type sendGates } from "./send-gates.ts";
import { talliedBy } from "./tally.ts";
import { holdBack, isThrottle } from "./throttles.ts";
import { createWaitQueue } from "./wait-queue.ts";

type Uses = readonly [
  typeof storeWrite,
  typeof deliverQueue,
  typeof timers,
  typeof workspaceRead,
  typeof providers,
  typeof vaultOpening,
  typeof mailLinks,
  typeof openedCredentials,
  typeof sendGates,
  typeof sendFigures,
  typeof foundRates,
  typeof notedAnswers,
];
export type WorkerContext = Context<Uses> & { clock: Clock; ids: Ids; log: Deps["log"] };

export interface ChunkState {
  job: Job;
  chunk: Chunk;
  /** The claim of the worker that had it before, if there was one. */
  claim: ClaimState | undefined;
}

/** No group begins after this much of a worker's minute. */
const WORKING_MS = 35 * SECOND;
/** How long a chunk whose send was stopped waits at least. */
const STOPPED_MS = SECOND;
/** The longest delay of a queue. */
export const MAX_DELAY_MS = 15 * MINUTE;
/** Ledger rows of one request. */
const BATCH = 25;

const NOTHING_REPORTED = { deferred: 0, reported: {} };

/** @returns the tally of a finished chunk, or when to continue; beyond a queue's longest delay a timer is set. */
export async function processChunk(
  context: WorkerContext,
  chunkRef: ChunkRef,
  found: ChunkState,
  deadAddresses: DeadAddresses,
): Promise<Interrupted | { tally: Lease & { tally: Tally } }> {
  const { clock } = context;
  const addressees = found.chunk.recipients.map(
    ({ targets, source }): Addressee => ({ targets, isSmart: source !== undefined }),
  );
  const taken = await takeChunk(context, chunkRef, found, addressees);
  if ("retryInMs" in taken) return taken;
  let held: LeasedProgress = taken;
  const work: Work = { ...context, chunkRef, found, addressees, deadAddresses, until: clock.now() + WORKING_MS };
  for (;;) {
    const worked = await workRound(work, held);
    if (!("lease" in worked)) return worked;
    held = worked;
    noteRound(found, held.progress);
    const begins = nextRound(held.progress, clock.now());
    if (begins === undefined) return { tally: { ...held.lease, tally: talliedBy(found, held.progress) } };
    if (begins > clock.now()) return releaseChunk(work, held, begins - clock.now());
  }
}

/** The chunk is not done: another message continues it, or what ends the send's stop. */
type Interrupted = { retryInMs: number } | { standing: Standing };

export interface Work extends WorkerContext {
  chunkRef: ChunkRef;
  found: ChunkState;
  addressees: readonly Addressee[];
  deadAddresses: DeadAddresses;
  until: number;
}

/** Takes a chunk that no worker has, or whose worker has released it or stopped. */
async function takeChunk(
  context: WorkerContext,
  chunkRef: ChunkRef,
  { job, chunk, claim }: ChunkState,
  addressees: readonly Addressee[],
): Promise<LeasedProgress | { retryInMs: number }> {
  const { store, clock, ids } = context;
  const owner = ids.uuid();
  const first = { owner, step: 0, at: clock.now(), ...NOTHING_REPORTED };
  if (!claim) return { lease: first, progress: counting({ job }, newProgress()) };
  const now = clock.now();
  if (claim.lease >= now) return { retryInMs: claim.lease + 1 - now };
  const waiting = progressOf(claim.progress);
  const due = waiting.to === 0 && waiting.work ? Math.min(...waiting.work.map((unit) => unit.due)) : 0;
  if (due > now) return { retryInMs: due - now };
  const row = await takeOver(store, chunkRef, owner, claim);
  if (!row) return { retryInMs: SECOND };
  const lease = leaseOf(row);
  const progress = counting({ job }, progressOf(row.progress));
  await recover(context, chunkRef, { job, chunk }, { lease, progress }, addressees);
  return { lease, progress };
}

/** Works through a round. When a request fails, the outcomes that are known by then are written first. */
async function workRound(work: Work, begun: LeasedProgress): Promise<LeasedProgress | Interrupted> {
  const held = { ...begun };
  const ledger = createLedger(work, held);
  try {
    return await workGroups(work, held, ledger);
  } catch (error) {
    await ledger.write();
    throw error;
  }
}

/** Sends one group after the other, until the round or the worker's time is over. `held` has the newest lease. */
async function workGroups(work: Work, held: LeasedProgress, ledger: Ledger): Promise<LeasedProgress | Interrupted> {
  const { chunkRef, found, addressees, clock, deadAddresses } = work;
  const { progress } = held;
  const { job, chunk } = found;
  const waiting = await createWaitQueue(work, progress);
  await keepCanaryFirst(work, progress, addressees);
  const watch = createChunkWatch(work);
  const slotAt = await takeSlots(work, progress, waiting);
  if (slotAt !== undefined) return releaseChunk(work, held, slotAt - clock.now());
  const assignments = await beginRound(work, held, waiting);
  if (!assignments) return { retryInMs: SECOND };
  const builder = createMessageBuilder(work, { job, chunkRef, chunk, ...timesOf(held) });
  for (;;) {
    waiting.putOff(progress);
    await assignments.record();
    const units = unitsOf(progress, addressees);
    if (progress.to >= units.length) break;
    if (clock.now() >= work.until) {
      await ledger.write();
      return releaseChunk(work, held, 0);
    }
    const { from: before, to: from } = progress;
    const group = units.slice(from, groupEnd(units, from));
    const waitMs = await keepRate(work, progress, group);
    if (waitMs > 0) {
      await ledger.write();
      return releaseChunk(work, held, waitMs);
    }
    // A group that is refused anyway is handed to no provider.
    const standing = group.every(waiting.refusal) ? "open" : await askGate(work, chunkRef.job);
    if (standing !== "open") {
      await ledger.write();
      endRound(progress, addressees, clock.now());
      await assignments.record();
      nextRound(progress, clock.now());
      await releaseChunk(work, held, STOPPED_MS);
      return { standing };
    }
    const prepared = await builder.prepare(units, group, waiting.refusal);
    Object.assign(progress, { from, to: from + group.length });
    const claimed = await claimGroup(work, held, prepared).catch((error) => {
      // No message of the group was sent.
      Object.assign(progress, { from: before, to: from, capped: [] });
      throw error;
    });
    if (!claimed) return { retryInMs: SECOND };
    held.lease = claimed;
    // Nothing may come between the claim and the calls.
    const sent = await Promise.all(prepared.map(async (message) => ({ message, outcome: await message.send() })));
    for (const { message, outcome } of sent) {
      ledger.note(message, outcome);
      deadAddresses.note(message, outcome);
      watch.note(message, outcome);
    }
    progress.capped = [];
    holdBack(work, progress, sent);
    await ledger.writeFullBatches();
    await slowThrottled(work, sent);
    await noteAnswers(work, sent);
    await watch.haltIfBad(work);
  }
  await ledger.write();
  return held;
}

/** @returns the lease after the claim; undefined if another worker has the chunk. */
async function claimGroup(work: Work, held: LeasedProgress, prepared: Prepared[]): Promise<Lease | undefined> {
  if (work.found.job.deliverySettings?.caps) return claimCapped(work, held, prepared);
  const claimed = await advance(work.store, work.chunkRef, held.lease, progressText(held.progress));
  return claimed && "owner" in claimed ? claimed : undefined;
}

type Ledger = ReturnType<typeof createLedger>;

/** The ledger rows of a round, written in batches after the outcomes they record. */
function createLedger(work: Work, held: LeasedProgress) {
  const { store, chunkRef, found, addressees, clock, log } = work;
  const { progress } = held;
  /** One place for each unit; undefined for one that has no row. */
  let rows: (ItemWrite<"workspace"> | undefined)[] = [];
  /** The claim carries the outcomes without their rows, and the worker that continues writes these. */
  const keepInClaim = async () => {
    const isGroupInProgress = progress.noted + progress.pending.length < progress.to;
    if (isGroupInProgress) return;
    await releaseChunk(work, held, 0).then(
      () => {
        rows = [];
      },
      (error) => log({ level: "warn", message: "outcomes were not stored", ...chunkRef, ...errorFields(error) }),
    );
  };
  const write = async (count: number) => {
    const written = rows.slice(0, count).filter((row) => row !== undefined);
    await store.writeAll(written).catch(async (error) => {
      await keepInClaim();
      throw error;
    });
    rows = rows.slice(count);
    progress.noted += count;
    progress.pending.splice(0, count);
  };

  return {
    note: ({ unit, subscriber }: Prepared, outcome: SendOutcome): void => {
      const { arm } = recipientOf(found.chunk, unit);
      const target = targetOf(found.chunk, unit);
      const addressee = elementAt(addressees, unit.recipient);
      const { tries, ...verdict } = note(progress, unit, addressee, outcome, clock.now());
      progress.pending.push(verdict);
      // The inbox is its own ledger.
      const isInInbox = target.channel === "in_app" && verdict.state === "sent";
      const providerId = outcome.status === "accepted" ? outcome.providerId : undefined;
      const seen = outcome.status === "skipped" ? outcome.seen : undefined;
      if (isThrottle(outcome) && verdict.state === "retryable") return void rows.push(undefined);
      const touch = { subscriber, target, arm, verdict, tries, providerId, seen };
      rows.push(isInInbox ? undefined : touchWrite(timesOf(held), chunkRef, touch));
    },
    write: () => write(rows.length),
    writeFullBatches: async () => {
      if (rows.length >= BATCH) await write(rows.length - (rows.length % BATCH));
    },
  };
}

/** Releases the chunk with its progress. Beyond a queue's longest delay, a timer continues it. */
async function releaseChunk(
  work: Work,
  { lease, progress }: LeasedProgress,
  ms: number,
): Promise<{ retryInMs: number }> {
  const { store, timers, clock, chunkRef, found } = work;
  progress.from = progress.to;
  const waits = clock.now() + ms;
  if (ms > MAX_DELAY_MS) await timers.set([{ kind: "job-release", id: chunkRef.job, at: waits }]);
  const deferred = waitingFor(progress).size;
  const tally = talliedBy(found, progress);
  await release(store, chunkRef, lease, progressText(progress), {
    waits,
    deferred,
    tally,
    category: found.job.category,
  });
  return { retryInMs: ms };
}
