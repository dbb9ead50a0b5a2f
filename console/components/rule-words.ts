// What a condition of a rule wants, and what is there, in words.
import type { EventExpectation, Expectation } from "../../sdk/src/types.gen.ts";
import { span } from "../app/duration.ts";
import { plural } from "../app/time.ts";
import { operators } from "./rule-model.ts";

/** Texts as they are, several of them with commas. */
export const valueText = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
};

function timesOf(min: number, max: number | undefined): string {
  if (max === 0) return "never";
  if (max === undefined) return `at least ${plural(min, "time")}`;
  return min > 0 ? `${min} to ${plural(max, "time")}` : `at most ${plural(max, "time")}`;
}

const isEvent = (expected: Expectation): expected is EventExpectation => "frequency" in expected;

/** `is one of free, pro`, or `at least 2 times within 7 days`. */
export function expectationText(expected: Expectation): string {
  if (isEvent(expected)) {
    const { within_seconds: seconds, frequency } = expected;
    const often = timesOf(frequency.min, frequency.max);
    return seconds ? `${often} within ${span(seconds)}` : often;
  }
  return conditionText(expected);
}

/** Of an attribute: `is pro`. */
export function conditionText(condition: object): string {
  return Object.entries(condition)
    .map(([operator, value]) => {
      if (operator === "$exists") return value === true ? "is known" : "is not known";
      const label = operators.find((one) => one.value === operator)?.label ?? operator;
      return `${label} ${valueText(value)}`;
    })
    .join(" and ");
}
