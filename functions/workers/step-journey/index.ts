// Moves runs of journeys: when their time comes, when something happens that they begin with or wait for, and as a whole.
import { SECOND } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import type { Message } from "../../../shared/messages.ts";
import { stepJourneyQueue, storeWrite, timers, workspaceRead } from "../../../shared/resources.ts";
import { eventOf, type StoredEvent } from "../../../shared/store/events/events.ts";
import { activeJourneys, segmentTrigger } from "../../../shared/store/journeys/active.ts";
import { activeRuns, findRun } from "../../../shared/store/journeys/runs.ts";
import { clearJourney, sweepRuns } from "../../../shared/store/journeys/sweeps.ts";
import { type Driven, drive, enter } from "../../../shared/store/journeys/ticks.ts";
import { keys, SHARDS } from "../../../shared/store/keys.ts";
import { ownersOf } from "../../../shared/store/subscribers/aliases.ts";
import { queueWorker } from "../../../shared/worker.ts";

const uses = [storeWrite, timers, workspaceRead, stepJourneyQueue, activeJourneys] as const;
type WorkerContext = Context<typeof uses> & { clock: { now(): number } };
type StepMessage = Message<"step-journey">;

/** How long after its timer was set a run may still appear, or come to the place that the timer is for. */
const APPEARING_MS = 60 * SECOND;
const APPEARING_RETRY_SECONDS = 10;
const MAX_DELAY_SECONDS = 900;
/** A suspended workspace's sends are held, and looked at again this much later (AMB-86). */
const HELD_SECONDS = 300;
/** An event that its history does not show yet is looked for again this much later, and given up in the end. */
const LATE_SECONDS = 3;
const MAX_ATTEMPTS = 20;
/** Work on a whole journey stops here and goes on in another message. */
const WORKING_MS = 40 * SECOND;

export const stepJourney = queueWorker(
  "step-journey",
  "Moves runs of journeys from step to step.",
  uses,
  async (message, context) => {
    if (message.sweep) return sweep(context, message, message.sweep);
    const { stepJourneyQueue: queue, store } = context;
    const plain = { tenant: store.tenant, events: [], moves: [], people: [], tries: 0 };
    if (message.run) {
      const delaySeconds = await tick(context, message.run);
      if (delaySeconds !== undefined) await queue.send([{ ...plain, run: message.run }], { delaySeconds });
      return;
    }
    for (const { subscriber, segment, entered, at } of message.moves) {
      const { byTrigger, journeys } = await context.activeJourneys.of(store.tenant);
      const cause = { segment_id: segment, at, key: `${segment}#${entered}#${at}` };
      let isHeld = false;
      for (const id of byTrigger.get(segmentTrigger(segment, entered)) ?? [])
        isHeld = (await enter(context, journeys.get(id)!, subscriber, cause)) === "held" || isHeld;
      if (isHeld)
        await queue.send([{ ...plain, moves: [{ subscriber, segment, entered, at }] }], { delaySeconds: HELD_SECONDS });
    }
    for (const subscriber of message.people) {
      const { byAttribute } = await context.activeJourneys.of(store.tenant);
      const runs = await activeRuns(store, subscriber, [...new Set([...byAttribute.values()].flat())]);
      for (const run of runs) await drive(context, run);
    }
    const results = await Promise.all(
      message.events.map(async (id) => ({ id, driven: await take(context, id, message.tries < MAX_ATTEMPTS) })),
    );
    const again = (driven: Driven) => results.flatMap((one) => (one.driven === driven ? [one.id] : []));
    if (again("held").length > 0)
      await queue.send([{ ...plain, events: again("held") }], { delaySeconds: HELD_SECONDS });
    if (again("late").length > 0)
      await queue.send([{ ...plain, events: again("late"), tries: message.tries + 1 }], { delaySeconds: LATE_SECONDS });
  },
);

/** A run's time has come. @returns after how many seconds to ask again, if so. */
async function tick(
  context: WorkerContext,
  { subscriber, journey, run: id, seq, at, since = 0 }: NonNullable<StepMessage["run"]>,
): Promise<number | undefined> {
  const { store, clock } = context;
  // Another clock was ahead of ours: the delay has not ended yet.
  if (at > clock.now()) return Math.min(MAX_DELAY_SECONDS, Math.ceil((at - clock.now()) / SECOND));
  const run = await findRun(store, subscriber, journey, id);
  if (!run || run.seq < seq) return clock.now() < since + APPEARING_MS ? APPEARING_RETRY_SECONDS : undefined;
  return (await drive(context, run)) === "held" ? HELD_SECONDS : undefined;
}

/**
 * An event: whoever waits for it goes on, or is ended by it; then it may begin runs.
 * @param isPatient while rules ask for it and its history does not show it yet, ask again.
 */
async function take(context: WorkerContext, id: string, isPatient: boolean): Promise<Driven> {
  const { store } = context;
  const row = await store.get(keys.event(store.tenant, id));
  const event = row && eventOf(row);
  const subscriber = event && (await subscriberOf(context, event));
  if (!event || subscriber === undefined) return "done";
  const { byEvent, byTrigger, journeys } = await context.activeJourneys.of(store.tenant);
  const seen = isPatient ? event : undefined;
  const results: Driven[] = [];
  for (const run of await activeRuns(store, subscriber, byEvent.get(event.event_name) ?? []))
    results.push(await drive(context, run, seen));
  const { event_name, received_at: at } = event;
  const cause = { event_id: id, event_name, at, key: `event#${id}` };
  for (const journey of byTrigger.get(`event#${event_name}`) ?? [])
    results.push(await enter(context, journeys.get(journey)!, subscriber, cause, seen));
  return results.find((one) => one !== "done") ?? "done";
}

async function subscriberOf({ store }: WorkerContext, { actor }: StoredEvent): Promise<string | undefined> {
  if (!actor) return undefined;
  if ("subscriber" in actor) return actor.subscriber;
  return (await ownersOf(store, [actor.anonymous])).get(actor.anonymous);
}

/** All runs of a journey: first a message a shard, then page by page. */
async function sweep(
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
  if (next !== undefined) await queue.send([{ ...message, sweep: { journey, mode, shard, after: next } }]);
}
