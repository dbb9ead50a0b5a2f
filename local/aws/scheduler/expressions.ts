// When a schedule fires: `at(…)`, `rate(…)` and `cron(…)`, in its zone, between its start and its end.
import { DAY, HOUR, MINUTE } from "../../../shared/kernel/clock.ts";
import { type AwsFailure, awsFailure } from "../stand-in.ts";
import { nextCron, parseCron } from "./cron.ts";
import { formatOf, instantOf } from "./zones.ts";

export interface Timing {
  recurring: boolean;
  /** The first firing after an instant, if there is one. */
  next(after: number): number | undefined;
}

interface Bounds {
  zone: string;
  createdAt: number;
  start: number | undefined;
  end: number | undefined;
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
const AT = /^at\((\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\)$/;
const RATE = /^rate\(([1-9]\d*) (minutes?|hours?|days?)\)$/;
const CRON = /^cron\((.+)\)$/;

/** @throws ValidationException for what the service would reject. */
export function readTiming(expression: string, bounds: Bounds): Timing {
  checkZone(bounds.zone);
  const at = AT.exec(expression);
  if (at) return { recurring: false, next: onceAt(expression, at, bounds.zone) };
  const rate = RATE.exec(expression);
  if (rate) return { recurring: true, next: within(bounds, everyPeriod(Number(rate[1]) * unitMs[rate[2]!]!, bounds)) };
  const cron = CRON.exec(expression);
  if (!cron) throw invalid(`Invalid Schedule Expression ${expression}.`);
  try {
    const parsed = parseCron(cron[1]!);
    return { recurring: true, next: within(bounds, (after) => nextCron(parsed, bounds.zone, after)) };
  } catch {
    throw invalid(`Invalid Schedule Expression ${expression}.`);
  }
}

function checkZone(zone: string): void {
  try {
    formatOf(zone);
  } catch {
    throw invalid(`Provided Time Zone is invalid: ${zone}.`);
  }
}

function onceAt(expression: string, match: RegExpExecArray, zone: string): Timing["next"] {
  const [, year, month, day, hour, minute, second] = match.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const local = Date.UTC(year, month - 1, day, hour, minute, second);
  if (new Date(local).toISOString().slice(0, 19) !== expression.slice(3, -1))
    throw invalid(`Invalid Schedule Expression ${expression}.`);
  const instant = instantOf(zone, local);
  return (after) => (instant !== undefined && instant > after ? instant : undefined);
}

function everyPeriod(period: number, { createdAt, start }: Bounds): Timing["next"] {
  const origin = start ?? createdAt;
  return (after) => (after < origin ? origin : origin + (Math.floor((after - origin) / period) + 1) * period);
}

const within =
  ({ start, end }: Bounds, next: Timing["next"]): Timing["next"] =>
  (after) => {
    const instant = next(Math.max(after, start === undefined ? after : start - 1));
    return instant !== undefined && (end === undefined || instant <= end) ? instant : undefined;
  };
