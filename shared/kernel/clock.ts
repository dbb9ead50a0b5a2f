// Service time: instants in milliseconds, and their form in rows and answers.

/** Service time in milliseconds since the epoch; sleeping follows the same time. */
export interface Clock {
  now(): number;
  /** Resolves after `ms` of service time, or at once when `signal` aborts (it never rejects). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** RFC 3339 in UTC with milliseconds: fixed width, so text order is time order. */
export const timestamp = (at: number): string => new Date(at).toISOString();

/** A moment as the table's time to live takes it: in seconds, and never early. */
export const ttl = (at: number): number => Math.ceil(at / SECOND);

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
