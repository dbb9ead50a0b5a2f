// The sends that a conversion counts for: all with a touch in its window, and the last of them (D-ATTRIB).

export interface Touch {
  job: string;
  /** When the round began that handed it over, in milliseconds (AMB-109). */
  at: number;
  /** When the subscriber was assigned, if that was before the round: lift counts from then (AMB-110). */
  assignedAt?: number | undefined;
  /** Whether the subscriber was sent to, or in the control group. */
  group: "treated" | "held_out";
  isDelivered: boolean;
  channel?: string | undefined;
}

export interface Attribution {
  /** All sends of the window, newest first. `isAssigned`: the assignment is in it too (intent to treat). */
  jobs: { job: string; group: Touch["group"]; isAssigned: boolean; isDelivered: boolean }[];
  /** The last delivered touch. */
  last: Touch | undefined;
}

/** The row of a conversion names each of them: 88 KB. */
const MAX_JOBS = 2_000;

/**
 * Finds the sends of a conversion. @param windowSeconds how long after a touch a conversion counts for it, the end
 * included
 */
export function attribute(touches: readonly Touch[], occurredAt: number, windowSeconds: number): Attribution {
  const isWithin = (at: number) => at <= occurredAt && occurredAt - at <= windowSeconds * 1_000;
  const within = touches.filter(({ at }) => isWithin(at)).sort((a, b) => b.at - a.at || (a.job < b.job ? 1 : -1));
  const jobs = new Map<string, Attribution["jobs"][number]>();
  for (const { job, at, assignedAt = at, group, isDelivered } of within) {
    const isAssigned = isWithin(assignedAt);
    const found = jobs.get(job);
    if (found) {
      found.isDelivered ||= isDelivered;
      found.isAssigned ||= isAssigned;
    } else if (jobs.size < MAX_JOBS) jobs.set(job, { job, group, isAssigned, isDelivered });
  }
  return { jobs: [...jobs.values()], last: within.find(({ isDelivered }) => isDelivered) };
}
