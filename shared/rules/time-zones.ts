// IANA time zones as the runtime knows them (D-ATTR, SCH-1).

const SHAPE = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;
const REMEMBERED = 1_000;
const MINUTE = 60_000;
const DAY = 86_400_000;
/** A zone's clocks change twice within two days nowhere. */
const NEAR = 26 * 60 * MINUTE;

// Making a format is a hundred times dearer than using it. Null remembers a name that is not a zone.
const formats = new Map<string, Intl.DateTimeFormat | null>();

/** Whether the text is an IANA time zone name such as `Europe/Paris` or `UTC`; offsets such as `+02:00` are not. */
export const isTimeZone = (text: string): boolean => formatOf(text) !== null;

/** Minutes that the wall clock of a zone is ahead of UTC at an instant in milliseconds. Throws RangeError on an unknown zone. */
export function zoneOffsetMinutes(zone: string, at: number): number {
  const format = formatOf(zone);
  if (!format) throw new RangeError("unknown time zone");
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const wall = Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!);
  return Math.round((wall - Math.floor(at / MINUTE) * MINUTE) / MINUTE);
}

/** What the clocks of a zone show at an instant, as if they were in UTC. */
export const wallClock = (zone: string, at: number): number => at + offset(zone, at);

export interface ClockChange {
  /** The first instant of the new offset. */
  at: number;
  /** Milliseconds ahead of UTC. */
  before: number;
  after: number;
}

/** The change of clocks that could concern the day from a wall-clock time on, or the offset that holds all through it. */
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

const offset = (zone: string, at: number): number => zoneOffsetMinutes(zone, at) * MINUTE;

function formatOf(zone: string): Intl.DateTimeFormat | null {
  const cached = formats.get(zone);
  if (cached !== undefined) return cached;
  if (formats.size >= REMEMBERED) formats.clear();
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
