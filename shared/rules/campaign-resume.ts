// When the messages of a resumed campaign are sent that were held while it was paused (AMB-138).

export const overduePolicies = ["keep_distance", "now", "skip"] as const;
export type OverduePolicy = (typeof overduePolicies)[number];

/** A message that is held. Times are in milliseconds. */
export interface HeldMessage {
  id: string;
  /** When it was to be sent. */
  due: number;
  /** Only a scheduled one can wait for another time. */
  status: "scheduled" | "queued" | "processing";
}

/**
 * The new time of each held message, or `null` where it is skipped. With `keep_distance` the first overdue one goes out
 * now, and every one after it at least as long after the one before as it was planned.
 */
export function resumedTimes(
  held: readonly HeldMessage[],
  policy: OverduePolicy,
  now: number,
): Record<string, number | null> {
  const times: Record<string, number | null> = {};
  let before: { time: number; due: number } | undefined;
  for (const { id, due, status } of held.toSorted((a, b) => a.due - b.due)) {
    if (policy === "skip" && due <= now && status !== "processing") {
      times[id] = null;
      continue;
    }
    const keepsDistance = policy === "keep_distance" && status === "scheduled";
    const earliest = keepsDistance && before ? before.time + due - before.due : now;
    const time = Math.max(due, now, earliest);
    times[id] = time;
    before = { time, due };
  }
  return times;
}
