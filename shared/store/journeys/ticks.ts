// Moves runs. Each move is one transaction guarded by the run's `seq`; its next timer is set before it (D-JNY-RUN).
import { createHash } from "node:crypto";
import { MINUTE, SECOND, timestamp, uuidV7 } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { parseDuration } from "../../rules/durations.ts";
import type { Graph } from "../../rules/journey-graph.ts";
import { type Advance, advance, type Outcome } from "../../rules/journey-run.ts";
import type { StoredEvent } from "../events/events.ts";
import type { ItemWrite } from "../item.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { Timers } from "../timers.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import type { ActiveJourneys, EnterableJourney } from "./active.ts";
import { factsOf } from "./facts.ts";
import { statusOf } from "./journeys.ts";
import { type Cause, RunHead } from "./run-items.ts";
import { type Destination, endRun, entryWrites, moveWrites, type RunState } from "./runs.ts";
import { beginSend, prepareSend } from "./sends.ts";

export interface JourneyDeps {
  store: Store;
  timers: Timers;
  workspace: () => Promise<WorkspaceRecord | undefined>;
  activeJourneys: ActiveJourneys;
}

/** `held`: the workspace is suspended, try again later. */
export type DriveResult = "done" | "held";

/** A wait is evaluated once more this much later, for an event that was stored while the wait began. */
const SECOND_LOOK_MS = 5 * SECOND;
/** When a run that was left between two steps is continued. */
const CONTINUED_MS = 2 * MINUTE;

/** Starts a run of an active journey if the subscriber may enter, and moves it as far as possible (JND-10 to JND-12). */
export async function enter(
  deps: JourneyDeps,
  journey: EnterableJourney,
  subscriber: string,
  cause: Cause & { at: string; key: string },
  seen?: StoredEvent,
): Promise<DriveResult> {
  const { store, activeJourneys } = deps;
  const { allow_reentry = false, reentry_window, eligibility } = journey.entry_rules ?? {};
  const version = await activeJourneys.version(store.tenant, journey.id, journey.version);
  if (!version) return "done";
  const reentryAfter = allow_reentry ? (parseDuration(reentry_window ?? "") ?? 0) : undefined;
  const now = store.clock.now();
  // The transaction checks this again; the read saves the earlier writes for most subscribers that may not enter.
  const head = await store.get(RunHead, { subscriber, journey: journey.id });
  if (head && (reentryAfter === undefined || head.active !== undefined || head.last > now - reentryAfter))
    return "done";
  const { key, at, ...context } = cause;
  const digest = createHash("sha256").update(`run:${store.tenant}:${journey.id}:${subscriber}:${key}`).digest();
  const run: RunState = {
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
  if (eligibility && !(await facts.holds(eligibility))) return "done";
  return moveOn(deps, version.graph, run, { seen, reentryAfter });
}

/**
 * Moves a run from its position. It may be called at any time: what is not due stays where it is.
 * @param seen an event that was just stored: a wait for it needs no history
 */
export async function drive(deps: JourneyDeps, run: RunState, seen?: StoredEvent): Promise<DriveResult> {
  const { store, activeJourneys } = deps;
  if (run.status !== "active") return "done";
  const status = await statusOf(store, run.journey_id);
  if (status === "archived") await endRun(store, run, "the journey was archived");
  if (status !== "active") return "done";
  const version = await activeJourneys.version(store.tenant, run.journey_id, run.version);
  return version ? moveOn(deps, version.graph, run, { seen }) : "done";
}

interface MoveOptions {
  seen?: StoredEvent | undefined;
  reentryAfter?: number | undefined;
}

async function moveOn(
  deps: JourneyDeps,
  graph: Graph,
  from: RunState,
  { seen, reentryAfter }: MoveOptions,
): Promise<DriveResult> {
  const { store } = deps;
  for (let run = from; ; ) {
    const facts = factsOf(store, graph, run, seen);
    const advanced = await advance(graph, run.position, facts);
    if (isUnmoved(run, advanced)) return "done";
    const writesTo = (to: Destination, outcomes: readonly Outcome[]) =>
      run.seq === 0 ? entryWrites(store, run, to, outcomes, { reentryAfter }) : moveWrites(store, run, to, outcomes);
    const moved = await carryOut(deps, graph, run, advanced, writesTo);
    if (moved === "held") return "held";
    if (!moved || !("position" in moved) || advanced.arrival.kind === "waits") return "done";
    run = { ...run, seq: run.seq + 1, current_step: moved.position.step, position: moved.position };
  }
}

const isUnmoved = ({ seq, position }: RunState, { arrival, outcomes }: Advance): boolean =>
  seq > 0 && outcomes.length === 0 && arrival.kind === "waits" && arrival.position.since === position.since;

/** Stores what the engine decided. @returns where the run is now; undefined if another worker moved it */
async function carryOut(
  deps: JourneyDeps,
  graph: Graph,
  run: RunState,
  { arrival, outcomes }: Advance,
  writesTo: (to: Destination, outcomes: readonly Outcome[]) => ItemWrite[],
): Promise<Destination | "held" | undefined> {
  const { store, timers } = deps;
  if (arrival.kind === "sends") {
    const { node, next, event = run.context.event_id } = arrival;
    const workspace = await deps.workspace();
    if (workspace?.status !== "active") return "held";
    const to: Destination = next
      ? { position: next }
      : { ends: "completed", step: node.id, reason: "the last step was taken" };
    if (next) await setTimers(timers, run, [store.clock.now() + CONTINUED_MS]);
    const sending = await prepareSend(store, workspace, run, node, event);
    if ("outcome" in sending)
      return commit(store, writesTo(to, [...outcomes, { step: node.id, name: sending.outcome }]), to);
    const writes = writesTo(to, [...outcomes, { step: node.id, name: "sent" }]);
    return (await beginSend(store, timers, workspace, run, sending, writes)) ? to : undefined;
  }
  if (arrival.kind === "ends") {
    const to: Destination = { ends: arrival.status, step: arrival.step, reason: arrival.reason };
    return commit(store, writesTo(to, outcomes), to);
  }
  const to: Destination = { position: arrival.position };
  const { step, since = store.clock.now(), until } = arrival.position;
  const isWait = graph.steps[step]?.type === "wait_for_event";
  await setTimers(timers, run, [...(isWait ? [since + SECOND_LOOK_MS] : []), ...(until === undefined ? [] : [until])]);
  return commit(store, writesTo(to, outcomes), to);
}

const setTimers = (timers: Timers, { subscriber_id, journey_id, id, seq }: RunState, times: readonly number[]) =>
  timers.set(times.map((at) => ({ kind: "journey-run", id: `${subscriber_id}#${journey_id}#${id}#${seq + 1}`, at })));

const commit = (store: Store, writes: readonly ItemWrite[], to: Destination): Promise<Destination | undefined> =>
  store.transact(writes).then(
    () => to,
    onTransactionCanceled(() => undefined),
  );
