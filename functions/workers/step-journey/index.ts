// Moves runs of journeys: when a timer fires, when something happens that starts or concerns them, and all at once.
import { SECOND } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import { throwFailures } from "../../../shared/failures.ts";
import type { Message, RunTimer } from "../../../shared/messages.ts";
import { stepJourneyQueue, storeWrite, timers, workspaceRead } from "../../../shared/resources.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { findEvent, type StoredEvent } from "../../../shared/store/events/events.ts";
import { activeJourneys, eventTrigger, segmentTrigger } from "../../../shared/store/journeys/active.ts";
import { activeRuns, findRun } from "../../../shared/store/journeys/runs.ts";
import { clearJourney, sweepRuns } from "../../../shared/store/journeys/sweeps.ts";
import { type DriveResult, drive, enter } from "../../../shared/store/journeys/ticks.ts";
import { SHARDS } from "../../../shared/store/shards.ts";
import { ownersOf } from "../../../shared/store/subscribers/aliases.ts";
import { queueWorker, type RuntimeContext } from "../../../shared/worker.ts";

const uses = [storeWrite, timers, workspaceRead, stepJourneyQueue, activeJourneys] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext;
type StepMessage = Message<"step-journey">;

/** How long after its timer was set a run may still be stored, or reach the position that the timer is for. */
const APPEARING_MS = 60 * SECOND;
const APPEARING_RETRY_SECONDS = 10;
const MAX_DELAY_SECONDS = 900;
/** The sends of a suspended workspace are held, and tried again this much later (AMB-86). */
const HELD_SECONDS = 300;
/** Runs of one message that move at once. */
const MAX_CONCURRENT = 10;
/** Work on a whole journey stops after this time and continues in another message. */
const WORKING_MS = 40 * SECOND;

export const stepJourney = queueWorker(
  "step-journey",
  "Moves runs of journeys from step to step.",
  uses,
  async (message, context) => {
    if (message.sweep) return sweepJourney(context, message, message.sweep);
    if (message.run) return tickRun(context, message.run);
    if (message.runs) return tickRuns(context, message.runs);
    for (const move of message.moves) await enterBySegment(context, move);
    for (const subscriber of message.people) await driveByAttributes(context, subscriber);
    await takeEvents(context, message);
  },
);

const messageOf = ({ store }: WorkerContext, more: Partial<StepMessage>): StepMessage => ({
  tenant: store.tenant,
  events: [],
  moves: [],
  people: [],
  ...more,
});

/** The time of many runs has come. A failed one repeats the message, and the others have moved by then. */
async function tickRuns(context: WorkerContext, runs: readonly RunTimer[]): Promise<void> {
  const outcomes: PromiseSettledResult<void>[] = [];
  for (const some of chunksOf(runs, MAX_CONCURRENT))
    outcomes.push(...(await Promise.allSettled(some.map((timer) => tickRun(context, timer)))));
  throwFailures(outcomes);
}

/** The time of a run has come. */
async function tickRun(context: WorkerContext, timer: RunTimer): Promise<void> {
  const { stepJourneyQueue: queue, store, clock, log } = context;
  const retry = (delaySeconds: number) => queue.send([messageOf(context, { run: timer })], { delaySeconds });
  const { subscriber, journey, run: id, seq, at, since = 0 } = timer;
  // The clock of another process was ahead: the delay has not ended yet.
  if (at > clock.now()) return retry(Math.min(MAX_DELAY_SECONDS, Math.ceil((at - clock.now()) / SECOND)));
  const run = await findRun(store, subscriber, journey, id);
  if (!run || run.seq < seq) {
    if (clock.now() < since + APPEARING_MS) return retry(APPEARING_RETRY_SECONDS);
    const message = "the timer of a run that does not exist, or has not got there, was dropped";
    return log({ level: "info", message, tenant: store.tenant, journey, run: id, seq });
  }
  if ((await drive(context, run)) === "held") await retry(HELD_SECONDS);
}

