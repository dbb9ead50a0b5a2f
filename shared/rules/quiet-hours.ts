// Quiet hours (D-QUIET): whether an instant is within them, by the clocks of a zone, and when they end.
import { DAY, MINUTE } from "../kernel/clock.ts";
import type { ChannelType } from "./channel-types.ts";
import { channels } from "./channels.ts";
import { type ClockChange, changeNear, wallClock } from "./time-zones.ts";

export interface QuietHours {
  /** `22:00` to `08:00`, local time: the next morning if the end is not after the start. */
  start: string;
  end: string;
  /** Days on which they begin, 0 is Sunday. */
  days: readonly number[];
}

/**
 * Whether quiet hours defer the messages of a channel. Messages in an inbox wait until the user opens the app anyway.
 */
export const disturbs = (channel: ChannelType): boolean => channels[channel].address !== "inbox";

/** The most windows that may follow each other without a gap, which happens only at a change of the clocks. */
const MAX_CONSECUTIVE = 14;

/**
 * The end of the quiet hours that contain an instant (milliseconds); undefined outside of them. A window that begins or
 * ends in a gap of the clocks begins or ends with the gap. Of an hour that occurs twice, the window contains both.
 */
export function quietUntil(hours: QuietHours, zone: string, at: number): number | undefined {
  let until: number | undefined;
  for (let n = 0; n < MAX_CONSECUTIVE; n++) {
    const end = endAt(hours, zone, until ?? at);
    if (end === undefined) break;
    until = end;
  }
  return until;
}

/** The latest end of the windows that contain an instant. */
function endAt({ start, end, days }: QuietHours, zone: string, at: number): number | undefined {
  const [begins, ends] = [minutesOf(start), minutesOf(end)];
  const today = Math.floor(wallClock(zone, at) / DAY) * DAY;
  let latest: number | undefined;
  // A clock set back over midnight lets yesterday's window end after today has begun twice.
  for (let day = today - 2 * DAY; day <= today + DAY; day += DAY) {
    if (!days.includes(new Date(day).getUTCDay())) continue;
    const from = day + begins * MINUTE;
    const to = day + ends * MINUTE + (ends > begins ? 0 : DAY);
    if (instantOf(from, changeNear(zone, from), "first") > at) continue;
    const over = instantOf(to, changeNear(zone, to), "last");
    if (over > at && (latest === undefined || over > latest)) latest = over;
  }
  return latest;
}

/** The instant of a wall-clock time: the end of the gap that contains it, or the first or the last of two. */
function instantOf(local: number, { at, before, after }: ClockChange, which: "first" | "last"): number {
  const [earlier, later] = [local - before, local - after];
  const [isBefore, isAfter] = [earlier < at, later >= at];
  if (isBefore && isAfter) return which === "first" ? earlier : later;
  if (isAfter) return later;
  return isBefore ? earlier : at;
}

const minutesOf = (time: string): number => {
  const [hours, minutes] = time.split(":");
  return Number(hours) * 60 + Number(minutes);
};
