// Decides how runs move: those that enter, and those that are driven on. Runs of one version that move at the same time
// are stored together, in packs (docs/decisions/0029).
import { createHash } from "node:crypto";
import { MINUTE, SECOND, timestamp, uuidV7 } from "../../clock.ts";
import { throwFailures } from "../../failures.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { parseDuration } from "../../rules/durations.ts";
import type { Graph } from "../../rules/journey-graph.ts";
import { type Advance, type Arrival, advance, type Outcome } from "../../rules/journey-run.ts";
import type { StoredEvent } from "../events/events.ts";
import { getProfiles } from "../subscribers/subscribers.ts";
import type { ActiveJourneys, EnterableJourney } from "./active.ts";
import { factsOf } from "./facts.ts";
import { statusOf } from "./journeys.ts";
import { type Move, type PackDeps, storeMoves } from "./packs.ts";
import { type Cause, RunHead, RunItem } from "./run-items.ts";
import { type EntryCondition, endRun, entryCondition, type RunState, readActive } from "./runs.ts";

export interface JourneyDeps extends PackDeps {
  activeJourneys: ActiveJourneys;
}

/** A subscriber that a journey may begin for, by this cause. */
export interface Candidate {
  subscriber: string;
  cause: Cause & { at: string; key: string };
  /** An event that was just stored: a wait for it needs no history. */
  seen?: StoredEvent | undefined;
}

/** A run that may move. */
export interface Driven {
  run: RunState;
  seen?: StoredEvent | undefined;
}

interface Moving extends Driven {
  /** Of a run that is not stored yet. */
  entry?: EntryCondition | undefined;
}

/** A wait is evaluated once more this much later, for an event that was stored while the wait began. */
const SECOND_LOOK_MS = 5 * SECOND;
/** When a run that was left between two steps is continued. */
const CONTINUED_MS = 2 * MINUTE;
/** Runs that are evaluated at once. */
const MAX_CONCURRENT = 10;

/**
 * Starts runs of an active journey where the subscribers may enter, and moves them as far as possible (JND-10 to
 * JND-12).
 * @returns those that a suspension of the workspace holds: try them again later
 */
export async function enter(
  deps: JourneyDeps,
  journey: EnterableJourney,
  candidates: readonly Candidate[],
): Promise<Set<Candidate>> {
  const { store, activeJourneys } = deps;
  const version = await activeJourneys.version(store.tenant, journey.id, journey.version);
  const held = new Set<Candidate>();
  if (!version) return held;
  for (const turn of turnsOf(candidates, ({ subscriber }) => subscriber)) {
    const entering = new Map<Moving, Candidate>();
    for (const { candidate, ...moving } of await admitted(deps, version.graph, journey, turn))
      entering.set(moving, candidate);
    for (const moving of await moveOn(deps, version.graph, [...entering.keys()])) {
      const candidate = entering.get(moving);
      if (candidate) held.add(candidate);
    }
  }
  return held;
}

/** The runs that may begin. The transactions check the heads again. */
async function admitted(
  { store }: JourneyDeps,
  graph: Graph,
  journey: EnterableJourney,
  candidates: readonly Candidate[],
): Promise<(Moving & { candidate: Candidate })[]> {
  const { allow_reentry = false, reentry_window, eligibility } = journey.entry_rules ?? {};
  const reentryAfter = allow_reentry ? (parseDuration(reentry_window ?? "") ?? 0) : undefined;
  const now = store.clock.now();
  const headKeys = candidates.map(({ subscriber }) => ({ subscriber, journey: journey.id }));
  const heads = await store.getAll(RunHead, headKeys);
  const named = await store.getAll(
    RunItem,
    headKeys.flatMap((key, i) => (heads[i]?.active === undefined ? [] : [{ ...key, run: heads[i].active }])),
  );
  const runs = new Map(named.flatMap((row) => (row ? [[row.id, row] as const] : [])));
  const open = candidates.flatMap((candidate, i) => {
    const head = heads[i];
    const entry = entryCondition(head, runs.get(head?.active ?? ""), { reentryAfter, now });
    return entry ? [{ candidate, entry }] : [];
  });
  const profiles = await getProfiles(
    store,
    open.map(({ candidate }) => candidate.subscriber),
  );
  const living = open
    .filter((_, i) => profiles[i])
    .map(({ candidate, entry }) => {
      const { subscriber, seen } = candidate;
      return { candidate, entry, seen, run: newRun(store, graph, journey, subscriber, candidate.cause) };
    });
  if (!eligibility) return living;
  const judged = await evaluateAll(living, async (one) =>
    (await factsOf(store, graph, one.run, { seen: one.seen, now }).holds(eligibility)) ? one : undefined,
  );
  throwFailures(judged);
  return judged.flatMap((one) => (one.status === "fulfilled" && one.value ? [one.value] : []));
}

