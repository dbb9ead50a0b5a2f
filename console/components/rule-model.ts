// Rules as rows for people, and back: one group of attribute and event conditions. Deeper rules are edited as JSON.
import type { AttributeRule, EventRule, RuleNode, SegmentRule } from "../../sdk/src/types.gen.ts";

export interface AttributeRow {
  kind: "attribute";
  key: string;
  operator: string;
  value: string;
}
export interface EventRow {
  kind: "event";
  name: string;
  /** At least or at most this often. */
  bound: "min" | "max";
  count: number;
  within: string;
}
export type Row = AttributeRow | EventRow;
export interface Rows {
  op: "and" | "or";
  rows: Row[];
}

export const operators: Record<string, string> = {
  $eq: "is",
  $ne: "is not",
  $gt: "is more than",
  $gte: "is at least",
  $lt: "is less than",
  $lte: "is at most",
  $in: "is one of",
  $nin: "is none of",
  $exists: "is known",
};

const scalar = (text: string): string | number | boolean => {
  if (text === "true" || text === "false") return text === "true";
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
};

const operandOf = ({ operator, value }: AttributeRow): unknown => {
  if (operator === "$exists") return value !== "false";
  return operator === "$in" || operator === "$nin" ? value.split(",").map((one) => scalar(one.trim())) : scalar(value);
};

const nodeOf = (row: Row): RuleNode =>
  row.kind === "attribute"
    ? ({ attribute: { [row.key]: { [row.operator]: operandOf(row) } } } as AttributeRule)
    : ({
        event: { name: row.name, ...(row.within && { within: row.within }), frequency: { [row.bound]: row.count } },
      } as EventRule);

export const ruleOf = ({ op, rows }: Rows): SegmentRule => ({ group: { op, nodes: rows.map(nodeOf) } }) as SegmentRule;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function rowsOfNode(node: unknown): Row[] | undefined {
  if (!isObject(node)) return undefined;
  if (isObject(node.attribute)) {
    const rows = Object.entries(node.attribute).flatMap(([key, condition]) =>
      isObject(condition)
        ? Object.entries(condition).map(
            ([operator, value]): Row => ({
              kind: "attribute",
              key,
              operator,
              value: Array.isArray(value) ? value.join(", ") : String(value),
            }),
          )
        : [],
    );
    return rows.every((row) => row.kind === "attribute" && Object.hasOwn(operators, row.operator)) ? rows : undefined;
  }
  if (isObject(node.event) && !node.event.where) {
    const frequency = isObject(node.event.frequency) ? node.event.frequency : { min: 1 };
    const bounds = Object.entries(frequency);
    if (bounds.length !== 1) return undefined;
    const [[bound, count] = ["min", 1]] = bounds;
    return [
      {
        kind: "event",
        name: String(node.event.name),
        bound: bound === "max" ? "max" : "min",
        count: Number(count),
        within: String(node.event.within ?? ""),
      },
    ];
  }
  return undefined;
}

/** Undefined for a rule that rows cannot show. */
export function rowsOf(rule: unknown): Rows | undefined {
  if (!isObject(rule)) return undefined;
  if (!isObject(rule.group)) {
    const rows = rowsOfNode(rule);
    return rows && { op: "and", rows };
  }
  const { op, nodes } = rule.group;
  const all = Array.isArray(nodes) ? nodes.map(rowsOfNode) : [undefined];
  if (all.some((rows) => rows === undefined || (op === "or" && rows.length !== 1))) return undefined;
  return { op: op === "or" ? "or" : "and", rows: all.flatMap((rows) => rows ?? []) };
}

/** The rule in words, for lists and journeys. */
export function ruleText(rule: unknown): string {
  const found = rowsOf(rule);
  if (!found) return "a rule of its own";
  return found.rows
    .map((row) =>
      row.kind === "attribute"
        ? `${row.key} ${operators[row.operator]}${row.operator === "$exists" ? "" : ` ${row.value}`}`
        : `${row.name} ${row.bound === "min" ? "at least" : "at most"} ${row.count} times${row.within ? ` in ${row.within}` : ""}`,
    )
    .join(found.op === "and" ? " and " : " or ");
}
