// Which sends a conversion counts for: every one whose touch lies within its window, and the last of them (D-ATTRIB).

export interface Touch {
  job: string;
  /** Milliseconds. */
  at: number;
  /** Assigned to be sent to, or to the control group. */
  group: "treated" | "held_out";
  /** A touch proper: it was delivered. */
  isDelivered: boolean;
  /** Type of the channel it came by. */
  channel?: string | undefined;
}

export interface Attribution {
  /** Each send that the person was assigned in within the window, newest first (intent to treat). */
  jobs: { job: string; group: Touch["group"]; isDelivered: boolean }[];
  /** The last delivered touch. */
  last: Touch | undefined;
}

/** So that what one conversion changes fits into one transaction. */
const MAX_JOBS = 20;

/** @param windowSeconds a conversion counts from the touch on for so long, the end included */
export function attribute(touches: readonly Touch[], occurredAt: number, windowSeconds: number): Attribution {
  const within = touches
    .filter(({ at }) => at <= occurredAt && occurredAt - at <= windowSeconds * 1_000)
    .sort((a, b) => b.at - a.at || (a.job < b.job ? 1 : -1));
  const jobs = new Map<string, Attribution["jobs"][number]>();
  for (const { job, group, isDelivered } of within) {
    const found = jobs.get(job);
    if (found) found.isDelivered ||= isDelivered;
    else if (jobs.size < MAX_JOBS) jobs.set(job, { job, group, isDelivered });
  }
  return { jobs: [...jobs.values()], last: within.find(({ isDelivered }) => isDelivered) };
}
