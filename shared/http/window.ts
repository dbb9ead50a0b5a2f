// The time window of reports: two timestamps, by default the last 30 days (ISG-10).
import * as v from "valibot";
import { DAY } from "../clock.ts";
import { invalid } from "./errors.ts";
import { TimestampInput } from "./schemas.ts";

const DEFAULT_MS = 30 * DAY;

export const windowFields = { start: v.optional(TimestampInput), end: v.optional(TimestampInput) };

/** @returns milliseconds, both ends included. @throws 422 for a window that ends before it begins. */
export function windowOf(
  { start, end }: { start?: string | undefined; end?: string | undefined },
  now: number,
): { start: number; end: number } {
  const until = end === undefined ? now : Date.parse(end);
  const from = start === undefined ? until - DEFAULT_MS : Date.parse(start);
  if (from > until) throw invalid({ end: "must not be before start" });
  return { start: from, end: until };
}
