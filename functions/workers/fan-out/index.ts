// Drives jobs: fires due ones, dispatches queued ones, plans their ranges, and watches those in progress
// (docs/sends.md). Each message is decided from its job as it is now, then acted on.
import type { Message } from "../../../shared/contract/messages.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { failJob, findJob } from "../../../shared/store/sends/jobs/jobs.ts";
import { singleMessage } from "../../../shared/store/sends/jobs/single.ts";
import { decide } from "./decide.ts";
import { announce, dispatch, fire, plan } from "./dispatch.ts";
import { abandon, continueSingles, release, rescue, settle, windUp } from "./watch.ts";
import { uses, type Verdict, type Work, type WorkerContext } from "./work.ts";

/** How long after its timer was set a job may still appear. */
const APPEARING_MS = 60 * SECOND;
const APPEARING_RETRY_SECONDS = 10;

export const fanOutJobs = queueWorker(
  "fan-out",
  "Fires, dispatches and plans notification jobs.",
  uses,
  async (message, context) => {
    if (message.kind === "settle") return settle(context, message);
    if (message.kind === "continue") return continueSingles(context, message.jobs);
    const job = await findJob(context.store, message.job);
    if (!job) return awaitJob(context, message);
    const work = { ...context, job };
    return act(work, await decide(work, message));
  },
);

type JobMessage = Extract<Message<"fan-out">, { job: string }>;

/** When the timer of a message was set, before its job was stored; 0 for a message of another origin. */
function setAt(message: JobMessage): number {
  switch (message.kind) {
    case "fire":
    case "watch":
    case "release":
      return message.since ?? 0;
    default:
      return 0;
  }
}

async function awaitJob({ clock, log, fanOutQueue }: WorkerContext, message: JobMessage): Promise<void> {
  if (clock.now() < setAt(message) + APPEARING_MS)
    return fanOutQueue.send([message], { delaySeconds: APPEARING_RETRY_SECONDS });
  const { kind, job } = message;
  log({ level: "info", message: "a job does not exist", kind, job });
}

async function act(work: Work, verdict: Verdict): Promise<void> {
  const { store, timers, log, fanOutQueue, deliverQueue, job } = work;
  switch (verdict.kind) {
    case "drop":
      return log({ level: "info", message: "a job is left as it is", job: job.id, status: job.status, ...verdict });
    case "again":
      return fanOutQueue.send([verdict.message], { delaySeconds: verdict.delaySeconds });
    case "hold":
      return timers.set([verdict.timer]);
    case "abandon":
      return abandon(work);
    case "fail":
      return failJob(store, job, verdict.failure);
    case "fire":
      return fire(work);
    case "dispatch":
      return dispatch(work, verdict);
    case "announce":
      return announce(work);
    case "plan":
      return plan(work, verdict);
    case "deliver":
      return deliverQueue.send([singleMessage(store.tenant, job.id)]);
    case "rescue":
      return rescue(work, verdict);
    case "release":
      return release(work, verdict.range);
    case "wind up":
      return windUp(work);
    case "watch":
      await timers.set([verdict.timer]);
      return act(work, verdict.next);
  }
}
