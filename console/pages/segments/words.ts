// What a condition of a rule wants, in words.
import type { EventExpectation, Expectation } from "../../../sdk/src/types.gen.ts";
import { span } from "../../app/duration.ts";
import { plural } from "../../app/time.ts";
import { operators } from "../../components/rule-model.ts";

function timesOf(min: number, max: number | undefined): string {
  if (max === 0) return "never";
  if (max === undefined) return `at least ${plural(min, "time")}`;
  return min > 0 ? `${min} to ${plural(max, "time")}` : `at most ${plural(max, "time")}`;
}

const isEvent = (expected: Expectation): expected is EventExpectation => "frequency" in expected;

export function wordsOf(expected: Expectation): string {
  if (isEvent(expected)) {
    const { within_seconds: seconds, frequency } = expected;
    const often = timesOf(frequency.min, frequency.max);
    return seconds ? `${often} within ${span(seconds)}` : often;
  }
  return Object.entries(expected)
    .map(([operator, value]) => {
      if (operator === "$exists") return value === true ? "is known" : "is not known";
      const label = operators.find((one) => one.value === operator)?.label ?? operator;
      return `${label} ${JSON.stringify(value)}`;
    })
    .join(" and ");
}
