// A journey on what has happened (F3): one subscriber's events are played to the engine that moves the real runs, on a
// clock of their own.
import { parseDuration } from "./durations.ts";
import type { EntryRules, Graph, JourneyNode, Trigger } from "./journey-graph.ts";
import { type KnownEvent, knowledgeOf, type Source } from "./journey-knowledge.ts";
import { nextMove } from "./journey-move.ts";
import { dependenciesOf } from "./journey-paths.ts";
import type { Position } from "./journey-run.ts";
import { comparisonIn, compilePredicate } from "./predicates.ts";
import { compileRule } from "./segment-evaluation.ts";

export interface Definition {
  trigger: Trigger;
  entry_rules: EntryRules | null;
  graph: Graph;
}

/** In milliseconds: the first included, the last not. */
export interface Window {
  from: number;
  to: number;
}

export interface ReplayedSubscriber {
  /** Where the days of bare dates begin (AMB-137). */
  zone(): Promise<string>;
  attributes: Record<string, unknown>;
  /** Those of the names of `namesOf`, oldest first, also from before the window. */
  events: readonly KnownEvent[];
  /** When it entered the segment of the trigger; absent where an event is the trigger. */
  enteredSegmentAt?: number | undefined;
}

/** Gets what happens to the runs. */
export interface Recorder {
  entered(): void;
  /** @param isRepeated the run was on the step before */
  took(step: string, outcome: string, isRepeated: boolean): void;
  /** @returns the outcome of the step */
  sends(node: JourneyNode & { type: "send" }, at: number): Promise<string>;
  ended(status: "active" | "completed" | "exited", step: string): void;
}

/** Moves of one subscriber: a loop with a short delay would go on for the whole window. */
const MAX_MOVES = 1_000;

/** The names of the events that decide a journey, and how far back from the window its rules look: undefined for ever. */
export function namesOf({ trigger, entry_rules, graph }: Definition): { names: string[]; back: number | undefined } {
  const conditions = [
    ...(entry_rules?.eligibility ? [entry_rules.eligibility] : []),
    ...Object.values(graph.steps).flatMap((node) => (node.type === "branch" ? [node.branch.condition] : [])),
    ...(graph.exit_conditions ?? []).flatMap((exit) => ("rule" in exit ? [exit.rule] : [])),
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
}

/**
 * Plays what happened in the window to one subscriber.
 * @returns whether it was cut short, because it moved too often
 */
export async function replay(
  { trigger, entry_rules, graph }: Definition,
  subscriber: ReplayedSubscriber,
  { from, to }: Window,
  recorder: Recorder,
): Promise<boolean> {
  const relevantEvents = new Set(dependenciesOf(graph).events);
  const byName = Map.groupBy(subscriber.events, ({ event_name }) => event_name);
  const { allow_reentry = false, reentry_window, eligibility } = entry_rules ?? {};
  const pauseMs = allow_reentry ? (parseDuration(reentry_window ?? "") ?? 0) : undefined;
  let run: Run | undefined;
  let last: number | undefined;
  let timers: number[] = [];
  let moves = 0;

  const knowledgeAt = (of: Run, now: number) => knowledgeOf(graph, sourceOf(subscriber, byName, of, now), now);

  const drive = async (now: number): Promise<void> => {
    while (run && moves < MAX_MOVES) {
      const mover = { position: run.position, isNew: run.isNew, trigger: run.trigger?.id };
      const move = await nextMove(graph, mover, knowledgeAt(run, now));
      if (!move) return;
      moves++;
      const sent = move.send && { step: move.send.node.id, name: await recorder.sends(move.send.node, now) };
      for (const { step, name } of sent ? [sent, ...move.outcomes] : move.outcomes) {
        recorder.took(step, name, run.visited.has(step));
        run.visited.add(step);
      }
      if ("ends" in move.to) {
        recorder.ended(move.to.ends, move.to.step);
        run = undefined;
        timers = [];
        return;
      }
      run = { ...run, position: move.to.position, isNew: false };
      timers = [...new Set([...timers, ...move.times])].filter((at) => at > now).sort((a, b) => a - b);
      if (!move.isBetweenSteps) return;
    }
  };

  const passTime = async (until: number): Promise<void> => {
    for (let at = timers[0]; at !== undefined && at <= until && moves < MAX_MOVES; at = timers[0]) {
      timers.shift();
      await drive(at);
    }
  };

  const enter = async (now: number, event: KnownEvent | undefined): Promise<void> => {
    if (run || (last !== undefined && (pauseMs === undefined || last > now - pauseMs))) return;
    const entering = {
      enteredAt: now,
      trigger: event,
      position: { step: graph.start },
      isNew: true,
      visited: new Set<string>(),
    };
    if (eligibility && !(await knowledgeAt(entering, now).holds(eligibility))) return;
    run = entering;
    last = now;
    recorder.entered();
    await drive(now);
  };

  const starts = (name: string) => trigger.type === "event" && trigger.event_name === name;
  const moments: Moment[] = subscriber.events
    .map((event) => ({ at: Date.parse(event.occurred_at), event, enters: starts(event.event_name) }))
    .filter(({ event, enters }) => enters || relevantEvents.has(event.event_name));
  const { enteredSegmentAt } = subscriber;
  if (enteredSegmentAt !== undefined) moments.push({ at: enteredSegmentAt, enters: true });
  const within = moments.filter(({ at }) => at >= from && at < to).sort((a, b) => a.at - b.at);
  for (const { at, event, enters } of within) {
    await passTime(at);
    if (event && relevantEvents.has(event.event_name)) await drive(at);
    if (enters) await enter(at, event);
  }
  await passTime(to);
  if (run) recorder.ended("active", run.position.step);
  return moves >= MAX_MOVES;
}

/** What was known at a moment: the attributes are those of today. */
function sourceOf(
  { attributes, zone }: ReplayedSubscriber,
  byName: ReadonlyMap<string, readonly KnownEvent[]>,
  { enteredAt, trigger }: Run,
  now: number,
): Source {
  return {
    enteredAt,
    arrivedAt: now,
    triggerId: trigger?.id,
    aheadMs: 0,
    triggerProperties: async () => trigger?.properties ?? {},
    attributes: async () => attributes,
    zone,
    times:
      async () =>
      ({ name, where, zone }) => {
        const satisfies = compilePredicate(where ?? {}, comparisonIn(zone));
        return (byName.get(name) ?? [])
          .filter(({ occurred_at, properties }) => Date.parse(occurred_at) <= now && satisfies(properties))
          .map(({ occurred_at }) => Date.parse(occurred_at))
          .reverse();
      },
    find: async (name, _, counts) => byName.get(name)?.find(counts),
  };
}
