// Frequency caps (D-CAP): how many messages of a category, by a channel class or by any, a person gets in a day or week.
import { type ChannelClass, classOf, type ReachChannel } from "./reach.ts";
import { wallClock } from "./time-zones.ts";

export interface FrequencyCap {
  category: "marketing" | "transactional";
  /** Absent: messages are counted by whichever channels they come, each once. */
  channel_class?: ChannelClass | undefined;
  max: number;
  per: "day" | "week";
}

const DAY = 86_400_000;
const MONDAY = 1;

/** The first day, `2026-11-16`, of the day or week of a zone in which an instant (milliseconds) lies. Weeks begin on Mondays. */
export function windowOf(per: FrequencyCap["per"], zone: string, at: number): string {
  const day = Math.floor(wallClock(zone, at) / DAY) * DAY;
  const since = per === "day" ? 0 : (new Date(day).getUTCDay() - MONDAY + 7) % 7;
  return new Date(day - since * DAY).toISOString().slice(0, 10);
}

/** By which name a cap is counted within its window. */
export const counterOf = ({ category, channel_class }: FrequencyCap): string =>
  channel_class === undefined ? category : `${category}:${channel_class}`;

/** The caps that a message by these channels meets; of two that count the same, the lower one. */
export function capsOn(
  caps: readonly FrequencyCap[],
  category: FrequencyCap["category"],
  channels: readonly ReachChannel[],
): FrequencyCap[] {
  const classes = new Set(channels.map(classOf));
  const met = caps.filter(
    (cap) => cap.category === category && (cap.channel_class === undefined || classes.has(cap.channel_class)),
  );
  const lowest = new Map<string, FrequencyCap>();
  for (const cap of met.toSorted((a, b) => b.max - a.max)) lowest.set(`${cap.per} ${counterOf(cap)}`, cap);
  return [...lowest.values()];
}
