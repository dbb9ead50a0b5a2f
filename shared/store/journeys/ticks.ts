// Moves runs: each move is one transaction guarded by the run's `seq`, its next timer set just before (D-JNY-RUN).
import { createHash } from "node:crypto";
import { MINUTE, SECOND, timestamp, uuidV7 } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { parseDuration } from "../../rules/durations.ts";
import type { Graph } from "../../rules/journey-graph.ts";
import { type Advance, advance, type Outcome } from "../../rules/journey-run.ts";
import type { StoredEvent } from "../events/events.ts";
import { keys } from "../keys.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { TransactItem } from "../table.ts";
import type { Timers } from "../timers.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import type { ActiveJourney, ActiveJourneys } from "./active.ts";
import { factsOf } from "./facts.ts";
import { statusOf } from "./journeys.ts";
import { type Cause, type Destination, endRun, entryWrites, moveWrites, type RunItem } from "./runs.ts";
import { beginSend, prepareSend } from "./sends.ts";

export interface JourneyDeps {
  store: Store;
  timers: Timers;
  workspace: () => Promise<WorkspaceRecord | undefined>;
  activeJourneys: ActiveJourneys;
}

/** `held`: the workspace is suspended, ask again later. `late`: an event is not in its history yet. */
export type Driven = "done" | "held" | "late";

/** An event that was stored while a wait began may have gone by: a wait is looked at once more, this much later. */
const SECOND_LOOK_MS = 5 * SECOND;
/** When a run that was left between two steps is picked up. */
const PICKED_UP_MS = 2 * MINUTE;

/** Lets a subscriber into an active journey if it may enter, and takes it as far as it goes (JND-10 to JND-12). */
export async function enter(
  deps: JourneyDeps,
  journey: ActiveJourney,
  subscriber: string,
  cause: Cause & { at: string; key: string },
  seen?: StoredEvent,
): Promise<Driven> {
  const { store, activeJourneys } = deps;
  const { allow_reentry = false, reentry_window, eligibility } = journey.entry_rules ?? {};
  const version = await activeJourneys.version(store.tenant, journey.id, journey.version);
  if (!version) return "done";
  const reentryAfter = allow_reentry ? (parseDuration(reentry_window ?? "") ?? 0) : undefined;
  const now = store.clock.now();
  // The transaction asks again; this spares most of those who may not enter the writes before it.
  const head = await store.get(keys.runHead(store.tenant, subscriber, journey.id));
  if (head && (reentryAfter === undefined || head.active !== undefined || Number(head.last) > now - reentryAfter))
    return "done";
  const { key, at, ...context } = cause;
  const digest = createHash("sha256").update(`run:${store.tenant}:${journey.id}:${subscriber}:${key}`).digest();
  const run: RunItem = {
    id: uuidV7(Date.parse(at), digest),
    journey_id: journey.id,
    version: journey.version,
    subscriber_id: subscriber,
    status: "active",
    current_step: version.graph.start,
    entered_at: timestamp(now),
    ended_at: null,
    end_reason: null,
    context,
    seq: 0,
    position: { step: version.graph.start },
  };
  const facts = factsOf(store, version.graph, run, seen);
  if (!(await facts.profile())) return "done";
  if (eligibility && !(await facts.holds(eligibility))) return facts.isLate() ? "late" : "done";
  return facts.isLate() ? "late" : go(deps, version.graph, run, { seen, reentryAfter });
}

/**
 * Takes a run on from where it stands. Anybody may ask at any time: what is not due stays where it is.
 * @param seen an event that was just stored; while a rule asks for it and the history does not show it, nothing moves.
 */
export async function drive(deps: JourneyDeps, run: RunItem, seen?: StoredEvent): Promise<Driven> {
  const { store, activeJourneys } = deps;
  if (run.status !== "active") return "done";
  const status = await statusOf(store, run.journey_id);
  if (status === "archived") await endRun(store, run, "the journey was archived");
  if (status !== "active") return "done";
  const version = await activeJourneys.version(store.tenant, run.journey_id, run.version);
  return version ? go(deps, version.graph, run, { seen }) : "done";
}

interface Circumstances {
  seen?: StoredEvent | undefined;
  reentryAfter?: number | undefined;
}

async function go(
  deps: JourneyDeps,
  graph: Graph,
  from: RunItem,
  { seen, reentryAfter }: Circumstances,
): Promise<Driven> {
  const { store } = deps;
  for (let run = from; ; ) {
    const facts = factsOf(store, graph, run, seen);
    const advanced = await advance(graph, run.position, facts);
    if (facts.isLate()) return "late";
    if (isUnmoved(run, advanced)) return "done";
    const stepsTo = (to: Destination, outcomes: readonly Outcome[]) =>
      run.seq === 0 ? entryWrites(store, run, to, outcomes, { reentryAfter }) : moveWrites(store, run, to, outcomes);
    const moved = await arrive(deps, graph, run, advanced, stepsTo);
    if (moved === "held") return "held";
    if (!moved || !("position" in moved) || advanced.arrival.kind === "waits") return "done";
    run = { ...run, seq: run.seq + 1, current_step: moved.position.step, position: moved.position };
  }
}

const isUnmoved = ({ seq, position }: RunItem, { arrival, outcomes }: Advance): boolean =>
  seq > 0 && outcomes.length === 0 && arrival.kind === "waits" && arrival.position.since === position.since;

/** Carries out where the engine came to. @returns where the run is now; undefined if somebody else moved it. */
async function arrive(
  deps: JourneyDeps,
  graph: Graph,
  run: RunItem,
  { arrival, outcomes }: Advance,
  stepsTo: (to: Destination, outcomes: readonly Outcome[]) => TransactItem[],
): Promise<Destination | "held" | undefined> {
  const { store, timers } = deps;
  if (arrival.kind === "sends") {
    const { node, next, event = run.context.event_id } = arrival;
    const workspace = await deps.workspace();
    if (workspace?.status !== "active") return "held";
    const to: Destination = next
      ? { position: next }
      : { ends: "completed", step: node.id, reason: "the last step was taken" };
    if (next) await setTimers(timers, run, [store.clock.now() + PICKED_UP_MS]);
    const sending = await prepareSend(store, workspace, run, node, event);
    if ("outcome" in sending)
      return commit(store, stepsTo(to, [...outcomes, { step: node.id, name: sending.outcome }]), to);
    const writes = stepsTo(to, [...outcomes, { step: node.id, name: "sent" }]);
    return (await beginSend(store, timers, workspace, run, sending, writes)) ? to : undefined;
  }
  if (arrival.kind === "ends") {
    const to: Destination = { ends: arrival.status, step: arrival.step, reason: arrival.reason };
    return commit(store, stepsTo(to, outcomes), to);
  }
  const to: Destination = { position: arrival.position };
  const { step, since = store.clock.now(), until } = arrival.position;
  const isWait = graph.steps[step]?.type === "wait_for_event";
  await setTimers(timers, run, [...(isWait ? [since + SECOND_LOOK_MS] : []), ...(until === undefined ? [] : [until])]);
  return commit(store, stepsTo(to, outcomes), to);
}

const setTimers = (timers: Timers, { subscriber_id, journey_id, id, seq }: RunItem, times: readonly number[]) =>
  timers.set(times.map((at) => ({ kind: "journey-run", id: `${subscriber_id}#${journey_id}#${id}#${seq + 1}`, at })));

const commit = (store: Store, writes: readonly TransactItem[], to: Destination): Promise<Destination | undefined> =>
  store.transact(writes).then(
    () => to,
    onTransactionCanceled(() => undefined),
  );
