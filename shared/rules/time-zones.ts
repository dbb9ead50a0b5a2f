// IANA time zones as the runtime knows them (D-ATTR, SCH-1).
import { DAY, MINUTE } from "../kernel/clock.ts";

const SHAPE = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;
const MAX_CACHED = 1_000;
/** No zone changes its clocks twice within two days. */
const NEAR = 26 * 60 * MINUTE;

// Making a format costs a hundred times more than using it. Null: the name is not a zone.
const formats = new Map<string, Intl.DateTimeFormat | null>();

/** Whether the text is an IANA time zone name such as `Europe/Paris` or `UTC`; offsets such as `+02:00` are not. */
export const isTimeZone = (text: string): boolean => formatOf(text) !== null;

/** The offset of a zone from UTC in minutes, at an instant in milliseconds. Throws RangeError on an unknown zone. */
export function zoneOffsetMinutes(zone: string, at: number): number {
  const format = formatOf(zone);
  if (!format) throw new RangeError("unknown time zone");
  const numbers: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(at)) numbers[type] = Number(value);
  const { year = 0, month = 1, day, hour, minute } = numbers;
  const wall = Date.UTC(year, month - 1, day, hour, minute);
  return Math.round((wall - Math.floor(at / MINUTE) * MINUTE) / MINUTE);
}

/** The local time of a zone at an instant, read as if it were UTC. */
export const wallClock = (zone: string, at: number): number => at + offset(zone, at);

export interface ClockChange {
  /** The first instant of the new offset. */
  at: number;
  /** Milliseconds ahead of UTC. */
  before: number;
  after: number;
}

/** The clock change that may affect the day after a local time, or the one offset of that day. */
export function changeNear(zone: string, local: number): ClockChange {
  let from = local - NEAR;
  let to = local + DAY + NEAR;
  const [before, after] = [offset(zone, from), offset(zone, to)];
  if (before === after) return { at: Number.NEGATIVE_INFINITY, before, after };
  while (to - from > MINUTE) {
    const middle = Math.floor((from + to) / 2 / MINUTE) * MINUTE;
    if (offset(zone, middle) === before) from = middle;
    else to = middle;
  }
  return { at: to, before, after };
}

/** The first instant at which the clock of a zone shows this local time or a later one. @param local as if it were UTC */
export function startIn(zone: string, local: number): number {
  const { at, before, after } = changeNear(zone, local);
  const early = local - before;
  if (early < at) return early;
  return Math.max(at, local - after);
}

const offset = (zone: string, at: number): number => zoneOffsetMinutes(zone, at) * MINUTE;

function formatOf(zone: string): Intl.DateTimeFormat | null {
  const cached = formats.get(zone);
  if (cached !== undefined) return cached;
  if (formats.size >= MAX_CACHED) formats.clear();
  const format = SHAPE.test(zone) ? makeFormat(zone) : null;
  formats.set(zone, format);
  return format;
}

function makeFormat(zone: string): Intl.DateTimeFormat | null {
  const numeric = "numeric";
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
    });
  } catch {
    return null;
  }
}
