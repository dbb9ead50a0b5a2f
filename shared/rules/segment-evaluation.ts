// Evaluates a rule over attributes and the history of events: whether it holds, until when, and why.
import { DAY } from "../kernel/clock.ts";
import { attributesOfKey, compilePredicate, valueAt } from "./predicates.ts";
import {
  type AttributeNode,
  type EventNode,
  leavesOf,
  parseRule,
  type RuleLeaf,
  type RuleNode,
} from "./segment-rules.ts";
import { comparisonIn } from "./values.ts";

/** The facts about a subscriber at a time. */
export interface Facts {
  attributes: Record<string, unknown>;
  /**
   * The times of the events that satisfy this condition's name and `where`, in milliseconds, newest first: all within
   * its window, or at least `occurrencesNeeded` of them.
   */
  times(condition: EventNode): readonly number[];
  /** Milliseconds; later events count too. */
  now: number;
}

export interface Verdict {
  matches: boolean;
  /** When the end of a window alone changes the result, in milliseconds; undefined if none does. */
  nextChangeAt: number | undefined;
}

/** The result of one clause of a rule (F2). */
export interface Reason {
  /** `group.nodes[0].attribute.plan` */
  path: string;
  matched: boolean;
  expected: Record<string, unknown>;
  /** The attribute's value, absent if it is missing; for an event, how often it counts (as far as it matters). */
  actual?: unknown;
}

/** A compiled rule, for many subscribers. */
export interface Rule {
  /** The keys of its conditions on attributes, as they are written. */
  keys: readonly string[];
  root: RuleNode;
  attributes: ReadonlySet<string>;
  events: readonly EventNode[];
  /** The result if attributes alone decide; undefined if it depends on events. */
  decidedBy(attributes: Record<string, unknown>): boolean | undefined;
  judge(facts: Facts): Verdict;
  explain(facts: Facts): Reason[];
}

/** Whether a stored rule compiles, also with the trigger values of a run. */
export const isRule = (value: unknown): boolean => parseRule(value).kind !== "problem";

/**
 * Compiles a stored rule. Throws TypeError if `parseRule` finds a problem, so that a rule that was stored without
 * validation cannot match by accident. An older stored rule that waits for the service's own events matches no
 * subscriber by them. @param zone where the days of bare dates begin (AMB-137)
 */
export function compileRule(value: unknown, zone?: string): Rule {
  const compile = (predicate: unknown) => compilePredicate(predicate, comparisonIn(zone));
  const root = parseRule(value);
  if (root.kind === "problem") throw new TypeError(`rule ${root.path}: ${root.reason}`);
  const leaves = leavesOf(root);
  if (zone !== undefined) for (const leaf of leaves) if (leaf.kind === "event") leaf.zone = zone;
  const events = leaves.filter((leaf) => leaf.kind === "event");
  const keys = leaves.flatMap((leaf) => (leaf.kind === "attribute" ? Object.keys(leaf.predicate) : []));
  const tests = new Map(
    leaves.flatMap((leaf) => (leaf.kind === "attribute" ? [[leaf, compile(leaf.predicate)] as const] : [])),
  );

  const testOf = (node: AttributeNode) => tests.get(node) ?? compile(node.predicate);

  const holds = (node: RuleNode, held: ReadonlyMap<RuleLeaf, boolean>, facts: Facts, at: number): boolean => {
    if (node.kind === "group") {
      const isSo = (child: RuleNode) => holds(child, held, facts, at);
      return node.op === "and" ? node.nodes.every(isSo) : node.nodes.some(isSo);
    }
    return held.get(node) ?? (node.kind === "event" && isMet(node, facts.times(node), at));
  };

  /** Three-valued logic: an event condition is unknown. */
  const settled = (node: RuleNode, attributes: Record<string, unknown>): boolean | undefined => {
    if (node.kind === "attribute") return testOf(node)(attributes);
    if (node.kind === "event") return undefined;
    const parts = node.nodes.map((child) => settled(child, attributes));
    const decisive = node.op === "or";
    if (parts.includes(decisive)) return decisive;
    return parts.includes(undefined) ? undefined : !decisive;
  };

  return {
    root,
    keys,
    attributes: new Set(keys.flatMap(attributesOfKey)),
    events,
    decidedBy: (attributes) => settled(root, attributes),
    judge: (facts) => {
      // Attributes do not depend on the time: they are tested once.
      const held = new Map<RuleLeaf, boolean>([...tests].map(([leaf, test]) => [leaf, test(facts.attributes)]));
      const matches = holds(root, held, facts, facts.now);
      const moments = events.flatMap((node) => turnsOf(node, facts.times(node))).filter((at) => at > facts.now);
      const nextChangeAt = moments.sort((a, b) => a - b).find((at) => holds(root, held, facts, at) !== matches);
      return { matches, nextChangeAt };
    },
    explain: (facts) => leaves.flatMap((leaf) => reasonsOf(leaf, facts, zone)),
  };
}

/** The number of newest occurrences that decide a condition. */
export const occurrencesNeeded = ({ min, max }: EventNode): number => Math.max(min, max === undefined ? 0 : max + 1);

/** The number of events that count: an event no longer counts at the very end of its window. */
const countAt = ({ within }: EventNode, times: readonly number[], at: number): number =>
  within === undefined ? times.length : times.filter((time) => at - time < within).length;

function isMet(node: EventNode, times: readonly number[], at: number): boolean {
  const count = countAt(node, times, at);
  return count >= node.min && (node.max === undefined || count <= node.max);
}

/** The times at which a condition changes without another event: the count falls below `min`, or down to `max`. */
function turnsOf({ within, min, max }: EventNode, times: readonly number[]): number[] {
  if (within === undefined) return [];
  const deciding = [min > 0 ? times[min - 1] : undefined, max === undefined ? undefined : times[max]];
  return deciding.filter((time) => time !== undefined).map((time) => time + within);
}

function reasonsOf(leaf: RuleLeaf, facts: Facts, zone: string | undefined): Reason[] {
  if (leaf.kind === "attribute")
    return Object.entries(leaf.predicate).map(([key, operators]) => {
      const actual = valueAt(facts.attributes, key);
      return {
        path: `${leaf.path}.${key}`,
        matched: compilePredicate(Object.fromEntries([[key, operators]]), comparisonIn(zone))(facts.attributes),
        expected: operators,
        ...(actual !== undefined && { actual }),
      };
    });
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

/** The limits of a plan for rules (SEG-13). */
export interface RuleCaps {
  /** The longest look-back of an event condition in days; null: unlimited. */
  lookbackDays: number | null;
  eventConditionsPerRule: number;
}

/** The part of a rule beyond the limits of a plan, with its path (RUL-6, SEG-7). */
export function capProblem({ events }: Rule, { lookbackDays, eventConditionsPerRule }: RuleCaps) {
  if (events.length > eventConditionsPerRule)
    return { path: "", reason: `must have at most ${eventConditionsPerRule} event conditions on this plan` };
  if (lookbackDays === null) return undefined;
  const tooFar = events.find(({ within = Number.POSITIVE_INFINITY }) => within > lookbackDays * DAY);
  if (!tooFar) return undefined;
  const isAllTime = tooFar.within === undefined;
  const reason = isAllTime
    ? `must look back a limited time on this plan, at most ${lookbackDays} days`
    : `must look back at most ${lookbackDays} days on this plan`;
  return { path: tooFar.path, reason };
}
