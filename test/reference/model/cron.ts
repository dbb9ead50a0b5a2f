// Cron expressions of five fields in a time zone (SCH-10, SCH-11, SCH-13, AMB-43, AMB-63, AMB-64).
import { HOUR, MINUTE } from "./kit.ts";

const RANGES = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

/** A wildcard of hours may have a step (AMB-63); of days it restricts them (AMB-43). */
const HOURS = 1;

interface Cron {
  fields: number[][];
  isWild: boolean[];
}

/** The values of one field, or undefined: names, steps of nothing and values out of range are refused. */
function valuesOf(text: string, [low, high]: readonly [number, number]): number[] | undefined {
  const values: number[] = [];
  for (const part of text.split(",")) {
    const found = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
    if (!found) return undefined;
    const from = found[1] === undefined ? low : Number(found[1]);
    const isOpen = found[1] === undefined || (found[3] !== undefined && found[2] === undefined);
    const to = Number(found[2] ?? (isOpen ? high : from));
    const step = found[3] === undefined ? 1 : Number(found[3]);
    if (step === 0 || from < low || to > high || from > to) return undefined;
    for (let value = from; value <= to; value += step) values.push(value);
  }
  return values;
}

export function parseCron(text: unknown): Cron | undefined {
  const parts = typeof text === "string" ? text.trim().split(/\s+/) : [];
  if (parts.length !== 5) return undefined;
  const fields = parts.map((part, index) => valuesOf(part, RANGES[index]!));
  if (fields.some((values) => values === undefined)) return undefined;
  fields[4] = fields[4]!.map((weekday) => weekday % 7);
  return {
    fields: fields as number[][],
    isWild: parts.map((part, n) => (n === HOURS ? part.startsWith("*") : part === "*")),
  };
}

interface Local {
  minute: number;
  hour: number;
  day: number;
  month: number;
  weekday: number;
  /** The wall clock as if it were UTC. */
  wall: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

export function localOf(at: number, timeZone: string): Local {
  const options = { timeZone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit" } as const;
  const format =
    formats.get(timeZone) ?? new Intl.DateTimeFormat("en-GB", { ...options, hour: "2-digit", minute: "2-digit" });
  formats.set(timeZone, format);
  const read = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const [minute, hour, day, month] = [read.minute!, read.hour!, read.day!, read.month!];
  const wall = Date.UTC(read.year!, month - 1, day, hour, minute);
  return { minute, hour, day, month, weekday: new Date(wall).getUTCDay(), wall };
}

/** When a zone's wall clock shows this, written as if it were UTC. */
export function instantOf(wall: number, zone: string): number {
  const about = wall - (localOf(wall, zone).wall - wall);
  return about - (localOf(about, zone).wall - wall);
}

export function isZone(zone: unknown): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: String(zone) });
    return typeof zone === "string" && zone !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Both days restricted: either (POSIX). */
function isDay({ fields, isWild }: Cron, { day, weekday, month }: Local): boolean {
  if (!fields[3]!.includes(month)) return false;
  const [isOfMonth, isOfWeek] = [fields[2]!.includes(day), fields[4]!.includes(weekday)];
  if (!isWild[2] && !isWild[4]) return isOfMonth || isOfWeek;
  return isOfMonth && isOfWeek;
}

const isTime = (cron: Cron, local: Local) =>
  isDay(cron, local) && cron.fields[1]!.includes(local.hour) && cron.fields[0]!.includes(local.minute);

/**
 * The first instant after `after`, looking at every minute for five years. An hour that is a wildcard follows real time;
 * a fixed hour that does not exist fires at the first instant after the gap, one that is doubled the first time only.
 */
export function nextAfter(cron: Cron, after: number, zone: string): number | undefined {
  let at = Math.floor(after / MINUTE) * MINUTE + MINUTE;
  const end = at + 5 * 366 * 24 * HOUR;
  while (at < end) {
    const local = localOf(at, zone);
    if (!isDay(cron, local) && !isAfterGap(at, zone, local)) {
      at += minutesToNextHour(local.minute) * MINUTE;
      continue;
    }
    if (fires(cron, at, zone, local)) return at;
    at += MINUTE;
  }
  return undefined;
}

const minutesToNextHour = (minute: number) => 60 - minute;
const isAfterGap = (at: number, zone: string, local: Local) => local.wall - localOf(at - MINUTE, zone).wall > MINUTE;

function fires(cron: Cron, at: number, zone: string, local: Local): boolean {
  if (cron.isWild[1]) return isTime(cron, local);
  const before = localOf(at - MINUTE, zone);
  if (isTime(cron, local)) return !isRepeated(at, zone, local);
  // The gap: a minute that was jumped over fires at its end.
  for (let wall = before.wall + MINUTE; wall < local.wall; wall += MINUTE) {
    const skipped = new Date(wall);
    const jumped = {
      ...local,
      wall,
      minute: skipped.getUTCMinutes(),
      hour: skipped.getUTCHours(),
      day: skipped.getUTCDate(),
    };
    if (isTime(cron, { ...jumped, month: skipped.getUTCMonth() + 1, weekday: skipped.getUTCDay() })) return true;
  }
  return false;
}

/** The same wall clock has been shown before, within the last two hours. */
function isRepeated(at: number, zone: string, local: Local): boolean {
  for (let earlier = at - 2 * HOUR; earlier < at; earlier += 15 * MINUTE) {
    const shift = localOf(earlier, zone).wall - earlier;
    if (shift !== local.wall - at && localOf(local.wall - shift, zone).wall === local.wall)
      return local.wall - shift < at;
  }
  return false;
}
