// Runs of a journey: what happens at each step (D-JNY-RUN, JND-9 to JND-15, AMB-10, AMB-11, AMB-75, AMB-136).
import { close, closeIfDone } from "./closing.ts";
import { deliverOne } from "./delivering.ts";
import { reachable } from "./gates.ts";
import { notifyHooks } from "./hooks.ts";
import { type Body, duration, isRecord, MINUTE, SECOND, Unpromised } from "./kit.ts";
import { sendsLeft } from "./plans.ts";
import { matches, valuesAt } from "./predicates.ts";
import type { Event, Subscriber } from "./records/people.ts";
import type { Journey, Outcome, Run } from "./records/plans.ts";
import type { Job } from "./records/sends.ts";
import { holdsFor, treeOf } from "./rules.ts";
import { createJob, decide, failureOf, isBeyondQuota } from "./sending.ts";
import { eventsOf, momentOf } from "./stitching.ts";
import { at, existing, found, newId, type World } from "./world.ts";

const definitionOf = (world: World, run: Run): Body =>
  found(world.journeys, run.journey_id)!.definitions[run.version - 1];

function note(world: World, run: Run, outcome: string): Outcome {
  const row = { journey_id: run.journey_id, version: run.version, step: run.step!, outcome };
  world.outcomes.push(row);
  return row;
}

function end(run: Run, status: string, ended_at: number): void {
  Object.assign(run, { status, ended_at, until: null });
}

/** `{{trigger.prop}}` in a `where` is a property of the event that started the run, or the value at a path (AMB-148). */
function withTrigger(world: World, where: Body, trigger: Event | null): Body {
  const text = JSON.stringify(where ?? {});
  const filled = text.replace(/"\{\{\s*trigger\.([\w.]+)\s*\}\}"/g, (_, key: string) =>
    JSON.stringify(valuesAt(world, trigger?.properties ?? {}, key)[0] ?? null),
  );
  return JSON.parse(filled);
}

/**
 * The first event of a name in a span, both ends included, that was received by `heard`; of the instant of `mover` only
 * what came after it. The trigger never counts (AMB-75), and no event twice (AMB-136).
 */
function firstOf(
  world: World,
  run: Run,
  { name, where }: Body,
  { since, until = Number.POSITIVE_INFINITY, heard = Number.POSITIVE_INFINITY, mover }: Body,
): Event | undefined {
  const filled = withTrigger(world, where, run.trigger);
  return eventsOf(world, run.subscriber_id)
    .filter((event) => event.event_name === name && event !== run.trigger && !run.used.includes(event))
    .filter((event) => momentOf(event) >= since && momentOf(event) <= until && event.received_at <= heard)
    .filter((event) => !mover || isAfter(event, mover))
    .filter((event) => matches(world, filled, event.properties))
    .sort((a, b) => momentOf(a) - momentOf(b) || a.order - b.order)[0];
}

/** An event with an idempotency key has its place among those of its own name in a batch, not among those of another. */
function isAfter(event: Event, mover: Event): boolean {
  const isOfOneReceipt = momentOf(event) === momentOf(mover) && event.received_at === mover.received_at;
  const isKeyed = event.idempotency_key !== null || mover.idempotency_key !== null;
  if (isOfOneReceipt && isKeyed && event.anonymous_id !== mover.anonymous_id)
    throw new Unpromised("the order of two names in one batch with idempotency keys");
  return momentOf(event) > momentOf(mover) || event.order > mover.order;
}

