// Delivers sends whose recipients are on the row of the job: the messages that a worker receives together are read and closed together
// (docs/decisions/0027, docs/decisions/0046).

import type { Message } from "../../../shared/contract/messages.ts";
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { isPseudonym } from "../../../shared/kernel/ids.ts";
import { findWritten, prepareInApp } from "../../../shared/providers/in-app.ts";
import { type Chunk, tallyOfChunk } from "../../../shared/store/sends/chunks/chunks.ts";
import { SINGLE_RANGE } from "../../../shared/store/sends/chunks/range-names.ts";
import { PROMPT_MS } from "../../../shared/store/sends/inbox/inbox.ts";
import { withContents } from "../../../shared/store/sends/jobs/job-content.ts";
import type { Job, JobRecord } from "../../../shared/store/sends/jobs/jobs.ts";
import { resumeTimer } from "../../../shared/store/sends/jobs/send-state.ts";
import {
  beginRound,
  closeSingles,
  isToInboxes,
  type Outcome,
  singleMessage,
} from "../../../shared/store/sends/jobs/single.ts";
import { forgetInChunk } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { createDeadAddresses, type DeadAddresses } from "./dead-addresses.ts";
import { requeue, stop, waitsForMorning } from "./interruptions.ts";
import { processChunk, type WorkerContext } from "./rounds.ts";
import { askGate, confirmGate, isOld } from "./send-gates.ts";
import { readSingles, type SingleReads } from "./single-reads.ts";
import { windUpSingle } from "./wind-up.ts";

/**
 * A round takes in what begins within this time. Later a new one begins, once no worker of the former one can be at work
 * any more and if none of them wrote a message: a message of another round would be a second one.
 */
const ROUND_MS = 8 * MINUTE;
const ROUND_OVER_MS = 10 * MINUTE;

export async function deliverSingles(
  messages: readonly Message<"deliver">[],
  context: WorkerContext & { tenant: string },
): Promise<void> {
  const { store, clock, timers, log } = context;
  const read = await readSingles(context, messages);
  const { wanted, owner } = read;
  const open = read.jobs.filter(isOpen);
  if (open.length < wanted)
    log({ level: "info", message: "sends were not delivered again", count: wanted - open.length });
  if (owner?.status === "suspended") {
    log({ level: "info", message: "sends of a suspended workspace are held", tenant: store.tenant });
    const [expiring, held] = partitioned(open, ({ claim }) => waitsForMorning("suspended", claim));
    await timers.set(held.map((job) => resumeTimer(job, clock.now())));
    return deliverAll(context, expiring, read);
  }
  if (owner?.status !== "active") return stopAll(context, open);
  await deliverAll(context, open, read);
}

/** Ends sends of a deleted workspace with what is known of them (docs/decisions/0089). */
async function stopAll(context: WorkerContext, open: readonly JobRecord[]): Promise<void> {
  const { store, clock, deliverQueue } = context;
  const whole = await withContents(store, open);
  const stopped = await Promise.all(
    whole.map(async (job): Promise<Outcome | undefined> => {
      const message = singleMessage(store.tenant, job.id);
      const { round = 0 } = job.direct ?? {};
      // A worker of the round may be about to write its messages.
      const waitMs = isToInboxes(job) ? round + ROUND_OVER_MS - clock.now() : 0;
      if (waitMs > 0) {
        await deliverQueue.send([message], { delaySeconds: Math.ceil(waitMs / SECOND) });
        return undefined;
      }
      const end = await windUpSingle(context, job, chunkIn(job), round);
      if ("tally" in end) return { job, ...end, isStopped: true };
      await requeue(context, message, { delayMs: end.retryInMs });
      return undefined;
    }),
  );
  await closeSingles(
    store,
    stopped.filter((one) => one !== undefined),
  );
}

function partitioned<T>(all: readonly T[], is: (one: T) => boolean): [T[], T[]] {
  return [all.filter(is), all.filter((one) => !is(one))];
}

async function deliverAll(context: WorkerContext, open: readonly JobRecord[], read: SingleReads): Promise<void> {
  const { store } = context;
  const begun = await Promise.all(
    open.map(async (job) => ({ ...job, round: isToInboxes(job) ? await roundOf(context, job) : undefined })),
  );
  const whole = await withContents(
    store,
    begun.filter((job) => job.round !== undefined || !isToInboxes(job)),
    read.contents,
  );
  const [inboxes, provided] = partitioned(whole, isToInboxes);
  const rounds = new Map(begun.map(({ id, round = 0 }) => [id, round]));
  const dead: DeadAddresses[] = [];
  try {
    const ended = await Promise.allSettled([
      deliverTogether(
        store,
        inboxes.map((job) => deliverOne(context, job, rounds.get(job.id) ?? 0, read.asked)),
      ),
      deliverTogether(
        store,
        provided.map((job) => deliverByProviders(context, job, read, dead)),
      ),
    ]);
    throwFirst(ended);
  } finally {
    for (const addresses of dead) await addresses.mark();
  }
}

