// Delivers one chunk of recipients through the providers: claims it, sends, and closes it with its totals
// (docs/decisions/0013).
import { SECOND } from "../../../shared/clock.ts";
import { mailLinks } from "../../../shared/mail-links.ts";
import type { Message } from "../../../shared/messages.ts";
import { deliverInApp } from "../../../shared/providers/in-app.ts";
import { providers } from "../../../shared/providers/providers.ts";
import { deliverQueue, storeWrite, timers, workspaceRead } from "../../../shared/resources.ts";
import { getChunk, tallyOfChunk } from "../../../shared/store/sends/chunks.ts";
import { claimChunk, closeChunk, type Lease } from "../../../shared/store/sends/claims.ts";
import { finishJob } from "../../../shared/store/sends/jobs.ts";
import { closeRange } from "../../../shared/store/sends/ranges.ts";
import { isInAppOnly } from "../../../shared/store/sends/recipients.ts";
import type { Tally } from "../../../shared/store/sends/tallies.ts";
import { type ChunkRef, heldOutWrite } from "../../../shared/store/sends/touches.ts";
import { forgetInChunk, namesNow } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { vaultOpening } from "../../../shared/vault.ts";
import { queueWorker } from "../../../shared/worker.ts";
import { openedCredentials } from "./channel-credentials.ts";
import { type ChunkState, MAX_DELAY_MS, processChunk, type WorkerContext } from "./rounds.ts";

export const deliver = queueWorker(
  "deliver",
  "Delivers one chunk of recipients.",
  [storeWrite, deliverQueue, timers, workspaceRead, providers, vaultOpening, mailLinks, openedCredentials],
  async (message, context) => {
    const { store, log } = context;
    const chunkRef: ChunkRef = { job: message.job, range: message.range, n: message.chunk };
    const found = await getChunk(store, chunkRef);
    if (found?.job.status !== "processing")
      return log({ level: "info", message: "a chunk was dropped", status: found?.job.status, ...chunkRef });
    if (found.claim?.closed) return completeRange(context, chunkRef);
    const { recipients } = found.chunk;
    const isInbox =
      recipients.length === 0 ||
      (!found.job.deliverySettings?.caps && recipients.every(({ targets }) => isInAppOnly(targets)));
    const end = isInbox ? await deliverInbox(context, chunkRef, found) : await processChunk(context, chunkRef, found);
    if ("retryInMs" in end) return requeue(context, message, { delayMs: end.retryInMs });
    if (end.tally && !(await close(context, chunkRef, found, end.tally))) return;
    return completeRange(context, chunkRef);
  },
);

type End = { retryInMs: number } | { tally?: Closing };

interface Closing extends Partial<Pick<Lease, "deferred" | "reported">> {
  at: number;
  owner: string;
  tally: Tally;
}

/** A chunk with in-app targets only: its rows are their own ledger, so one claim is enough for the whole chunk. */
async function deliverInbox(
  { store, ids, clock }: WorkerContext,
  chunkRef: ChunkRef,
  { job, chunk }: ChunkState,
): Promise<End> {
  const claiming = await claimChunk(store, chunkRef, ids.uuid());
  if ("busyUntil" in claiming) return { retryInMs: claiming.busyUntil - clock.now() };
  if ("closed" in claiming) return {};
  const { claim } = claiming;
  const { delivered, gone } = await deliverInApp(store, job, chunkRef, claim, chunk);
  for (const subscriber of gone) await forgetInChunk(store, chunkRef, subscriber);
  const plain = tallyOfChunk(chunk);
  const failed = chunk.recipients.length - delivered.size;
  const erased = gone.length;
  const tally: Tally = {
    ...plain,
    counts: { ...plain.counts, delivered: delivered.size, failed },
    delivered_by_channel: { in_app: delivered.size },
    fail_reasons: { erased, template_error: failed - erased },
  };
  return { tally: { at: claim.at, owner: claim.owner, tally } };
}

/** Adds the control group to the ledger and closes the chunk. @returns whether its range may be complete. */
async function close(
  { store }: WorkerContext,
  chunkRef: ChunkRef,
  { chunk }: ChunkState,
  { at, owner, tally, deferred = 0, reported = {} }: Closing,
): Promise<boolean> {
  const names = await namesNow(store, chunkRef, chunk.plannedAt, chunk.heldOut);
  await store.writeAll([...names.values()].map((id) => heldOutWrite(at, chunkRef, id)));
  return closeChunk(store, chunkRef, { owner, isFinal: chunk.next === undefined, deferred, reported }, tally);
}

async function completeRange({ store }: WorkerContext, { job, range }: ChunkRef): Promise<void> {
  if (await closeRange(store, job, range)) await finishJob(store, job);
}

/** Requeues the message. A wait longer than a queue's longest delay has a timer instead. */
async function requeue(
  { deliverQueue: queue }: WorkerContext,
  message: Message<"deliver">,
  { delayMs }: { delayMs: number },
): Promise<void> {
  if (delayMs > MAX_DELAY_MS) return;
  await queue.send([message], { delaySeconds: Math.max(1, Math.ceil(delayMs / SECOND)) });
}
