// The engine of journeys: moves a run from its position to where it next waits, sends or ends. It is pure: it asks for
// what it must know of the subscriber, and returns what its caller is to store.
import { parseDuration } from "./durations.ts";
import type { Graph, JourneyNode } from "./journey-graph.ts";
import { isMap } from "./predicates.ts";

/** The position of a run: before a step, or inside a delay or a wait. */
export interface Position {
  step: string;
  /** When the delay or wait began; absent before a step. */
  since?: number | undefined;
  /** When it ends; absent for a wait without an end. */
  until?: number | undefined;
  /** The event that ended the last wait: it cannot end another wait. */
  spent?: string | undefined;
}

export interface Outcome {
  step: string;
  name: string;
}

export type Arrival =
  | { kind: "waits"; position: Position }
  /** The step sends; then the run is before `next`, or is completed. `event` ended the last wait. */
  | { kind: "sends"; node: JourneyNode & { type: "send" }; next: Position | undefined; event: string | undefined }
  | { kind: "ends"; status: "completed" | "exited"; step: string; reason: string };

export interface Advance {
  outcomes: Outcome[];
  arrival: Arrival;
}

/** What the engine asks for, as of `now`. */
export interface Knowledge {
  now: number;
  /** A wait that begins now is also ended by an event since this time, if its window reaches back so far. */
  arrivedAt: number;
  /** The index of the first exit condition that holds. */
  exit(): Promise<number | undefined>;
  holds(condition: Record<string, unknown>): Promise<boolean>;
  /** The id of an awaited event that occurred from `since` to `until`, both included, other than `spent`. */
  occurred(
    node: JourneyNode & { type: "wait_for_event" },
    since: number,
    until: number,
    spent: string | undefined,
  ): Promise<string | undefined>;
}

/**
 * Moves a run as far as it gets now. Exit conditions are evaluated first (JND-9); a timeout takes `on_timeout` only if
 * the awaited event did not occur within the window (JND-13).
 */
export async function advance(graph: Graph, from: Position, knowledge: Knowledge): Promise<Advance> {
  const outcomes: Outcome[] = [];
  const exit = await knowledge.exit();
  if (exit !== undefined)
    return {
      outcomes,
      arrival: { kind: "ends", status: "exited", step: from.step, reason: `exit_condition:${exit}` },
    };
  for (let position = from; ; ) {
    const node = graph.steps[position.step];
    if (!node) throw new Error(`The graph has no step ${position.step}.`);
    const move = await moveFrom(node, position, knowledge);
    if ("arrival" in move) {
      if (move.outcome) outcomes.push({ step: node.id, name: move.outcome });
      return { outcomes, arrival: move.arrival };
    }
    outcomes.push({ step: node.id, name: move.outcome });
    if (!move.next)
      return { outcomes, arrival: { kind: "ends", status: "completed", step: node.id, reason: move.outcome } };
    position = before(move.next, move.spent ?? position.spent);
  }
}

type Move = { outcome: string; next: string | undefined; spent?: string } | { outcome?: string; arrival: Arrival };

const before = (step: string, spent: string | undefined): Position => ({
  step,
  ...(spent !== undefined && { spent }),
});

async function moveFrom(node: JourneyNode, position: Position, knowledge: Knowledge): Promise<Move> {
  const { since, until, spent } = position;
  if (node.type === "exit")
    return { outcome: "exit", arrival: { kind: "ends", status: "completed", step: node.id, reason: "exit" } };
  if (node.type === "send") {
    const next = node.send.next ? before(node.send.next, spent) : undefined;
    return { arrival: { kind: "sends", node, next, event: spent } };
  }
  if (node.type === "branch") {
    const holds = await knowledge.holds(node.branch.condition);
    return holds
      ? { outcome: "branch:then", next: node.branch.then }
      : { outcome: "branch:else", next: node.branch.else };
  }
  if (node.type === "delay") {
    if (since === undefined) return waiting(position, knowledge.now, node.delay.duration);
    return until !== undefined && knowledge.now >= until
      ? { outcome: "delayed", next: node.delay.next }
      : { arrival: { kind: "waits", position } };
  }
  const { on_event, on_timeout, within } = node.wait_for_event;
  if (since === undefined) return waiting(position, knowledge.now, within, knowledge.arrivedAt);
  const last = Math.min(knowledge.now, until ?? Number.POSITIVE_INFINITY);
  const event = await knowledge.occurred(node, since, last, spent);
  if (event !== undefined) return { outcome: "wait:event", next: on_event, spent: event };
  return until !== undefined && knowledge.now >= until
    ? { outcome: "wait:timeout", next: on_timeout }
    : { arrival: { kind: "waits", position } };
}

function waiting({ step, spent }: Position, now: number, duration: string | undefined, arrivedAt = now): Move {
  const ms = duration === undefined ? undefined : parseDuration(duration);
  const since = Math.max(arrivedAt, now - (ms ?? Number.POSITIVE_INFINITY));
  return {
    arrival: {
      kind: "waits",
      position: { ...before(step, spent), since, ...(ms !== undefined && { until: now + ms }) },
    },
  };
}

const REFERENCE = /^\s*\{\{\s*trigger\.([^{}]+?)\s*\}\}\s*$/;
const REFERENCES = /\{\{\s*trigger\.([^{}]+?)\s*\}\}/g;
/** No property can have this value: a reference to a property that the trigger lacks matches nothing. */
const NO_VALUE = "\u0000";

/** A condition with `{{trigger.name}}` replaced by that property of the event that started the run (D-JNY-RUN). */
export function withTriggerValues<T>(condition: T, properties: Readonly<Record<string, unknown>>): T {
  const propertyOf = (name: string): string | number | boolean => {
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : NO_VALUE;
  };
  const replaced = (value: unknown): unknown => {
    if (typeof value === "string") {
      const whole = REFERENCE.exec(value)?.[1];
      return whole === undefined
        ? value.replaceAll(REFERENCES, (_, name: string) => String(propertyOf(name)))
        : propertyOf(whole);
    }
    if (Array.isArray(value)) return value.map(replaced);
    if (isMap(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one)]));
    return value;
  };
  return replaced(condition) as T;
}
