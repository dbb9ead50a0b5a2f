// Durations of journeys and rules: whole minutes, hours or days (JND-4, RUL-6).

const SHAPE = /^[1-9][0-9]{0,6}[mhd]$/;
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The longest duration that is accepted: 3,650 days, in milliseconds. */
export const MAX_DURATION = 3_650 * UNITS.d;

/**
 * Milliseconds of a whole-unit duration (`30m`, `24h`, `7d`), or undefined when it is malformed (`1.5h`, `10s`, `h`,
 * empty, `0d`, leading zeros) or longer than 3,650 days (JND-16, AMB-69).
 */
export function parseDuration(text: string): number | undefined {
  if (!SHAPE.test(text)) return undefined;
  const unit = text.at(-1) as keyof typeof UNITS;
  const duration = Number(text.slice(0, -1)) * UNITS[unit];
  return duration > MAX_DURATION ? undefined : duration;
}
