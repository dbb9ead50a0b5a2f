// Bugs of quiet hours and frequency caps.
import type { Bug } from "./bug.ts";

const caps = "shared/store/sends/caps.ts";
const rounds = "functions/workers/deliver/rounds.ts";
const scenario = "nights";

export const mannersBugs: readonly Bug[] = [
  {
    name: "a cap is counted without being asked",
    area: "counters",
    file: caps,
    find: "all(...together.map((cap) => any(absent(counterOf(cap)), below(counterOf(cap), cap.max)))),",
    replace: "",
    scenario,
  },
  {
    name: "nothing triggers what waits longer than a queue can",
    area: "timers",
    file: rounds,
    find: 'if (ms > MAX_DELAY_MS) await timers.set([{ kind: "job-release", id: chunkRef.job, at: waits }]);',
    replace: "",
    scenario,
    profile: "firstLine",
  },
  {
    name: "quiet hours are not looked at when a round begins",
    area: "claims",
    file: rounds,
    find: "waiting.putOff(progress);",
    replace: "",
    scenario,
  },
  {
    name: "whoever goes on after a crash writes to the inbox of those whom a cap refused",
    area: "inbox",
    file: "functions/workers/deliver/recovery.ts",
    find: "&& !rows[i] && !isCapped(i);",
    replace: "&& !rows[i];",
    scenario,
    profile: "storm",
  },
  {
    name: "who waits is counted again at every release",
    area: "counters",
    file: "shared/store/sends/claims.ts",
    find: "{ ...lease.reported, deferred: lease.deferred }",
    replace: "{}",
    scenario,
  },
  {
    name: "what a range was told before a wait is added once more at the end",
    area: "counters",
    file: "shared/store/sends/claims.ts",
    find: "...beyond(added, reported),",
    replace: "...added,",
    scenario,
  },
];