/** The run of a cause: a cause that is reported twice makes the same one. */
function newRun(
  { clock, tenant }: JourneyDeps["store"],
  graph: Graph,
  { id, version }: EnterableJourney,
  subscriber: string,
  { key, at, ...context }: Candidate["cause"],
): RunState {
  const digest = createHash("sha256").update(`run:${tenant}:${id}:${subscriber}:${key}`).digest();
  return {
    id: uuidV7(Date.parse(at), digest),
    journey_id: id,
    version,
    subscriber_id: subscriber,
    status: "active",
    current_step: graph.start,
    entered_at: timestamp(clock.now()),
    ended_at: null,
    end_reason: null,
    context,
    seq: 0,
    position: { step: graph.start },
  };
}

/**
 * Moves runs from their positions. It may be called at any time: what is not due stays where it is.
 * @returns those that a suspension of the workspace holds: try them again later
 */
export async function drive(deps: JourneyDeps, driven: readonly Driven[]): Promise<Set<Driven>> {
  const { store } = deps;
  const held = new Set<Driven>();
  const active = driven.filter(({ run }) => run.status === "active");
  for (const [i, turn] of turnsOf(active, ({ run }) => run.id).entries())
    for (const group of Map.groupBy(turn, ({ run }) => `${run.journey_id} ${run.version}`).values()) {
      const again = i === 0 ? new Map(group.map((one) => [one, one])) : await reread(store, group);
      for (const one of await driveVersion(deps, [...again.keys()])) held.add(again.get(one) ?? one);
    }
  return held;
}

/** Those of these runs that are still active, as they are now, with what they were. */
async function reread(store: JourneyDeps["store"], group: readonly Driven[]): Promise<Map<Driven, Driven>> {
  const runs = await readActive(
    store,
    group.map(({ run: { subscriber_id, journey_id, id } }) => ({
      subscriber: subscriber_id,
      journey: journey_id,
      run: id,
    })),
  );
  const byId = new Map(runs.map((run) => [run.id, run]));
  const found = new Map<Driven, Driven>();
  for (const one of group) {
    const run = byId.get(one.run.id);
    if (run) found.set({ ...one, run }, one);
  }
  return found;
}

async function driveVersion(deps: JourneyDeps, group: readonly Driven[]): Promise<ReadonlySet<Driven>> {
  const { store, activeJourneys } = deps;
  const none: ReadonlySet<Driven> = new Set();
  const [first] = group;
  if (!first) return none;
  const { journey_id, version: entered } = first.run;
  const status = await statusOf(store, journey_id);
  if (status === "archived") for (const { run } of group) await endRun(store, run, "the journey was archived");
  if (status !== "active") return none;
  const version = await activeJourneys.version(store.tenant, journey_id, entered);
  return version ? moveOn(deps, version.graph, group) : none;
}

/** Items of one name are taken in turn, because each of them may change what the next one finds. */
function turnsOf<T>(items: readonly T[], nameOf: (item: T) => string): T[][] {
  const turns: T[][] = [];
  for (const same of Map.groupBy(items, nameOf).values())
    for (const [i, item] of same.entries()) {
      turns[i] ??= [];
      turns[i].push(item);
    }
  return turns;
}

