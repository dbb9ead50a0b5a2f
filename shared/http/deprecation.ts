// The deprecation of an endpoint: when it was announced, when it may be removed, and its successor (D-VER).
import type { Route } from "./access.ts";

export interface Deprecation {
  /** The day of the announcement: `2027-01-31`. */
  since: string;
  /** The day from which it may be removed, at least 12 months after `since`. */
  sunset: string;
  /** The endpoint to use instead. */
  successor?: Route;
}

const MIN_MONTHS = 12;
const DAY_OF_MONTH = /^\d{4}-\d{2}-\d{2}$/;
const midnight = (day: string) => Date.parse(`${day}T00:00:00Z`);

/** The problem of an announcement, if any. */
export function faultOfDeprecation({ since, sunset }: Deprecation): string | undefined {
  for (const day of [since, sunset])
    if (!DAY_OF_MONTH.test(day) || Number.isNaN(midnight(day))) return `${day} is not a day`;
  const earliest = new Date(midnight(since));
  earliest.setUTCMonth(earliest.getUTCMonth() + MIN_MONTHS);
  return midnight(sunset) < earliest.getTime() ? `${sunset} is not 12 months after ${since}` : undefined;
}

/** The headers of RFC 9745 and RFC 8594, on every response of the endpoint. */
export function deprecationHeaders(announced: Deprecation | undefined): Record<string, string> {
  if (!announced) return {};
  const { since, sunset, successor } = announced;
  return {
    deprecation: `@${midnight(since) / 1_000}`,
    sunset: new Date(midnight(sunset)).toUTCString(),
    ...(successor && { link: `<${successor.slice(successor.indexOf("/"))}>; rel="successor-version"` }),
  };
}
