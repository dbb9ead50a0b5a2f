// Replays history to a journey (F3): the engine of real runs plays one subscriber's events, on a simulated clock.
import { parseDuration } from "./durations.ts";
import { type EntryRules, exitsOf, type Graph, type JourneyNode, type Trigger } from "./journey-graph.ts";
import { type KnownEvent, knowledgeOf, receivedOf, type Source } from "./journey-knowledge.ts";
import { type JourneyMove, nextMove } from "./journey-move.ts";
import { dependenciesOf } from "./journey-paths.ts";
import type { Knowledge, Outcome, Position } from "./journey-run.ts";
import { compilePredicate } from "./predicates.ts";
import { compileRule, type Reason } from "./segment-evaluation.ts";
import { comparisonIn } from "./values.ts";

export interface Definition {
  trigger: Trigger;
  entry_rules: EntryRules | null;
  graph: Graph;
}

/** In milliseconds; the start is included, the end is not. */
export interface Window {
  from: number;
  to: number;
}

interface ReplayedSubscriber {
  /** The zone in which the days of bare dates begin (AMB-137). */
  zone(): Promise<string>;
  attributes: Record<string, unknown>;
  /** Events with the names of `namesOf`, oldest first, also from before the window. */
  events: readonly KnownEvent[];
  /** When it entered the segment of the trigger; absent for a trigger by event. */
  enteredSegmentAt?: number | undefined;
  /** The only entry, in place of all that the trigger names: its time, and its event if it has one. */
  entry?: { at: number; event: KnownEvent | undefined } | undefined;
  /** The newest earlier run. */
  former?: { enteredAt: number; isActive: boolean } | undefined;
}

export type ReplayRefusal = "already_active" | "reentry_window" | "not_eligible";

interface TakenStep {
  step: string;
  outcome: string;
  /** In milliseconds. */
  at: number;
  /** The run was on the step before. */
  isRepeated: boolean;
  /** The condition of a branch, clause by clause, if the recorder explains. */
  clauses: Reason[];
}

/** Receives the events of the runs. */
export interface Recorder {
  /** Branches and eligibility are explained clause by clause. */
  explains?: true;
  entered(): void;
  refused?(reason: ReplayRefusal, at: number, clauses: Reason[]): void;
  took(taken: TakenStep): void;
  /**
   * Sends the message of a step. @param event the id of the event that its texts may refer to @returns the outcome of
   * the step
   */
  sends(node: JourneyNode & { type: "send" }, at: number, event: string | undefined): Promise<string>;
  /** The end of the quiet hours that the message of a step would wait for, in milliseconds; undefined for none. */
  quietUntil?(node: JourneyNode & { type: "send" }, at: number): Promise<number | undefined>;
  /** The end of a run. @param at when it ended, or when an active run was last evaluated, in milliseconds */
  ended(status: "active" | "completed" | "exited", step: string, at: number, reason: string | null): void;
}

/** The most moves of one subscriber: a loop with a short delay would go on for the whole window. */
const MAX_MOVES = 1_000;

/**
 * The names of the events that a journey depends on, and how far its rules look back before the window: undefined for
 * ever.
 */
export function namesOf({ trigger, entry_rules, graph }: Definition): { names: string[]; back: number | undefined } {
  const conditions = [
    ...(entry_rules?.eligibility ? [entry_rules.eligibility] : []),
    ...Object.values(graph.steps).flatMap((node) => (node.type === "branch" ? [node.branch.condition] : [])),
    ...exitsOf(graph).flatMap((exit) => (exit.kind === "rule" ? [exit.rule] : [])),
  ];
  const nodes = conditions.flatMap((condition) => compileRule(condition).events);
  const started = trigger.type === "event" && trigger.event_name ? [trigger.event_name] : [];
  const names = [...new Set([...started, ...dependenciesOf(graph).events, ...nodes.map(({ name }) => name)])];
  const back = Math.max(0, ...nodes.map(({ within = Number.POSITIVE_INFINITY }) => within));
  return { names, back: Number.isFinite(back) ? back : undefined };
}

interface Run {
  enteredAt: number;
  trigger: KnownEvent | undefined;
  position: Position;
  isNew: boolean;
  visited: Set<string>;
}

interface Moment {
  at: number;
  event?: KnownEvent;
  enters: boolean;
  /** The cause of the run, if it is not this event. */
  cause?: KnownEvent | undefined;
}

/** The outcomes of a move in the order of its steps; its send is judged. */
async function outcomesOf({ send, outcomes }: JourneyMove, now: number, recorder: Recorder): Promise<Outcome[]> {
  if (!send) return outcomes;
  const sent = { step: send.node.id, name: await recorder.sends(send.node, now, send.event) };
  return [...send.before, sent, ...outcomes.slice(send.before.length)];
}

interface ReplayState {
  definition: Definition;
  subscriber: ReplayedSubscriber;
  recorder: Recorder;
  byName: ReadonlyMap<string, readonly KnownEvent[]>;
  run: Run | undefined;
  /** When the newest run began. */
  last: number | undefined;
  timers: number[];
  moves: number;
  lookedAt: number;
  /** The conditions judged since this list was emptied. */
  explained: Reason[][];
}

