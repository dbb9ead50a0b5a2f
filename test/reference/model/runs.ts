// Runs of a journey: what happens at each step (D-JNY-RUN, JND-9 to JND-15, AMB-10, AMB-11, AMB-75, AMB_136).
import { type Body, DAY, duration, iso, isRecord } from "./kit.ts";
import { matches } from "./predicates.ts";
import { holdsFor, treeOf } from "./rules.ts";
import { createJob, decide, deliverOne } from "./sending.ts";
import { eventsOf } from "./stitching.ts";
import { at, type Event, found, type Journey, type Run, type Subscriber, type World } from "./world.ts";

const definitionOf = (world: World, run: Run): Body =>
  found(world.journeys, run.journey_id)!.definitions[run.version - 1];

const note = (world: World, run: Run, outcome: string) =>
  world.outcomes.push({ journey_id: run.journey_id, version: run.version, step: run.step!, outcome });

function end(world: World, run: Run, status: string): void {
  Object.assign(run, { status, ended_at: world.now, due: null });
}

/** `{{trigger.prop}}` in a `where` is a property of the event that started the run. */
function withTrigger(where: Body, trigger: Event | null): Body {
  const text = JSON.stringify(where ?? {});
  const filled = text.replace(/"\{\{\s*trigger\.(\w+)\s*\}\}"/g, (_, key: string) =>
    JSON.stringify(trigger?.properties[key] ?? null),
  );
  return JSON.parse(filled);
}

/** JND-8, JND-9. An event counts since the entry, the trigger itself never does (AMB-75). */
function isExiting(world: World, run: Run, subscriber: Subscriber): boolean {
  const conditions: Body[] = definitionOf(world, run).steps.exit_conditions ?? [];
  return conditions.some(({ attribute, event, rule }) => {
    if (attribute) return matches(world, attribute, subscriber.attributes);
    if (rule) return holdsFor(world, treeOf(rule)!, subscriber);
    const where = withTrigger(event.where, run.trigger);
    return eventsOf(world, run.subscriber_id).some(
      (other) =>
        other !== run.trigger &&
        other.order > run.order &&
        other.event_name === event.name &&
        matches(world, where, other.properties),
    );
  });
}

/** Moves on until a step has to wait. */
export function tick(world: World, run: Run): void {
  const journey = found(world.journeys, run.journey_id);
  const subscriber = found(world.subscribers, run.subscriber_id);
  if (journey?.status !== "active" || !subscriber || run.status !== "active") return;
  if (isExiting(world, run, subscriber)) {
    end(world, run, "exited");
    return;
  }
  const node = definitionOf(world, run).steps.steps[run.step!];
  const config = node[node.type];
  if (node.type === "exit") {
    note(world, run, "exit");
    end(world, run, "completed");
    return;
  }
  if (node.type === "send") {
    send(world, run, journey, subscriber, config);
    move(world, run, config.next, world.now);
    return;
  }
  if (node.type === "branch") {
    const isTrue = holdsFor(world, treeOf(config.condition)!, subscriber);
    note(world, run, isTrue ? "branch:then" : "branch:else");
    move(world, run, isTrue ? config.then : config.else, world.now);
    return;
  }
  if (node.type === "delay") {
    delay(world, run, config);
    return;
  }
  wait(world, run, config);
  return;
}

/** AMB-10: an empty next completes the run. */
function move(world: World, run: Run, next: string | undefined, time: number): void {
  if (!next) {
    end(world, run, "completed");
    return;
  }
  Object.assign(run, { step: next, since: time, due: null });
  tick(world, run);
}

function delay(world: World, run: Run, config: Body): void {
  if (run.due === null) {
    wakeAt(world, run, run.since + duration(config.duration)!);
    return;
  }
  if (world.now < run.due) return;
  note(world, run, "delayed");
  move(world, run, config.next, world.now);
}

/** JND-13: an event that matches, within the window; else the timeout at its end. No window waits without limit. */
function wait(world: World, run: Run, config: Body): void {
  const deadline = config.within === undefined ? Number.POSITIVE_INFINITY : run.since + duration(config.within)!;
  const where = withTrigger(config.where, run.trigger);
  const awaited = eventsOf(world, run.subscriber_id).find(
    (event) =>
      event !== run.trigger &&
      event.order > run.order &&
      event.event_name === config.event_name &&
      event.received_at >= run.since &&
      event.received_at <= deadline &&
      !run.sends.includes(event.id) &&
      matches(world, where, event.properties),
  );
  if (awaited) {
    note(world, run, "wait:event");
    // One event moves a run by one step at most.
    run.sends.push(awaited.id);
    move(world, run, config.on_event, world.now);
    return;
  }
  if (world.now >= deadline) {
    note(world, run, "wait:timeout");
    move(world, run, config.on_timeout, world.now);
    return;
  }
  if (run.due === null && deadline !== Number.POSITIVE_INFINITY) wakeAt(world, run, deadline);
}

function wakeAt(world: World, run: Run, due: number): void {
  run.due = due;
  const { step } = run;
  at(world, due, () => {
    if (run.step === step && run.due === due) tick(world, run);
  });
}

/** JND-15, D-INTJOBS: one send per run and step, under one job per journey, version, step and day. */
function send(world: World, run: Run, journey: Journey, subscriber: Subscriber, config: Body): void {
  const day = iso(Math.floor(world.now / DAY) * DAY);
  const step = { journey: journey.id, version: run.version, step: run.step!, day };
  const known = world.jobs.find((job) => job.step && JSON.stringify(job.step) === JSON.stringify(step));
  const job = known ?? createJob(world, {}, { type: "journey", id: journey.id });
  const event = run.trigger?.properties;
  job.step = step;
  job.spec = { ...config, category: config.category ?? "marketing", ...(isRecord(event) && { event }) };
  job.status = "processing";
  job.dispatched_at ??= world.now;
  const recipient = decide(world, job, subscriber);
  job.recipients.push(recipient);
  deliverOne(world, job, recipient);
  const skipped = recipient.state === "skipped";
  note(
    world,
    run,
    skipped ? `skipped:${recipient.reasons.join("|")}` : recipient.state === "failed" ? "failed" : "sent",
  );
}

export function startRun(world: World, journey: Journey, subscriber: Subscriber, trigger: Event | null): Run {
  const definition = journey.definitions.at(-1)!;
  const run: Run = {
    ...{ id: `${journey.id}/run-${world.order}`, journey_id: journey.id, version: journey.version },
    ...{ subscriber_id: subscriber.id, status: "active", step: definition.steps.start, since: world.now },
    ...{ due: null, entered_at: world.now, ended_at: null, trigger, sends: [], order: world.order++ },
  };
  world.runs.push(run);
  tick(world, run);
  return run;
}

export function cancelRunsOf(world: World, subscriber: string): void {
  for (const run of world.runs)
    if (run.subscriber_id === subscriber && run.status === "active") end(world, run, "canceled");
}
export function cancelRunsOfJourney(world: World, journey: Journey): void {
  for (const run of world.runs)
    if (run.journey_id === journey.id && run.status === "active") end(world, run, "canceled");
}
