// One move of a run: its new position, its send, and its next evaluation. Runs and simulations move alike.
import type { Graph, JourneyNode } from "./journey-graph.ts";
import { type Arrival, advance, type Knowledge, lastEventOf, type Outcome, type Position } from "./journey-run.ts";

export interface JourneyMove {
  outcomes: Outcome[];
  to:
    | { kind: "at"; position: Position }
    | { kind: "ends"; status: "completed" | "exited"; step: string; reason: string; at: number };
  send?: SentStep;
  /** The times of the next evaluations, in milliseconds. */
  times: number[];
  /** The run goes on at once. */
  isBetweenSteps: boolean;
}

interface SentStep {
  node: JourneyNode & { type: "send" };
  /** The id of the event that its texts may refer to. */
  event: string | undefined;
  /** The outcomes of the steps before it. */
  before: Outcome[];
  /** The position at the step. */
  reached: Position;
}

interface Mover {
  position: Position;
  /** The run is not stored yet, so that even waiting is a move. */
  isNew: boolean;
  /** The event that started the run, if there is one. */
  trigger: string | undefined;
}

/** A wait is evaluated again after this time, for an event that was stored while the wait began. */
const SECOND_LOOK_MS = 5_000;
/** When a run that stopped between two steps is continued. */
const CONTINUED_MS = 120_000;

/** The next move of a run; undefined if it stays. A send is passed, and the run stops at the step after it. */
export async function nextMove(
  graph: Graph,
  { position, isNew, trigger }: Mover,
  knowledge: Knowledge,
): Promise<JourneyMove | undefined> {
  const { arrival, outcomes } = await advance(graph, position, knowledge);
  const isStill = arrival.kind === "waits" && isSame(arrival.position, position);
  if (isStill && !isNew && outcomes.length === 0) return undefined;

  const { now } = knowledge;
  if (arrival.kind !== "sends") return { outcomes, ...placeOf(graph, arrival, { from: position, now }) };

  const { node, next, position: reached } = arrival;
  const send = { node, event: lastEventOf(reached) ?? trigger, before: outcomes, reached };
  if (!next) return { outcomes, send, to: completedAt(node, now), times: [], isBetweenSteps: false };

  // Exit conditions were evaluated a moment ago.
  const after = await advance(graph, next, { ...knowledge, exit: async () => undefined });
  return { outcomes: [...outcomes, ...after.outcomes], send, ...placeOf(graph, after.arrival, { from: next, now }) };
}

const completedAt = ({ id: step }: JourneyNode, at: number) =>
  ({ kind: "ends", status: "completed", step, reason: "the last step was taken", at }) as const;

const isSame = (a: Position, b: Position): boolean => a.since === b.since && a.until === b.until;

function placeOf(
  graph: Graph,
  arrival: Arrival,
  { from, now }: { from: Position; now: number },
): Pick<JourneyMove, "to" | "times" | "isBetweenSteps"> {
  if (arrival.kind === "ends") return { to: arrival, times: [], isBetweenSteps: false };
  const { position } = arrival;
  if (arrival.kind === "sends" || arrival.kind === "goes on")
    return { to: { kind: "at", position }, times: [now + CONTINUED_MS], isBetweenSteps: true };
  const { step, since, until } = position;
  const isBegun = graph.steps[step]?.type === "wait_for_event" && (step !== from.step || since !== from.since);
  const times = [...(isBegun ? [now + SECOND_LOOK_MS] : []), ...(until === undefined ? [] : [until])];
  return { to: { kind: "at", position }, times, isBetweenSteps: false };
}
