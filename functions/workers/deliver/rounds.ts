// Works through a chunk in rounds of groups: rendered first, claimed, sent with nothing in between, then recorded.
import { type Clock, SECOND } from "../../../shared/kernel/clock.ts";
import type { Context, Deps } from "../../../shared/kernel/deps.ts";
import type { Ids } from "../../../shared/kernel/ids.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import type { providers } from "../../../shared/providers/providers.ts";
import type { sesAccount } from "../../../shared/providers/ses-account.ts";
import { type Addressee, endRound, groupEnd, newProgress, nextRound, unitsOf } from "../../../shared/rules/progress.ts";
import { progressOf, progressText } from "../../../shared/rules/progress-text.ts";
import type { deliverQueue } from "../../../shared/runtime/resources.ts";
import type { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import type { storeWrite } from "../../../shared/store/context.ts";
import type { mailLinks } from "../../../shared/store/mail-links.ts";
import type { Chunk } from "../../../shared/store/sends/chunks/chunks.ts";
import { advance, leaseOf, takeOver } from "../../../shared/store/sends/chunks/claims.ts";
import type { ClaimState, Lease } from "../../../shared/store/sends/chunks/leases.ts";
import type { Tally } from "../../../shared/store/sends/chunks/tallies.ts";
import type { Job } from "../../../shared/store/sends/jobs/jobs.ts";
import type { SendState } from "../../../shared/store/sends/jobs/send-state.ts";
import type { ChunkRef } from "../../../shared/store/sends/ledger/touches.ts";
import type { vaultOpening } from "../../../shared/store/vault.ts";
import { targetOf } from "./addresses.ts";
import { counting, createChunkWatch, keepCanaryFirst, noteRound, type sendFigures } from "./brake.ts";
import { claimCapped } from "./caps.ts";
import type { openedCredentials } from "./channel-credentials.ts";
import type { DeadAddresses } from "./dead-addresses.ts";
import { noteAnswers, type notedAnswers } from "./health.ts";
import { reachedBefore } from "./inboxes.ts";
import { createLedger, type Ledger, releaseChunk } from "./ledger.ts";
import { type foundRates, keepRate, nextGroup, slowThrottled, takeSlots } from "./pacing.ts";
import { createMessageBuilder, type Prepared } from "./prepare.ts";
import { recover } from "./recovery.ts";
import { type Assignments, beginRound, type LeasedProgress, timesOf } from "./round-start.ts";
import { askGate, confirmGate, type sendGates } from "./send-gates.ts";
import type { jointReads, KnownDevices } from "./single-reads.ts";
import { talliedBy } from "./tally.ts";
import { holdBack } from "./throttles.ts";
import { createWaitQueue } from "./wait-queue.ts";

type Uses = readonly [
  typeof storeWrite,
  typeof deliverQueue,
  typeof timers,
  typeof workspaceRead,
  typeof providers,
  typeof sesAccount,
  typeof vaultOpening,
  typeof mailLinks,
  typeof openedCredentials,
  typeof sendGates,
  typeof sendFigures,
  typeof foundRates,
  typeof notedAnswers,
  typeof jointReads,
];
export type WorkerContext = Context<Uses> & { clock: Clock; ids: Ids; log: Deps["log"] };

export interface ChunkState {
  job: Job;
  chunk: Chunk;
  /** The claim of the worker that had it before, if there was one. */
  claim: ClaimState | undefined;
  /** Devices of its recipients that were read with it. */
  devices?: KnownDevices;
}

/** No group begins after this much of a worker's minute. */
const WORKING_MS = 35 * SECOND;
/** How long a chunk whose send was stopped waits at least. */
const STOPPED_MS = SECOND;

const NOTHING_REPORTED = { deferred: 0, reported: {} };

/** @returns the tally of a finished chunk, or when to continue; beyond a queue's longest delay a timer is set. */
export async function processChunk(
  context: WorkerContext,
  chunkRef: ChunkRef,
  found: ChunkState,
  deadAddresses: DeadAddresses,
): Promise<Interrupted | { tally: Lease & { tally: Tally } }> {
  const { clock } = context;
  const addressees = addresseesOf(found.chunk);
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

export const addresseesOf = ({ recipients }: Chunk): Addressee[] =>
  recipients.map(({ targets, source }) => ({ targets, isSmart: source !== undefined }));

/** The chunk is not done: another message continues it, or what ends the send's stop. */
type Interrupted = { retryInMs: number } | { sendState: SendState };

export interface Work extends WorkerContext {
  chunkRef: ChunkRef;
  found: ChunkState;
  addressees: readonly Addressee[];
  deadAddresses: DeadAddresses;
  until: number;
}

/** Takes a chunk that no worker has, or whose worker has released it or stopped; of a stopped send, also before its time. */
export async function takeChunk(
  context: WorkerContext,
  chunkRef: ChunkRef,
  { job, chunk, claim }: ChunkState,
  addressees: readonly Addressee[],
  { isStopped = false } = {},
): Promise<LeasedProgress | { retryInMs: number }> {
  const { store, clock, ids } = context;
  const owner = ids.uuid();
  const first = { owner, step: 0, at: clock.now(), ...NOTHING_REPORTED };
  if (!claim) return { lease: first, progress: counting({ job }, newProgress()) };
  const now = clock.now();
  if (claim.lease >= now) return { retryInMs: claim.lease + 1 - now };
  const waiting = progressOf(claim.progress);
  const due = waiting.to === 0 && waiting.work ? Math.min(...waiting.work.map((unit) => unit.due)) : 0;
  if (due > now && !isStopped) return { retryInMs: due - now };
  const row = await takeOver(store, chunkRef, owner, claim);
  if (!row) return { retryInMs: SECOND };
  const lease = leaseOf(row);
  const progress = counting({ job }, progressOf(row.progress));
  await recover(context, chunkRef, { job, chunk }, { lease, progress }, addressees, { isStopped });
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
  const builder = createMessageBuilder(work, { job, chunkRef, chunk, ...timesOf(held) }, found.devices);
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
    const group = nextGroup(work, progress, units);
    const waitMs = await keepRate(work, progress, group);
    if (waitMs > 0) {
      await ledger.write();
      return releaseChunk(work, held, waitMs);
    }
    // A group that is refused anyway is handed to no provider.
    const isRefused = group.every(waiting.refusal);
    const sendState = isRefused ? "open" : await askGate(work, chunkRef.job);
    if (sendState !== "open") return stopRound(work, held, { ledger, assignments, sendState });
    const { prepared, write } = await builder.prepare(units, group, waiting);
    const confirmed = isRefused ? "open" : await confirmGate(work, chunkRef.job);
    if (confirmed !== "open") return stopRound(work, held, { ledger, assignments, sendState: confirmed });
    await write();
    Object.assign(progress, { from, to: from + group.length });
    const disclaim = () => Object.assign(progress, { from: before, to: from, capped: [] });
    const claimed = await claimGroup(work, held, prepared).catch((error) => {
      // No message of the group was sent.
      disclaim();
      throw error;
    });
    if (!claimed) return { retryInMs: SECOND };
    held.lease = claimed;
    // Nothing may come between the claim and the calls, unless the claim itself took long.
    const late = isRefused ? "open" : await confirmClaimed(work);
    if (late !== "open") {
      // The round goes on later as it is: inbox messages of the group may have been written in it.
      disclaim();
      await ledger.write();
      const released = await releaseChunk(work, held, STOPPED_MS);
      return late === undefined ? released : { sendState: late };
    }
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

/** Leaves what no group has claimed to the next round, which begins when the send goes on. */
async function stopRound(
  work: Work,
  held: LeasedProgress,
  { ledger, assignments, sendState }: { ledger: Ledger; assignments: Assignments; sendState: SendState },
): Promise<Interrupted> {
  const { addressees, clock, store, chunkRef, found } = work;
  await ledger.write();
  const { progress } = held;
  const units = unitsOf(progress, addressees);
  const group = units.slice(progress.to, groupEnd(units, progress.to));
  const inbox = group.filter((unit) => targetOf(found.chunk, unit).channel === "in_app");
  const reached = await reachedBefore(store, { ...found, chunkRef, ...timesOf(held) }, inbox);
  // Where a stopped worker has written messages of the group, another round would write them a second time.
  if (reached.size === 0) {
    endRound(progress, addressees, clock.now());
    await assignments.record();
    nextRound(progress, clock.now());
  }
  await releaseChunk(work, held, STOPPED_MS);
  return { sendState };
}

/** Asks again after a claim that took long. @returns undefined if that could not be read */
async function confirmClaimed(work: Work): Promise<SendState | undefined> {
  const { chunkRef, log } = work;
  return confirmGate(work, chunkRef.job).catch((error) => {
    log({ level: "warn", message: "a claimed group is given back", ...chunkRef, ...errorFields(error) });
    return undefined;
  });
}

/** @returns the lease after the claim; undefined if another worker has the chunk. */
async function claimGroup(work: Work, held: LeasedProgress, prepared: Prepared[]): Promise<Lease | undefined> {
  if (work.found.job.deliverySettings?.caps) return claimCapped(work, held, prepared);
  const claimed = await advance(work.store, work.chunkRef, held.lease, progressText(held.progress));
  return claimed && "owner" in claimed ? claimed : undefined;
}
