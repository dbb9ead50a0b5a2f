// Judges a rule over attributes and the history of events: whether it holds, until when, and why.
import { compilePredicate } from "./predicates.ts";
import { type EventNode, isProblem, leavesOf, parseRule, type RuleLeaf, type RuleNode } from "./segment-rules.ts";

/** What is known of a subscriber at a moment. */
export interface Facts {
  attributes: Record<string, unknown>;
  /**
   * When events that satisfy this condition's name and `where` happened, newest first, in milliseconds: all within its
   * window, or at least `occurrencesNeeded` of them.
   */
  times(condition: EventNode): readonly number[];
  /** Milliseconds; events of later count too. */
  now: number;
}

export interface Verdict {
  matches: boolean;
  /** When a window's end alone changes the answer, in milliseconds; undefined if none does. */
  nextChangeAt: number | undefined;
}

/** How one clause of a rule stands (F2). */
export interface Reason {
  /** `group.nodes[0].attribute.plan` */
  path: string;
  matched: boolean;
  expected: Record<string, unknown>;
  /** The attribute's value, absent when it is missing; for an event, how often it counts (as far as it matters). */
  actual?: unknown;
}

/** A rule made ready for many subscribers. */
export interface Rule {
  root: RuleNode;
  /** Keys of attributes that it mentions. */
  attributes: ReadonlySet<string>;
  events: readonly EventNode[];
  /** What the attributes alone settle, whatever the events; undefined if the events decide. */
  decidedBy(attributes: Record<string, unknown>): boolean | undefined;
  judge(facts: Facts): Verdict;
  explain(facts: Facts): Reason[];
}

/**
 * Makes a stored rule ready. Throws TypeError where `parseRule` finds a problem, so that a rule that was stored
 * unchecked cannot match by accident.
 */
export function compileRule(value: unknown): Rule {
  const root = parseRule(value);
  if (isProblem(root)) throw new TypeError(`rule ${root.path}: ${root.reason}`);
  const leaves = leavesOf(root);
  const events = leaves.filter((leaf) => leaf.kind === "event");
  const keys = leaves.flatMap((leaf) => (leaf.kind === "attribute" ? Object.keys(leaf.predicate) : []));
  const tests = new Map(
    leaves.flatMap((leaf) => (leaf.kind === "attribute" ? [[leaf, compilePredicate(leaf.predicate)] as const] : [])),
  );

  const holds = (node: RuleNode, held: ReadonlyMap<RuleLeaf, boolean>, facts: Facts, at: number): boolean => {
    if (node.kind === "group") {
      const isSo = (child: RuleNode) => holds(child, held, facts, at);
      return node.op === "and" ? node.nodes.every(isSo) : node.nodes.some(isSo);
    }
    return held.get(node) ?? (node.kind === "event" && isMet(node, facts.times(node), at));
  };

  /** Three-valued: an event condition is open. */
  const settled = (node: RuleNode, attributes: Record<string, unknown>): boolean | undefined => {
    if (node.kind === "attribute") return tests.get(node)!(attributes);
    if (node.kind === "event") return undefined;
    const parts = node.nodes.map((child) => settled(child, attributes));
    const decisive = node.op === "or";
    if (parts.includes(decisive)) return decisive;
    return parts.includes(undefined) ? undefined : !decisive;
  };

  return {
    root,
    attributes: new Set(keys),
    events,
    decidedBy: (attributes) => settled(root, attributes),
    judge: (facts) => {
      // Attributes do not change by themselves: asked once, whatever the moment.
      const held = new Map([...tests].map(([leaf, test]) => [leaf as RuleLeaf, test(facts.attributes)]));
      const matches = holds(root, held, facts, facts.now);
      const moments = events.flatMap((node) => turnsOf(node, facts.times(node))).filter((at) => at > facts.now);
      const nextChangeAt = moments.sort((a, b) => a - b).find((at) => holds(root, held, facts, at) !== matches);
      return { matches, nextChangeAt };
    },
    explain: (facts) => leaves.flatMap((leaf) => reasonsOf(leaf, facts)),
  };
}

/** How many of the newest occurrences decide a condition. */
export const occurrencesNeeded = ({ min, max }: EventNode): number => Math.max(min, max === undefined ? 0 : max + 1);

/** An event counts until its window is over, and not at that moment any more. */
const countAt = ({ within }: EventNode, times: readonly number[], at: number): number =>
  within === undefined ? times.length : times.filter((time) => at - time < within).length;

function isMet(node: EventNode, times: readonly number[], at: number): boolean {
  const count = countAt(node, times, at);
  return count >= node.min && (node.max === undefined || count <= node.max);
}

/** The moments at which a condition turns if nothing more happens: the count falls below `min`, or down to `max`. */
function turnsOf({ within, min, max }: EventNode, times: readonly number[]): number[] {
  if (within === undefined) return [];
  const deciding = [min > 0 ? times[min - 1] : undefined, max === undefined ? undefined : times[max]];
  return deciding.filter((time) => time !== undefined).map((time) => time + within);
}

function reasonsOf(leaf: RuleLeaf, facts: Facts): Reason[] {
  if (leaf.kind === "attribute")
    return Object.entries(leaf.predicate).map(([key, operators]) => ({
      path: `${leaf.path}.${key}`,
      matched: compilePredicate(Object.fromEntries([[key, operators]]))(facts.attributes),
      expected: operators,
      ...(Object.hasOwn(facts.attributes, key) && { actual: facts.attributes[key] }),
    }));
  const { path, name, within, min, max, where } = leaf;
  const times = facts.times(leaf);
  return [
    {
      path,
      matched: isMet(leaf, times, facts.now),
      expected: {
        name,
        ...(within !== undefined && { within_seconds: within / 1_000 }),
        frequency: { min, ...(max !== undefined && { max }) },
        ...(where && { where }),
      },
      actual: countAt(leaf, times, facts.now),
    },
  ];
}

/** Caps that a plan puts on rules (SEG-13). */
export interface RuleCaps {
  /** Furthest look-back of an event condition in days; null = none. */
  lookbackDays: number | null;
  eventConditionsPerRule: number;
}

/** What a plan forbids about a rule, with the field at fault (RUL-6, SEG-7). */
export function capProblem({ events }: Rule, { lookbackDays, eventConditionsPerRule }: RuleCaps) {
  if (events.length > eventConditionsPerRule)
    return { path: "", reason: `must have at most ${eventConditionsPerRule} event conditions on this plan` };
  if (lookbackDays === null) return undefined;
  const tooFar = events.find(({ within = Number.POSITIVE_INFINITY }) => within > lookbackDays * DAY_MS);
  if (!tooFar) return undefined;
  const isAllTime = tooFar.within === undefined;
  const reason = isAllTime
    ? `must look back a limited time on this plan, at most ${lookbackDays} days`
    : `must look back at most ${lookbackDays} days on this plan`;
  return { path: tooFar.path, reason };
}

const DAY_MS = 86_400_000;
