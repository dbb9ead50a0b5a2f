// The life of a send: planned, handed over, retried, closed (D-NTF-STATE, D-AB, AMB-95, AMB-109).

import { suppress } from "./addresses.ts";
import { classesInOrder } from "./arbitration.ts";
import { audienceOf, targetMembers } from "./audience.ts";
import { jobClosed, jobDispatched } from "./campaign-moves.ts";
import { quietUntil } from "./caps.ts";
import { takeFault } from "./channels.ts";
import { channelsOf, isUsable, reachable } from "./gates.ts";
import { notifyHooks } from "./hooks.ts";
import { deliverToInbox } from "./inbox.ts";
import { ANY, type Body, DAY, isoOrNull, MINUTE, Refusal, Unpromised } from "./kit.ts";
import { limits, usedSends } from "./plans.ts";
import { render, type Values } from "./render.ts";
import { at, type Delivery, found, type Job, newId, type Recipient, type Subscriber, type World } from "./world.ts";

/** D-PROV: a transient failure is tried three times more. */
const RETRIES = [MINUTE, 5 * MINUTE, 30 * MINUTE];

export function createJob(world: World, spec: Body, source: Job["source"], id = newId(world, "job")): Job {
  const job: Job = {
    ...{ id, unit: id, status: "queued", spec, source, sent: 0, caps: [], recipients: [], error: null },
    ...{ scheduled_at: null, created_at: world.now, dispatched_at: null, completed_at: null, held: false },
    ...{ unknown: [], arbitration: [], fallback_steps: 0, suppressed_devices: 0 },
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
    const isDue = job.status === "scheduled" || job.status === "queued";
    if (!isDue || job.held || job.dispatched_at !== null) return;
    // What is more than a day late is not sent (docs/decisions/0021-settled-questions.md).
    if (world.now - due > DAY) close(world, job, { code: "EXPIRED" });
    else dispatch(world, job);
  });
}

/** The content of a send: its own, or of its template as it is now. */
export function contentOf(world: World, spec: Body): Body | undefined {
  if (spec.template_id) return found(world.templates, spec.template_id)?.content;
  return spec.content ?? { title: spec.title, body: spec.body };
}

/** AMB-95: everybody that the audience resolves to, with the decision for each. Caps are asked when it is handed over. */
export function plan(world: World, job: Job, asksCaps: boolean): Recipient[] {
  const { subscribers, unknown } = audienceOf(world, job.spec);
  const nobody = (id: string): Recipient => blank(world, id, null, "skipped", ["unknown_subscriber"]);
  return [...subscribers.map((subscriber) => decide(world, job, subscriber, asksCaps)), ...unknown.map(nobody)];
}

const blank = (world: World, id: string, external_id: string | null, state: string, reasons: string[]): Recipient => ({
  ...{ subscriber_id: id, external_id, state, reasons, variant: null, deliveries: [], fallbacks: [] },
  ...{
    deferred_until: null,
    at: world.now,
    isAssigned: false,
    planned: [],
    hasComplained: false,
    hasUnsubscribed: false,
    outcome: null,
  },
});

/** ABH-1, ABH-2: who is reached on no channel is skipped with the reason; of the others some are held out. */
export function decide(world: World, job: Job, subscriber: Subscriber, asksCaps = true): Recipient {
  const { spec, unit } = job;
  const { id, external_id } = subscriber;
  const recipient = blank(world, id, external_id, "pending", []);
  const { deliveries, reasons } = reachable(world, spec, subscriber, false);
  if (deliveries.length === 0) return { ...recipient, state: "skipped", reasons };
  if (world.bucket("holdout", unit, id) < (spec.holdout_percentage ?? 0) * 100)
    return { ...blank(world, id, external_id, "held_out", []), isAssigned: true };
  if (spec.variant_b) {
    const isFirst = world.bucket("split", unit, id) < (spec.split_percentage ?? 50) * 100;
    recipient.variant = isFirst ? "a" : "b";
  }
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
  job.caps = world.settings.frequency_caps;
  notifyHooks(world, "notification.dispatched", { job_id: job.id, scheduled_at: isoOrNull(job.scheduled_at) });
  const cause = failureOf(world, job) ?? quotaRefusal(world, job);
  job.title = contentOf(world, job.spec)?.title;
  if (cause) {
    close(world, job, cause);
    return;
  }

  if (isContested(world, job)) throw new Unpromised("sends of one instant compete for a cap");
  job.recipients = plan(world, job, true);
  for (const recipient of job.recipients)
    if (job.spec.channel_arbitration_mode === "smart") choose(world, job, recipient);
  const accepted = job.recipients.filter(({ state }) => state === "pending" || state === "deferred");
  job.sent = accepted.length;
  jobDispatched(world, job);
  for (const recipient of accepted) start(world, job, recipient);
  closeIfDone(world, job);
}

/** D-CAP: which of two sends of one instant comes first is open, and a cap may leave room for one. */
function isContested({ settings, jobs, now }: World, job: Job): boolean {
  if (settings.frequency_caps.length === 0 || job.spec.experience) return false;
  const others = jobs.filter((other) => other !== job && other.dispatched_at === now);
  return others.some(({ source, spec }) => source.type !== "journey" && !spec.experience);
}