const isOpen = (job: JobRecord): boolean =>
  job.status === "queued" || (job.status === "processing" && job.direct !== undefined);

/** Closes together what was delivered at the same time. @throws the first failure, after that */
async function deliverTogether(store: WorkerContext["store"], deliveries: Promise<Outcome | undefined>[]) {
  const settled = await Promise.allSettled(deliveries);
  await closeSingles(
    store,
    settled.flatMap((one) => (one.status === "fulfilled" && one.value ? [one.value] : [])),
  );
  throwFirst(settled);
}

function throwFirst(settled: readonly PromiseSettledResult<unknown>[]): void {
  const failed = settled.find((one) => one.status === "rejected");
  if (failed) throw failed.reason;
}

/** Calls the providers for the only recipient of a job, as for a chunk (docs/decisions/0046). */
async function deliverByProviders(
  context: WorkerContext,
  job: Job,
  { owner, asked, devices }: SingleReads,
  dead: DeadAddresses[],
): Promise<Outcome | undefined> {
  const chunkRef = { job: job.id, range: SINGLE_RANGE, n: 0 };
  const message = singleMessage(context.store.tenant, job.id);
  const sendState = await askGate(context, job.id, { job, with: { owner, asked } });
  if (sendState !== "open" && !waitsForMorning(sendState, job.claim)) {
    await stop(context, message, job, sendState);
    return undefined;
  }
  const deadAddresses = createDeadAddresses(context, chunkRef);
  dead.push(deadAddresses);
  const end = await processChunk(
    context,
    chunkRef,
    { job, chunk: chunkIn(job), claim: job.claim, devices },
    deadAddresses,
  );
  if ("tally" in end) return { job, as: end.tally, tally: end.tally.tally };
  if ("sendState" in end) await stop(context, message, job, end.sendState);
  else await requeue(context, message, { delayMs: end.retryInMs });
  return undefined;
}

/** The recipients of a job as a chunk. */
const chunkIn = ({ direct, created_at }: JobRecord): Chunk => ({
  recipients: direct?.recipients ?? [],
  heldOut: [],
  skipped: {},
  next: undefined,
  plannedAt: Date.parse(created_at),
});

/** When the round of a job began; undefined while it is not known whether the former one is over. */
async function roundOf({ store, clock, deliverQueue }: WorkerContext, job: JobRecord): Promise<number | undefined> {
  if (!job.direct) return undefined;
  const { round, recipients } = job.direct;
  const age = clock.now() - round;
  if (age <= ROUND_MS) return round;
  if (age >= ROUND_OVER_MS) {
    const ids = recipients.map(({ subscriber }) => subscriber).filter((id) => !isPseudonym(id));
    const written = await findWritten(store, job.id, round, ids);
    return written.size > 0 ? round : beginRound(store, job.id, round);
  }
  const delaySeconds = Math.ceil((ROUND_OVER_MS - age) / SECOND);
  await deliverQueue.send([singleMessage(store.tenant, job.id)], { delaySeconds });
  return undefined;
}

async function deliverOne(
  context: WorkerContext,
  job: Job,
  round: number,
  asked: number,
): Promise<Outcome | undefined> {
  const { store, clock } = context;
  const chunk = chunkIn(job);
  const { recipients, plannedAt } = chunk;
  const chunkRef = { job: job.id, range: SINGLE_RANGE, n: 0 };
  // An earlier attempt may have written the message when it is late.
  const times = { at: round, assignedAt: plannedAt, repeats: clock.now() - round > PROMPT_MS };
  const { delivered, gone, erased, write } = await prepareInApp(store, job, chunkRef, times, { recipients, plannedAt });
  const sendState = isOld(context, asked) ? await confirmGate(context, job.id) : "open";
  if (sendState !== "open") {
    await stop(context, singleMessage(store.tenant, job.id), job, sendState);
    return undefined;
  }
  await write();
  for (const subscriber of gone) await forgetInChunk(store, chunkRef, subscriber);
  const plain = tallyOfChunk(chunk);
  const n = delivered.size;
  const failed = recipients.length - n;
  return {
    job,
    as: { round },
    tally: {
      ...plain,
      counts: { ...plain.counts, delivered: n, failed },
      delivered_by_channel: { in_app: n },
      fail_reasons: { erased, template_error: failed - erased },
    },
  };
}
