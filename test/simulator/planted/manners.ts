// Bugs of quiet hours and frequency caps.
import type { Bug } from "./bug.ts";

const caps = "shared/store/sends/caps.ts";
const rounds = "functions/workers/deliver/rounds.ts";

export const mannersBugs: readonly Bug[] = [
  {
    name: "a cap is counted without being checked",
    area: "counters",
    file: caps,
    find: "all(...together.map((cap) => any(absent(counterOf(cap)), below(counterOf(cap), cap.max)))),",
    replace: "",
  },
  {
    name: "a wait longer than a queue's maximum delay never ends",
    area: "timers",
    file: rounds,
    find: 'if (ms > MAX_DELAY_MS) await timers.set([{ kind: "job-release", id: chunkRef.job, at: waits }]);',
    replace: "",
  },
  {
    name: "quiet hours are not checked when a round begins",
    area: "claims",
    file: rounds,
    find: "waiting.putOff(progress);",
    replace: "",
  },
  {
    name: "a recovery run writes to the inbox of recipients that a cap stopped",
    area: "inbox",
    file: "functions/workers/deliver/recovery.ts",
    find: "&& !rows[i] && !isCapped(i);",
    replace: "&& !rows[i];",
  },
  {
    name: "waiting recipients are counted again at every release",
    area: "counters",
    file: "shared/store/sends/claims.ts",
    find: "{ ...lease.reported, deferred: lease.deferred }",
    replace: "{}",
  },
  {
    name: "counts that a range already has are added once more at the end",
    area: "counters",
    file: "shared/store/sends/claims.ts",
    find: "...beyond(added, reported),",
    replace: "...added,",
  },
];