/** What goes out in the request is counted exactly. If it does not fit, it never was. */
export function takeQuota(world: World, job: Job): Recipient[] {
  const planned = plan(world, job, false);
  job.sent = planned.filter(({ state }) => state === "pending" || state === "deferred").length;
  try {
    reserve(world, job, job.sent);
  } catch (refusal) {
    world.jobs.splice(world.jobs.indexOf(job), 1);
    throw refusal;
  }
  return planned;
}

/** D-BILL: a send that would pass the quota or the own cap is refused whole. */
function reserve(world: World, job: Job, sends: number): void {
  const used = usedSends(world) + sends;
  if (sends > 0 && used > limits(world.plan).sends) throw new Refusal(402, { code: "PAYMENT_REQUIRED" });
  if (sends > 0 && world.monthly_send_cap !== null && used > world.monthly_send_cap)
    throw new Refusal(402, { code: "SEND_CAP_REACHED" });
  job.taken = { at: world.now, sends };
  world.spent.push(job.taken);
}

/** What is not planned in the request holds its audience less the holdout until it ends (docs/decisions/0093). */
function quotaRefusal(world: World, job: Job): Body {
  if (job.taken) return null;
  const { target, subscriberIds, external_ids, holdout_percentage = 0 } = job.spec;
  const audience = target ? targetMembers(world, target).length : new Set(subscriberIds ?? external_ids).size;
  try {
    reserve(world, job, Math.round(audience * (1 - holdout_percentage / 100)));
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.body;
    throw error;
  }
}