/** JND-8, JND-9: since when an exit condition holds; one on attributes holds from ever. */
function exitOf(world: World, run: Run, subscriber: Subscriber): number | undefined {
  const conditions: Body[] = definitionOf(world, run).steps.exit_conditions ?? [];
  const times = conditions.flatMap(({ attribute, event, rule }) => {
    if (attribute) return matches(world, attribute, subscriber.attributes) ? [Number.NEGATIVE_INFINITY] : [];
    if (rule) return holdsFor(world, treeOf(rule)!, subscriber) ? [Number.NEGATIVE_INFINITY] : [];
    const { trigger } = run;
    const since = trigger ? momentOf(trigger) : run.entered_at;
    const met = firstOf(world, { ...run, used: [] }, event, { since, mover: trigger });
    return met ? [momentOf(met)] : [];
  });
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Where a run goes from its step, and when it leaves it: now, where it stays or sends (AMB-136). */
function leaving(world: World, run: Run, subscriber: Subscriber, node: Body): Body {
  const config = node[node.type];
  const { since } = run;
  if (node.type === "exit") return { at: since, outcome: "exit", ends: true };
  if (node.type === "send") return { at: world.now, sends: config };
  if (node.type === "branch") {
    const isTrue = holdsFor(world, treeOf(config.condition)!, subscriber, since);
    return { at: since, outcome: isTrue ? "branch:then" : "branch:else", next: isTrue ? config.then : config.else };
  }
  const isDelay = node.type === "delay";
  const lasts = duration(isDelay ? config.duration : config.within) ?? Number.POSITIVE_INFINITY;
  // Delays do not look back.
  if (isDelay && run.until === null) run.since = world.now;
  const start = Math.max(isDelay ? world.now : since, run.from);
  const begun = start + lasts + stoodStill(world, run, start);
  // The end of a wait does not depend on how far a worker is behind, but for a pause.
  const asks = isDelay || stoodStill(world, run, since) > 0;
  const ended = run.until ?? begun;
  const until = asks && run.until !== null ? afterMessage(world, run, run.until, lasts) : ended;
  if (!isDelay) {
    const heard = Math.max(until, run.mover?.received_at ?? 0);
    const { event_name: name, where } = config;
    const event = firstOf(world, run, { name, where }, { since, until, heard, mover: run.mover });
    const looks = since + SECOND_LOOK - world.now;
    if (event && isOfBegin(run, event) && looks > 0) return { at: world.now, until, looks };
    if (event) return { at: momentOf(event), outcome: "wait:event", next: config.on_event, event };
  }
  if (world.now < until) return { at: world.now, until };
  return { at: until, outcome: isDelay ? "delayed" : "wait:timeout", next: isDelay ? config.next : config.on_timeout };
}

/** AMB-136: for how long the last pause of the journey stopped a run that came to its step at `start`, before or in it. */
function stoodStill({ journeys }: World, { journey_id }: Run, start: number): number {
  const { paused_at, resumed_at } = existing(journeys, journey_id);
  return Math.max(0, resumed_at - Math.max(start, paused_at));
}

/** A message is looked for again no sooner, and may go out so much after the end of quiet hours. */
const LOOK_AGAIN = 5 * MINUTE;
const atOnce = (lasts: number) => Math.min(MINUTE, lasts / 10);

/** AMB-136: what comes after a message that a pause held beyond its quiet hours keeps its distance to it. */
function afterMessage(world: World, run: Run, until: number, lasts: number): number {
  const { message } = run;
  const { now } = world;
  if (!message || now < until) return until;
  const { went_out_at: out } = message;
  if (out === null) return now + Math.max(lasts, LOOK_AGAIN);
  run.message = null;
  const ends = out + lasts + stoodStill(world, run, out);
  return ends > until + atOnce(lasts) ? ends : until;
}

/** What is there already when a run begins by a segment is looked at so long after. */
const SECOND_LOOK = 5 * SECOND;
const isOfBegin = ({ trigger, mover, since }: Run, event: Event): boolean =>
  trigger === null && mover === null && momentOf(event) === since;

/** Moves on until a step has to wait. */
export function tick(world: World, run: Run): void {
  const journey = found(world.journeys, run.journey_id);
  const subscriber = found(world.subscribers, run.subscriber_id);
  if (journey?.status !== "active" || !subscriber) return;
  while (run.status === "active") {
    const exit = exitOf(world, run, subscriber);
    // A delay begins when a worker comes to it; the run came there before.
    const arrived = run.since;
    const move = leaving(world, run, subscriber, definitionOf(world, run).steps.steps[run.step!]);
    if (exit !== undefined && exit <= move.at) {
      end(run, "exited", exit === Number.NEGATIVE_INFINITY ? world.now : Math.max(exit, arrived));
      return;
    }
    if (move.until !== undefined) {
      wakeAt(world, run, move.until);
      if (move.looks) at(world, world.now + move.looks, () => tick(world, run));
      return;
    }
    const held = move.sends ? send(world, run, journey, subscriber, move.sends) : null;
    if (!move.sends) note(world, run, move.outcome);
    const next = move.sends ? move.sends.next : move.next;
    // AMB-10: an empty next completes the run.
    if (move.ends || !next) {
      end(run, "completed", move.at);
      return;
    }
    if (move.event) run.used.push(move.event);
    // What came late, or waits for the end of quiet hours, is sent then: the steps after it keep their distance to that.
    const sentAt = move.sends ? Math.max(run.since, run.from, run.mover?.received_at ?? 0, held ?? 0) : 0;
    const from = move.outcome?.startsWith("branch:") ? run.from : sentAt;
    const mover = move.outcome === "delayed" || move.outcome === "wait:timeout" ? null : (move.event ?? run.mover);
    const message = move.sends || move.outcome.startsWith("branch:") ? run.message : null;
    Object.assign(run, { step: next, since: move.sends ? run.since : move.at, from, until: null, message, mover });
  }
}

function wakeAt(world: World, run: Run, until: number): void {
  run.until = until;
  const { step } = run;
  if (until === Number.POSITIVE_INFINITY) return;
  at(world, until, () => {
    if (run.step === step && run.until === until) tick(world, run);
  });
}

/** AMB-136: what a delay or wait had left before a pause, it has left after it. */
export function resumeRun(world: World, run: Run, pause: number): void {
  if (run.until !== null) run.until += pause;
  at(world, world.now, () => tick(world, run));
}

/**
 * JND-15: one send per run and step. D-INTJOBS says one job per day; here each has its own, and runs that move together may
 * share one (docs/decisions/0029-journeys-in-packs.md): receivers alone would notice.
 * @returns until when the message waits for quiet hours, or null
 */
function send(world: World, run: Run, journey: Journey, subscriber: Subscriber, config: Body): number | null {
  const event = run.trigger?.properties;
  const spec = { ...config, category: config.category ?? "marketing", ...(isRecord(event) && { event }) };
  const job = createJob(world, spec, { type: "journey", id: journey.id });
  job.status = "processing";
  job.dispatched_at = world.now;
  job.settings = structuredClone(world.settings);
  // D-NTF-STATE: a cause that concerns the whole send fails it.
  if (failureOf(world, job)) {
    note(world, run, "failed");
    return null;
  }
  const recipient = decide(world, job, subscriber);
  const { deferred_until: held } = recipient;
  // An unreachable person is in no send; caps are asked for when a send is handed over.
  const isPlanned = recipient.planned.length > 0;
  if (isPlanned) job.recipients.push(recipient);
  // Of a run that goes on beyond the quota, the send fails, whatever a cap would say of it when it is handed over.
  const isBeyond = isPlanned && isBeyondQuota(world);
  const skipped = recipient.state === "skipped";
  if (!isPlanned) job.status = "completed";
  else if (isOfSeveral(world, job, subscriber))
    throw new Unpromised("runs that send together may share one send, or be told of in any order");
  else notifyHooks(world, "notification.dispatched", { job_id: job.id, scheduled_at: null });
  if (isBeyond) {
    job.recipients = [];
    close(world, job, { code: "SEND_CAP_REACHED" });
    note(world, run, "failed");
    return held;
  }
  if (held !== null) run.message = recipient;
  deliverOne(world, job, recipient);
  closeIfDone(world, job);
  const handedOver = recipient.state === "failed" ? "failed" : "sent";
  recipient.outcome = note(world, run, skipped ? `skipped:${recipient.reasons.join("|")}` : handedOver);
  return held;
}

/** Nor does anything tell receivers which of two journeys a send of theirs at one instant is of. */
const isOfSeveral = ({ jobs, hooks, now }: World, { source }: Job, { id }: Subscriber): boolean =>
  hooks.some(({ events }) => events.some((type) => type.startsWith("notification."))) &&
  jobs.some(
    (other) =>
      other.source.type === "journey" &&
      other.created_at === now &&
      other.recipients.some(({ subscriber_id }) => subscriber_id !== id || other.source.id !== source.id),
  );

/** Whether a run would send to somebody before it waits (docs/decisions/0110-who-was-not-let-in.md). */
function beginsWithSend(world: World, run: Run, subscriber: Subscriber): boolean {
  const { steps } = definitionOf(world, run).steps;
  const exit = exitOf(world, run, subscriber);
  for (let step = run.step; step; ) {
    const move = leaving(world, { ...run, step }, subscriber, steps[step]);
    if (exit !== undefined && exit <= move.at) return false;
    if (move.sends)
      return reachable(world, { category: "marketing", ...move.sends }, subscriber, false).deliveries.length > 0;
    step = move.outcome?.startsWith("branch") ? move.next : null;
  }
  return false;
}

/** A run that begins, if it may: who would begin with a send beyond the quota does not. */
export function newRun(world: World, journey: Journey, subscriber: Subscriber, trigger: Event | null) {
  const definition = journey.definitions.at(-1)!;
  const run: Run = {
    ...{ id: newId(world, "run"), journey_id: journey.id, version: journey.version },
    ...{ subscriber_id: subscriber.id, status: "active", step: definition.steps.start },
    ...{ since: trigger ? momentOf(trigger) : world.now, from: 0, until: null, message: null },
    ...{ mover: trigger, used: [] },
    ...{ entered_at: world.now, ended_at: null, trigger },
  };
  return sendsLeft(world) < 1 && beginsWithSend(world, run, subscriber) && isBeyondQuota(world) ? undefined : run;
}

export function cancelRuns(world: World, isMeant: (run: Run) => boolean): void {
  for (const run of world.runs) if (run.status === "active" && isMeant(run)) end(run, "canceled", world.now);
}
