// A rule as rows that a form shows, and back: a row for each comparison. What they cannot show is edited as JSON.
import type { EventRule, FlatRule, GroupRule, RuleNode, SegmentRule } from "../../sdk/src/types.gen.ts";
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
  { value: "since", label: "is on or after" },
  { value: "before", label: "is before" },
  { value: "has", label: "is known" },
  { value: "lacks", label: "is not known" },
] as const;
type Operator = (typeof operators)[number]["value"];

export const frequencies = [
  { value: "min", label: "at least" },
  { value: "max", label: "at most" },
  { value: "between", label: "between" },
  { value: "never", label: "never" },
] as const;
type Frequency = (typeof frequencies)[number]["value"];

export interface AttributeRow {
  kind: "attribute";
  key: string;
  operator: Operator;
  value: string;
}

export interface EventRow {
  kind: "event";
  name: string;
  frequency: Frequency;
  times: string;
  /** The upper bound of `between`. */
  most: string;
  within: string;
  /** Only events with these properties. */
  where: AttributeRow[];
}

export interface Rows {
  op: "and" | "or";
  rows: Row[];
}

export type Row = AttributeRow | EventRow | ({ kind: "group" } & Rows);

/** Comparisons of days, which have a picker. */
const days: Partial<Record<Operator, string>> = { since: "$gte", before: "$lt" };
export const isOfDay = (operator: Operator): boolean => days[operator] !== undefined;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

type Scalar = string | number | boolean | null;

