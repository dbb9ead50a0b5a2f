// Delivers sends whose recipients are on the row of the job: the messages that a worker receives together are read and closed together
// (docs/decisions/0027).
import { MINUTE, SECOND } from "../../../shared/clock.ts";
import type { Message } from "../../../shared/messages.ts";
import { deliverInApp } from "../../../shared/providers/in-app.ts";
import { tallyOfChunk } from "../../../shared/store/sends/chunks.ts";
import { PROMPT_MS } from "../../../shared/store/sends/inbox.ts";
import { withContents } from "../../../shared/store/sends/job-content.ts";
import { abandonJob, findJobs, type Job, type JobRecord } from "../../../shared/store/sends/jobs.ts";
import { SINGLE_RANGE } from "../../../shared/store/sends/range-names.ts";
import { isPseudonym } from "../../../shared/store/sends/recipients.ts";
import { beginRound, closeSingles, type Outcome } from "../../../shared/store/sends/single.ts";
import { resumeTimer } from "../../../shared/store/sends/standing.ts";
import { forgetInChunk } from "../../../shared/store/subscribers/ledger-erasure.ts";
import type { WorkerContext } from "./rounds.ts";

/**
 * A round takes in what begins within this time. Later a new one begins, once no worker of the former one can be at work
 * any more: its row would be a second message.
 */
const ROUND_MS = 8 * MINUTE;
const ROUND_OVER_MS = 10 * MINUTE;

export async function deliverSingles(
  messages: readonly Message<"deliver">[],
  context: WorkerContext & { tenant: string },
): Promise<void> {
  const { store, clock, timers, log, workspace } = context;
  const ids = [...new Set(messages.map(({ job }) => job))];
  const [found, owner] = await Promise.all([findJobs(store, ids), workspace()]);
  const open = found.filter((job) => job !== undefined).filter(({ status }) => status === "queued");
  if (open.length < ids.length)
    log({ level: "info", message: "sends were not delivered again", count: ids.length - open.length });
  if (owner?.status === "suspended") {
    log({ level: "info", message: "sends of a suspended workspace are held", tenant: store.tenant });
    return timers.set(open.map((job) => resumeTimer(job, clock.now())));
  }
  if (owner?.status !== "active") {
    await Promise.all(open.map(({ id }) => abandonJob(store, id)));
    return;
  }
  const begun = await Promise.all(open.map(async (job) => ({ ...job, round: await roundOf(context, job) })));
  const due = begun.filter(({ round }) => round !== undefined);
  const whole = await withContents(store, due);
  const settled = await Promise.allSettled(whole.map((job, i) => deliverOne(context, job, due[i]?.round ?? 0)));
  await closeSingles(
    store,
    settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])),
  );
  const failed = settled.find((one) => one.status === "rejected");
  if (failed) throw failed.reason;
}

/** When the round of a job began; undefined while it is not known whether the former one is over. */
async function roundOf({ store, clock, deliverQueue }: WorkerContext, job: JobRecord): Promise<number | undefined> {
  if (!job.direct) return undefined;
  const { round } = job.direct;
  const age = clock.now() - round;
  if (age <= ROUND_MS) return round;
  if (age >= ROUND_OVER_MS) return beginRound(store, job.id, round);
  const delaySeconds = Math.ceil((ROUND_OVER_MS - age) / SECOND);
  await deliverQueue.send([{ tenant: store.tenant, job: job.id, range: SINGLE_RANGE, chunk: 0 }], { delaySeconds });
  return undefined;
}

async function deliverOne({ store, clock }: WorkerContext, job: Job, round: number): Promise<Outcome> {
  const plannedAt = Date.parse(job.created_at);
  const { recipients = [] } = job.direct ?? {};
  const chunkRef = { job: job.id, range: SINGLE_RANGE, n: 0 };
  // An earlier attempt may have written the message when it is late.
  const times = { at: round, assignedAt: plannedAt, repeats: clock.now() - round > PROMPT_MS };
  const { delivered, gone } = await deliverInApp(store, job, chunkRef, times, { recipients, plannedAt });
  for (const subscriber of gone) await forgetInChunk(store, chunkRef, subscriber);
  const plain = tallyOfChunk({ recipients, heldOut: [], skipped: {}, next: undefined, plannedAt });
  const n = delivered.size;
  const failed = recipients.length - n;
  const erased = gone.length + recipients.filter(({ subscriber }) => isPseudonym(subscriber)).length;
  return {
    job,
    round,
    tally: {
      ...plain,
      counts: { ...plain.counts, delivered: n, failed },
      delivered_by_channel: { in_app: n },
      fail_reasons: { erased, template_error: failed - erased },
    },
  };
}
