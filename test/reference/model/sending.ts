// A send until it is handed over: scheduled, planned, within its quota (D-NTF-STATE, D-AB, AMB-95).
import { warnOfSends } from "./annotations.ts";
import { classesInOrder } from "./arbitration.ts";
import { audienceOf, targetMembers } from "./audience.ts";
import { jobDispatched } from "./campaign-moves.ts";
import { quietUntil } from "./caps.ts";
import { close, closeIfDone } from "./closing.ts";
import { contentOf, start } from "./delivering.ts";
import { channelsOf, isUsable, reachable } from "./gates.ts";
import { notifyHooks } from "./hooks.ts";
import { type Body, DAY, isoOrNull, MINUTE, OneOf, Refusal, Unpromised } from "./kit.ts";
import { limits, periodOf, reaches, sendsLeft, usedSends } from "./plans.ts";
import type { Subscriber } from "./records/people.ts";
import type { Delivery, Job, Recipient } from "./records/sends.ts";
import { defaultOf } from "./topics.ts";
import { at, found, newId, type World } from "./world.ts";

export function createJob(world: World, asked: Body, source: Job["source"]): Job {
  const id = newId(world, "job");
  const spec = { ...asked, ...(asked.topic && { topic_default: defaultOf(world, asked.topic) }) };
  const job: Job = {
    ...{ id, unit: id, status: "queued", spec, source, sent: 0, settings: world.settings, recipients: [], error: null },
    ...{ scheduled_at: null, created_at: world.now, dispatched_at: null, completed_at: null, held: false },
    ...{ unknown: [], stopped: [], arbitration: [], fallback_steps: 0, suppressed_devices: 0 },
  };
  world.jobs.push(job);
  return job;
}

/** A send that goes out now, or at its time (NTF-9). */
export function schedule(world: World, job: Job, time: number | null): void {
  // AMB-105: an immediate send has no time of its own.
  job.scheduled_at = time !== null && time > world.now ? time : null;
  if (job.scheduled_at !== null) job.status = "scheduled";
  const due = Math.max(time ?? world.now, world.now);
  at(world, due, () => {
    const isAhead = job.scheduled_at !== null && job.scheduled_at > world.now;
    const isDue = !isAhead && (job.status === "scheduled" || job.status === "queued");
    if (!isDue || job.held || job.dispatched_at !== null) return;
    // What is more than a day late is not sent (docs/decisions/0021-settled-questions.md).
    if (world.now - due > DAY) close(world, job, { code: "EXPIRED" });
    else dispatch(world, job);
  });
}

/** AMB-95: everybody that the audience resolves to, with the decision for each. Caps are asked when it is handed over. */
export function plan(world: World, job: Job, asksCaps: boolean): Recipient[] {
  const { subscribers, unknown } = audienceOf(world, job.spec);
  const nobody = (id: string): Recipient => blank(world, id, null, "skipped", ["unknown_subscriber"]);
  return [...subscribers.map((subscriber) => decide(world, job, subscriber, asksCaps)), ...unknown.map(nobody)];
}

const blank = (world: World, id: string, external_id: string | null, state: string, reasons: string[]): Recipient => ({
  ...{ subscriber_id: id, external_id, state, reasons, variant: null, deliveries: [], fallbacks: [] },
  ...{ deferred_until: null, went_out_at: null, at: world.now, isAssigned: false, planned: [], outcome: null },
  ...{ hasComplained: false, hasUnsubscribed: false },
});

/** ABH-1: the arm of a subscriber, in a send with two. */
export function armIn(world: World, { spec, unit }: Job, id: string): "a" | "b" | null {
  if (!spec.variant_b) return null;
  return world.bucket("split", unit, id) < (spec.split_percentage ?? 50) * 100 ? "a" : "b";
}