async function evaluateAll<T, R>(
  items: readonly T[],
  evaluate: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  for (const some of chunksOf(items, MAX_CONCURRENT)) results.push(...(await Promise.allSettled(some.map(evaluate))));
  return results;
}

/** Moves runs of one version until each waits, ends or was moved by another worker. @returns the held ones */
async function moveOn(deps: JourneyDeps, graph: Graph, moving: readonly Moving[]): Promise<Set<Moving>> {
  const held = new Set<Moving>();
  const failed: PromiseSettledResult<unknown>[] = [];
  let open = moving.map((origin) => ({ ...origin, origin }));
  while (open.length > 0) {
    const now = deps.store.clock.now();
    const decided = await evaluateAll(open, async (one) => ({ one, move: await decide(deps, graph, one, now) }));
    failed.push(...decided.filter(({ status }) => status === "rejected"));
    const sends = decided.some((result) => result.status === "fulfilled" && result.value.move?.send);
    const workspace = sends ? await deps.workspace() : undefined;
    const moves = new Map<Move, (typeof open)[number]>();
    for (const result of decided) {
      if (result.status === "rejected" || !result.value.move) continue;
      const { one, move } = result.value;
      if (move.send && workspace?.status !== "active") held.add(one.origin);
      else moves.set(move, one);
    }
    const stored = await storeMoves(deps, workspace, [...moves.keys()]);
    failed.push(...stored.failures);
    open = [...stored.moved].flatMap((move) => {
      const { run, to } = move;
      const one = moves.get(move);
      if (!one || !move.isBetweenSteps || "ends" in to) return [];
      const { position } = to;
      return [{ ...one, entry: undefined, run: { ...run, seq: run.seq + 1, current_step: position.step, position } }];
    });
  }
  throwFailures(failed);
  return held;
}

/** Where a run goes now; undefined if it stays where it is. A send is passed, and the run stops at what follows it. */
async function decide(deps: JourneyDeps, graph: Graph, one: Moving, now: number): Promise<Move | undefined> {
  const { run, entry, seen } = one;
  const facts = factsOf(deps.store, graph, run, { seen, now });
  const { arrival, outcomes } = await advance(graph, run.position, facts);
  if (isUnmoved(run, arrival, outcomes)) return undefined;
  if (arrival.kind !== "sends") return { run, entry, outcomes, ...placeOf(graph, arrival) };
  const { node, next, event = run.context.event_id } = arrival;
  const send = { node, event };
  if (!next) {
    const to = { ends: "completed", step: node.id, reason: "the last step was taken" } as const;
    return { run, entry, outcomes, send, to, times: [], isBetweenSteps: false };
  }
  // Exit conditions were evaluated a moment ago.
  const after = await advance(graph, next, { ...facts, exit: async () => undefined });
  return { run, entry, outcomes: [...outcomes, ...after.outcomes], send, ...placeOf(graph, after.arrival, now) };
}

function placeOf(graph: Graph, arrival: Arrival, now = 0): Pick<Move, "to" | "times" | "isBetweenSteps"> {
  if (arrival.kind === "ends") {
    const { status: ends, step, reason } = arrival;
    return { to: { ends, step, reason }, times: [], isBetweenSteps: false };
  }
  if (arrival.kind === "sends") {
    const position = { step: arrival.node.id, ...(arrival.event !== undefined && { spent: arrival.event }) };
    return { to: { position }, times: [now + CONTINUED_MS], isBetweenSteps: true };
  }
  const { step, since = now, until } = arrival.position;
  const isWait = graph.steps[step]?.type === "wait_for_event";
  const times = [...(isWait ? [since + SECOND_LOOK_MS] : []), ...(until === undefined ? [] : [until])];
  return { to: { position: arrival.position }, times, isBetweenSteps: false };
}

const isUnmoved = ({ seq, position }: RunState, arrival: Advance["arrival"], outcomes: readonly Outcome[]): boolean =>
  seq > 0 && outcomes.length === 0 && arrival.kind === "waits" && arrival.position.since === position.since;
