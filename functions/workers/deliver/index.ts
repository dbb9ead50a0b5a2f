// Delivers one chunk of recipients through the providers: claims it, sends, and closes it with its totals
// (docs/decisions/0013).

import type { Message } from "../../../shared/contract/messages.ts";
import { prepareInApp } from "../../../shared/providers/in-app.ts";
import { providers } from "../../../shared/providers/providers.ts";
import { sesAccount } from "../../../shared/providers/ses-account.ts";
import { deliverQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { mailLinks } from "../../../shared/store/mail-links.ts";
import { getChunk, tallyOfChunk } from "../../../shared/store/sends/chunks/chunks.ts";
import { claimChunk, closeChunk } from "../../../shared/store/sends/chunks/claims.ts";
import type { Lease } from "../../../shared/store/sends/chunks/leases.ts";
import { closeRange, countStopped, settleStopped } from "../../../shared/store/sends/chunks/ranges.ts";
import type { Tally } from "../../../shared/store/sends/chunks/tallies.ts";
import { finishJob, type Job } from "../../../shared/store/sends/jobs/jobs.ts";
import type { SendState } from "../../../shared/store/sends/jobs/send-state.ts";
import { areInboxes, isSingleMessage } from "../../../shared/store/sends/jobs/single.ts";
import type { ChunkRef } from "../../../shared/store/sends/ledger/touches.ts";
import { forgetInChunk } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { vaultOpening } from "../../../shared/store/vault.ts";
import { isCounted, sendFigures, waitOfChunk } from "./brake.ts";
import { openedCredentials } from "./channel-credentials.ts";
import { createDeadAddresses, type DeadAddresses } from "./dead-addresses.ts";
import { notedAnswers } from "./health.ts";
import { requeue, stop, waitsForMorning } from "./interruptions.ts";
import { foundRates } from "./pacing.ts";
import { recordHeldOut } from "./round-start.ts";
import { type ChunkState, processChunk, type WorkerContext } from "./rounds.ts";
import { askGate, confirmGate, sendGates } from "./send-gates.ts";
import { jointReads } from "./single-reads.ts";
import { deliverSingles } from "./solo.ts";
import { windUp } from "./wind-up.ts";

export const deliverMessages = queueWorker(
  "deliver",
  "Delivers one chunk of recipients.",
  [
    storeWrite,
    deliverQueue,
    timers,
    workspaceRead,
    providers,
    sesAccount,
    vaultOpening,
    mailLinks,
    openedCredentials,
    sendGates,
    sendFigures,
    foundRates,
    notedAnswers,
    jointReads,
  ],
  async (message, context) => {
    const { store, log } = context;
    const chunkRef: ChunkRef = { job: message.job, range: message.range, n: message.chunk };
    const found = await getChunk(store, chunkRef);
    if (found?.job.status === "canceled") return windUpChunk(context, message, found);
    if (found?.job.status !== "processing")
      return log({ level: "info", message: "a chunk was dropped", status: found?.job.status, ...chunkRef });
    if (found.claim?.closed) return completeRange(context, chunkRef, found.job);
    const sendState = await askGate(context, message.job, { job: found.job });
    if (sendState !== "open" && !waitsForMorning(sendState, found.claim))
      return stop(context, message, found.job, sendState);
    const waitMs = await waitOfChunk(context, chunkRef, found);
    if (waitMs !== undefined) return requeue(context, message, { delayMs: waitMs });
    const deadAddresses = createDeadAddresses(context, chunkRef);
    try {
      const end = await deliverChunk(context, chunkRef, found, deadAddresses);
      if ("sendState" in end) return await stop(context, message, found.job, end.sendState);
      if ("retryInMs" in end) return await requeue(context, message, { delayMs: end.retryInMs });
      if (end.tally && !(await close(context, chunkRef, found, end.tally))) return;
      await completeRange(context, chunkRef, found.job);
    } finally {
      await deadAddresses.mark();
    }
  },
  { takes: isSingleMessage, perform: deliverSingles },
);

/** Of a send that was stopped. Its watch sends the messages of its chunks again until all are closed. */
async function windUpChunk(context: WorkerContext, message: Message<"deliver">, found: ChunkState): Promise<void> {
  const { job, range, chunk: n } = message;
  const chunkRef: ChunkRef = { job, range, n };
  const end = found.claim?.closed ? undefined : await windUp(context, chunkRef, found);
  if (end && "retryInMs" in end) return requeue(context, message, { delayMs: end.retryInMs });
  const mayBeLast = end && (await close(context, chunkRef, found, end));
  await countStopped(context.store, found.job, range);
  if (mayBeLast) await settleStopped(context.store, job);
}

function deliverChunk(
  context: WorkerContext,
  chunkRef: ChunkRef,
  found: ChunkState,
  deadAddresses: DeadAddresses,
): Promise<End> {
  const { recipients } = found.chunk;
  const isInbox = recipients.length === 0 || areInboxes(found.job, recipients);
  return isInbox ? deliverInbox(context, chunkRef, found) : processChunk(context, chunkRef, found, deadAddresses);
}

type End = { retryInMs: number } | { sendState: SendState } | { tally?: Closing };

interface Closing extends Partial<Pick<Lease, "deferred" | "reported">> {
  owner: string;
  tally: Tally;
}

/** A chunk with in-app targets only: its rows are their own ledger, so one claim is enough for the whole chunk. */
async function deliverInbox(context: WorkerContext, chunkRef: ChunkRef, { job, chunk }: ChunkState): Promise<End> {
  const { store, ids, clock } = context;
  const claiming = await claimChunk(store, chunkRef, ids.uuid());
  if ("busyUntil" in claiming) return { retryInMs: claiming.busyUntil - clock.now() };
  if ("closed" in claiming) return {};
  const { claim } = claiming;
  await recordHeldOut(store, chunkRef, claim.at, chunk);
  const { at, repeats } = claim;
  const times = { at, assignedAt: at, repeats };
  const { delivered, gone, erased, write } = await prepareInApp(store, job, chunkRef, times, chunk);
  const sendState = await confirmGate(context, chunkRef.job);
  // The claim stays: the worker that continues once it has ended writes the same messages.
  if (sendState !== "open") return { sendState };
  await write();
  for (const subscriber of gone) await forgetInChunk(store, chunkRef, subscriber);
  const plain = tallyOfChunk(chunk);
  const failed = chunk.recipients.length - delivered.size;
  const tally: Tally = {
    ...plain,
    counts: { ...plain.counts, delivered: delivered.size, failed },
    delivered_by_channel: { in_app: delivered.size },
    fail_reasons: { erased, template_error: failed - erased },
    ...(isCounted(job) && {
      attempts: { tried: { in_app: chunk.recipients.length - erased }, errors: { in_app: failed - erased }, passed: 1 },
    }),
  };
  return { tally: { owner: claim.owner, tally } };
}

/** @returns whether the chunk's range may be complete. */
function close(
  { store }: WorkerContext,
  chunkRef: ChunkRef,
  { chunk }: ChunkState,
  { owner, tally, deferred = 0, reported = {} }: Closing,
): Promise<boolean> {
  const closing = { owner, isFinal: chunk.next === undefined, deferred, reported };
  return closeChunk(store, chunkRef, closing, tally);
}

async function completeRange({ store }: WorkerContext, { range }: ChunkRef, job: Job): Promise<void> {
  if (await closeRange(store, job, range)) await finishJob(store, job.id);
}
