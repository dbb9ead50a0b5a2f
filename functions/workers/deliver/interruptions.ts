// What follows where a chunk cannot go on now: it is sent again later, or what ends the stop of its send does that.

import type { Message } from "../../../shared/contract/messages.ts";
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { progressOf } from "../../../shared/rules/progress-text.ts";
import type { ClaimState } from "../../../shared/store/sends/chunks/leases.ts";
import { abandonJob, type JobRecord } from "../../../shared/store/sends/jobs/jobs.ts";
import { resumeTimer, type SendState } from "../../../shared/store/sends/jobs/send-state.ts";
import { isSingleMessage } from "../../../shared/store/sends/jobs/single.ts";
import { MAX_DELAY_MS } from "./ledger.ts";
import type { WorkerContext } from "./rounds.ts";

/** By then its job is held. */
const PAUSED_RETRY_MS = MINUTE;

/**
 * The send may not go on. When it may again, all open chunks of its job are sent again: at the release of the job, or at
 * a timer. A job whose campaign is paused is about to be held.
 */
export async function stop(
  context: WorkerContext,
  message: Message<"deliver">,
  whole: JobRecord,
  sendState: SendState,
): Promise<void> {
  const { job, range, chunk } = message;
  const { store, clock, timers } = context;
  context.log({ level: "info", message: "a chunk was stopped", job, range, chunk, sendState });
  if (sendState === "deleted")
    return isSingleMessage(message) ? requeue(context, message, { delayMs: SECOND }) : abandonJob(store, job);
  if (sendState === "suspended") await timers.set([resumeTimer(whole, clock.now())]);
  if (sendState === "paused") await requeue(context, message, { delayMs: PAUSED_RETRY_MS });
}

/** Requeues the message. A wait longer than a queue's longest delay has a timer instead. */
export async function requeue(
  { deliverQueue: queue }: WorkerContext,
  message: Message<"deliver">,
  { delayMs }: { delayMs: number },
): Promise<void> {
  if (delayMs > MAX_DELAY_MS) return;
  await queue.send([message], { delaySeconds: Math.max(1, Math.ceil(delayMs / SECOND)) });
}

/** What a suspension holds until the end of quiet hours expires a day after it, in a round that sends nothing (AMB-86). */
export function waitsForMorning(sendState: SendState, claim: Pick<ClaimState, "progress"> | undefined): boolean {
  const { to, work = [], next } = progressOf(claim?.progress);
  return sendState === "suspended" && to === 0 && [...work, ...next].some(({ quiet }) => quiet !== undefined);
}
