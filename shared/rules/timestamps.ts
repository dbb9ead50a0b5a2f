// RFC 3339 timestamps as clients write them.
import { MINUTE } from "../kernel/clock.ts";

const SHAPE = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,20}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const SHORTEST = "2024-01-01T00:00:00Z".length;
const MAX_CHARACTERS = 64;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const YEAR_0000 = -62_167_219_200_000;
const YEAR_9999_END = 253_402_300_799_999;

/**
 * Parses an RFC 3339 date-time to milliseconds since the epoch (finer fractions are cut off); undefined if it is not
 * valid. Seconds and an offset (`Z` or `±hh:mm`) are required, the day must exist, 24:00 and leap seconds are refused.
 * The result is in the years 0000 to 9999 of UTC.
 */
export function parseTimestamp(text: string): number | undefined {
  if (text.length < SHORTEST || text.length > MAX_CHARACTERS || text[4] !== "-") return undefined;
  const parts = SHAPE.exec(text);
  if (!parts) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  const offset = Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 59 || Number(parts[9] ?? 0) > 23 || Number(parts[10] ?? 0) > 59) {
    return undefined;
  }
  if (day < 1 || day > daysOf(year, month)) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Number((parts[7] ?? "").slice(0, 3).padEnd(3, "0")));
  const at = date.getTime() - (parts[8] === "-" ? -offset : offset) * MINUTE;
  return at < YEAR_0000 || at > YEAR_9999_END ? undefined : at;
}

function daysOf(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
}
