// The new times of messages that were held while their campaign was paused (AMB-138).

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
 * The new time of each held message, or `null` if it is skipped. With `keep_distance` the first overdue one is sent
 * now, and the others keep at least their planned distances.
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
