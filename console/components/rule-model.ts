// A rule as rows that a form shows, and back. A rule that rows cannot show is edited as JSON.
import type { AttributeRule, EventRule, RuleNode, SegmentRule } from "../../sdk/src/types.gen.ts";
import { durationText } from "../app/duration.ts";

export const operators = [
  { value: "$eq", label: "is" },
  { value: "$ne", label: "is not" },
  { value: "$gt", label: "is more than" },
  { value: "$gte", label: "is at least" },
  { value: "$lt", label: "is less than" },
  { value: "$lte", label: "is at most" },
  { value: "$in", label: "is one of" },
  { value: "$nin", label: "is none of" },
  { value: "has", label: "is known" },
  { value: "lacks", label: "is not known" },
] as const;
export type Operator = (typeof operators)[number]["value"];

export const frequencies = [
  { value: "min", label: "at least" },
  { value: "max", label: "at most" },
  { value: "never", label: "never" },
] as const;
export type Frequency = (typeof frequencies)[number]["value"];

export type Row =
  | { kind: "attribute"; key: string; operator: Operator; value: string }
  | { kind: "event"; name: string; frequency: Frequency; times: string; within: string };

export interface Rows {
  op: "and" | "or";
  rows: Row[];
}

type Scalar = string | number | boolean | null;

/** `5`, `true` and `null` are what they look like; text in quotes, and everything else, is text. */
export function scalarOf(text: string): Scalar {
  const trimmed = text.trim();
  if (/^(-?(0|[1-9]\d*)(\.\d+)?|true|false|null)$/.test(trimmed)) return JSON.parse(trimmed) as Scalar;
  return /^".*"$/.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
}

const textOf = (value: unknown): string =>
  typeof value === "string" && scalarOf(value) !== value ? JSON.stringify(value) : String(value);

const hasValue = (operator: Operator): boolean => operator !== "has" && operator !== "lacks";
const isList = (operator: Operator): boolean => operator === "$in" || operator === "$nin";

function nodeOf(row: Row): RuleNode {
  if (row.kind === "event") {
    const { name, frequency, times, within } = row;
    const often = frequency === "never" ? { max: 0 } : { [frequency]: Number(times) };
    return { event: { name, ...(within && { within }), frequency: often } };
  }
  const { key, operator, value } = row;
  if (!hasValue(operator)) return { attribute: { [key]: { $exists: operator === "has" } } };
  const operand = isList(operator) ? value.split(",").map(scalarOf) : scalarOf(value);
  return { attribute: { [key]: { [operator]: operand } } };
}

export function ruleOf({ op, rows }: Rows): SegmentRule {
  const nodes = rows.map(nodeOf);
  return nodes.length === 1 && nodes[0] ? nodes[0] : { group: { op, nodes } };
}

/** Whether each row says enough to be counted. */
export const isComplete = ({ rows }: Rows): boolean =>
  rows.length > 0 &&
  rows.every((row) =>
    row.kind === "event"
      ? row.name !== "" && (row.frequency === "never" || Number(row.times) > 0)
      : row.key !== "" && (!hasValue(row.operator) || row.value.trim() !== ""),
  );

function attributeRow({ attribute }: AttributeRule): Row | undefined {
  const [entry, another] = Object.entries(attribute);
  if (!entry || another) return undefined;
  const [key, conditions] = entry;
  const [condition, second] = Object.entries(conditions);
  if (!condition || second) return undefined;
  const [operator, value] = condition;
  if (operator === "$exists") return { kind: "attribute", key, operator: value === true ? "has" : "lacks", value: "" };
  const known = operators.find((one) => one.value === operator);
  if (!known) return undefined;
  const text = Array.isArray(value) ? value.map(textOf).join(", ") : textOf(value);
  return { kind: "attribute", key, operator: known.value, value: text };
}

const SHOWN = ["name", "within", "frequency"];

function eventRow({ event }: EventRule): Row | undefined {
  if (Object.keys(event).some((key) => !SHOWN.includes(key))) return undefined;
  const { name, within = "", frequency = {} } = event;
  const { min, max } = frequency;
  if (min !== undefined && max !== undefined) return undefined;
  if (max === 0) return { kind: "event", name, frequency: "never", times: "", within };
  if (max !== undefined) return { kind: "event", name, frequency: "max", times: String(max), within };
  return { kind: "event", name, frequency: "min", times: String(min ?? 1), within };
}

function rowOf(node: RuleNode): Row | undefined {
  if (Object.keys(node).length !== 1) return undefined;
  if ("attribute" in node) return attributeRow(node);
  return "event" in node ? eventRow(node) : undefined;
}

/** A rule of one level as rows; undefined if rows cannot show it. */
export function rowsOf(rule: SegmentRule): Rows | undefined {
  const isGroup = "group" in rule && rule.group !== undefined;
  if (!isGroup && "attribute" in rule && rule.attribute && "key" in rule.attribute) return undefined;
  const op = isGroup ? rule.group.op : "and";
  const nodes: readonly RuleNode[] = isGroup ? rule.group.nodes : [rule as RuleNode];
  const rows = nodes.map(rowOf).filter((row) => row !== undefined);
  return rows.length === nodes.length ? { op, rows } : undefined;
}

export const emptyRow = (kind: Row["kind"]): Row =>
  kind === "attribute"
    ? { kind, key: "", operator: "$eq", value: "" }
    : { kind, name: "", frequency: "min", times: "1", within: "30d" };

const labelOf = (list: readonly { value: string; label: string }[], wanted: string): string =>
  list.find(({ value }) => value === wanted)?.label ?? wanted;

function rowText(row: Row): string {
  if (row.kind === "attribute") {
    const label = labelOf(operators, row.operator);
    return `${row.key} ${label}${hasValue(row.operator) ? ` ${row.value}` : ""}`;
  }
  const often = labelOf(frequencies, row.frequency) + (row.frequency === "never" ? "" : ` ${row.times} times`);
  return `${row.name} ${often}${row.within ? ` within ${durationText(row.within)}` : ""}`;
}

/** The rule in words, for lists and journeys. */
export function ruleText(rule: SegmentRule | undefined): string {
  if (!rule) return "…";
  const found = rowsOf(rule);
  return found?.rows.map(rowText).join(found.op === "and" ? " and " : " or ") ?? "a rule of its own";
}
