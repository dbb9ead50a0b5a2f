// Hands one chunk of recipients to the providers: claimed first, called at once, closed with its totals (decision 7).
import { SECOND } from "../../../shared/clock.ts";
import { mailLinks } from "../../../shared/mail-links.ts";
import type { Message } from "../../../shared/messages.ts";
import { deliverInApp } from "../../../shared/providers/in-app.ts";
import { providers } from "../../../shared/providers/providers.ts";
import { deliverQueue, storeWrite, timers, workspaceRead } from "../../../shared/resources.ts";
import { claimChunk, closeChunk, getChunk, tallyOfChunk } from "../../../shared/store/sends/chunks.ts";
import type { Tenure } from "../../../shared/store/sends/claims.ts";
import { finishJob } from "../../../shared/store/sends/jobs.ts";
import { closeRange } from "../../../shared/store/sends/ranges.ts";
import { isInAppOnly } from "../../../shared/store/sends/recipients.ts";
import type { Tally } from "../../../shared/store/sends/tallies.ts";
import { heldOutItem, type Place } from "../../../shared/store/sends/touches.ts";
import { forgetInChunk, namesNow } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { vaultOpening } from "../../../shared/vault.ts";
import { queueWorker } from "../../../shared/worker.ts";
import { openedCredentials } from "./prepare.ts";
import { type Bound, type Found, LONGEST_DELAY_MS, workThrough } from "./rounds.ts";

export const deliver = queueWorker(
  "deliver",
  "Delivers one chunk of recipients.",
  [storeWrite, deliverQueue, timers, workspaceRead, providers, vaultOpening, mailLinks, openedCredentials],
  async (message, context) => {
    const { store } = context;
    const place: Place = { job: message.job, range: message.range, n: message.chunk };
    const found = await getChunk(store, place.job, place.range, place.n);
    if (found?.job.status !== "processing") return;
    if (found.claim?.closed) return settle(context, place);
    const { recipients } = found.chunk;
    const isInbox =
      recipients.length === 0 || (!found.job.means?.caps && recipients.every(({ targets }) => isInAppOnly(targets)));
    const end = isInbox ? await intoInboxes(context, place, found) : await workThrough(context, place, found);
    if ("again" in end) return again(context, message, end.again);
    if (end.tally && !(await close(context, place, found, end.tally))) return;
    return settle(context, place);
  },
);

type End = { again: number } | { tally?: Closing };

interface Closing extends Partial<Pick<Tenure, "deferred" | "told">> {
  at: number;
  owner: string;
  tally: Tally;
}

/** In-app alone: the rows are their own ledger, so one claim does for the whole chunk. */
async function intoInboxes({ store, ids, clock }: Bound, place: Place, { job, chunk }: Found): Promise<End> {
  const claiming = await claimChunk(store, place.job, place.range, place.n, ids.uuid());
  if ("busyUntil" in claiming) return { again: claiming.busyUntil - clock.now() };
  if ("closed" in claiming) return {};
  const { claim } = claiming;
  const { delivered, gone } = await deliverInApp(store, job, place, claim, chunk);
  for (const subscriber of gone) await forgetInChunk(store, place, subscriber);
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

/** The control group joins the ledger, and the chunk closes. @returns whether its range may be complete. */
async function close(
  { store }: Bound,
  place: Place,
  { chunk }: Found,
  { at, owner, tally, deferred = 0, told = {} }: Closing,
): Promise<boolean> {
  const names = await namesNow(store, place, chunk.plannedAt, chunk.heldOut);
  await store.writeAll([...names.values()].map((id) => ({ put: heldOutItem(store.tenant, at, place, id) })));
  const tenure = { owner, isFinal: chunk.next === undefined, deferred, told };
  return closeChunk(store, place.job, place.range, place.n, tenure, tally);
}

async function settle({ store }: Bound, { job, range }: Place): Promise<void> {
  if (await closeRange(store, job, range)) await finishJob(store, job);
}

/** What waits longer than a queue can hold a message back has a timer, or is let go by others. */
async function again({ deliverQueue: queue }: Bound, message: Message<"deliver">, ms: number): Promise<void> {
  if (ms > LONGEST_DELAY_MS) return;
  await queue.send([message], { delaySeconds: Math.max(1, Math.ceil(ms / SECOND)) });
}
