// The conditions of a rule or a filter in words, without the person's own value, which is personal.
import type { Reason, Rule } from "./segment-evaluation.ts";
import type { RuleNode } from "./segment-rules.ts";

/** The words between an attribute's name and the operand. */
const operators: Readonly<Record<string, string>> = {
  $eq: "is",
  $ne: "is not",
  $gt: "is more than",
  $gte: "is at least",
  $lt: "is less than",
  $lte: "is at most",
  $in: "is one of",
  $nin: "is none of",
};

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

const plural = (count: number, name: string): string => `${count} ${name}${count === 1 ? "" : "s"}`;

/** A duration in its longest whole unit: `7 days`, `90 minutes`. */
export function span(seconds: number): string {
  const [name, size] = units.find(([, unitSeconds]) => seconds % unitSeconds === 0) ?? ["second", 1];
  return plural(seconds / size, name);
}

/** The text of a value; several are separated by commas. */
export const valueText = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
};

/** A condition on an attribute: `is pro`, `is at least 18 and is less than 65`. */
export const conditionText = (condition: object): string =>
  Object.entries(condition)
    .map(([operator, value]) => {
      if (operator === "$exists") return value === true ? "is known" : "is not known";
      return `${operators[operator] ?? operator} ${valueText(value)}`;
    })
    .join(" and ");

function timesOf(min: number, max: number | undefined): string {
  if (max === 0) return "never";
  if (max === undefined) return `at least ${plural(min, "time")}`;
  return min > 0 ? `${min} to ${plural(max, "time")}` : `at most ${plural(max, "time")}`;
}

/** The event that a rule expects, in its explanation. */
interface EventExpectation {
  name: string;
  within_seconds?: number | undefined;
  frequency: { min: number; max?: number | undefined };
}

const isEvent = (expected: object): expected is EventExpectation => "frequency" in expected;

/** The expectation of one clause: `is one of free, pro`, or `at least 2 times within 7 days`. */
export function expectationText(expected: object): string {
  if (!isEvent(expected)) return conditionText(expected);
  const { within_seconds: seconds, frequency } = expected;
  const often = timesOf(frequency.min, frequency.max);
  return seconds ? `${often} within ${span(seconds)}` : often;
}

function clauseText({ path, expected }: Reason): string {
  const subject = isEvent(expected) ? expected.name : path.replace(/^(?:.*?\.)?attribute\./, "");
  return `${subject} ${expectationText(expected)}`;
}

const words = { and: " and ", or: " or " } as const;

/** A rule in words: `age is at least 18 and plan is pro`. */
export function wantedText(rule: Rule): string {
  const clauses = rule.explain({ attributes: {}, times: () => [], now: 0 });
  return (
    unmetText(
      rule.root,
      clauses.map((clause) => ({ ...clause, matched: false })),
    ) ?? ""
  );
}

/**
 * The clauses of a rule that a person does not meet: `age is at least 18 and (plan is pro or order_paid at least 1
 * time)`. @param clauses the results of all its clauses @returns undefined if the rule is met
 */
export function unmetText(node: RuleNode, clauses: readonly Reason[]): string | undefined {
  if (node.kind !== "group") {
    const clausesOfNode = clauses.filter(({ path }) => path === node.path || path.startsWith(`${node.path}.`));
    const unmet = clausesOfNode.filter(({ matched }) => !matched);
    return unmet.length === 0 ? undefined : unmet.map(clauseText).join(words.and);
  }
  const parts = node.nodes.map((child) => {
    const text = unmetText(child, clauses);
    const isMixed = child.kind === "group" && child.op !== node.op && child.nodes.length > 1;
    return text !== undefined && isMixed ? `(${text})` : text;
  });
  if (node.op === "or" && parts.includes(undefined)) return undefined;
  const unmet = parts.filter((part) => part !== undefined);
  return unmet.length === 0 ? undefined : unmet.join(words[node.op]);
}