/** What fails a send whole, before anybody is asked for. */
export function failureOf(world: World, { spec }: Job): Body {
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

/** Hands over one recipient of a job that stays open, as those of a journey's step do (D-INTJOBS). */
export function deliverOne(world: World, job: Job, recipient: Recipient): void {
  if (recipient.deliveries.length > 0) world.spent.push({ at: world.now, sends: 1 });
  start(world, job, recipient);
}

function start(world: World, job: Job, recipient: Recipient): void {
  if (recipient.deferred_until === null) {
    handOver(world, job, recipient);
    return;
  }
  const prompt = recipient.deliveries.filter(({ class: name }) => name === "in_app");
  for (const delivery of prompt) attempt(world, job, recipient, delivery);
  at(world, recipient.deferred_until, () => {
    const subscriber = found(world.subscribers, recipient.subscriber_id);
    if (job.status !== "processing" || !subscriber) return;
    const again = reachable(world, job.spec, subscriber);
    const waiting = recipient.deliveries;
    const fresh = again.deliveries.filter(({ class: name }) => prompt.length === 0 || name !== "in_app");
    Object.assign(recipient, { deliveries: [...prompt, ...fresh], deferred_until: null });
    if (recipient.deliveries.length === 0) refuseLate(world, recipient, waiting, again.reasons);
    for (const delivery of fresh) attempt(world, job, recipient, delivery);
    closeIfDone(world, job);
  });
}

/** A cap and a topic skip late too. Who may not be written to any more was planned, and is one that failed. */
const LATE_SKIPS = ["capped", "topic_opt_out"];

function refuseLate(world: World, recipient: Recipient, waiting: Delivery[], reasons: string[]): void {
  recipient.reasons = reasons;
  const isSkip = recipient.reasons.every((reason) => LATE_SKIPS.includes(reason));
  recipient.state = isSkip ? "skipped" : "failed";
  if (!isSkip) recipient.deliveries = waiting.map((delivery) => ({ ...delivery, state: "failed" }));
  follow(world, recipient, isSkip ? `skipped:${recipient.reasons.join("|")}` : "failed");
}

function handOver(world: World, job: Job, recipient: Recipient): void {
  for (const delivery of recipient.deliveries) attempt(world, job, recipient, delivery);
}

export const valuesOf = (world: World, job: Job, subscriber: string): Values => ({
  subscriber: found(world.subscribers, subscriber) ?? null,
  data: job.spec.data ?? {},
  event: job.spec.event ?? {},
});

/** The message of one recipient: its arm, rendered with its attributes as they are now. */
export function messageFor(world: World, job: Job, { subscriber_id, variant }: Recipient): { title: Body; body: Body } {
  if (job.spec.confirms) return { title: ANY, body: ANY };
  const content = (variant === "b" ? job.spec.variant_b : contentOf(world, job.spec)) ?? {};
  const values = valuesOf(world, job, subscriber_id);
  return { title: render(content.title ?? "", values), body: render(content.body ?? "", values) };
}

/** One call of a provider. The inbox needs none. */
function attempt(world: World, job: Job, recipient: Recipient, delivery: Delivery): void {
  delivery.attempts.push(world.now);
  const { type } = delivery.channel;
  const fault = type === "in_app" ? undefined : takeFault(world, type, recipient.subscriber_id);
  if (!fault) accept(world, job, recipient, delivery);
  else if (fault.outcome === "transient") retry(world, job, recipient, delivery);
  else fail(world, job, recipient, delivery, fault.outcome);
  conclude(world, recipient);
}

/** D-ATTRIB: delivered is what the provider accepted. */
function accept(world: World, job: Job, recipient: Recipient, delivery: Delivery): void {
  Object.assign(delivery, { state: "delivered", delivered_at: world.now });
  recipient.at = world.now;
  const { channel, to } = delivery;
  if (channel.type === "in_app") {
    deliverToInbox(world, job, recipient);
    return;
  }
  const { title, body } = messageFor(world, job, recipient);
  const links = channel.type === "email" ? (String(body).match(/https?:\/\/[^\s<>"]+/g) ?? []) : [];
  const { category = "marketing", confirms } = job.spec;
  world.outbox.push({
    ...{ channel: channel.type, to, subscriber_id: recipient.subscriber_id, job_id: job.id, at: world.now },
    // In a mail links are tracked.
    ...{ title, body: links.length > 0 ? ANY : body, links, category, confirms },
  });
  const fate = channel.type === "email" ? /^(bounce|complaint)@simulator/.exec(to)?.[1] : undefined;
  if (fate) at(world, world.now, () => comeBack(world, recipient, delivery, fate));
}

/** AMB-139, AMB-142: what comes back later changes every number that was made before; the address is suppressed (AMB-128). */
function comeBack(world: World, recipient: Recipient, delivery: Delivery, fate: string): void {
  if (found(world.subscribers, recipient.subscriber_id))
    suppress(world, delivery.to, { reason: fate, source: "provider" });
  if (fate === "complaint") {
    recipient.hasComplained = true;
    return;
  }
  Object.assign(delivery, { state: "bounced", delivered_at: null });
  recipient.at = world.now;
  conclude(world, recipient);
}

function retry(world: World, job: Job, recipient: Recipient, delivery: Delivery): void {
  const wait = RETRIES[delivery.attempts.length - 1];
  if (wait === undefined) {
    fail(world, job, recipient, delivery, "transient");
    return;
  }
  at(world, world.now + wait, () => {
    if (job.status !== "processing" || delivery.state !== "pending") return;
    attempt(world, job, recipient, delivery);
    closeIfDone(world, job);
  });
}

/** SMA-6, AMB-96: a permanent failure falls back to the next class, each once; retries that ran out do not. */
function fail(world: World, job: Job, recipient: Recipient, delivery: Delivery, outcome: string): void {
  Object.assign(delivery, { state: "failed", reason: outcome });
  recipient.at = world.now;
  if (outcome === "invalid_token" && delivery.device) delivery.device.status = "invalid";
  const isClassDead = recipient.deliveries.every((other) => other.class !== delivery.class || other.state === "failed");
  const next = outcome === "transient" || !isClassDead ? undefined : recipient.fallbacks.shift();
  if (next === undefined) return;
  job.fallback_steps++;
  const subscriber = found(world.subscribers, recipient.subscriber_id);
  const found_ = subscriber ? reachable(world, job.spec, subscriber).deliveries.filter((d) => d.class === next) : [];
  recipient.deliveries.push(...found_);
  for (const fresh of found_) attempt(world, job, recipient, fresh);
}

function conclude(world: World, recipient: Recipient): void {
  const states: string[] = recipient.deliveries.map(({ state }) => state);
  recipient.state = ["delivered", "pending", "bounced"].find((state) => states.includes(state)) ?? "failed";
  if (recipient.state === "pending") return;
  follow(world, recipient, recipient.state);
}

/** AMB-142: a step's outcome follows what became of its message. */
function follow({ rulings }: World, { outcome, state }: Recipient, now: string): void {
  if (rulings.AMB_142_outcome_follows && outcome?.outcome === "sent" && state !== "delivered") outcome.outcome = now;
}

export function closeIfDone(world: World, job: Job): void {
  if (job.status !== "processing") return;
  const isOpen = job.recipients.some(
    ({ state, deliveries }) =>
      ["pending", "deferred"].includes(state) || deliveries.some((delivery) => delivery.state === "pending"),
  );
  if (!isOpen) close(world, job, null);
}

/** D-NTF-STATE: `failed` for a cause of the job, or when every delivery failed; nobody to send to is `completed`. */
function close(world: World, job: Job, cause: Body): void {
  const states = job.recipients.map(({ state }) => state);
  const delivered = states.filter((state) => state === "delivered").length;
  const failed = states.filter((state) => state === "failed").length;
  job.status = cause || (failed > 0 && delivered === 0) ? "failed" : "completed";
  job.error = cause;
  job.completed_at = world.now;
  if (job.taken) job.taken.sends = cause ? 0 : job.recipients.filter(({ deliveries }) => deliveries.length > 0).length;
  const data = { job_id: job.id, status: job.status, delivered, failed, total: delivered + failed };
  notifyHooks(world, "notification.terminal", data);
  jobClosed(world, job);
}

/** NTF-10: before its time only. It is over at that moment. */
export function cancelJob(world: World, job: Job): void {
  Object.assign(job, { status: "canceled", completed_at: world.now });
  jobClosed(world, job);
}
