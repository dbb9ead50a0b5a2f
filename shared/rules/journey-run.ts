// The engine of journeys: moves a run from its position to its next wait, send or end. It is pure: it asks for the
// facts about the subscriber, and returns what its caller must store.
import { MINUTE } from "../kernel/clock.ts";
import { parseDuration } from "./durations.ts";
import type { Graph, JourneyNode } from "./journey-graph.ts";

/** The position of a run: before a step, or inside a delay or a wait. Times are in milliseconds (AMB-136). */
export interface Position {
  step: string;
  /** When the run arrived before the step. It is the time of the cause, not of the worker. */
  at?: number | undefined;
  /**
   * After a send: its planned time, or the end of the quiet hours that its message waits for, if that is after `at`. A
   * delay or wait ends its duration later.
   */
  from?: number | undefined;
  /** When the delay or wait began; absent before a step. */
  since?: number | undefined;
  /** When it ends; absent for a wait without an end. */
  until?: number | undefined;
  /** Until when an awaited event may be received, if that is after the end of the wait. */
  heard?: number | undefined;
  /** The total of the journey's pauses when `until` was set; absent without pauses. */
  paused?: number | undefined;
  /** The event that ended the last wait, after others of the same instant: none of these ends another wait. */
  spent?: string | undefined;
  /** The send whose message waits for the end of quiet hours: a following delay or wait counts from when it is sent. */
  message?: string | undefined;
}

export interface Outcome {
  step: string;
  name: string;
}

export type Arrival =
  | { kind: "waits"; position: Position }
  /** The run has taken many steps, and goes on from there at once. */
  | { kind: "goes on"; position: Position }
  /** The step sends. Then the run is before `next`, or is completed. `position` is before the step. */
  | { kind: "sends"; node: JourneyNode & { type: "send" }; position: Position; next: Position | undefined }
  | { kind: "ends"; status: "completed" | "exited"; step: string; reason: string; at: number };

/** In `message`: the send at which a move arrives, whose id is known once it is stored. */
export const THIS_SEND = "this";

interface Advance {
  outcomes: Outcome[];
  arrival: Arrival;
}

/**
 * The time of an event that ends a wait, in milliseconds: when it occurred, or when it was received if its time is in
 * the future.
 */
export interface AwaitedEvent {
  id: string;
  at: number;
  received: number;
}

/** From one time to another, both included. */
interface Span {
  since: number;
  until: number;
  /** The latest receipt of an event in the span. */
  heard: number;
}

/** The questions of the engine. */
export interface Knowledge {
  now: number;
  /** The first exit condition that holds, and since when; without a time if it holds now. */
  exit(): Promise<{ index: number; at?: number | undefined } | undefined>;
  /** Whether a condition held at a time. */
  holds(condition: Record<string, unknown>, at: number): Promise<boolean>;
  /** The first awaited event of the span, after the last of `spent`, or else after the trigger. */
  occurred(
    node: JourneyNode & { type: "wait_for_event" },
    span: Span,
    spent: readonly string[],
  ): Promise<AwaitedEvent | undefined>;
  /** The total of the journey's pauses until a time. */
  pausedUntil(at: number): number;
  /** The end of the quiet hours that the message of a step would wait for, in milliseconds; undefined for none. */
  quietUntil?(node: JourneyNode & { type: "send" }): Promise<number | undefined>;
  /** When the message of a send was sent or given up, in milliseconds; undefined while it waits. */
  wentOutAt?(send: string): Promise<number | undefined>;
}

/** A loop of short waits that are all over would take long (D-JNY-RUN). */
const MAX_STEPS = 100;

/**
 * Moves a run as far as it gets now. It arrives at a step, and leaves it, at the time of the cause, so that the time of
 * the worker only affects delays, which never end in the past (AMB-136). A message that waits for the end of quiet
 * hours is sent then, and the following steps keep their distance to it. An exit condition ends the run if it held
 * before the run left its step, and before each send (JND-9); a timeout takes `on_timeout` only if the awaited event
 * did not occur within the window (JND-13).
 */