/** Replays the window to one subscriber. @returns whether it was cut short, because of too many moves */
export async function replay(
  definition: Definition,
  subscriber: ReplayedSubscriber,
  { from, to }: Window,
  recorder: Recorder,
): Promise<boolean> {
  const playing: ReplayState = {
    definition,
    subscriber,
    recorder,
    byName: Map.groupBy(subscriber.events, ({ event_name }) => event_name),
    run: undefined,
    last: subscriber.former?.enteredAt,
    timers: [],
    moves: 0,
    lookedAt: from,
    explained: [],
  };
  const relevant = new Set(dependenciesOf(definition.graph).events);
  const within = momentsOf(definition, subscriber, relevant).filter(({ at }) => at >= from && at < to);
  for (const { at, event, enters, cause = event } of within.sort((a, b) => a.at - b.at)) {
    await passTime(playing, at);
    if (playing.run) playing.lookedAt = at;
    if (event && relevant.has(event.event_name)) await drive(playing, at);
    if (enters) await enter(playing, at, cause);
  }
  await passTime(playing, to);
  const { run, lookedAt, moves } = playing;
  if (run) recorder.ended("active", run.position.step, lookedAt, null);
  return moves >= MAX_MOVES;
}

function momentsOf(
  { trigger }: Definition,
  { events, enteredSegmentAt, entry }: ReplayedSubscriber,
  relevant: ReadonlySet<string>,
): Moment[] {
  const starts = (name: string) => !entry && trigger.type === "event" && trigger.event_name === name;
  const moments: Moment[] = events
    .map((event) => ({ at: Date.parse(event.occurred_at), event, enters: starts(event.event_name) }))
    .filter(({ event, enters }) => enters || relevant.has(event.event_name));
  if (entry) moments.push({ at: entry.at, enters: true, cause: entry.event });
  if (enteredSegmentAt !== undefined) moments.push({ at: enteredSegmentAt, enters: true });
  return moments;
}

function knowledgeAt(playing: ReplayState, of: Run, now: number): Knowledge {
  const { definition, subscriber, recorder, byName } = playing;
  const source = sourceOf(subscriber, byName, of, now);
  playing.explained = [];
  const explain = { explained: (reasons: Reason[]) => void playing.explained.push(reasons) };
  const knowledge = knowledgeOf(definition.graph, recorder.explains ? { ...source, ...explain } : source, now);
  return { ...knowledge, quietUntil: async (node) => recorder.quietUntil?.(node, now) };
}

/** Moves the run as far as it gets now. */
async function drive(playing: ReplayState, now: number): Promise<void> {
  const { recorder } = playing;
  const { graph } = playing.definition;
  while (playing.run && playing.moves < MAX_MOVES) {
    const { run } = playing;
    const mover = { position: run.position, isNew: run.isNew, trigger: run.trigger?.id };
    const move = await nextMove(graph, mover, knowledgeAt(playing, run, now));
    if (!move) return;
    playing.moves++;
    playing.lookedAt = now;
    for (const { step, name: outcome } of await outcomesOf(move, now, recorder)) {
      const isBranch = graph.steps[step]?.type === "branch";
      const clauses = (isBranch && playing.explained.shift()) || [];
      recorder.took({ step, outcome, at: now, isRepeated: run.visited.has(step), clauses });
      run.visited.add(step);
    }
    if (move.to.kind === "ends") {
      recorder.ended(move.to.status, move.to.step, now, move.to.reason);
      playing.run = undefined;
      playing.timers = [];
      return;
    }
    playing.run = { ...run, position: move.to.position, isNew: false };
    const times = [...new Set([...playing.timers, ...move.times])];
    playing.timers = times.filter((at) => at > now).sort((a, b) => a - b);
    if (!move.isBetweenSteps) return;
  }
}

async function passTime(playing: ReplayState, until: number): Promise<void> {
  const next = () => (playing.moves < MAX_MOVES ? playing.timers[0] : undefined);
  for (let at = next(); at !== undefined && at <= until; at = next()) {
    playing.timers.shift();
    await drive(playing, at);
  }
}

/** Begins a run, unless one is refused. */
async function enter(playing: ReplayState, now: number, event: KnownEvent | undefined): Promise<void> {
  const { definition, subscriber, recorder, run, last } = playing;
  const { allow_reentry = false, reentry_window, eligibility } = definition.entry_rules ?? {};
  const pauseMs = allow_reentry ? (parseDuration(reentry_window ?? "") ?? 0) : undefined;
  if (run || subscriber.former?.isActive) return recorder.refused?.("already_active", now, []);
  if (last !== undefined && (pauseMs === undefined || last > now - pauseMs))
    return recorder.refused?.("reentry_window", now, []);

  const entering: Run = {
    enteredAt: now,
    trigger: event,
    position: { step: definition.graph.start, at: now, ...(event && { heard: receivedOf(event) }) },
    isNew: true,
    visited: new Set(),
  };
  if (eligibility && !(await knowledgeAt(playing, entering, now).holds(eligibility, now)))
    return recorder.refused?.("not_eligible", now, playing.explained.flat());

  playing.run = entering;
  playing.last = now;
  recorder.entered();
  await drive(playing, now);
}

/** The knowledge at a moment; attributes are those of today. */
function sourceOf(
  { attributes, events, zone }: ReplayedSubscriber,
  byName: ReadonlyMap<string, readonly KnownEvent[]>,
  { enteredAt, trigger }: Run,
  now: number,
): Source {
  return {
    enteredAt,
    triggerId: trigger?.id,
    pausedUntil: () => 0,
    triggerProperties: async () => trigger?.properties ?? {},
    attributes: async () => attributes,
    zone,
    times:
      async (_, until) =>
      ({ name, where, zone }) => {
        const satisfies = compilePredicate(where ?? {}, comparisonIn(zone));
        return (byName.get(name) ?? [])
          .filter(({ occurred_at, properties }) => Date.parse(occurred_at) <= until && satisfies(properties))
          .map(({ occurred_at }) => Date.parse(occurred_at))
          .reverse();
      },
    events: async (name, { since, until }) =>
      (name === undefined ? events : (byName.get(name) ?? [])).filter(({ occurred_at }) => {
        const at = Date.parse(occurred_at);
        return at >= since && at <= Math.min(until, now);
      }),
  };
}
