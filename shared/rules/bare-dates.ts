// Bare dates: days in a time zone, and whether an instant is before, in or after one (AMB-137).
import { startIn } from "./time-zones.ts";
import { parseTimestamp } from "./timestamps.ts";

const DAY = 86_400_000;

/** Whether a rule names a time or a date: only then the zone matters. */
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
/** To find the beginning of a day takes a few formats. */
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
