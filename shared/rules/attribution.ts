// The sends that a conversion counts for: all with a touch in its window, and the last of them (D-ATTRIB).

export interface Touch {
  job: string;
  /** Milliseconds. */
  at: number;
  /** Whether the subscriber was sent to, or in the control group. */
  group: "treated" | "held_out";
  /** It was delivered. */
  isDelivered: boolean;
  /** The type of its channel. */
  channel?: string | undefined;
}

export interface Attribution {
  /** All sends that the subscriber was assigned to in the window, newest first (intent to treat). */
  jobs: { job: string; group: Touch["group"]; isDelivered: boolean }[];
  /** The last delivered touch. */
  last: Touch | undefined;
}

/** The changes of one conversion fit into one transaction. */
const MAX_JOBS = 20;

/** @param windowSeconds how long after a touch a conversion counts for it, the end included */
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
