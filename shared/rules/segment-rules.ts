// Segment rules of either form, read as a tree of nodes. Journeys use the same rules for eligibility, branches and exits.
import { DAY } from "../kernel/clock.ts";
import { parseDuration } from "./durations.ts";
import { OWN_EVENTS } from "./event-limits.ts";
import { fieldPath } from "./field-path.ts";
import { problemAt, problemsIn } from "./grammar.ts";
import type { Predicate, PredicateProblem } from "./predicates.ts";
import { isFlat, predicateOf, SegmentRule } from "./segment-grammar.ts";

export interface AttributeNode {
  kind: "attribute";
  /** `group.nodes[0].attribute` */
  path: string;
  predicate: Predicate;
}

export interface EventNode {
  kind: "event";
  path: string;
  name: string;
  /** Milliseconds; undefined for all time. */
  within: number | undefined;
  min: number;
  max: number | undefined;
  where: Predicate | undefined;
  /** Where the bare dates of `where` begin. Default: UTC. */
  zone?: string;
}

interface GroupNode {
  kind: "group";
  op: "and" | "or";
  nodes: RuleNode[];
}

export type RuleLeaf = AttributeNode | EventNode;
export type RuleNode = RuleLeaf | GroupNode;

/** The path of a problem (`group.nodes[1].event.within`, or empty for the whole) and the reason. */
export interface RuleProblem extends PredicateProblem {
  kind: "problem";
}

/**
 * Reads a rule of either form as a tree of nodes, or returns its first problem. @param isNew the rule is to be stored;
 * an older one may wait for the service's own events, and continues to work
 */
export function parseRule(value: unknown, isNew = false): RuleNode | RuleProblem {
  const problem = problemsIn(SegmentRule, value).find(({ reason }) => isNew || reason !== OWN_EVENTS.refusal);
  if (problem) return { kind: "problem", ...problemAt(problem) };
  // Without a problem it is a rule.
  return isFlat(value as object) ? flatNode(value as FlatRule) : treeNode(value as TreeRule, "");
}

export const leavesOf = (node: RuleNode): RuleLeaf[] => (node.kind === "group" ? node.nodes.flatMap(leavesOf) : [node]);

interface EventInput {
  name: string;
  within?: string;
  frequency?: { min?: number; max?: number };
  where?: Predicate;
}

type TreeRule = { attribute?: Predicate; event?: EventInput; group?: { op: "and" | "or"; nodes: TreeRule[] } };

function treeNode({ attribute, event, group }: TreeRule, at: string): RuleNode {
  if (attribute) return { kind: "attribute", path: fieldPath(at, "attribute"), predicate: attribute };
  if (event) {
    const { name, within, frequency = { min: 1 }, where } = event;
    const { min = 0, max } = frequency;
    const path = fieldPath(at, "event");
    return {
      kind: "event",
      path,
      name,
      within: within === undefined ? undefined : parseDuration(within),
      min,
      max,
      where,
    };
  }
  const { op, nodes } = group!;
  return { kind: "group", op, nodes: nodes.map((node, i) => treeNode(node, fieldPath(at, "group", "nodes", i))) };
}

interface FlatRule {
  attribute?: Record<string, unknown>;
  event?: { name: string; operator?: "gte" | "lte" | "eq"; count?: number; within_days?: number };
}

function flatNode({ attribute, event }: FlatRule): RuleNode {
  const nodes: RuleNode[] = [];
  if (attribute) nodes.push({ kind: "attribute", path: "attribute", predicate: predicateOf(attribute) });
  if (event) {
    const { name, operator = "gte", count = 1, within_days } = event;
    nodes.push({
      kind: "event",
      path: "event",
      name,
      within: within_days === undefined ? undefined : within_days * DAY,
      min: operator === "lte" ? 0 : count,
      max: operator === "gte" ? undefined : count,
      where: undefined,
    });
  }
  const [only, ...more] = nodes;
  return only && more.length === 0 ? only : { kind: "group", op: "and", nodes };
}
