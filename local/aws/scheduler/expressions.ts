// When a schedule fires: `at(…)` in UTC, or `rate(…)` from its creation on.
import { type AwsFailure, awsFailure } from "../stand-in.ts";
import { DAY, HOUR, MINUTE } from "../time.ts";

export interface Timing {
  recurring: boolean;
  /** The first firing after an instant, if there is one. */
  next(after: number): number | undefined;
}

export const invalid = (message: string): AwsFailure => awsFailure("ValidationException", message);

const unitMs: Record<string, number> = {
  minute: MINUTE,
  minutes: MINUTE,
  hour: HOUR,
  hours: HOUR,
  day: DAY,
  days: DAY,
};
const AT = /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/;
const RATE = /^rate\(([1-9]\d*) (minutes?|hours?|days?)\)$/;

/** @throws ValidationException for what the service would reject, and for `cron(…)`, which the stand-in does not know. */
export function readTiming(expression: string, createdAt: number): Timing {
  const at = AT.exec(expression);
  if (at) return { recurring: false, next: onceAt(expression, at[1]!) };
  const rate = RATE.exec(expression);
  if (rate) return { recurring: true, next: everyPeriod(Number(rate[1]) * unitMs[rate[2]!]!, createdAt) };
  if (expression.startsWith("cron(")) throw invalid(`The embedded scheduler does not know ${expression}.`);
  throw invalid(`Invalid Schedule Expression ${expression}.`);
}

function onceAt(expression: string, time: string): Timing["next"] {
  const instant = Date.parse(`${time}Z`);
  if (Number.isNaN(instant) || new Date(instant).toISOString().slice(0, 19) !== time)
    throw invalid(`Invalid Schedule Expression ${expression}.`);
  return (after) => (instant > after ? instant : undefined);
}

const everyPeriod =
  (period: number, origin: number): Timing["next"] =>
  (after) =>
    after < origin ? origin : origin + (Math.floor((after - origin) / period) + 1) * period;
