// Local times of a zone as instants, over the zone rules of `Intl`.
const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws a RangeError for a zone that does not exist. */
export function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    const two = "2-digit";
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: two,
      day: two,
      hour: two,
      minute: two,
      second: two,
    });
    formats.set(zone, format);
  }
  return format;
}

/** The wall clock of `zone` at an instant, as milliseconds of a UTC clock that would show the same. */
export function localAt(zone: string, instant: number): number {
  if (zone === "UTC") return instant;
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((instant % 1000) + 1000) % 1000);
}

const HALF_DAY = 12 * 3_600_000;

/** The first instant at which the wall clock of `zone` shows `local`; none inside the gap of a clock put forward. */
export function instantOf(zone: string, local: number): number | undefined {
  if (zone === "UTC") return local;
  const offsets = [local - HALF_DAY, local + HALF_DAY].map((near) => localAt(zone, near) - near);
  const instants = offsets.map((offset) => local - offset).sort((a, b) => a - b);
  return instants.find((instant) => localAt(zone, instant) === local);
}
