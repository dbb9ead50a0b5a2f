// What becomes of a message: handed over, retried, brought back, told (D-NTF-STATE, AMB-109, AMB-139).
import { isSameAddress, suppress } from "./addresses.ts";
import { warnOfSends } from "./annotations.ts";
import { capReason, quietUntil } from "./caps.ts";
import { takeFault } from "./channels.ts";
import { closeIfDone, conclude } from "./closing.ts";
import { comeBack, refuseShared } from "./fates.ts";
import { isReasons, reach } from "./gates.ts";
import { deliverToInbox } from "./inbox.ts";
import { ANY, type Body, HOUR, MINUTE, Unpromised } from "./kit.ts";
import { channelTypesOf } from "./plans.ts";
import type { Channel, Delivery, Job, Recipient } from "./records/sends.ts";
import { render, saidBy, type Values } from "./render.ts";
import { ANSWER_TIME, UNANSWERED } from "./tallies.ts";
import { isOut } from "./topics.ts";
import { at, found, type World } from "./world.ts";

/** What says nothing of an address. */
const MAY_PASS = ["transient", UNANSWERED];

/** D-PROV: a transient failure is tried three times more. */
const RETRIES = [MINUTE, 5 * MINUTE, 30 * MINUTE];

/** The content of a send: its own, or of its template as it is now. */
export function contentOf(world: World, spec: Body): Body | undefined {
  if (spec.template_id) return found(world.templates, spec.template_id)?.content;
  return spec.content ?? { title: spec.title, body: spec.body, by_channel: spec.by_channel };
}

/** Hands over one recipient of a job that stays open, as those of a journey's step do (D-INTJOBS). */
export function deliverOne(world: World, job: Job, recipient: Recipient): void {
  if (recipient.planned.length > 0) {
    job.taken = { at: world.now, sends: 1, asked: 1 };
    world.spent.push(job.taken);
    warnOfSends(world);
  }
  start(world, job, recipient);
}

export function start(world: World, job: Job, recipient: Recipient): void {
  const { deliveries, deferred_until: until } = recipient;
  const waiting = until === null ? [] : deliveries.filter(({ class: name }) => name !== "in_app");
  if (waiting.length === 0) recipient.deferred_until = null;
  // What failed may add the next class.
  for (const delivery of [...deliveries]) if (!waiting.includes(delivery)) attempt(world, job, recipient, delivery);
  for (const delivery of waiting) {
    delivery.waits = until;
    attemptAt(world, job, recipient, delivery, until!);
  }
}

/** A later attempt. Of a campaign that is paused it waits for the resume (AMB-113). */
function attemptAt(world: World, job: Job, recipient: Recipient, delivery: Delivery, time: number): void {
  at(world, time, () => {
    if (job.status !== "processing" || delivery.state !== "pending") return;
    if (job.held) {
      job.stopped.push(() => attemptAt(world, job, recipient, delivery, world.now));
      return;
    }
    attemptLate(world, job, recipient, delivery);
    closeIfDone(world, job);
  });
}

/** Settings are those of its dispatch. */
const asPlanned = (world: World, { settings }: Job): World => ({ ...world, settings });

/** A recipient that cannot be written to any more was planned, and counts as failed. A cap and a topic skip late too. */
const LATE_SKIPS = ["capped", "topic_opt_out", "canceled"];

const statusOfJourney = (world: World, { source }: Job) => found(world.journeys, source.id)?.status;

/**
 * JND-9: a message that waited for quiet hours is not sent once its journey is archived or deleted, nor to somebody whose
 * run has exited, or was canceled, meanwhile.
 */
function hasLeft(world: World, job: Job, { subscriber_id }: Recipient): boolean {
  const { source, created_at } = job;
  if (source.type !== "journey") return false;
  if ((statusOfJourney(world, job) ?? "archived") === "archived") return true;
  const own = world.runs.filter((one) => one.journey_id === source.id && one.subscriber_id === subscriber_id);
  // One that began later is another visit: the message is of the one before.
  const run = own.findLast(({ entered_at }) => entered_at <= created_at);
  return run !== undefined && ["exited", "canceled"].includes(run.status);
}

/** A journey that is paused holds what waited: it is looked at again (docs/decisions/0018-quiet-hours-and-caps.md). */
function nextLook(now: number, ended: number): number {
  const wait = Math.min(6 * HOUR, Math.max(5 * MINUTE, (now - ended) / 8));
  return Math.ceil((now + wait) / (5 * MINUTE)) * 5 * MINUTE;
}

