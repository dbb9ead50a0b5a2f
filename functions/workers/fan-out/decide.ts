// Decides what to do about a message, from its job as it is now. Nothing is written here.
import { MAX_DELAY_SECONDS, type Message } from "../../../shared/contract/messages.ts";
import { HOUR, MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { planHas } from "../../../shared/rules/plans.ts";
import { targetExists } from "../../../shared/store/lists/targets.ts";
import { channelSettings, selectedChannels } from "../../../shared/store/sends/audience/planning.ts";
import { resumeTimer, type SendState, sendStateOf } from "../../../shared/store/sends/jobs/send-state.ts";
import { TemplateItem } from "../../../shared/store/templates/items.ts";
import { isDue, WATCH_AFTER_MS } from "./watch.ts";
import type { Verdict, Work } from "./work.ts";

/** A one-off send that is later than this is not sent (docs/decisions/0021#late-work). */
const TOO_LATE_MS = 24 * HOUR;
/** Sends of a suspended workspace are held, and checked again after this time (AMB-86). */
const HELD_RETRY_MS = 5 * MINUTE;
const PAUSED_RETRY_SECONDS = 60;
/** A held job may stay held for long. */
const HELD_WATCH_AFTER_MS = 6 * HOUR;

/** Decides what to do about a message. It only reads. */
export async function decide(work: Work, message: Extract<Message<"fan-out">, { job: string }>): Promise<Verdict> {
  switch (message.kind) {
    case "fire":
      return mayFire(work);
    case "dispatch":
      return mayDispatch(work, await stateOf(work));
    case "plan":
      return mayPlan(work, message.range);
    case "watch":
      return mayWatch(work);
    case "resume":
      return mayResume(work);
    case "release":
      return mayRelease(work, message.range);
  }
}

const drop = (why: string): Verdict => ({ kind: "drop", why });
const fail = (code: string, message: string): Verdict => ({ kind: "fail", failure: { code, message } });
const stateOf = ({ store, workspace, job }: Work): Promise<SendState> => sendStateOf(store, workspace, job);

/** The consequence for a send that may not go on. */
function stopped({ job, clock }: Work, sendState: Exclude<SendState, "open">): Verdict {
  if (sendState === "deleted") return { kind: "abandon" };
  if (sendState === "suspended") return { kind: "hold", timer: resumeTimer(job, clock.now()) };
  return drop(`the send is ${sendState}`);
}

async function mayFire({ store, clock, workspace, job }: Work): Promise<Verdict> {
  // A held job is fired once it is released: the stream reports that.
  if (job.status !== "scheduled" || job.scheduled_at === null || job.held) return drop("it is not to be fired");
  const now = clock.now();
  const at = Math.max(Date.parse(job.scheduled_at), job.releasedAt ?? 0);
  // Resuming its campaign has moved it, with a timer of its own.
  if (at - now > MAX_DELAY_SECONDS * SECOND) return drop("it has a later timer");
  if (now < at) {
    // The message came early by the difference of two clocks. The same timer must not be set again: the removal of its
    // row may be in progress, and would remove the new row.
    const delaySeconds = Math.min(MAX_DELAY_SECONDS, Math.ceil((at - now) / SECOND));
    return { kind: "again", message: { kind: "fire", tenant: store.tenant, job: job.id }, delaySeconds };
  }
  if (now - at > TOO_LATE_MS) return fail("EXPIRED", "expired");
  const owner = await workspace();
  if (owner?.status === "suspended")
    return { kind: "hold", timer: { kind: "job", id: job.id, at: now + HELD_RETRY_MS } };
  return owner?.status === "active" ? { kind: "fire" } : { kind: "abandon" };
}

async function mayDispatch(work: Work, sendState: SendState): Promise<Verdict> {
  const { store, workspace, job } = work;
  // Its campaign was paused while the job was made, so the job is about to be held.
  if (sendState === "paused") {
    const message = { kind: "dispatch" as const, tenant: store.tenant, job: job.id };
    return { kind: "again", message, delaySeconds: PAUSED_RETRY_SECONDS };
  }
  if (sendState !== "open") return stopped(work, sendState);
  if (job.status !== "queued") return { kind: "announce" };
  if (job.direct) return { kind: "deliver" };

  const owner = await workspace();
  if (!owner) return { kind: "abandon" };
  // Without one of its channels it would be another send.
  if (job.channel_arbitration_mode === "smart" && !planHas(owner.plan, "smart_channel"))
    return fail("PLAN_FEATURE_UNAVAILABLE", "the workspace's plan does not include smart channel");

  const via = (await selectedChannels(store, job, owner.plan)).map(channelSettings);
  if (via.length === 0) return fail("NO_USABLE_CHANNEL", "no usable channel");
  const template = job.template_id === null ? undefined : await store.get(TemplateItem, { id: job.template_id });
  if (job.template_id !== null && !template) return fail("TEMPLATE_NOT_FOUND", "the template no longer exists");
  if (!(await targetExists(store, job.target)))
    return fail("TARGET_NOT_FOUND", `the ${job.target?.type} no longer exists`);
  return { kind: "dispatch", via, template };
}

async function mayPlan(work: Work, range: string): Promise<Verdict> {
  const { status, deliverySettings: settings } = work.job;
  const sendState = await stateOf(work);
  if (sendState !== "open") return stopped(work, sendState);
  return status === "processing" && settings ? { kind: "plan", range, settings } : drop("it is not dispatched");
}

async function mayWatch(work: Work): Promise<Verdict> {
  const { clock, job } = work;
  if (job.status === "canceled") return { kind: "wind up" };
  const sendState = await stateOf(work);
  if (sendState === "ended") return drop("it has ended, or was not fired");
  if (sendState === "deleted") return { kind: "abandon" };
  const isOpen = sendState === "open";
  const at = clock.now() + (isOpen ? WATCH_AFTER_MS : HELD_WATCH_AFTER_MS);
  return { kind: "watch", timer: { kind: "job-watch", id: job.id, at }, next: await watched(work, sendState) };
}

async function watched(work: Work, sendState: SendState): Promise<Verdict> {
  const { job } = work;
  const isOpen = sendState === "open";
  if (job.status === "queued") return mayDispatch(work, sendState);
  if (!job.direct) return { kind: "rescue", isOpen, mayBeLast: true };
  return isOpen ? mayDeliver(work) : drop(`the send is ${sendState}`);
}

const mayDeliver = ({ job, clock }: Work): Verdict =>
  isDue(job, clock.now()) ? { kind: "deliver" } : drop("it waits until later");

async function mayResume(work: Work): Promise<Verdict> {
  const { job } = work;
  const sendState = await stateOf(work);
  if (sendState !== "open") return stopped(work, sendState);
  if (job.status === "queued") return mayDispatch(work, sendState);
  // After a send is resumed, no recipient waits for the canary.
  const endsWaits = job.resumedWith !== undefined;
  return job.direct ? mayDeliver(work) : { kind: "rescue", isOpen: true, mayBeLast: false, endsWaits };
}

function mayRelease(work: Work, range: string | undefined): Verdict {
  const { status, held, halted, direct } = work.job;
  if (status === "canceled") return { kind: "wind up" };
  if (status !== "processing" || held || halted) return drop("it is not to be released");
  return direct ? mayDeliver(work) : { kind: "release", range };
}
