// Decides how runs move: those that enter, and those that are driven on. Runs of one version that move at the same time
// are stored together, in packs (docs/decisions/0029).
import { namedError } from "../../kernel/errors.ts";
import { throwFailures } from "../../kernel/failures.ts";
import { exitsOf, type Graph } from "../../rules/journey-graph.ts";
import { nextMove } from "../../rules/journey-move.ts";
import { contended, done, untilUncontended } from "../refusals.ts";
import type { ActiveJourneys, EnterableJourney } from "./active.ts";
import {
  type AdmittedEntries,
  admitted,
  type Candidate,
  type DrivenRun,
  type EnteredJourney,
  evaluateAll,
  type MovingRun,
  refusal,
} from "./entries.ts";
import { factsOf } from "./facts.ts";
import { statusOf } from "./journeys.ts";
import { type PackDeps, storeMoves } from "./packs.ts";
import type { Pauses } from "./pauses.ts";
import { openQuietEnds } from "./quiet-ends.ts";
import type { RefusedEntry } from "./refusals.ts";
import { RunEntry, runEntryKey } from "./run-items.ts";
import { endRun, readActive } from "./runs.ts";
import type { SendNode } from "./sends.ts";
import type { Move } from "./step-admission.ts";

export interface JourneyDeps extends PackDeps {
  activeJourneys: ActiveJourneys;
}

/** How often a run is read again after another worker moved it. */
const MAX_ATTEMPTS = 10;

/**
 * Starts runs of an active journey where the subscribers may enter, and moves them as far as possible (JND-10 to
 * JND-12).
 * @returns those that a suspension of the workspace holds: try them again later; and those that it refused
 */
export async function enter(
  deps: JourneyDeps,
  journey: EnterableJourney,
  candidates: readonly Candidate[],
): Promise<{ held: Set<Candidate>; refused: RefusedEntry[] }> {
  const { store, activeJourneys } = deps;
  const held = new Set<Candidate>();
  if (journey.isPaused) return { held, refused: candidates.map((candidate) => refusal(candidate, "paused")) };
  const version = await activeJourneys.version(store.tenant, journey.id, journey.version);
  if (!version) return { held, refused: [] };

  const running = { graph: version.graph, pauses: journey.pauses };
  const refused: RefusedEntry[] = [];
  for (const turn of turnsOf(candidates, ({ subscriber }) => subscriber)) {
    let open = turn;
    await untilUncontended(movedTooOften, async () => {
      const { entering, begun, refused: unfit } = await admittedNow(deps, { graph: version.graph, journey }, open);
      refused.push(...unfit);
      const entered = await moveOn(deps, running, entering);
      for (const { candidate } of entered.overQuota) refused.push(refusal(candidate, "over_quota"));
      for (const { candidate } of [...entered.held, ...(await drive(deps, begun))]) held.add(candidate);
      open = await notBegun(store, journey.id, [...entered.lost]);
      return open.length === 0 ? done(undefined) : contended;
    });
  }
  return { held, refused };
}

/**
 * The candidates without a stored run whose run has not begun: the outcome of a message changed their earlier run, or
 * another run began. A run that another worker began is evaluated by that worker, and an ended run does not begin
 * again.
 */
async function notBegun(
  store: JourneyDeps["store"],
  journey: string,
  lost: readonly (DrivenRun & { candidate: Candidate })[],
) {
  const entries = await store.getAll(
    RunEntry,
    lost.map(({ run }) => runEntryKey(journey, run.id)),
  );
  return lost.flatMap(({ candidate }, i) => (entries[i] ? [] : [candidate]));
}

/** The candidates who may enter after overdue runs have ended. */
async function admittedNow(
  deps: JourneyDeps,
  entered: EnteredJourney,
  turn: readonly Candidate[],
): Promise<Omit<AdmittedEntries, "overdue">> {
  const first = await admitted(deps.store, entered, turn);
  if (first.overdue.length === 0) return first;

  await drive(deps, first.overdue);
  const late = first.overdue.map(({ candidate }) => candidate);
  const second = await admitted(deps.store, entered, late, { areMoved: true });
  return {
    entering: [...first.entering, ...second.entering],
    begun: [...first.begun, ...second.begun],
    refused: [...first.refused, ...second.refused],
  };
}

/**
 * Moves runs from their positions. It may be called at any time: a run that is not due stays. A run that another worker
 * moves at the same time is read again, so that no event is left to its next timer (JND-9). @returns the runs that a
 * suspension of the workspace holds: try them again later
 */
export async function drive<T extends DrivenRun>(deps: JourneyDeps, driven: readonly T[]): Promise<Set<T>> {
  const { store } = deps;
  const held = new Set<T>();
  const active = driven.filter(({ run }) => run.status === "active");
  for (const [i, turn] of turnsOf(active, ({ run }) => run.id).entries())
    for (const group of Map.groupBy(turn, ({ run }) => run.journey_id).values()) {
      let open = i === 0 ? new Map(group.map((candidate) => [candidate, candidate])) : await reread(store, group);
      for (let attempt = 0; open.size > 0; attempt++) {
        if (attempt === MAX_ATTEMPTS) throw movedTooOften();
        const driven = await driveVersions(deps, [...open.keys()]);
        for (const candidate of driven.held) held.add(open.get(candidate) ?? candidate);
        open = await reread(
          store,
          [...driven.lost].map((candidate) => open.get(candidate) ?? candidate),
        );
      }
    }
  return held;
}

/** The message is delivered again. */
const movedTooOften = () => namedError("TransactionConflictException", "A run was moved too often by other workers.");