export async function advance(graph: Graph, from: Position, knowledge: Knowledge): Promise<Advance> {
  const outcomes: Outcome[] = [];
  const exit = await knowledge.exit();
  for (let position = afterPauses(from, knowledge); ; ) {
    const node = graph.steps[position.step];
    if (!node) throw new Error(`The graph has no step ${position.step}.`);

    const move = await moveFrom(node, position, knowledge);
    if (exit && (exit.at ?? Number.NEGATIVE_INFINITY) <= move.at) {
      const at = Math.max(exit.at ?? knowledge.now, position.since ?? position.at ?? knowledge.now);
      return { outcomes, arrival: exited(position.step, exit.index, at) };
    }

    if (move.kind === "arrives") {
      if (move.outcome) outcomes.push({ step: node.id, name: move.outcome });
      return { outcomes, arrival: move.arrival };
    }
    outcomes.push({ step: node.id, name: move.outcome });
    if (!move.next) return { outcomes, arrival: completed(node.id, move.outcome, move.at) };
    const { at, from, heard, message, spent = position.spent } = move;
    position = before(move.next, { at, from, heard, message, spent });
    if (outcomes.length === MAX_STEPS) return { outcomes, arrival: { kind: "goes on", position } };
  }
}

const exited = (step: string, index: number, at: number) =>
  ({ kind: "ends", status: "exited", step, reason: `exit_condition:${index}`, at }) as const;

const completed = (step: string, reason: string, at: number) =>
  ({ kind: "ends", status: "completed", step, reason, at }) as const;

/** A pause of the journey stops the time of its runs: the rest of a delay or wait stays the same. */
function afterPauses(position: Position, { now, pausedUntil }: Knowledge): Position {
  const { until, paused = 0 } = position;
  if (until === undefined) return position;
  const earlier = pausedUntil(until);
  // A delay or wait that was over when a pause began is not in it, even if no worker looked before.
  const isOver = pausedUntil(until + earlier - paused) === earlier;
  const all = isOver ? earlier : pausedUntil(now);
  return all === paused ? position : { ...position, until: until + all - paused, paused: all };
}

/** If the run stays or sends, any known exit ends it, also by a clock that is ahead. */
const LATER = Number.POSITIVE_INFINITY;

/** The way of a run out of a step, and when it leaves. */
type Move = { at: number } & (
  | {
      kind: "goes";
      outcome: string;
      next: string | undefined;
      from?: number;
      heard?: number;
      message?: string;
      spent?: string;
    }
  | { kind: "arrives"; outcome?: string; arrival: Arrival }
);

const waits = (position: Position): Move => ({ kind: "arrives", at: LATER, arrival: { kind: "waits", position } });

const before = (step: string, arrived: Pick<Position, "at" | "from" | "heard" | "message" | "spent">): Position => ({
  step,
  ...present("at", arrived.at),
  ...present("from", arrived.from),
  ...present("heard", arrived.heard),
  ...present("message", arrived.message),
  ...present("spent", arrived.spent),
});

const present = <K extends string, T>(name: K, value: T | undefined): { [name in K]?: T } =>
  (value === undefined ? {} : { [name]: value }) as { [name in K]?: T };

async function moveFrom(node: JourneyNode, position: Position, knowledge: Knowledge): Promise<Move> {
  const { now } = knowledge;
  const { at = now, heard, message, spent } = position;
  if (node.type === "exit") return { kind: "arrives", at, outcome: "exit", arrival: completed(node.id, "exit", at) };
  if (node.type === "send") {
    // A late step is sent late: the following steps keep their distance to it.
    const quiet = await knowledge.quietUntil?.(node);
    const late = Math.max(at, position.from ?? at, heard ?? at, quiet ?? at);
    const from = late > at ? late : undefined;
    const waiting = quiet === undefined ? message : THIS_SEND;
    const next = node.send.next ? before(node.send.next, { at, from, heard, message: waiting, spent }) : undefined;
    const reached = before(node.id, { at, from: position.from, heard, message, spent });
    return { kind: "arrives", at: LATER, arrival: { kind: "sends", node, position: reached, next } };
  }
  if (node.type === "branch") {
    const way = (await knowledge.holds(node.branch.condition, at)) ? "then" : "else";
    const kept = { ...present("from", position.from), ...present("heard", heard), ...present("message", message) };
    return { kind: "goes", at, outcome: `branch:${way}`, next: node.branch[way], ...kept };
  }
  return node.type === "delay" ? delayed(node, position, knowledge) : awaited(node, position, knowledge);
}

