// The filters of templates: harmless ones of the library, and our own ones where the library would read the clock or
// the time zone of the machine.
import { type Context, type FilterImplOptions, filters } from "liquidjs";
import { formatDate } from "./date-patterns.ts";
import { isTimeZone } from "./time-zones.ts";
import { parseTimestamp } from "./timestamps.ts";

/** The register with the time of a rendering, in milliseconds. */
export const NOW = "now";

const LIBRARY_FILTERS: ReadonlySet<string> = new Set([
  "capitalize",
  "default",
  "divided_by",
  "downcase",
  "escape",
  "join",
  "minus",
  "plus",
  "replace",
  "round",
  "size",
  "strip",
  "times",
  "truncate",
  "upcase",
]);

const CALENDAR_DAY = /^\d{4}-\d\d-\d\d$/;
const EPOCH_SECONDS = /^\d{1,12}$/;
const MAX_PATTERN = 200;
const DEFAULT_PATTERN = "%B %-d, %Y";
const EARLIEST = Date.UTC(1000, 0, 2);
const LATEST = Date.UTC(9999, 11, 30);

export const FILTERS: Record<string, FilterImplOptions> = {
  ...Object.fromEntries(Object.entries(filters).filter(([name]) => LIBRARY_FILTERS.has(name))),
  date: dateFilter,
  // A single value is a text, several are a list.
  first: (value: unknown) => (Array.isArray(value) ? value[0] : value),
  last: (value: unknown) => (Array.isArray(value) ? value.at(-1) : value),
  url_encode: encodeForUrl,
};

/**
 * `date: pattern, time zone`. Accepts `now`, `today`, RFC 3339 timestamps, calendar days and seconds since the epoch,
 * and returns other values unchanged. The default time zone is UTC; a calendar day has none.
 */
function dateFilter(this: { context: Context }, value: unknown, pattern?: unknown, zone?: unknown): unknown {
  const at = instantOf(value, this.context.getRegister<number>(NOW) ?? 0);
  if (at === undefined || !(at >= EARLIEST && at <= LATEST)) return value;
  const isDay = typeof value === "string" && CALENDAR_DAY.test(value);
  const timeZone = !isDay && typeof zone === "string" && isTimeZone(zone) ? zone : "UTC";
  return formatDate(at, typeof pattern === "string" ? pattern.slice(0, MAX_PATTERN) : DEFAULT_PATTERN, timeZone);
}

function instantOf(value: unknown, now: number): number | undefined {
  if (typeof value === "number") return value * 1_000;
  if (typeof value !== "string") return undefined;
  if (value === "now" || value === "today") return now;
  if (CALENDAR_DAY.test(value)) return parseTimestamp(`${value}T00:00:00Z`);
  return EPOCH_SECONDS.test(value) ? Number(value) * 1_000 : parseTimestamp(value);
}

function encodeForUrl(value: unknown): string {
  return encodeURIComponent(String(value ?? "").toWellFormed());
}
