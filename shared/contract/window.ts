// The time window of reports: two timestamps, by default the last 30 days (ISG-10).
import * as v from "valibot";
import { DAY } from "../kernel/clock.ts";
import { invalid } from "../kernel/errors.ts";
import { said, TimestampInput, TrimmedTextUpTo } from "./schemas.ts";

const DEFAULT_MS = 30 * DAY;

/** A period of a list, both ends included and both optional. */
export const periodFields = {
  from: said("Created at this time or later", v.optional(TimestampInput)),
  to: said("Created at this time or earlier", v.optional(TimestampInput)),
};

/** Checks a period. @throws 422 if it ends before it begins */
export function requirePeriod({ from, to }: { from?: string | undefined; to?: string | undefined }): void {
  if (from !== undefined && to !== undefined && Date.parse(from) > Date.parse(to))
    throw invalid({ to: "must not be before from" });
}

const MAX_TEXT_CHARACTERS = 128;

/** The parameter `q` of a list: a part of a text, in any case. */
export const textQuery = (what: string) =>
  said(`A part of ${what}, whatever the case`, v.optional(TrimmedTextUpTo(MAX_TEXT_CHARACTERS)));

export const windowFields = { start: v.optional(TimestampInput), end: v.optional(TimestampInput) };

/** Reads a window. @returns milliseconds, both ends included. @throws 422 if it ends before it begins */
export function windowOf(
  { start, end }: { start?: string | undefined; end?: string | undefined },
  now: number,
): { start: number; end: number } {
  const until = end === undefined ? now : Date.parse(end);
  const from = start === undefined ? until - DEFAULT_MS : Date.parse(start);
  if (from > until) throw invalid({ end: "must not be before start" });
  return { start: from, end: until };
}
