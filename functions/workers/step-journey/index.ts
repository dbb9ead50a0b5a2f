// Moves runs of journeys: at timers, after events and changes that start or move them, and in sweeps of a whole journey.
import type { RunTimer } from "../../../shared/contract/journey-messages.ts";
import { MAX_DELAY_SECONDS, type Message, WORKING_MS } from "../../../shared/contract/messages.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { isTooOld } from "../../../shared/rules/journey-paths.ts";
import { stepJourneyQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker, type RuntimeContext } from "../../../shared/runtime/worker.ts";
import { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { findEvents, type StoredEvent } from "../../../shared/store/events/events.ts";
import { earlier } from "../../../shared/store/events/history.ts";
import {
  activeJourneys,
  type EnterableJourney,
  eventTrigger,
  segmentTrigger,
} from "../../../shared/store/journeys/active.ts";
import { type Candidate, refusal, segmentCause } from "../../../shared/store/journeys/entries.ts";
import { followSend } from "../../../shared/store/journeys/late-outcomes.ts";
import { findMigration, type Migration, noteShardDone, shardsLeft } from "../../../shared/store/journeys/migrations.ts";
import { countRefused, type RefusedEntry } from "../../../shared/store/journeys/refusals.ts";
import { settleLeftPacks } from "../../../shared/store/journeys/run-packs.ts";
import { activeRuns, findRuns, type RunState } from "../../../shared/store/journeys/runs.ts";
import { clearJourney, sweepRuns } from "../../../shared/store/journeys/sweeps.ts";
import { drive, enter, turnsOf } from "../../../shared/store/journeys/ticks.ts";
import { nightlyRecounts } from "../../../shared/store/nightly-recounts.ts";
import { jobWidths } from "../../../shared/store/sends/jobs/job-width.ts";
import { getJob } from "../../../shared/store/sends/jobs/jobs.ts";
import { SHARDS } from "../../../shared/store/shards.ts";
import { subscribersOf } from "../../../shared/store/subscribers/aliases.ts";

const uses = [storeWrite, timers, jobWidths, workspaceRead, stepJourneyQueue, activeJourneys, nightlyRecounts] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext;
type StepMessage = Message<"step-journey">;
type MovesMessage = Extract<StepMessage, { kind: "moves" }>;
type SegmentMove = MovesMessage["moves"][number];
type SweepMessage = Extract<StepMessage, { kind: "sweep" }>;

/** How long after its timer was set a run may still be stored, or reach the position that the timer is for. */
const APPEARING_MS = 60 * SECOND;
const APPEARING_RETRY_SECONDS = 10;
/** The sends of a suspended workspace are held, and tried again after this time (AMB-86). */
const HELD_SECONDS = 300;
/** A pack that is older may belong to a worker that failed. */
const LEFT_AFTER_MS = 10 * SECOND;

export const stepJourney = queueWorker(
  "step-journey",
  "Moves runs of journeys from step to step.",
  uses,
  async (message, context) => {
    await context.nightlyRecounts.plan([message.tenant]);
    if (context.isRepeated) await settleLeftPacks(context.store, LEFT_AFTER_MS);
    switch (message.kind) {
      case "tick":
        return tickRuns(context, message.runs);
      case "events":
        return takeEvents(context, message.events);
      case "moves":
        return enterBySegments(context, message);
      case "attributes":
        return driveByAttributes(context, message.subscribers);
      case "identified":
        return driveIdentified(context, message.subscribers);
      case "ended":
        return followSend(context.store, await getJob(context.store, message.job));
      case "sweep":
        return sweepJourney(context, message);
    }
  },
);

/** Moves runs whose timer is due. One that is early, not stored yet or held gets another message. */
async function tickRuns(context: WorkerContext, timers: readonly RunTimer[]): Promise<void> {
  const { store, clock, log } = context;
  const now = clock.now();
  // The clock of another process was ahead: these delays have not ended yet.
  const early = timers.filter(({ at }) => at > now);
  for (const [at, timers] of Map.groupBy(early, (timer) => timer.at))
    await tickLater(context, timers, Math.min(MAX_DELAY_SECONDS, Math.ceil((at - now) / SECOND)));

  const due = timers.filter(({ at }) => at <= now);
  const runs = await findRuns(store, due);
  const ticks = due.map((timer, i): Tick => ({ timer, run: runs[i], due: timer.at }));
  const missing = ticks.filter((tick) => !hasArrived(tick)).map(({ timer }) => timer);
  const mayAppear = ({ since = 0 }: RunTimer) => now < since + APPEARING_MS;
  await tickLater(context, missing.filter(mayAppear), APPEARING_RETRY_SECONDS);
  for (const { journey, run, seq } of missing.filter((timer) => !mayAppear(timer))) {
    const message = "the timer of a run that does not exist, or has not got there, was dropped";
    log({ level: "info", message, tenant: store.tenant, journey, run, seq });
  }
  const held = await drive(context, ticks.filter(hasArrived));
  const waiting = [...held].map(({ timer }) => timer);
  await tickLater(context, waiting, HELD_SECONDS);
}

interface Tick {
  timer: RunTimer;
  run: RunState | undefined;
  /** Milliseconds. */
  due: number;
}

/** The run is stored, and has reached the position that its timer is for. */
const hasArrived = (tick: Tick): tick is Tick & { run: RunState } =>
  tick.run !== undefined && tick.run.seq >= tick.timer.seq;

async function tickLater(
  { store, stepJourneyQueue: queue }: WorkerContext,
  runs: RunTimer[],
  delaySeconds: number,
): Promise<void> {
  if (runs.length > 0) await queue.send([{ kind: "tick", tenant: store.tenant, runs }], { delaySeconds });
}

/** Subscribers entered or left segments, which may start journeys. */
async function enterBySegments(context: WorkerContext, { moves, historical = [] }: MovesMessage): Promise<void> {
  const { store, stepJourneyQueue: queue } = context;
  const { byTrigger } = await context.activeJourneys.of(store.tenant);
  const entriesBy = (move: SegmentMove) => {
    const { subscriber, segment, entered, at } = move;
    const cause = { segment_id: segment, at, key: segmentCause(move) };
    const journeys = byTrigger.get(segmentTrigger(segment, entered)) ?? [];
    return journeys.map((journey) => ({ journey, candidate: { subscriber, cause, of: move } }));
  };
  const { held, refused } = await enterEach(context, moves.flatMap(entriesBy));
  for (const { journey, candidate } of historical.flatMap(entriesBy))
    noteRefused(refused, journey.id, [refusal(candidate, "historical")]);
  await countEach(context, refused);
  if (held.size === 0) return;
  await queue.send([{ kind: "moves", tenant: store.tenant, moves: [...held] }], { delaySeconds: HELD_SECONDS });
}

/** Entries that journeys refused, by journey. */
type RefusedBy = Map<string, RefusedEntry[]>;

const noteRefused = (all: RefusedBy, journey: string, refused: readonly RefusedEntry[]) =>
  all.set(journey, [...(all.get(journey) ?? []), ...refused]);

async function countEach({ store }: WorkerContext, all: RefusedBy): Promise<void> {
  for (const [journey, refused] of all) await countRefused(store, journey, refused);
}

/** Starts runs journey by journey. @returns the causes of the held ones, and the refused entries */
async function enterEach<T>(
  context: WorkerContext,
  entries: readonly { journey: EnterableJourney; candidate: Candidate & { of: T } }[],
): Promise<{ held: Set<T>; refused: RefusedBy }> {
  const held = new Set<T>();
  const refused: RefusedBy = new Map();
  for (const [journey, journeyEntries] of Map.groupBy(entries, (entry) => entry.journey)) {
    const candidates = journeyEntries.map(({ candidate }) => candidate);
    const entered = await enter(context, journey, candidates);
    noteRefused(refused, journey.id, entered.refused);
    for (const candidate of candidates) if (entered.held.has(candidate)) held.add(candidate.of);
  }
  return { held, refused };
}

/** The attributes of subscribers changed: exit conditions may hold. */
async function driveByAttributes(context: WorkerContext, subscribers: readonly string[]): Promise<void> {
  const { byAttribute } = await context.activeJourneys.of(context.store.tenant);
  await driveAll(context, subscribers, byAttribute);
}

/** Visitors were identified. Runs may wait for their events, or end by them (IDN-2, JND-6). */
async function driveIdentified(context: WorkerContext, subscribers: readonly string[]): Promise<void> {
  const { store, stepJourneyQueue: queue } = context;
  const { byEvent } = await context.activeJourneys.of(store.tenant);
  const held = await driveAll(context, subscribers, byEvent);
  if (held.length === 0) return;
  await queue.send([{ kind: "identified", tenant: store.tenant, subscribers: held }], { delaySeconds: HELD_SECONDS });
}

/** Moves all runs of subscribers. @returns the subscribers whose runs a suspension holds */
async function driveAll(
  context: WorkerContext,
  subscribers: readonly string[],
  journeysBy: ReadonlyMap<string, readonly string[]>,
): Promise<string[]> {
  const journeys = [...new Set([...journeysBy.values()].flat())];
  const places = subscribers.flatMap((subscriber) => journeys.map((journey) => ({ subscriber, journey })));
  const runs = await activeRuns(context.store, places);
  const visits = runs.map((run) => ({ run }));
  const held = await drive(context, visits);
  return [...new Set([...held].map(({ run }) => run.subscriber_id))];
}

/** Moves the runs that wait for events or end by them, and starts the runs that they trigger. */
async function takeEvents(context: WorkerContext, ids: readonly string[]): Promise<void> {
  const { store, stepJourneyQueue: queue } = context;
  const events = await readEvents(context, ids);
  const held = new Set<string>();
  const refused: RefusedBy = new Map();
  // An event finds the state that the one before it of the same subscriber has left (AMB-136).
  for (const turn of turnsOf(events, ({ subscriber }) => subscriber)) {
    for (const id of await moveByEvents(context, turn)) held.add(id);
    const entered = await enterByEvents(context, turn);
    for (const id of entered.held) held.add(id);
    for (const [journey, refusals] of entered.refused) noteRefused(refused, journey, refusals);
  }
  await countEach(context, refused);

  const again = ids.filter((id) => held.has(id));
  if (again.length === 0) return;
  await queue.send([{ kind: "events", tenant: store.tenant, events: again }], { delaySeconds: HELD_SECONDS });
}

interface SubscriberEvent {
  event: StoredEvent;
  subscriber: string;
}

/** Moves runs by events. @returns the events by which held runs would move */
async function moveByEvents(context: WorkerContext, events: readonly SubscriberEvent[]): Promise<string[]> {
  const { byEvent } = await context.activeJourneys.of(context.store.tenant);
  const heads = events.flatMap(({ event: { id, event_name }, subscriber }) =>
    (byEvent.get(event_name) ?? []).map((journey) => ({ subscriber, journey, event: id })),
  );
  const runs = heads.length > 0 ? await activeRuns(context.store, heads) : [];
  const driven = runs.flatMap((run) =>
    heads
      .filter(({ subscriber, journey }) => run.subscriber_id === subscriber && run.journey_id === journey)
      .map(({ event }) => ({ run, event })),
  );
  return [...(await drive(context, driven))].map(({ event }) => event);
}

async function enterByEvents(context: WorkerContext, events: readonly SubscriberEvent[]) {
  const { byTrigger } = await context.activeJourneys.of(context.store.tenant);
  const wanted = events.flatMap(({ event, subscriber }) => {
    const { id, event_name, occurred_at, received_at: at } = event;
    const isLate = Date.parse(occurred_at) < Date.parse(at);
    const cause = { event_id: id, event_name, ...(isLate && { occurred_at }), at, key: `event#${id}` };
    return (byTrigger.get(eventTrigger(event_name)) ?? []).map((journey) => {
      const tooOld = isTooOld(journey.trigger, event) ? ("too_old" as const) : undefined;
      const reason = event.historical ? ("historical" as const) : tooOld;
      return { journey, reason, candidate: { subscriber, cause, of: id } };
    });
  });
  const entering = wanted.filter(({ reason }) => reason === undefined);
  const entered = await enterEach(context, entering);
  for (const { journey, reason, candidate } of wanted)
    if (reason) noteRefused(entered.refused, journey.id, [refusal(candidate, reason)]);
  return entered;
}

/** Events in order, with their subscribers; without events that do not exist, or have no subscriber. */
async function readEvents({ store, log }: WorkerContext, ids: readonly string[]): Promise<SubscriberEvent[]> {
  const found = await findEvents(store, ids);
  for (const [i, id] of ids.entries())
    if (!found[i]) log({ level: "info", message: "an event does not exist", tenant: store.tenant, event: id });
  const events = found.filter((event) => event !== undefined).sort(earlier);
  const actors = events.map(({ actor }) => actor);
  const subscriberOf = await subscribersOf(store, actors);
  return events.flatMap((event) => {
    const subscriber = subscriberOf(event.actor);
    return subscriber === undefined ? [] : [{ event, subscriber }];
  });
}

/** All runs of a journey: first one message for each shard, then page by page. */
async function sweepJourney(context: WorkerContext, message: SweepMessage): Promise<void> {
  const { store, clock, log, stepJourneyQueue: queue } = context;
  const { tenant, journey, mode, shard, after, migration: id } = message;
  const migration = id === undefined ? undefined : await findMigration(store, journey, id);
  if (mode === "migrate" && !migration)
    return log({ level: "info", message: "a migration does not exist", tenant, journey, migration: id });
  if (shard === undefined) return beginSweep(context, message, migration);

  const until = clock.now() + WORKING_MS;
  const next = await sweepRuns(context, { journey, mode, shard, after, migration }, () => clock.now() >= until);
  if (next) return queue.send([{ ...message, after: next.after }], next.isHeld ? { delaySeconds: HELD_SECONDS } : {});
  if (migration) await noteShardDone(store, migration, shard);
}

async function beginSweep(
  { store, timers, stepJourneyQueue: queue }: WorkerContext,
  message: SweepMessage,
  migration: Migration | undefined,
): Promise<void> {
  // A run of a pack that a worker left open is not in the index of its journey yet.
  await settleLeftPacks(store);
  const shards = migration ? await shardsLeft(store, timers, migration) : SHARDS;
  await queue.send(shards.map((shard) => ({ ...message, shard })));
  if (message.mode === "delete") await clearJourney(store, message.journey);
}
