// Frequency caps (D-CAP): how many messages of a category a subscriber gets in a day or week, by one class of channels or all.
import { DAY } from "../kernel/clock.ts";
import { type ChannelClass, type ChannelType, classOf } from "./channel-types.ts";
import { wallClock } from "./time-zones.ts";

export interface FrequencyCap {
  category: "marketing" | "transactional";
  /** Absent: messages of all channels are counted, each once. */
  channel_class?: ChannelClass | undefined;
  max: number;
  per: "day" | "week";
}

/** A cap with its count when it was read. */
export interface CountedCap extends FrequencyCap {
  count: number;
}

const MONDAY = 1;

/** The first day, as `2026-11-16`, of the day or week that contains an instant (milliseconds) in a zone. Weeks begin on Mondays. */
export function windowOf(per: FrequencyCap["per"], zone: string, at: number): string {
  const day = Math.floor(wallClock(zone, at) / DAY) * DAY;
  const since = per === "day" ? 0 : (new Date(day).getUTCDay() - MONDAY + 7) % 7;
  return new Date(day - since * DAY).toISOString().slice(0, 10);
}

export const isSameWindow = (per: FrequencyCap["per"], zone: string, at: number, later: number): boolean =>
  windowOf(per, zone, at) === windowOf(per, zone, later);

type Category = FrequencyCap["category"];

/** The name of a cap's counter within its window. */
export const counterOf = ({ category, channel_class }: FrequencyCap): Category | `${Category}:${ChannelClass}` =>
  channel_class === undefined ? category : `${category}:${channel_class}`;

/** The caps that apply to a message by these channels; of two that count the same, the lower one. */
export function capsOn(
  caps: readonly FrequencyCap[],
  category: FrequencyCap["category"],
  channels: readonly ChannelType[],
): FrequencyCap[] {
  const classes = new Set(channels.map(classOf));
  const met = caps.filter(
    (cap) => cap.category === category && (cap.channel_class === undefined || classes.has(cap.channel_class)),
  );
  const lowest = new Map<string, FrequencyCap>();
  for (const cap of met.toSorted((a, b) => b.max - a.max)) lowest.set(`${cap.per} ${counterOf(cap)}`, cap);
  return [...lowest.values()];
}