/** Quiet hours that have begun defer a retry too; the end of those that it waited for is asked for again. */
function attemptLate(world: World, job: Job, recipient: Recipient, delivery: Delivery): void {
  const { waits: ended = null } = delivery;
  if (ended !== null && statusOfJourney(world, job) === "paused") {
    attemptAt(world, job, recipient, delivery, nextLook(world.now, ended));
    return;
  }
  const subscriber = found(world.subscribers, recipient.subscriber_id);
  const disturbs = delivery.class !== "in_app" && !job.spec.experience;
  const until = subscriber && disturbs ? quietUntil(asPlanned(world, job), job.spec, subscriber) : null;
  if (disturbs) recipient.deferred_until = until;
  delivery.waits = until;
  if (until !== null) {
    recipient.state = "deferred";
    attemptAt(world, job, recipient, delivery, until);
    return;
  }
  if (disturbs) recipient.went_out_at = world.now;
  const isCanceled = ended !== null && hasLeft(world, job, recipient);
  const reasons = isCanceled ? ["canceled"] : refusalsNow(world, job, recipient, delivery);
  if (reasons.length === 0) {
    attempt(world, job, recipient, delivery);
    return;
  }
  recipient.reasons = reasons;
  if (LATE_SKIPS.includes(reasons[0]!)) delivery.state = "skipped";
  else Object.assign(delivery, { state: "failed", reason: reasons[0], failed_at: world.now });
  recipient.at = world.now;
  if (reasons[0] !== "topic_opt_out") fallBack(world, job, recipient, delivery);
  conclude(recipient);
}

/**
 * Why an address that was planned may not be written to any more: its channel is that of the plan, the rest is asked for
 * again (AMB-128, TPC-2, docs/decisions/0018-quiet-hours-and-caps.md).
 */
function refusalsNow(world: World, job: Job, recipient: Recipient, delivery: Delivery): string[] {
  const subscriber = found(world.subscribers, recipient.subscriber_id);
  if (!subscriber) return ["erased"];
  if (isOut(world, subscriber.id, job.spec)) return ["topic_opt_out"];
  const then = asPlanned(world, job);
  const { device_filters: _, ...spec } = job.spec;
  const result = reach(then, spec, delivery.channel, subscriber);
  if (isReasons(result)) return result;
  const same = result.find(({ device }) => device === delivery.device);
  if (!same) return ["no_device"];
  // Who asks an address to confirm asks no other one.
  if (job.spec.confirms && !isSameAddress(same.to, delivery.to)) return ["no_address"];
  delivery.to = same.to;
  const isFirst = delivery.attempts.length === 0;
  return isFirst && capReason(then, spec, subscriber.id, delivery.class, recipient) ? ["capped"] : [];
}

const valuesOf = (world: World, job: Job, subscriber: string): Values => ({
  subscriber: found(world.subscribers, subscriber) ?? null,
  data: job.spec.data ?? {},
  event: job.spec.event ?? {},
});

/** The message of one recipient: its arm, rendered with its attributes as they are now. */
function messageFor(
  world: World,
  job: Job,
  { subscriber_id, variant }: Recipient,
  channel: string,
): { title: Body; body: Body } {
  if (job.spec.confirms) return { title: ANY, body: ANY };
  const said = saidBy(contentOf(world, job.spec) ?? {}, variant === "b" ? job.spec.variant_b : undefined, channel);
  const values = valuesOf(world, job, subscriber_id);
  return { title: render(said.title, values), body: render(said.body, values) };
}

/** CHN-17: the credentials of a channel go with it. A worker that has opened them may use them for five minutes. */
function hasNoCredentials({ now }: World, { type, deleted_at }: Channel): boolean {
  if (type === "in_app" || deleted_at === undefined) return false;
  if (now < deleted_at + 5 * MINUTE) throw new Unpromised("a message is tried again after its channel was deleted");
  return true;
}

/**
 * A channel that was switched off since, of a type that the plan has no more (GEN-10, AMB-87), or whose credentials were replaced
 * by some that were refused, is tried again (docs/decisions/0155-a-send-waits-for-its-channel.md). A worker that has opened it may use it for five minutes.
 */
function isHeld({ now, plan, plan_changed_at }: World, { dispatched_at }: Job, channel: Channel): boolean {
  const { type, active, status, changed_at = 0, uploaded_at = 0 } = channel;
  const since = dispatched_at ?? now;
  if (type === "in_app") return false;
  if (plan_changed_at > since && now < plan_changed_at + 5 * MINUTE)
    throw new Unpromised("a message is tried again after the plan was changed");
  if (!channelTypesOf(plan).includes(type)) return true;
  if (changed_at < since) return false;
  if (changed_at > since && now < changed_at + 5 * MINUTE)
    throw new Unpromised("a message is tried again after its channel was changed");
  if (uploaded_at === since && status !== "active")
    throw new Unpromised("credentials are replaced in the instant of a send");
  return !active || (uploaded_at > since && status !== "active");
}

