// Durations as the API writes those of journeys and rules (`30m`, `24h`, `7d`), in words and in seconds.
import { plural } from "./time.ts";

export type Unit = "s" | "m" | "h" | "d";

export const units: Record<Unit, { name: string; seconds: number }> = {
  s: { name: "second", seconds: 1 },
  m: { name: "minute", seconds: 60 },
  h: { name: "hour", seconds: 3_600 },
  d: { name: "day", seconds: 86_400 },
};
const LARGEST_FIRST = ["d", "h", "m", "s"] as const;

export function partsOf(text: string): { amount: string; unit: Unit } | undefined {
  const unit = LARGEST_FIRST.find((one) => text.endsWith(one));
  return unit && text !== unit ? { amount: text.slice(0, -1), unit } : undefined;
}

/** `7d` as `7 days`. */
export function durationText(text: string): string {
  const parts = partsOf(text);
  return parts ? plural(Number(parts.amount), units[parts.unit].name) : "…";
}

/** 604,800 as `7d`: in the longest unit that leaves no rest. */
export function durationOf(seconds: number): string {
  const unit = LARGEST_FIRST.find((one) => seconds % units[one].seconds === 0) ?? "s";
  return `${seconds / units[unit].seconds}${unit}`;
}

/** `7 days`, `90 minutes`: in the longest unit that leaves no rest. */
export const span = (seconds: number): string => durationText(durationOf(seconds));

export function secondsOf(text: string): number | undefined {
  const parts = partsOf(text);
  return parts && Number(parts.amount) * units[parts.unit].seconds;
}
