// The engine of journeys: from where a run stands to where it next waits, sends or ends. Pure: what it must know of the
// subscriber it asks for; what it decides is carried out by others.
import { parseDuration } from "./durations.ts";
import type { Graph, JourneyNode } from "./journey-graph.ts";
import { isMap } from "./predicates.ts";

/** Where a run stands: before a step, or inside a delay or a wait. */
export interface Position {
  step: string;
  /** When the delay or wait began; absent before a step. */
  since?: number | undefined;
  /** When it ends; a wait may have no end. */
  until?: number | undefined;
  /** The event that ended the last wait: it cannot end another one. */
  spent?: string | undefined;
}

export interface Outcome {
  step: string;
  name: string;
}

export type Arrival =
  | { kind: "waits"; position: Position }
  /** The step is to be sent; then the run stands before `next`, or is completed. `event` ended the last wait. */
  | { kind: "sends"; node: JourneyNode & { type: "send" }; next: Position | undefined; event: string | undefined }
  | { kind: "ends"; status: "completed" | "exited"; step: string; reason: string };

export interface Advance {
  outcomes: Outcome[];
  arrival: Arrival;
}

/** What the engine asks for. */
export interface Knowledge {
  now: number;
  /** The first exit condition that holds, by its place. */
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
 * Takes a run as far as it goes at this moment. Exit conditions come first (JND-9); a timeout takes `on_timeout` only if
 * the awaited event did not occur within the window (JND-13).
 */
export async function advance(graph: Graph, from: Position, knowledge: Knowledge): Promise<Advance> {
  const outcomes: Outcome[] = [];
  const place = await knowledge.exit();
  if (place !== undefined)
    return {
      outcomes,
      arrival: { kind: "ends", status: "exited", step: from.step, reason: `exit_condition:${place}` },
    };
  for (let position = from; ; ) {
    const node = graph.steps[position.step]!;
    const move = await moveFrom(node, position, knowledge);
    if ("arrival" in move) {
      if (move.outcome) outcomes.push({ step: node.id, name: move.outcome });
      return { outcomes, arrival: move.arrival };
    }
    outcomes.push({ step: node.id, name: move.outcome });
    if (!move.next)
      return { outcomes, arrival: { kind: "ends", status: "completed", step: node.id, reason: move.outcome } };
    position = placeAt(move.next, move.spent ?? position.spent);
  }
}

type Move = { outcome: string; next: string | undefined; spent?: string } | { outcome?: string; arrival: Arrival };

const placeAt = (step: string, spent: string | undefined): Position => ({
  step,
  ...(spent !== undefined && { spent }),
});

async function moveFrom(node: JourneyNode, position: Position, knowledge: Knowledge): Promise<Move> {
  const { since, until, spent } = position;
  if (node.type === "exit")
    return { outcome: "exit", arrival: { kind: "ends", status: "completed", step: node.id, reason: "exit" } };
  if (node.type === "send") {
    const next = node.send.next ? placeAt(node.send.next, spent) : undefined;
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
  if (since === undefined) return waiting(position, knowledge.now, within);
  const last = Math.min(knowledge.now, until ?? Number.POSITIVE_INFINITY);
  const event = await knowledge.occurred(node, since, last, spent);
  if (event !== undefined) return { outcome: "wait:event", next: on_event, spent: event };
  return until !== undefined && knowledge.now >= until
    ? { outcome: "wait:timeout", next: on_timeout }
    : { arrival: { kind: "waits", position } };
}

function waiting({ step, spent }: Position, now: number, duration: string | undefined): Move {
  const ms = duration === undefined ? undefined : parseDuration(duration);
  return {
    arrival: {
      kind: "waits",
      position: { ...placeAt(step, spent), since: now, ...(ms !== undefined && { until: now + ms }) },
    },
  };
}

const REFERENCE = /^\s*\{\{\s*trigger\.([^{}]+?)\s*\}\}\s*$/;
const REFERENCES = /\{\{\s*trigger\.([^{}]+?)\s*\}\}/g;
/** No property can hold it: a reference to what the trigger does not have matches nothing. */
const NOTHING = "\u0000";

/** A condition with `{{trigger.name}}` replaced by that property of the event that began the run (D-JNY-RUN). */
export function bound<T>(condition: T, properties: Readonly<Record<string, unknown>>): T {
  const propertyOf = (name: string): string | number | boolean => {
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : NOTHING;
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
