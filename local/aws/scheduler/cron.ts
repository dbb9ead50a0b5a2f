// AWS's six-field cron: minutes hours day-of-month month day-of-week year, with ? L W and #.
import { instantOf, localAt } from "./zones.ts";

export interface Cron {
  minutes: number[];
  hours: number[];
  months: ReadonlySet<number>;
  years: ReadonlySet<number>;
  /** Whether a day (given as milliseconds of its midnight on a UTC clock) matches. */
  day(midnight: number): boolean;
}

const DAY = 86_400_000;
const LAST_YEAR = 2199;
const months = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const weekdays = "SUN MON TUE WED THU FRI SAT".split(" ");

/** Parses the text between the parentheses of `cron(…)`. @throws what AWS would reject. */
export function parseCron(text: string): Cron {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 6) throw new Error("A cron expression has six fields.");
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = "", year = ""] = fields;
  if ((dayOfMonth === "?") === (dayOfWeek === "?")) throw new Error("One of the two day fields must be `?`.");
  return {
    minutes: numbers(minute, 0, 59),
    hours: numbers(hour, 0, 23),
    months: new Set(numbers(month, 1, 12, months)),
    years: new Set(numbers(year, 1970, LAST_YEAR)),
    day: dayOfWeek === "?" ? onDayOfMonth(dayOfMonth) : onDayOfWeek(dayOfWeek),
  };
}

/** The first occurrence after an instant. A time inside a gap is skipped, a doubled one occurs once. */
export function nextCron(cron: Cron, zone: string, after: number): number | undefined {
  const local = localAt(zone, after);
  for (let midnight = local - (local % DAY); ; midnight += DAY) {
    const date = new Date(midnight);
    const year = date.getUTCFullYear();
    if (year > LAST_YEAR) return undefined;
    if (!cron.years.has(year) || !cron.months.has(date.getUTCMonth() + 1) || !cron.day(midnight)) continue;
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) {
        const instant = instantOf(zone, midnight + (hour * 60 + minute) * 60_000);
        if (instant !== undefined && instant > after) return instant;
      }
    }
  }
}

/** The values of a field, ascending: a star, a number or a range, each with a step or without, and lists of them. */
function numbers(field: string, min: number, max: number, names: string[] = []): number[] {
  const value = (text: string): number => {
    const named = names.indexOf(text.toUpperCase());
    const number = named >= 0 ? named + 1 : /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= min && number <= max)) throw new Error(`${text} is not between ${min} and ${max}.`);
    return number;
  };
  const found = new Set<number>();
  for (const item of field.split(",")) {
    const [range = "", step, ...rest] = item.split("/");
    if (rest.length > 0 || (step !== undefined && !/^[1-9]\d*$/.test(step))) throw new Error(`${item} is no step.`);
    const [from = "", to, ...more] = range.split("-");
    if (more.length > 0) throw new Error(`${item} is no range.`);
    const first = range === "*" ? min : value(from);
    const last = range === "*" ? max : to !== undefined ? value(to) : step !== undefined ? max : first;
    if (last < first) throw new Error(`${item} ends before it starts.`);
    for (let number = first; number <= last; number += Number(step ?? 1)) found.add(number);
  }
  return [...found].sort((a, b) => a - b);
}

const lastDayOf = (midnight: number): number => {
  const date = new Date(midnight);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
};

const weekdayOf = (midnight: number): number => new Date(midnight).getUTCDay() + 1;

/** The weekday (Monday to Friday) of the same month nearest to a day of it. */
function nearestWeekday(midnight: number, day: number): number {
  const date = new Date(midnight);
  const weekday = weekdayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day));
  if (weekday === 7) return day > 1 ? day - 1 : day + 2;
  if (weekday === 1) return day < lastDayOf(midnight) ? day + 1 : day - 2;
  return day;
}

function onDayOfMonth(field: string): Cron["day"] {
  if (field === "L") return (midnight) => new Date(midnight).getUTCDate() === lastDayOf(midnight);
  if (field === "LW")
    return (midnight) => new Date(midnight).getUTCDate() === nearestWeekday(midnight, lastDayOf(midnight));
  const nearest = /^(\d{1,2})W$/.exec(field);
  if (nearest) {
    const [day = 1] = numbers(nearest[1]!, 1, 31);
    return (midnight) =>
      day <= lastDayOf(midnight) && new Date(midnight).getUTCDate() === nearestWeekday(midnight, day);
  }
  const days = new Set(numbers(field, 1, 31));
  return (midnight) => days.has(new Date(midnight).getUTCDate());
}

function onDayOfWeek(field: string): Cron["day"] {
  if (field === "L") return (midnight) => weekdayOf(midnight) === 7;
  const last = /^(\w+)L$/.exec(field);
  if (last) {
    const [weekday] = numbers(last[1]!, 1, 7, weekdays);
    return (midnight) => weekdayOf(midnight) === weekday && new Date(midnight).getUTCDate() > lastDayOf(midnight) - 7;
  }
  const nth = /^(\w+)#([1-5])$/.exec(field);
  if (nth) {
    const [weekday] = numbers(nth[1]!, 1, 7, weekdays);
    return (midnight) =>
      weekdayOf(midnight) === weekday && Math.ceil(new Date(midnight).getUTCDate() / 7) === Number(nth[2]);
  }
  const days = new Set(numbers(field, 1, 7, weekdays));
  return (midnight) => days.has(weekdayOf(midnight));
}