/** ABH-1, ABH-2: who is reached on no channel is skipped with the reason; of the others some are held out. */
export function decide(world: World, job: Job, subscriber: Subscriber, asksCaps = true): Recipient {
  const { spec, unit } = job;
  const { id, external_id } = subscriber;
  const recipient = blank(world, id, external_id, "pending", []);
  const { deliveries, reasons } = reachable(world, spec, subscriber, false);
  if (deliveries.length === 0) return { ...recipient, state: "skipped", reasons };
  if (world.bucket("holdout", unit, id) < (spec.holdout_percentage ?? 0) * 100)
    return { ...blank(world, id, external_id, "held_out", []), isAssigned: true };
  recipient.variant = armIn(world, job, id);
  recipient.isAssigned = true;
  recipient.planned = deliveries;
  // Experiences, and what waits in an inbox anyway, disturb nobody.
  const waits = !spec.experience && deliveries.some(({ class: name }) => name !== "in_app");
  recipient.deferred_until = waits ? quietUntil(world, spec, subscriber) : null;
  const allowed = asksCaps ? reachable(world, spec, subscriber) : { deliveries, reasons };
  if (recipient.deferred_until !== null) {
    // What waits is asked for caps when it goes out (docs/decisions/0018-quiet-hours-and-caps.md).
    const isOpen = (d: Delivery) =>
      d.class !== "in_app" || allowed.deliveries.some((other) => other.class === "in_app");
    return { ...recipient, state: "deferred", deliveries: deliveries.filter(isOpen) };
  }
  if (allowed.deliveries.length === 0) return { ...recipient, ...allowed, state: "skipped" };
  return { ...recipient, deliveries: allowed.deliveries };
}

/** D-NTF-STATE, WEV-2: `queued` at its time, which receivers are told. A job-level cause fails it then (AMB-48). */
export function dispatch(world: World, job: Job): void {
  job.status = "processing";
  job.dispatched_at = world.now;
  job.settings = structuredClone(world.settings);
  const data = { job_id: job.id, scheduled_at: isoOrNull(job.scheduled_at) };
  // One that its worker comes late to is told of as of its time.
  notifyHooks(world, "notification.dispatched", data, job.scheduled_at ?? world.now);
  const cause = failureOf(world, job) ?? quotaRefusal(world, job);
  job.title = contentOf(world, job.spec)?.title;
  if (cause) {
    close(world, job, cause);
    return;
  }

  if (followsBounce(world, job)) throw new Unpromised("an address bounces between two sends of one instant");
  job.recipients = plan(world, job, true);
  for (const recipient of job.recipients)
    if (job.spec.channel_arbitration_mode === "smart") choose(world, job, recipient);
  const accepted = job.recipients.filter(({ state }) => state === "pending" || state === "deferred");
  job.sent = accepted.length;
  jobDispatched(world, job);
  for (const recipient of accepted) start(world, job, recipient);
  closeIfDone(world, job);
}

/** Ticks that come together are sends of one instant: the bounce of one comes between them, or after both. */
function followsBounce({ jobs, now }: World, { source }: Job): boolean {
  const others = jobs.filter((other) => other.dispatched_at === now && other.source.type === "schedule");
  const isFate = ({ to }: Delivery) => /^(bounce|complaint)@simulator/.test(to);
  return (
    source.type === "schedule" && others.some(({ recipients }) => recipients.some((r) => r.deliveries.some(isFate)))
  );
}

/**
 * What goes out in the request is counted exactly. If it does not fit, it never was, and nobody is told under which id it
 * drew whom it holds out: as far as we know, nobody.
 */
export function takeQuota(world: World, job: Job, isDrawn = true): Recipient[] {
  const planned = plan(world, job, false);
  const count = (...states: string[]) => planned.filter(({ state }) => states.includes(state)).length;
  job.sent = count("pending", "deferred");
  try {
    reserve(world, job, isDrawn ? job.sent : count("pending", "deferred", "held_out"));
  } catch (refusal) {
    world.jobs.splice(world.jobs.indexOf(job), 1);
    throw refusal;
  }
  return planned;
}

