// Days and times of attributes in a time zone, and whether an instant is before, in or after a day (AMB-137).
import { DAY } from "../kernel/clock.ts";
import { startIn } from "./time-zones.ts";
import { parseTimestamp } from "./timestamps.ts";

/** Whether a rule names a time or a date: only then the time zone matters. */
export const mentionsTime = (rule: unknown): boolean => /"\d{4}-\d{2}-\d{2}/.test(JSON.stringify(rule) ?? "");

export interface Day {
  from: number;
  /** Not included. */
  to: number;
}

/** Below 0, 0 or above 0 for an instant before, in or after a day. */
export function placeIn({ from, to }: Day, instant: number): number {
  if (instant < from) return -1;
  return instant < to ? 0 : 1;
}

const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;
const MAX_DAYS = 10_000;
/** Cached, because finding the beginning of a day takes several date formats. */
const knownDays = new Map<string, Day | null>();

/** The day that a bare date names in a zone; undefined for any other text. */
export function dayOf(value: unknown, zone: string): Day | undefined {
  if (typeof value !== "string" || !BARE_DATE.test(value)) return undefined;
  const name = `${zone} ${value}`;
  const known = knownDays.get(name);
  if (known !== undefined) return known ?? undefined;
  if (knownDays.size >= MAX_DAYS) knownDays.clear();
  const start = parseTimestamp(`${value}T00:00:00Z`);
  const day = start === undefined ? null : { from: startIn(zone, start), to: startIn(zone, start + DAY) };
  knownDays.set(name, day);
  return day ?? undefined;
}

const CLOCK = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(?: ?(Z|UTC|([+-]\d\d):?(\d\d)))?$/;
const knownTimes = new Map<string, number>();

/**
 * The instant of a text, in milliseconds; undefined for any other value. Beside RFC 3339 it reads the forms of
 * databases and programs: a blank for the `T`, no seconds, ` UTC`. A time without a zone is read in this zone.
 */
export function momentOf(value: unknown, zone: string): number | undefined {
  if (typeof value !== "string") return undefined;
  const exact = parseTimestamp(value);
  if (exact !== undefined) return exact;
  const [written, day, minutes, seconds = ":00", offset, hours, rest] = CLOCK.exec(value) ?? [];
  if (written === undefined) return undefined;
  if (hours !== undefined) return parseTimestamp(`${day}T${minutes}${seconds}${hours}:${rest}`);
  const local = parseTimestamp(`${day}T${minutes}${seconds}Z`);
  if (local === undefined || offset !== undefined) return local;
  const name = `${zone} ${value}`;
  const known = knownTimes.get(name);
  if (known !== undefined) return known;
  if (knownTimes.size >= MAX_DAYS) knownTimes.clear();
  const at = startIn(zone, local);
  knownTimes.set(name, at);
  return at;
}
