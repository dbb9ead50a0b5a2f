// Whether the runs of a pack may take a step that sends and has a brake (F21, docs/decisions/0077). A run that may not
// waits at the step.
import { SECOND } from "../../kernel/clock.ts";
import { timeOfUuid } from "../../kernel/ids.ts";
import type { Safety } from "../../rules/brake.ts";
import type { Outcome } from "../../rules/journey-run.ts";
import { askStepAgainIn, canaryEnd, LANES, laneBound } from "../../rules/step-brake.ts";
import type { Store } from "../context.ts";
import type { ItemWrite } from "../item.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import type { EntryGuard } from "./run-rows.ts";
import type { Destination, RunState } from "./runs.ts";
import type { SendIntent } from "./sends.ts";
import type { StepRef } from "./step-brake-items.ts";
import {
  beginStep,
  breachOfStep,
  HALTED_LOOK_MS,
  haltStep,
  type LaneView,
  laneWrite,
  limitsOf,
  type StepView,
  viewStep,
} from "./step-brakes.ts";

/** The decision for a run: to be stored with its outcomes, its timers and its send. */
export interface Move {
  run: RunState;
  /** The guard of a run that is not stored yet. */
  entry: EntryGuard | undefined;
  to: Destination;
  outcomes: readonly Outcome[];
  /** When it is to be evaluated again, in milliseconds. */
  times: readonly number[];
  send?: SendIntent | undefined;
  /** It goes on at once. */
  isBetweenSteps: boolean;
}

interface BegunStep {
  id: string;
  step: string;
  n: number;
}

export interface AdmittedMoves {
  /** The stored move for each requested one: that move, or a wait before the step. */
  moves: Map<Move, Move>;
  /** The writes by which the steps know of their sends, each on condition that nothing else began since. */
  guards(sends: readonly BegunStep[]): ItemWrite<"workspace">[];
  /** A step may have halted since its brake was read (docs/decisions/0068). */
  isOld(): boolean;
}

const OLD_MS = 3 * SECOND;

/** Whether a brake decides about it: it may have to wait before its step. */
export const isBraked = ({ send }: Move): boolean => send?.node.send.safety !== undefined;

/** Decides which runs of a pack the brakes of their steps allow. */
export async function admit(
  store: Store,
  workspace: WorkspaceRecord | undefined,
  pack: readonly Move[],
): Promise<AdmittedMoves> {
  const askedAt = store.clock.now();
  const moves = new Map(pack.map((move) => [move, move]));
  const braked = pack.filter(isBraked);
  const lanes: { ref: StepRef; lane: LaneView; since: number | undefined }[] = [];
  for (const group of Map.groupBy(braked, ({ send }) => send?.node.id).values()) {
    const [first] = group;
    if (!first?.send) continue;
    const ref = { journey: first.run.journey_id, version: first.run.version, step: first.send.node.id };
    const view = await viewStep(store, ref);
    const limits = limitsOf(first.send.node.send.safety, workspace, view.state);
    if (view.state?.canceled) for (const move of group) moves.set(move, canceled(move, askedAt));
    if (view.state?.canceled || !limits) continue;
    const { until, going } = await waitsOf(store, ref, { view, limits }, group);
    for (const [move, at] of until) moves.set(move, waiting(move, at));
    if (going) lanes.push({ ref, lane: going, since: view.state?.resumed });
  }
  return {
    moves,
    guards: (sends) =>
      lanes.flatMap(({ ref, lane, since }) => {
        const stepSends = sends.filter(({ step }) => step === ref.step);
        return stepSends.length > 0 ? [laneWrite(ref, lane, stepSends, since)] : [];
      }),
    isOld: () => store.clock.now() - askedAt > OLD_MS,
  };
}

interface Waits {
  /** When those runs ask again that may not go on now. */
  until: Map<Move, number>;
  /** The lane in which the others go on. */
  going?: LaneView | undefined;
}

async function waitsOf(
  store: Store,
  ref: StepRef,
  { view, limits }: { view: StepView; limits: Safety },
  moves: readonly Move[],
): Promise<Waits> {
  const now = store.clock.now();
  const all = (at: number) => new Map(moves.map((move) => [move, at]));
  const breach = view.state?.halted ? undefined : breachOfStep(limits, view);
  if (breach) await haltStep(store, ref, view, breach);
  if (breach || view.state?.halted) return { until: all(now + HALTED_LOOK_MS) };

  const until = await canaryWaits(store, ref, { view, limits }, moves);
  const ready = moves.filter((move) => !until.has(move));
  const [first] = ready;
  if (!first) return { until };

  const bound = laneBound(limits, view.attempts);
  const hasRoom = ({ underWay }: LaneView) => underWay === 0 || underWay + ready.length <= bound;
  const lane = view.lanes[Number.parseInt(first.run.id.slice(-1), 16) % LANES];
  const going = lane && hasRoom(lane) ? lane : view.lanes.find(hasRoom);
  if (going) return { until, going };

  const oldest = Math.min(...view.lanes.flatMap(({ open }) => open.map(([job]) => timeOfUuid(job))));
  for (const move of ready) until.set(move, now + askStepAgainIn(now - oldest));
  return { until };
}

/** A run outside the canary waits until the canary's time is over. */
async function canaryWaits(
  store: Store,
  ref: StepRef,
  { view, limits }: { view: StepView; limits: Safety },
  moves: readonly Move[],
): Promise<Map<Move, number>> {
  if (limits.canary_percent === undefined || view.state?.resumed !== undefined) return new Map();
  const began = view.state?.began ?? (await beginStep(store, ref));
  const times = { began, now: store.clock.now() };
  const waiting = moves.flatMap((move) => {
    const ends = canaryEnd(ref, move.run.subscriber_id, limits, times);
    return ends === undefined ? [] : [[move, ends] as const];
  });
  return new Map(waiting);
}

/** The run waits before the step, by a new number: its timer is another one than that which fired. */
function waiting(move: Move, at: number): Move {
  const { run, entry, send } = move;
  if (!send) return move;
  const { at: _came, heard: _heard, ...position } = send.reached;
  return { run, entry, to: { kind: "at", position }, outcomes: send.before, times: [at], isBetweenSteps: false };
}

/** The step was canceled after a halt, and its runs with it. */
const canceled = ({ run, entry, send }: Move, now: number): Move => ({
  run,
  entry,
  to: {
    kind: "ends",
    status: "canceled",
    step: send?.node.id ?? run.current_step,
    reason: "the step was canceled after it halted",
    at: now,
  },
  outcomes: send?.before ?? [],
  times: [],
  isBetweenSteps: false,
});
