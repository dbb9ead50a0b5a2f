// Delivers chunks of recipients: each is read, decided, delivered or wound up, then acknowledged (docs/sends.md,
// docs/decisions/0013).
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { throwFailures } from "../../../shared/kernel/failures.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import { progressOf } from "../../../shared/rules/progress-text.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { closeChunks } from "../../../shared/store/sends/chunks/closing.ts";
import { isOnJob } from "../../../shared/store/sends/chunks/range-names.ts";
import { completeRange, countStopped, settleStopped } from "../../../shared/store/sends/chunks/ranges.ts";
import { abandonJob } from "../../../shared/store/sends/jobs/jobs.ts";
import { resumeTimer, type SendState } from "../../../shared/store/sends/jobs/send-state.ts";
import { suppressAddress } from "../../../shared/store/subscribers/addresses.ts";
import { markInvalid } from "../../../shared/store/subscribers/devices.ts";
import { waitOfChunk } from "./brake.ts";
import { deliverInbox } from "./deliver-inbox.ts";
import { MAX_DELAY_MS } from "./ledger.ts";
import { readChunk, readSingles } from "./read.ts";
import { deliverByProviders } from "./rounds.ts";
import { firstGate } from "./send-gates.ts";
import { windUp } from "./wind-up.ts";
import {
  type End,
  isInbox,
  isSingle,
  type PreparedMessage,
  uses,
  type Verdict,
  type Work,
  type WorkerContext,
} from "./work.ts";

/** By this time the job of a paused campaign is held. */
const PAUSED_RETRY_MS = MINUTE;

export const deliverMessages = queueWorker(
  "deliver",
  "Delivers one chunk of recipients.",
  uses,
  async (message, context) => deliverAll(context, await readChunk(context, message)),
  {
    takes: isOnJob,
    perform: async (messages, context) => {
      const { works, unread } = await readSingles(context, messages);
      await deliverAll(context, works);
      throwFailures(unread);
    },
  },
);

async function deliverAll(context: WorkerContext, works: readonly Work[]): Promise<void> {
  // Inboxes do not wait for providers.
  const groups = [...Map.groupBy(works, isInbox).values()];
  const started = context.clock.now();
  try {
    throwFailures(await Promise.allSettled(groups.map((group) => deliverTogether(context, group))));
  } finally {
    for (const work of works) await markDeadAddresses(work, started);
  }
}

/** Acknowledges together the chunks that were delivered together. @throws the failures, after that */
async function deliverTogether(context: WorkerContext, works: readonly Work[]): Promise<void> {
  const settled = await Promise.allSettled(works.map(async (work) => ({ work, end: await endOf(work) })));
  const ended = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  await acknowledge(context, ended);
  throwFailures(settled);
}

async function endOf(work: Work): Promise<End> {
  const verdict = await decide(work);
  switch (verdict.kind) {
    case "deliver":
      return isInbox(work) ? deliverInbox(work) : deliverByProviders(work);
    case "wind up":
      return windUp(work);
    default:
      return verdict;
  }
}

async function decide(work: Work): Promise<Verdict> {
  const { job, claim } = work;
  const isStopped = job.status === "canceled";
  if (!isStopped && job.status !== "processing" && !isSingle(work)) return { kind: "drop" };
  if (claim?.closed) return { kind: "closed" };
  if (isStopped) return { kind: "wind up" };

  const sendState = await firstGate(work);
  if (sendState === "deleted" && isSingle(work)) return { kind: "wind up" };
  if (sendState !== "open" && !waitsForMorning(work, sendState)) return { kind: "stop", sendState };

  const ms = await waitOfChunk(work);
  return ms > 0 ? { kind: "wait", ms } : { kind: "deliver" };
}

/**
 * A message that a suspension holds until the end of quiet hours expires a day after it, in a round that sends nothing
 * (AMB-86).
 */
function waitsForMorning({ claim }: Work, sendState: SendState): boolean {
  const { to, work = [], next } = progressOf(claim?.progress);
  return sendState === "suspended" && to === 0 && [...work, ...next].some(({ quiet }) => quiet !== undefined);
}

async function acknowledge({ store }: WorkerContext, ended: readonly { work: Work; end: End }[]): Promise<void> {
  const closings = ended.flatMap(({ end }) => (end.kind === "close" ? [end.closing] : []));
  const mayBeLast = await closeChunks(store, closings);
  const settled = ended.map(async ({ work, end }) => {
    switch (end.kind) {
      case "close":
        return settleRange(work, { mayBeLast: mayBeLast.has(end.closing) });
      case "closed":
        return settleRange(work, { mayBeLast: true });
      case "wait":
        return requeue(work, end.ms);
      case "stop":
        return stop(work, end.sendState);
      case "handed over":
        return undefined;
      case "drop":
        return work.log({ level: "info", message: "a chunk was dropped", status: work.job.status, ...work.chunkRef });
    }
  });
  throwFailures(await Promise.allSettled(settled));
}

/**
 * A chunk is closed, so its range may be complete. The range of a stopped send never is, so the chunk is counted by
 * itself.
 */
async function settleRange(work: Work, { mayBeLast }: { mayBeLast: boolean }): Promise<void> {
  const { store, job, chunkRef } = work;
  if (isSingle(work)) return;
  if (job.status === "canceled") {
    await countStopped(store, job, chunkRef.range);
    if (mayBeLast) await settleStopped(store, job.id);
  } else if (mayBeLast) await completeRange(store, job, chunkRef.range);
}

/**
 * The send may not go on now. When it may, all open chunks of its job are sent again: at the release of the job, or at
 * a timer. A job whose campaign is paused is about to be held.
 */
async function stop(work: Work, sendState: SendState): Promise<void> {
  const { store, clock, timers, log, job, chunkRef } = work;
  log({ level: "info", message: "a chunk was stopped", ...chunkRef, sendState });
  switch (sendState) {
    case "deleted":
      return isSingle(work) ? requeue(work, SECOND) : abandonJob(store, job.id);
    case "suspended":
      return timers.set([resumeTimer(job, clock.now())]);
    case "paused":
      return requeue(work, PAUSED_RETRY_MS);
  }
}

/** Sends the message again. A wait longer than a queue's longest delay has a timer instead. */
async function requeue({ deliverQueue, message }: Work, ms: number): Promise<void> {
  if (ms > MAX_DELAY_MS) return;
  await deliverQueue.send([message], { delaySeconds: Math.max(1, Math.ceil(ms / SECOND)) });
}

// Addresses that their provider reported dead. They are marked last, so that no outcome depends on it: the next send
// reports an address again that could not be marked.

/** Marking stops after this much of a worker's minute: other chunks of the same invocation may be in progress. */
const MARKING_MS = 45 * SECOND;

/**
 * Marks the addresses of a chunk, so that they are not used again. It never throws.
 * @param started when the worker started
 */
async function markDeadAddresses(work: Work, started: number): Promise<void> {
  const { log, chunkRef, dead } = work;
  for (const message of dead)
    await markOne(work, message, started + MARKING_MS).catch((error) => {
      const { subscriber, channel, device } = message;
      const whose = { ...chunkRef, subscriber, channel, device: device?.id };
      log({ level: "warn", message: "a dead address was not marked", ...whose, ...errorFields(error) });
    });
}

async function markOne({ store, clock }: Work, { device, address }: PreparedMessage, until: number): Promise<void> {
  if (clock.now() >= until) throw new Error("The worker's time is over.");
  if (device) await markInvalid(store, device);
  if (address) await suppressAddress(store, { ...address, reason: "bounce", source: "provider" });
}