/** The runs that are still active, as they are now, with the earlier state. */
async function reread<T extends DrivenRun>(store: JourneyDeps["store"], group: readonly T[]): Promise<Map<T, T>> {
  const runs = await readActive(
    store,
    group.map(({ run: { subscriber_id, journey_id, id } }) => ({
      subscriber: subscriber_id,
      journey: journey_id,
      run: id,
    })),
  );
  const byId = new Map(runs.map((run) => [run.id, run]));
  const found = new Map<T, T>();
  for (const candidate of group) {
    const run = byId.get(candidate.run.id);
    if (run) found.set({ ...candidate, run }, candidate);
  }
  return found;
}

/** A migration may have moved some of the runs to another version since they were read before. */
async function driveVersions<T extends DrivenRun>(deps: JourneyDeps, group: readonly T[]): Promise<MovedRuns<T>> {
  const all = nothingMoved<T>();
  for (const same of Map.groupBy(group, ({ run }) => run.version).values()) {
    const { held, lost } = await driveVersion(deps, same);
    for (const candidate of held) all.held.add(candidate);
    for (const candidate of lost) all.lost.add(candidate);
  }
  return all;
}

async function driveVersion<T extends DrivenRun>(deps: JourneyDeps, group: readonly T[]): Promise<MovedRuns<T>> {
  const { store, activeJourneys } = deps;
  const [first] = group;
  if (!first) return nothingMoved();
  const { journey_id, version: entered } = first.run;
  const journey = (await activeJourneys.of(store.tenant)).journeys.get(journey_id);
  if (!journey && (await statusOf(store, journey_id)) === "archived")
    for (const { run } of group) await endRun(store, run, "the journey was archived");
  if (!journey || journey.isPaused) return nothingMoved();

  const version = await activeJourneys.version(store.tenant, journey_id, entered);
  return version ? moveOn(deps, { graph: version.graph, pauses: journey.pauses }, group) : nothingMoved();
}

/** Items of one name are taken in turn, because each of them may change what the next one finds. */
export function turnsOf<T>(items: readonly T[], nameOf: (item: T) => string): T[][] {
  const turns: T[][] = [];
  for (const same of Map.groupBy(items, nameOf).values())
    for (const [i, item] of same.entries()) {
      turns[i] ??= [];
      turns[i].push(item);
    }
  return turns;
}

interface MovedRuns<T> {
  /** Runs that a suspension of the workspace holds. */
  held: Set<T>;
  /** Runs that another worker moved first, or began. */
  lost: Set<T>;
  /** Runs that did not begin, because the month's sends are used up. */
  overQuota: Set<T>;
}

const nothingMoved = <T>(): MovedRuns<T> => ({ held: new Set(), lost: new Set(), overQuota: new Set() });

interface RunningJourney {
  graph: Graph;
  pauses: Pauses | undefined;
}

/** Moves runs of one version until each waits, ends or was moved by another worker. */
async function moveOn<T extends MovingRun>(
  deps: JourneyDeps,
  journey: RunningJourney,
  moving: readonly T[],
): Promise<MovedRuns<T>> {
  const { held, lost, overQuota } = nothingMoved<T>();
  /** Events that happened while a run began found no run that they could end. */
  const isLookedAtAgain = exitsOf(journey.graph).length > 0;
  const failed: PromiseSettledResult<unknown>[] = [];
  const quietEnds = openQuietEnds(deps);
  let open: (MovingRun & { origin: T })[] = moving.map((origin) => ({ ...origin, origin }));
  while (open.length > 0) {
    const now = deps.store.clock.now();
    const decided = await evaluateAll(open, async (candidate) => ({
      candidate,
      move: await decide({ ...deps, quietEnds }, journey, candidate, Math.max(now, candidate.due ?? 0)),
    }));
    failed.push(...decided.filter(({ status }) => status === "rejected"));

    const sends = decided.some((result) => result.status === "fulfilled" && result.value.move?.send);
    const workspace = sends ? await deps.workspace() : undefined;
    const moves = new Map<Move, (typeof open)[number]>();
    for (const result of decided) {
      if (result.status === "rejected" || !result.value.move) continue;
      const { candidate, move } = result.value;
      if (move.send && workspace?.status !== "active") held.add(candidate.origin);
      else moves.set(move, candidate);
    }

    const stored = await storeMoves(deps, workspace, [...moves.keys()]);
    failed.push(...stored.failures);
    for (const move of stored.lost) {
      const candidate = moves.get(move);
      if (candidate) lost.add(candidate.origin);
    }
    for (const move of stored.overQuota) {
      const candidate = moves.get(move);
      if (candidate) overQuota.add(candidate.origin);
    }

    open = [...stored.moved].flatMap(([decidedMove, move]) => {
      const { run, to } = move;
      const candidate = moves.get(decidedMove);
      if (!candidate || to.kind === "ends") return [];
      if (!move.isBetweenSteps && !(candidate.entry && isLookedAtAgain)) return [];
      const { position } = to;
      return [
        { ...candidate, entry: undefined, run: { ...run, seq: run.seq + 1, current_step: position.step, position } },
      ];
    });
  }
  throwFailures(failed);
  return { held, lost, overQuota };
}

/** Where a run goes now; undefined if it stays where it is. */
async function decide(
  { store, quietEnds }: JourneyDeps & { quietEnds: ReturnType<typeof openQuietEnds> },
  { graph, pauses }: RunningJourney,
  { run, entry }: MovingRun,
  now: number,
): Promise<Move | undefined> {
  const mover = { position: run.position, isNew: run.seq === 0, trigger: run.context.event_id };
  const known = {
    ...factsOf(store, graph, run, { now, pauses }),
    quietUntil: (node: SendNode) => quietEnds(node, run.subscriber_id, now),
  };
  const move = await nextMove(graph, mover, known);
  return move && { run, entry, ...move };
}
