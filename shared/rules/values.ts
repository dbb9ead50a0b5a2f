// How the values of attributes and event properties compare (RUL-4, AMB-52, AMB-137).
import { compareTexts } from "../kernel/order.ts";
import { normalizedAddress } from "./addresses.ts";
import { type Day, dayOf, momentOf, placeIn } from "./bare-dates.ts";
import type { JsonSchema } from "./json-schema.ts";

/** How the values of one key are checked and compared. */
export interface Comparison {
  /** The schema of an operand of `$eq $ne $in $nin`, and of one of `$gt $gte $lt $lte`. */
  valueSchema: JsonSchema;
  orderSchema: JsonSchema;
  /** The reason why an operand of `$eq $ne $in $nin` is refused. */
  valueProblem(operand: unknown): string | undefined;
  /** The reason why an operand of `$gt $gte $lt $lte` is refused. */
  orderProblem(operand: unknown): string | undefined;
  /** A test for equality with one of the operands. */
  oneOf(operands: unknown[]): (value: unknown) => boolean;
  /** A measure: below 0, 0 or above 0 for a value before, at or after the operand, NaN when they do not compare. */
  against(operand: unknown): (value: unknown) => number;
}

const valueSchemas: Pick<Comparison, "valueSchema" | "orderSchema" | "valueProblem" | "orderProblem"> = {
  valueSchema: {
    anyOf: [{ type: ["string", "number", "boolean", "null"] }, { type: "array", items: { type: "null" }, maxItems: 0 }],
  },
  orderSchema: { type: ["number", "string"], pattern: "^(?!\\d+[smhdwy]$)" },
  valueProblem: (operand) =>
    operand === null || typeof operand === "boolean" || isNumber(operand) || isEmptyList(operand)
      ? undefined
      : textProblem(operand, "must be a string, a number, true, false, null or an empty list"),
  orderProblem: (operand) => (isNumber(operand) ? undefined : orderedTextProblem(operand)),
};

/**
 * Numbers, strings, booleans and null, without coercion (AMB-52). Two texts that are times compare as instants. A bare
 * date is a day in the zone, and an instant is before, in or after it (AMB-137). A time without a zone is read in this
 * zone. Other texts are neither before nor after a time. Two email addresses are equal in any spelling.
 */
const valuesIn = (zone: string): Comparison => ({
  ...valueSchemas,
  oneOf(operands) {
    const exact = new Set(operands);
    const instants = operands.map((operand) => momentOf(operand, zone)).filter((instant) => instant !== undefined);
    const days = operands.map((operand) => dayOf(operand, zone)).filter((day) => day !== undefined);
    const known = new Set(instants);
    const addresses = new Set(operands.map(addressOf).filter((address) => address !== undefined));
    const hasEmptyList = operands.some(isEmptyList);
    return (value) => {
      if (exact.has(value) || (hasEmptyList && isEmptyList(value))) return true;
      if (addresses.size > 0) {
        const address = addressOf(value);
        if (address !== undefined && addresses.has(address)) return true;
      }
      if (known.size === 0 && days.length === 0) return false;
      const instant = momentOf(value, zone);
      if (instant !== undefined) return known.has(instant) || days.some((day) => placeIn(day, instant) === 0);
      const day = known.size > 0 ? dayOf(value, zone) : undefined;
      return day !== undefined && instants.some((candidate) => placeIn(day, candidate) === 0);
    };
  },
  against(operand) {
    if (typeof operand === "number") return (value) => (typeof value === "number" ? value - operand : Number.NaN);
    if (typeof operand !== "string") return () => Number.NaN;
    const instant = momentOf(operand, zone);
    if (instant !== undefined) return (value) => againstInstant(value, instant, zone);
    const day = dayOf(operand, zone);
    if (day !== undefined) return (value) => againstDay(value, operand, day, zone);
    return (value) => (typeof value === "string" ? compareTexts(value, operand) : Number.NaN);
  },
});

function againstInstant(value: unknown, instant: number, zone: string): number {
  const other = momentOf(value, zone);
  if (other !== undefined) return other - instant;
  const day = dayOf(value, zone);
  return day === undefined ? Number.NaN : -placeIn(day, instant);
}

function againstDay(value: unknown, operand: string, day: Day, zone: string): number {
  const other = momentOf(value, zone);
  if (other !== undefined) return placeIn(day, other);
  return typeof value === "string" && dayOf(value, zone) !== undefined ? compareTexts(value, operand) : Number.NaN;
}

/** The same without a known zone: days are those of UTC. */
export const plainValues: Comparison = valuesIn("UTC");

const comparisons = new Map<string, (key: string) => Comparison>([["UTC", () => plainValues]]);

/** The comparison for every key in a zone, for `compilePredicate`. */
export function comparisonIn(zone = "UTC"): (key: string) => Comparison {
  const known = comparisons.get(zone);
  if (known) return known;
  const comparison = valuesIn(zone);
  const found = () => comparison;
  comparisons.set(zone, found);
  return found;
}

const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Each addition matches in only one way, so that a text that almost matches takes time linear in its length. */
const RELATIVE_DATE =
  /^(?:now|today)(?:\(\))?(?:(?:\s*[+-]\s*\d+\s*[a-z]+)+(?:\/[a-z])?|(?:\s*[+-]\s*\d+\s*[a-z]+)*\s*[+-]\s*interval\b.*)$/i;
const NO_TEXT = new RegExp(
  `^(?:${[
    "(?:now|today|current_(?:date|timestamp))(?:\\(\\))?(?:/[a-z])?|yesterday|tomorrow",
    "[+-]?\\s*\\d+\\s*(?:s|m|h|d|w|y|(?:minute|hour|day|week|month|year)s?)(?: ago)?",
    "(?:last|this|next|past)\\s+(?:\\d+\\s+)?(?:hour|day|week|month|quarter|year)s?",
    "[+-]?P(?:T?\\d+[A-Z])+|\\{\\{\\s*(?:now|today)\\b.*\\}\\}",
  ].join("|")})$`,
  "i",
);
const DATE = /^(?:\d{4}-\d{1,2}-\d{1,2}(?:[T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{4})$/;

/** Why an operand that should be a text is refused. A relative date would be compared as a text, and match no value. */
function textProblem(operand: unknown, otherwise: string): string | undefined {
  if (typeof operand !== "string") return otherwise;
  return RELATIVE_DATE.test(operand)
    ? "must not be a relative date: give a time such as 2026-01-31T00:00:00Z"
    : undefined;
}

/** The same for an order: a word for a time, or an impossible date, would be compared as a text. */
function orderedTextProblem(operand: unknown): string | undefined {
  const problem = textProblem(operand, "must be a number or a string");
  if (problem !== undefined || typeof operand !== "string") return problem;
  if (NO_TEXT.test(operand)) return "must not be a relative date: give a time such as 2026-01-31T00:00:00Z";
  const isTime = momentOf(operand, "UTC") !== undefined || dayOf(operand, "UTC") !== undefined;
  return DATE.test(operand) && !isTime ? "must be a date that there is, such as 2026-01-31" : undefined;
}

const addressOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.includes("@") ? normalizedAddress("email", value) : undefined;