/** A delay counts from when it is really reached, and from when the message before it was sent. */
async function delayed(node: JourneyNode & { type: "delay" }, position: Position, knowledge: Knowledge): Promise<Move> {
  const { now } = knowledge;
  const ms = parseDuration(node.delay.duration);
  if (position.since === undefined) return waits(spanning(position, now, ms, knowledge));

  const settled = await afterMessage(position, ms, knowledge);
  const { until } = settled;
  if (until === undefined || now < until) return waits(settled);
  return { kind: "goes", at: until, outcome: "delayed", next: node.delay.next };
}

/** A message that is not sent at the end of quiet hours is checked again after at least this time. */
const LOOK_AGAIN_MS = 5 * MINUTE;
/** A message is sent a moment after the end of quiet hours: a following step need not be moved for that. */
const atOnce = (ms: number): number => Math.min(MINUTE, ms / 10);

/**
 * Extends a delay or wait if the message before it was not sent at the end of its quiet hours, because its journey was
 * paused or its workspace suspended: the two steps keep their distance (AMB-136).
 */
async function afterMessage(position: Position, ms: number | undefined, knowledge: Knowledge): Promise<Position> {
  const { now, wentOutAt } = knowledge;
  const { message, until, ...rest } = position;
  if (message === undefined || until === undefined || ms === undefined || now < until || !wentOutAt) return position;

  const paused = knowledge.pausedUntil(now);
  const pauses = paused > 0 ? { paused } : {};
  const out = await wentOutAt(message);
  if (out === undefined) return { ...position, until: now + Math.max(ms, LOOK_AGAIN_MS), ...pauses };

  const ends = out + ms + paused - knowledge.pausedUntil(out);
  return ends > until + atOnce(ms) ? { ...rest, until: ends, ...pauses } : { ...rest, until };
}

/** A wait counts events and pauses: a slow worker does not change its end. */
async function held(position: Position, ms: number | undefined, knowledge: Knowledge): Promise<Position> {
  const { since = knowledge.now } = position;
  const isPaused = knowledge.pausedUntil(knowledge.now) > knowledge.pausedUntil(since);
  return isPaused ? afterMessage(position, ms, knowledge) : position;
}

async function awaited(
  node: JourneyNode & { type: "wait_for_event" },
  position: Position,
  knowledge: Knowledge,
): Promise<Move> {
  const { now } = knowledge;
  const { on_event, on_timeout, within } = node.wait_for_event;
  const ms = within === undefined ? undefined : parseDuration(within);
  const isNew = position.since === undefined;
  const begun = isNew ? spanning(position, position.at ?? now, ms, knowledge) : await held(position, ms, knowledge);
  const { since = now, until = Number.POSITIVE_INFINITY, spent } = begun;
  const heard = Math.max(until, begun.heard ?? until);
  // A wait that began a moment ago is evaluated again later, unless its cause came late: then events that may end it
  // are already stored.
  const cameLate = position.heard !== undefined && since < position.heard;
  if (isNew && until > now && !cameLate) return waits(begun);

  const event = await knowledge.occurred(node, { since, until, heard }, idsOf(spent));
  if (event) {
    const all = [...(event.at === since ? idsOf(spent) : []), event.id];
    const { at, received } = event;
    return { kind: "goes", at, outcome: "wait:event", next: on_event, heard: received, spent: all.join(" ") };
  }
  if (now < until) return waits(begun);
  return { kind: "goes", at: until, outcome: "wait:timeout", next: on_timeout };
}

const idsOf = (spent: string | undefined): string[] => (spent === undefined ? [] : spent.split(" "));

/** The event that ended the last wait of a run, if there is one. */
export const lastEventOf = ({ spent }: Position): string | undefined => idsOf(spent).at(-1);

/** A position inside a delay or wait of `ms` without the pauses of the journey; undefined for ever. */
function spanning(position: Position, since: number, ms: number | undefined, knowledge: Knowledge) {
  const { step, from, heard, message, spent } = position;
  const paused = knowledge.pausedUntil(knowledge.now);
  const start = Math.max(since, from ?? since);
  const until = ms === undefined ? undefined : start + ms + paused - knowledge.pausedUntil(start);
  const isHeardLater = heard !== undefined && until !== undefined && heard > until;
  return {
    ...before(step, { message, spent, heard: isHeardLater ? heard : undefined }),
    since,
    ...(until !== undefined && { until, ...(paused > 0 && { paused }) }),
  };
}
