// Durations of journeys and rules: whole minutes, hours or days (JND-4, RUL-6).
import { DAY, HOUR, MINUTE } from "../kernel/clock.ts";
import type { Grammar } from "./grammar.ts";

const SHAPE = /^[1-9][0-9]{0,6}[mhd]$/;
const UNITS: ReadonlyMap<string, number> = new Map([
  ["m", MINUTE],
  ["h", HOUR],
  ["d", DAY],
]);

export const MAX_DURATION = 3_650 * DAY;

/**
 * Parses a duration of whole units (`30m`, `24h`, `7d`) to milliseconds; undefined if it is malformed (`1.5h`, `10s`,
 * `h`, empty, `0d`, leading zeros) or longer than 3,650 days (JND-16, AMB-69).
 */
export function parseDuration(text: string): number | undefined {
  const unit = SHAPE.test(text) ? UNITS.get(text.slice(-1)) : undefined;
  if (unit === undefined) return undefined;
  const duration = Number(text.slice(0, -1)) * unit;
  return duration > MAX_DURATION ? undefined : duration;
}

/** Why an invalid duration is refused. */
export const NO_DURATION =
  "must be a whole number of minutes, hours or days, such as 30m, 24h or 7d, at most 3650 days";

export const durationText = ({ about: description }: { about: string }): Grammar => ({
  check: (value, path, report) => {
    if (typeof value !== "string" || parseDuration(value) === undefined) report(path, NO_DURATION);
  },
  schema: () => ({ type: "string", pattern: SHAPE.source, description }),
});