/** One call of a provider. The inbox needs none. */
function attempt(world: World, job: Job, recipient: Recipient, delivery: Delivery): void {
  delivery.attempts.push(world.now);
  const { type } = delivery.channel;
  const isLost = hasNoCredentials(world, delivery.channel);
  const isWaiting = !isLost && isHeld(world, job, delivery.channel);
  const fault =
    isLost || isWaiting || type === "in_app" ? undefined : takeFault(world, type, recipient.subscriber_id, job.id);
  if (isLost) fail(world, job, recipient, delivery, "no_credentials");
  else if (isWaiting) retry(world, job, recipient, delivery);
  else if (!fault) accept(world, job, recipient, delivery);
  else if (fault.outcome === "transient") retry(world, job, recipient, delivery);
  else if (fault.outcome === UNANSWERED) awaitAnswer(world, job, recipient, delivery);
  else fail(world, job, recipient, delivery, fault.outcome);
  conclude(recipient);
}

/** AMB-95, F1: a mail that its provider may have taken counts as failed, and is not sent again. */
function awaitAnswer(world: World, job: Job, recipient: Recipient, delivery: Delivery): void {
  if (job.recipients.flatMap(({ deliveries }) => deliveries).length > 1)
    throw new Unpromised("others wait with a mail that gets no answer");
  const { id: job_id } = job;
  world.unanswered.push({ ...{ job_id, subscriber_id: recipient.subscriber_id, to: delivery.to }, at: world.now });
  at(world, world.now + ANSWER_TIME, () => {
    delivery.attempts = [world.now];
    fail(world, job, recipient, delivery, UNANSWERED);
    conclude(recipient);
    closeIfDone(world, job);
  });
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
  const { title, body } = messageFor(world, job, recipient, delivery.class);
  const links = channel.type === "email" ? (String(body).match(/https?:\/\/[^\s<>"]+/g) ?? []) : [];
  const { category = "marketing", confirms, topic } = job.spec;
  world.outbox.push({
    ...{ channel: channel.type, to, subscriber_id: recipient.subscriber_id, job_id: job.id, at: world.now },
    // In a mail links are tracked.
    ...{ title, body: links.length > 0 ? ANY : body, links, category, confirms, topic },
  });
  const fate = channel.type === "email" ? /^(bounce|complaint)@simulator/.exec(to)?.[1] : undefined;
  if (fate) at(world, world.now, () => comeBack(world, recipient, delivery, fate));
}

function retry(world: World, job: Job, recipient: Recipient, delivery: Delivery): void {
  const wait = RETRIES[delivery.attempts.length - 1];
  if (wait === undefined) fail(world, job, recipient, delivery, "transient");
  else attemptAt(world, job, recipient, delivery, world.now + wait);
}

/** SMA-6, AMB-96: a permanent failure falls back to the next class, each once; retries that ran out do not. */
function fail(world: World, job: Job, recipient: Recipient, delivery: Delivery, outcome: string): void {
  Object.assign(delivery, { state: "failed", reason: outcome, failed_at: world.now });
  recipient.at = world.now;
  if (outcome === "invalid_token") at(world, world.now, () => refuseShared(world, recipient, delivery));
  if (outcome === "invalid_token" && delivery.device) delivery.device.status = "invalid";
  else if (outcome === "invalid_token") suppress(world, delivery.to, { reason: "bounce", source: "provider" });
  if (!MAY_PASS.includes(outcome)) fallBack(world, job, recipient, delivery);
}

/** Once a whole class has failed permanently, what was planned of the next one is tried. */
function fallBack(world: World, job: Job, recipient: Recipient, delivery: Delivery): void {
  const own = recipient.deliveries.filter((other) => other.class === delivery.class);
  const isDead = ({ state, reason }: Delivery) =>
    state === "skipped" || (state === "failed" && !MAY_PASS.includes(reason ?? ""));
  const next = own.every(isDead) ? recipient.fallbacks.shift() : undefined;
  if (next === undefined) return;
  job.fallback_steps++;
  const fresh = recipient.planned.filter((planned) => planned.class === next);
  recipient.deliveries.push(...fresh);
  for (const one of fresh) attemptLate(world, job, recipient, one);
}
