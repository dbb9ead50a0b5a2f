// The watch of sends to one subscriber: one timer for all sends of a workspace in a quarter-hour (docs/decisions/0047).
import { MINUTE, uuidPrefixOf } from "../../clock.ts";
import type { Capability } from "../../deps.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { isTerminal } from "../../rules/job-states.ts";
import type { Key } from "../model.ts";
import { recent } from "../recent.ts";
import type { Timer, Timers } from "../timers.ts";
import { type JobLane, lanesOf } from "./job-ids.ts";
import { JobItem, JobWidth } from "./job-items.ts";
import { type JobRecord, jobOf } from "./jobs.ts";

const QUARTER_MS = 15 * MINUTE;
/** The id of a send may be of a moment before its quarter-hour, and its row may be stored a moment after it. */
const MARGIN_MS = 2 * MINUTE;
const MAX_CACHED_WORKSPACES = 1_000;

export interface SendWatch {
  /** Sets the timer of this quarter-hour, unless this environment has done so. A send is stored after it. */
  ensure(store: Pick<Store, "tenant" | "clock">, timers: Timers): Promise<void>;
}

/** The quarter-hours whose timers an environment has set. */
export const sendWatch: Capability<"sendWatch", SendWatch> = {
  as: "sendWatch",
  env: [],
  grants: [],
  open: () => {
    const set = recent<number>(MAX_CACHED_WORKSPACES);
    const watch: SendWatch = {
      ensure: async ({ tenant, clock }, timers) => {
        const quarter = Math.floor(clock.now() / QUARTER_MS);
        if (set.get(tenant) === quarter) return;
        await timers.set([watchOf(quarter, clock.now())]);
        set.set(tenant, quarter);
      },
    };
    return () => watch;
  },
};

/** The next watch of the sends of a quarter-hour: at least 15 minutes later, at the same time in every process that sets it. */
export const watchOf = (quarter: number, now: number): Timer => ({
  kind: "sends-watch",
  id: String(quarter),
  at: (Math.floor(now / QUARTER_MS) + 2) * QUARTER_MS,
});

/** The partitions of a workspace's sends to one subscriber. */
export async function directLanes(store: StoreReader): Promise<JobLane[]> {
  const width = await store.get(JobWidth, {});
  return lanesOf(["api"], (kind) => width?.[kind] === true).filter((lane) => lane !== "JOB");
}

/** The sends to one subscriber of a quarter-hour in one partition that have not ended. */
export async function openDirect(store: StoreReader, lane: JobLane, quarter: number): Promise<JobRecord[]> {
  const bounds = {
    from: uuidPrefixOf(quarter * QUARTER_MS - MARGIN_MS),
    to: `${uuidPrefixOf((quarter + 1) * QUARTER_MS + MARGIN_MS)}~`,
  };
  const open: JobRecord[] = [];
  let after: Key | undefined;
  do {
    const page = await store.query(JobItem, { lane }, { ...bounds, after });
    open.push(...page.items.filter(({ to, status }) => to !== undefined && !isTerminal(status)).map(jobOf));
    after = page.next;
  } while (after);
  return open;
}