/** `5`, `true` and `null` are what they look like; text in quotes, and everything else, is text. */
function scalarOf(text: string): Scalar {
  const trimmed = text.trim();
  if (/^(-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null)$/.test(trimmed)) return JSON.parse(trimmed) as Scalar;
  return /^".*"$/.test(trimmed) ? trimmed.slice(1, -1).replace(/\\(["\\])/g, "$1") : trimmed;
}

/** As `scalarOf` reads it. */
export const textOf = (value: unknown, quoted = /^$/): string =>
  typeof value === "string" && (quoted.test(value) || scalarOf(value) !== value)
    ? `"${value.replace(/["\\]/g, "\\$&")}"`
    : String(value);

/** A list as text: `"a, b", 5`. */
const listText = (values: readonly unknown[]): string => values.map((one) => textOf(one, /[",]|^$/)).join(", ");
const listOf = (text: string): Scalar[] => (text.match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? []).map(scalarOf);

const hasValue = (operator: Operator): boolean => operator !== "has" && operator !== "lacks";
const isList = (operator: Operator): boolean => operator === "$in" || operator === "$nin";

function frequencyOf({ frequency, times, most }: EventRow) {
  if (frequency === "never") return { max: 0 };
  if (frequency === "between") return { min: Number(times), max: Number(most) };
  return { [frequency]: Number(times) };
}

function conditionOf({ operator, value }: AttributeRow) {
  if (!hasValue(operator)) return { $exists: operator === "has" };
  const day = days[operator];
  if (day) return { [day]: value };
  return { [operator]: isList(operator) ? listOf(value) : scalarOf(value) };
}

const comparisonOf = (row: AttributeRow): string => `${Object.keys(conditionOf(row))[0]} ${row.key}`;

/** What all these rows ask for: several may compare the same key. */
function predicateOf(rows: readonly AttributeRow[]) {
  const found: Record<string, object> = {};
  for (const row of rows) found[row.key] = { ...found[row.key], ...conditionOf(row) };
  return found;
}

function nodeOf(row: Row): RuleNode {
  if (row.kind === "group") return { group: { op: row.op, nodes: row.rows.map(nodeOf) } };
  if (row.kind === "attribute") return { attribute: { [row.key]: conditionOf(row) } };
  const { name, within, where } = row;
  return {
    event: {
      name,
      ...(within && { within }),
      frequency: frequencyOf(row),
      ...(where.length > 0 && { where: predicateOf(where) }),
    },
  };
}

export function ruleOf({ op, rows }: Rows): SegmentRule {
  const nodes = rows.map(nodeOf);
  return nodes.length === 1 && nodes[0] ? nodes[0] : { group: { op, nodes } };
}

/** Whether each row says enough to be counted. */
export const isComplete = ({ rows }: Rows): boolean => rows.length > 0 && rows.every(isWhole);

function isWhole(row: Row): boolean {
  if (row.kind === "group") return isComplete(row);
  if (row.kind === "attribute") return row.key !== "" && (!hasValue(row.operator) || row.value.trim() !== "");
  const { name, frequency, times, most, where } = row;
  const isCounted =
    frequency === "never" || (Number(times) > 0 && (frequency !== "between" || Number(most) >= Number(times)));
  const comparisons = new Set(where.map(comparisonOf));
  return name !== "" && isCounted && where.every(isWhole) && comparisons.size === where.length;
}

/** A row for each comparison; undefined if one cannot be shown. */
function conditionRows(predicate: object): AttributeRow[] | undefined {
  const comparisons = Object.entries(predicate).flatMap(([key, conditions]) =>
    Object.entries(conditions as object).map(([operator, value]) => conditionRow(key, operator, value)),
  );
  const rows = comparisons.filter((row) => row !== undefined);
  return rows.length === comparisons.length ? rows : undefined;
}

function attributeRow(predicate: object): Row | undefined {
  const rows = conditionRows(predicate) ?? [];
  return rows.length > 1 ? { kind: "group", op: "and", rows } : rows[0];
}

function conditionRow(key: string, operator: string, value: unknown): AttributeRow | undefined {
  if (operator === "$exists") return { kind: "attribute", key, operator: value === true ? "has" : "lacks", value: "" };
  const day = operators.find((one) => days[one.value] === operator && DAY.test(String(value)));
  const known = day ?? operators.find((one) => one.value === operator);
  if (!known || Array.isArray(value) !== isList(known.value)) return undefined;
  return {
    kind: "attribute",
    key,
    operator: known.value,
    value: Array.isArray(value) ? listText(value) : textOf(value),
  };
}

const SHOWN = ["name", "within", "frequency", "where"];

function eventRow({ event }: EventRule): Row | undefined {
  if (Object.keys(event).some((key) => !SHOWN.includes(key))) return undefined;
  const { name, within = "", frequency = {}, where: given = {} } = event;
  const where = conditionRows(given);
  if (!where) return undefined;
  const row = { kind: "event" as const, name, within, where, most: "" };
  const { min, max } = frequency;
  if (min !== undefined && max !== undefined)
    return { ...row, frequency: "between", times: String(min), most: String(max) };
  if (max === 0) return { ...row, frequency: "never", times: "" };
  if (max !== undefined) return { ...row, frequency: "max", times: String(max) };
  return { ...row, frequency: "min", times: String(min ?? 1) };
}

function groupRow({ group }: GroupRule): Row | undefined {
  const rows = group.nodes.map(rowOf).filter((row) => row !== undefined);
  return rows.length === group.nodes.length && rows.length > 0 ? { kind: "group", op: group.op, rows } : undefined;
}

function rowOf(node: RuleNode): Row | undefined {
  if (Object.keys(node).length !== 1) return undefined;
  if ("attribute" in node) return attributeRow(node.attribute);
  if ("group" in node) return groupRow(node);
  return "event" in node ? eventRow(node) : undefined;
}

const FLAT_EVENT = ["operator", "count", "within_days"];

function isFlat({ attribute, event }: FlatRule): boolean {
  const hasKey = attribute !== undefined && "key" in attribute && typeof attribute.key !== "object";
  return hasKey || (event !== undefined && FLAT_EVENT.some((field) => field in event));
}

/** The flat form as the tree that means the same. */
function treeOf({ attribute, event }: FlatRule): RuleNode {
  const { count = 1, operator = "gte", within_days: days } = event ?? {};
  const frequency = { ...(operator !== "lte" && { min: count }), ...(operator !== "gte" && { max: count }) };
  const nodes: RuleNode[] = [];
  if (attribute) {
    const { key, operator: compared = "eq", value = true } = attribute;
    nodes.push({ attribute: { [key]: { [`$${compared}`]: value } } });
  }
  if (event) nodes.push({ event: { name: event.name, ...(days && { within: `${days}d` }), frequency } });
  return { group: { op: "and", nodes } };
}

/** A rule as rows, in groups where it has groups; undefined if rows cannot show it. */
export function rowsOf(rule: SegmentRule): Rows | undefined {
  const row = rowOf(isFlat(rule as FlatRule) ? treeOf(rule as FlatRule) : (rule as RuleNode));
  return row?.kind === "group" ? { op: row.op, rows: row.rows } : row && { op: "and", rows: [row] };
}

export const emptyAttribute = (): AttributeRow => ({ kind: "attribute", key: "", operator: "$eq", value: "" });

export function emptyRow(kind: Row["kind"]): Row {
  if (kind === "attribute") return emptyAttribute();
  if (kind === "group") return { kind, op: "or", rows: [emptyAttribute(), emptyAttribute()] };
  return { kind, name: "", frequency: "min", times: "1", most: "", within: "30d", where: [] };
}

const labelOf = (list: readonly { value: string; label: string }[], wanted: string): string =>
  list.find(({ value }) => value === wanted)?.label ?? wanted;

const joined = ({ op, rows }: Rows): string => rows.map(rowText).join(` ${op} `);

const timesText = ({ frequency, times, most }: EventRow): string => {
  if (frequency === "never") return "";
  const count = frequency === "between" && most !== times ? `${times} and ${most}` : times;
  return ` ${count} ${count === "1" ? "time" : "times"}`;
};

const oftenText = (row: EventRow): string =>
  row.frequency === "between" && row.most === row.times ? "exactly" : labelOf(frequencies, row.frequency);

function rowText(row: Row): string {
  if (row.kind === "group") return `(${joined(row)})`;
  if (row.kind === "attribute") {
    const label = labelOf(operators, row.operator);
    return `${row.key} ${label}${hasValue(row.operator) ? ` ${row.value}` : ""}`;
  }
  const where = row.where.length > 0 ? ` where ${row.where.map(rowText).join(" and ")}` : "";
  const within = row.within ? ` within ${durationText(row.within)}` : "";
  return `${row.name}${where} ${oftenText(row)}${timesText(row)}${within}`;
}

/** The rule in words, for lists and journeys. */
export function ruleText(rule: SegmentRule | undefined): string {
  if (!rule) return "…";
  const found = rowsOf(rule);
  return found ? joined(found) : "a rule of its own";
}
