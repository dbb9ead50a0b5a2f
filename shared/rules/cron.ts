// Five-field cron expressions, parsed strictly, and when they next fire in a time zone (SCH-10 to SCH-14).
import { DAY, MINUTE } from "../kernel/clock.ts";
import { elementAt } from "./element-at.ts";
import { type ClockChange, changeNear, wallClock } from "./time-zones.ts";

export interface Cron {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  days: ReadonlySet<number>;
  months: ReadonlySet<number>;
  /** Sunday is 0. */
  weekdays: ReadonlySet<number>;
  /** Both day fields are restricted, so one match is enough (AMB-43). */
  isEitherDay: boolean;
  /** The hour field begins with `*`: it follows real time through a clock change (AMB-63). */
  isEveryHour: boolean;
}

const FIELDS = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12 },
  { name: "day of week", min: 0, max: 7 },
] as const;

const MAX_EXPRESSION_CHARACTERS = 256;
const FIVE_FIELDS = "must have five fields: minute, hour, day of month, month, day of week";
const PART = /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/;

/**
 * Parses an expression, or returns its problem (SCH-13, AMB-64): six fields, names, `@daily`, `L`, `#` and `?` are not
 * supported.
 */
export function parseCron(text: string): { kind: "cron"; cron: Cron } | { kind: "refused"; problem: string } {
  if (text.length > MAX_EXPRESSION_CHARACTERS)
    return { kind: "refused", problem: `must have at most ${MAX_EXPRESSION_CHARACTERS} characters` };
  const fields = text.split(/[ \t]+/);
  if (fields.length !== FIELDS.length || fields.includes("")) return { kind: "refused", problem: FIVE_FIELDS };
  const sets: Set<number>[] = [];
  for (const [i, { name, min, max }] of FIELDS.entries()) {
    const set = parseField(fields[i] ?? "", min, max);
    if (!set)
      return {
        kind: "refused",
        problem: `has a ${name} that is not understood (${min} to ${max}, *, lists, ranges, steps)`,
      };
    sets.push(set);
  }
  const [minutes, hours, days, months, weekdays] = sets;
  if (!minutes || !hours || !days || !months || !weekdays) return { kind: "refused", problem: FIVE_FIELDS };
  if (weekdays.delete(7)) weekdays.add(0);
  const isEitherDay = fields[2] !== "*" && fields[4] !== "*";
  const cron = {
    minutes,
    hours,
    days,
    months,
    weekdays,
    isEitherDay,
    isEveryHour: fields[1]?.startsWith("*") === true,
  };
  return canFire(cron) ? { kind: "cron", cron } : { kind: "refused", problem: "never fires" };
}

function parseField(text: string, min: number, max: number): Set<number> | undefined {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const [, star, first, last, step] = PART.exec(part) ?? [];
    if (star === undefined && first === undefined) return undefined;
    const from = star === undefined ? Number(first) : min;
    const to = star === undefined ? Number(last ?? first) : max;
    const by = Number(step ?? 1);
    // A step needs a range; `5/10` is not POSIX.
    if (step !== undefined && star === undefined && last === undefined) return undefined;
    if (from < min || to > max || from > to || by < 1 || by > max) return undefined;
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return values;
}

const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether any month has such a day: 30 February never fires. */
const canFire = ({ days, months, isEitherDay }: Cron): boolean =>
  isEitherDay || [...months].some((month) => Math.min(...days) <= elementAt(DAYS_OF_MONTHS, month - 1));

/** From one 29 February to the next there are at most 8 years, around 2100. */
const MAX_DAYS = 9 * 366;

/**
 * The first instant after `after` (both in milliseconds) at which the expression fires in the zone.
 * A fixed hour that a clock change skips fires at the first instant after the gap; an hour that occurs twice fires the
 * first time (AMB-43). An hour `*` follows real time: it fires in both halves, and not in a gap (AMB-63).
 * @returns undefined only for an expression that `parseCron` would have refused.
 */
export function nextRun(cron: Cron, zone: string, after: number): number | undefined {
  const firstDay = Math.floor(wallClock(zone, after) / DAY) - 1;
  let found: number | undefined;
  for (let day = firstDay; day < firstDay + MAX_DAYS; day++) {
    if (!matchesDay(cron, day * DAY)) {
      if (found !== undefined) return found;
      continue;
    }
    const next = firstOfDay(cron, zone, day * DAY, after);
    // A clock that is set back over midnight makes two days overlap: the next day is evaluated too.
    if (found !== undefined) return next !== undefined && next < found ? next : found;
    found = next;
  }
  return found;
}

function matchesDay({ days, months, weekdays, isEitherDay }: Cron, day: number): boolean {
  const date = new Date(day);
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const [isDay, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday;
}

/** The earliest firing of one local day that comes after `after`. */
function firstOfDay({ hours, minutes, isEveryHour }: Cron, zone: string, day: number, after: number) {
  const change = changeNear(zone, day);
  let earliest: number | undefined;
  for (const hour of hours)
    for (const minute of minutes) {
      const local = day + (hour * 60 + minute) * MINUTE;
      for (const at of instantsOf(local, change, isEveryHour))
        if (at > after && (earliest === undefined || at < earliest)) earliest = at;
    }
  return earliest;
}

function instantsOf(local: number, { at, before, after }: ClockChange, all: boolean): number[] {
  const [earlier, later] = [local - before, local - after];
  const isBefore = earlier < at;
  const isAfter = later >= at;
  if (isBefore && isAfter && before !== after) return all ? [earlier, later] : [earlier];
  if (isAfter) return [later];
  if (isBefore) return [earlier];
  return all ? [] : [at];
}