/** A subscriber entered or left a segment: journeys may start with it. */
async function enterBySegment(context: WorkerContext, move: StepMessage["moves"][number]): Promise<void> {
  const { store, stepJourneyQueue: queue } = context;
  const { subscriber, segment, entered, at } = move;
  const { byTrigger } = await context.activeJourneys.of(store.tenant);
  const cause = { segment_id: segment, at, key: `${segment}#${entered}#${at}` };
  const results: DriveResult[] = [];
  for (const journey of byTrigger.get(segmentTrigger(segment, entered)) ?? [])
    results.push(await enter(context, journey, subscriber, cause));
  if (results.includes("held"))
    await queue.send([messageOf(context, { moves: [move] })], { delaySeconds: HELD_SECONDS });
}

/** The attributes of a subscriber changed: exit conditions may hold. */
async function driveByAttributes(context: WorkerContext, subscriber: string): Promise<void> {
  const { store } = context;
  const { byAttribute } = await context.activeJourneys.of(store.tenant);
  const runs = await activeRuns(store, subscriber, [...new Set([...byAttribute.values()].flat())]);
  for (const run of runs) await drive(context, run);
}

async function takeEvents(context: WorkerContext, { events }: StepMessage): Promise<void> {
  const results = await Promise.all(events.map(async (id) => ({ id, result: await takeEvent(context, id) })));
  const held = results.flatMap(({ id, result }) => (result === "held" ? [id] : []));
  if (held.length > 0)
    await context.stepJourneyQueue.send([messageOf(context, { events: held })], { delaySeconds: HELD_SECONDS });
}

/** Moves the runs that wait for an event or are ended by it, then starts the runs that it triggers. */
async function takeEvent(context: WorkerContext, id: string): Promise<DriveResult> {
  const { store, log } = context;
  const event = await findEvent(store, id);
  if (!event) {
    log({ level: "info", message: "an event does not exist", tenant: store.tenant, event: id });
    return "done";
  }
  const subscriber = await subscriberOf(context, event);
  if (subscriber === undefined) return "done";
  const { byEvent, byTrigger } = await context.activeJourneys.of(store.tenant);
  const results: DriveResult[] = [];
  for (const run of await activeRuns(store, subscriber, byEvent.get(event.event_name) ?? []))
    results.push(await drive(context, run, event));
  const { event_name, received_at: at } = event;
  const cause = { event_id: id, event_name, at, key: `event#${id}` };
  for (const journey of byTrigger.get(eventTrigger(event_name)) ?? [])
    results.push(await enter(context, journey, subscriber, cause, event));
  return results.includes("held") ? "held" : "done";
}

async function subscriberOf({ store }: WorkerContext, { actor }: StoredEvent): Promise<string | undefined> {
  if (!actor) return undefined;
  if ("subscriber" in actor) return actor.subscriber;
  return (await ownersOf(store, [actor.anonymous])).get(actor.anonymous);
}

/** All runs of a journey: first one message for each shard, then page by page. */
async function sweepJourney(
  context: WorkerContext,
  message: StepMessage,
  { journey, mode, shard, after }: NonNullable<StepMessage["sweep"]>,
): Promise<void> {
  const { store, clock, stepJourneyQueue: queue } = context;
  if (shard === undefined) {
    await queue.send(SHARDS.map((one) => ({ ...message, sweep: { journey, mode, shard: one } })));
    if (mode === "delete") await clearJourney(store, journey);
    return;
  }
  const until = clock.now() + WORKING_MS;
  const next = await sweepRuns(context, { journey, mode, shard, after }, () => clock.now() >= until);
  if (!next) return;
  const rest = { ...message, sweep: { journey, mode, shard, after: next.after } };
  await queue.send([rest], next.isHeld ? { delaySeconds: HELD_SECONDS } : {});
}
