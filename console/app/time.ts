// Service time, which a test clock may move, and how times, numbers and shares are written.
import { signal } from "@preact/signals";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";

const offset = signal(0);

/** Called with what the API says is now. */
export function setServiceTime(now: number): void {
  offset.value = now - Date.now();
}

export const now = (): number => Date.now() + offset.value;

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const LOCALE = "en-GB";
const numbers = new Intl.NumberFormat(LOCALE);
const shares = new Intl.NumberFormat(LOCALE, { style: "percent", maximumFractionDigits: 1 });
const formats = new Map<string, Intl.DateTimeFormat>();
/** Made once each: a table has one for each of its times. */
function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.DateTimeFormat(LOCALE, options);
  formats.set(key, format);
  return format;
}

const moment = (timeZone: string, more: Intl.DateTimeFormatOptions) =>
  formatOf({
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
    ...more,
  });

export const number = (value: number): string => numbers.format(value);
const SMALLEST = 0.001;
/** `38.2%`; what rounds to none and is some is `<0.1%`, and what rounds to all and is less is `>99.9%`. */
export function share(part: number, whole: number): string {
  if (whole === 0) return "–";
  const value = part / whole;
  if (value > 0 && value < SMALLEST / 2) return `<${shares.format(SMALLEST)}`;
  return value < 1 && value >= 1 - SMALLEST / 2 ? `>${shares.format(1 - SMALLEST)}` : shares.format(value);
}
const DOLLARS = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" } as const;
const cents = new Intl.NumberFormat(LOCALE, DOLLARS);
const CENT = 0.01;
/** `$12.35`; what rounds to none and is some is `<$0.01`. */
export const money = (value: number): string =>
  value > 0 && value < CENT / 2 ? `<${cents.format(CENT)}` : cents.format(value);
const exact = new Intl.NumberFormat(LOCALE, {
  ...DOLLARS,
  maximumFractionDigits: 2,
  maximumSignificantDigits: 3,
  roundingPriority: "morePrecision",
});
/** `$12.35`; of small amounts three digits that say something, as of one message. */
export const price = (value: number): string => exact.format(value);
const CENTS = { minimumFractionDigits: 2, maximumFractionDigits: 2 } as const;
const amounts = signal(new Intl.NumberFormat(LOCALE, CENTS));

/** Called with what the workspace says its revenue is in: a code of ISO 4217, or null. */
export function setCurrency(currency: string | null): void {
  const style = currency === null ? CENTS : ({ style: "currency", currency } as const);
  amounts.value = new Intl.NumberFormat(LOCALE, style);
}

const currencyNames = new Intl.DisplayNames(LOCALE, { type: "currency" });
/** `Euro`, of `EUR`. */
export const currencyName = (code: string): string => currencyNames.of(code) ?? code;

/** Revenue: `€1,209.50`, or `1,209.50` where the workspace does not say its currency. */
export const amount = (cents: number): string => amounts.value.format(cents / 100);
const UNITS = ["kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
/** `1.1 TB`, `78 bytes` */
export function bytes(value: number): string {
  if (value < 1_000) return plural(value, "byte");
  const power = Math.min(UNITS.length, Math.floor(Math.log10(value) / 3));
  const style = { style: "unit", unit: UNITS[power - 1]!, maximumSignificantDigits: 3 } as const;
  return new Intl.NumberFormat(LOCALE, style).format(value / 1_000 ** power);
}
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${number(value)} ${value === 1 ? one : many}`;

const dayText = (value: string | number, options: Intl.DateTimeFormatOptions, timeZone = zone): string =>
  formatOf({ ...options, timeZone }).format(new Date(value));

/** The format of the year: shown unless it is this year. */
function yearOf(value: string | number, timeZone = zone): Intl.DateTimeFormatOptions {
  const [year, present] = [value, now()].map((at) => dayText(at, { year: "numeric" }, timeZone));
  return year === present ? {} : { year: "numeric" };
}

/** How many days of the calendar it is until then, whatever their hours: a clock that is changed makes some shorter. */
function daysUntil(value: string | number, timeZone = zone): number {
  const [then = 0, today = 0] = [value, now()].map((at) => {
    const [day, month, year] = dayText(at, { dateStyle: "short" }, timeZone).split("/").map(Number);
    return Date.UTC(year!, month! - 1, day);
  });
  return (then - today) / DAY;
}

/** `22 Nov, 11:28`, for where the zone stands beside it; with the year when it is another one. */
export function dateTime(value: string | number, timeZone = zone, more: Intl.DateTimeFormatOptions = {}): string {
  return moment(timeZone, { ...yearOf(value, timeZone), ...more }).format(new Date(value));
}

/** `22 Nov, 11:28 CET` */
export const momentText = (value: string | number, timeZone = zone): string =>
  dateTime(value, timeZone, { timeZoneName: "short" });

/** The same with its zone: `22 Nov 2026, 11:28:05 CET`. */
export const fullTime = (value: string | number, timeZone = zone): string =>
  moment(timeZone, { year: "numeric", second: "2-digit", timeZoneName: "short" }).format(new Date(value));

/** `14:32:05`, in the zone of this machine. */
export const clockTime = (value: string | number): string =>
  formatOf({ timeStyle: "medium", timeZone: zone }).format(new Date(value));

/** In whole hours, so that the same range is the same read. */
export const daysAgo = (days: number): string => new Date(Math.floor(now() / HOUR) * HOUR - days * DAY).toISOString();

/** `Today`, `Yesterday`, `Monday 23 November`, with the year when it is another one. */
export function dayName(value: string | number, timeZone = zone): string {
  const days = daysUntil(value, timeZone);
  if (days === 0) return "Today";
  if (days === -1) return "Yesterday";
  return dayText(value, { weekday: "long", day: "numeric", month: "long", ...yearOf(value, timeZone) }, timeZone);
}

const LENGTHS = [
  ["day", DAY],
  ["hour", HOUR],
  ["minute", MINUTE],
] as const;
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" });

/** `2 minutes ago`, `in 3 hours`, `tomorrow`. */
export function distance(value: string | number, timeZone = zone): string {
  const ms = new Date(value).getTime() - now();
  if (Math.abs(ms) < 10_000) return "now";
  const [unit, size] = LENGTHS.find(([, one]) => Math.abs(ms) >= one) ?? ["second", 1_000];
  return relative.format(unit === "day" ? daysUntil(value, timeZone) : Math.round(ms / size), unit);
}

/** The same; more than two weeks away: the day, `22 Nov`. */
export const ago = (value: string | number): string =>
  Math.abs(new Date(value).getTime() - now()) < 14 * DAY
    ? distance(value)
    : dayText(value, { day: "numeric", month: "short", ...yearOf(value) });

/** The value of an `<input type="datetime-local">` in the browser's zone, and back. */
export function toLocalInput(at: number): string {
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * MINUTE);
  return shifted.toISOString().slice(0, 16);
}
/** @param known what the input began with: an hour that the clock has twice, or a second, is not in its text */
export const fromLocalInput = (text: string, known?: string): string =>
  known && toLocalInput(Date.parse(known)) === text ? known : new Date(text).toISOString();

export const DAY_NAMES = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** `Ada, Ben and Cleo` */
export const listed = (words: readonly string[]): string => lists.format(words);
const lists = new Intl.ListFormat("en-GB");

export const clipped = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text);

/** A share of a limit, as exact as it was set: `0.25%` */
export const percent = (rate: number): string => `${Number((100 * rate).toFixed(2))}%`;