/** D-BILL: a send that would pass the quota or the own cap is refused whole. */
function reserve(world: World, job: Job, sends: number): void {
  const used = usedSends(world) + sends;
  const isBeyondPlan = used > limits(world.plan).sends;
  const isBeyondCap = world.monthly_send_cap !== null && used > world.monthly_send_cap;
  const codes = [...(isBeyondPlan ? ["PAYMENT_REQUIRED"] : []), ...(isBeyondCap ? ["SEND_CAP_REACHED"] : [])];
  if (sends > 0 && codes.length > 0) throw new Refusal(402, { code: new OneOf(codes) });
  job.taken = { at: world.now, sends, asked: sends };
  world.spent.push(job.taken);
  if (sends > 0) warnOfSends(world);
}

/** Whether a send to one more is beyond the quota. Which of several of one instant gets the last is open. */
export function isBeyondQuota(world: World): boolean {
  if (sendsLeft(world) >= 1) return false;
  if (world.spent.some(({ at, sends }) => at === world.now && sends > 0))
    throw new Unpromised("sends of one instant compete for the quota");
  needCertainPeriod(world);
  return true;
}

/** In a storm a worker may take up late what the next month, which has a quota of its own, then allows. */
function needCertainPeriod({ now, isStorm }: World): void {
  const [, end] = periodOf(now);
  if (isStorm === true && now >= end - 5 * MINUTE)
    throw new Unpromised("a quota refuses a send in the last minutes of its month");
}

/** What is not planned in the request holds its audience less the holdout until it ends (docs/decisions/0093). */
function quotaRefusal(world: World, job: Job): Body {
  if (job.taken) return null;
  const { target, subscriberIds, external_ids, holdout_percentage = 0 } = job.spec;
  const audience = target ? targetMembers(world, target).length : new Set(subscriberIds ?? external_ids).size;
  const sends = Math.round(audience * (1 - holdout_percentage / 100));
  const isOther = (one: Job) => one !== job && one.dispatched_at === world.now;
  const others = world.jobs.filter(isOther).flatMap(({ taken }) => taken ?? []);
  const returned = others.reduce((sum, { asked, sends: kept }) => sum + asked - kept, 0);
  if (others.some(({ asked }) => asked > 0) && sends + returned > sendsLeft(world))
    throw new Unpromised("sends of one instant compete for the quota");
  try {
    reserve(world, job, sends);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    needCertainPeriod(world);
    return error.body;
  }
}

/** What fails a send whole, before anybody is asked for. */
export function failureOf(world: World, { spec }: Job): Body {
  // By all of its channels it would be another send (docs/decisions/0021-settled-questions.md).
  if (spec.channel_arbitration_mode === "smart" && !reaches(world, "growth"))
    return { code: "PLAN_FEATURE_UNAVAILABLE" };
  if (contentOf(world, spec) === undefined) return { code: "TEMPLATE_NOT_FOUND" };
  const { target } = spec;
  if (target?.type === "segment" && !found(world.segments, target.segment_id)) return { code: "TARGET_GONE" };
  if (target?.type === "list" && !found(world.lists, target.list_id)) return { code: "TARGET_GONE" };
  return channelsOf(world, spec).some(isUsable) ? null : { code: "NO_USABLE_CHANNEL" };
}

/** SMA-2: only the best class; the others wait as fallbacks. */
function choose(world: World, job: Job, recipient: Recipient): void {
  const { planned, state, subscriber_id } = recipient;
  if (planned.length === 0 || state === "held_out") return;
  const ranked = classesInOrder(world, subscriber_id, [...new Set(planned.map((d) => d.class))]);
  const [first] = ranked;
  job.arbitration.push({ class: first!.class, source: first!.source });
  job.suppressed_devices += planned.filter((d) => d.device && d.class !== first!.class).length;
  // Where a cap stops a class, the next one is tried.
  const open = ranked.filter(({ class: name }) => recipient.deliveries.some((d) => d.class === name));
  // A class that a cap stops is a step to the next one (docs/decisions/0018-quiet-hours-and-caps.md).
  job.fallback_steps += open.length > 0 ? ranked.indexOf(open[0]!) : ranked.length - 1;
  const [best, ...rest] = open.map((ranking) => ranking.class);
  recipient.fallbacks = rest;
  recipient.deliveries = recipient.deliveries.filter((d) => d.class === best);
}
