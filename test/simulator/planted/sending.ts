// Bugs of the ledger, the claims, the cancellation and the counters of a send.
import type { Bug } from "./bug.ts";

const ranges = "shared/store/sends/chunks/ranges.ts";
const jobs = "shared/store/sends/jobs/jobs.ts";
const dispatch = "functions/workers/fan-out/dispatch.ts";

export const sendingBugs: readonly Bug[] = [
  {
    name: "the time of a claim changes at every attempt",
    area: "claims",
    file: "shared/store/sends/chunks/claims.ts",
    find: "{ set: { owner, lease: now + LEASE_MS }, initial: { at: now } }",
    replace: "{ set: { owner, lease: now + LEASE_MS, at: now } }",
  },
  {
    name: "a closed range is closed into its job again",
    area: "counters",
    file: ranges,
    find: 'all(present(), absent("closed"))',
    replace: "present()",
  },
  {
    name: "a range is taken for complete one chunk too early",
    area: "counters",
    file: ranges,
    find: "planned && chunksClosed >= chunks;",
    replace: "planned && chunksClosed >= chunks - 1;",
  },
  {
    name: "the job ends when the first range is closed",
    area: "counters",
    file: jobs,
    find: "job.ranges_closed < job.ranges.length",
    replace: "job.ranges_closed < Math.min(1, job.ranges.length)",
  },
  {
    name: "a chunk that another worker wrote first is ignored",
    area: "ledger",
    file: "shared/store/sends/chunks/chunks.ts",
    find: "onConditionFailed(ChunkItem, (old) => (old ? chunkOf(old) : chunk)),",
    replace: "onConditionFailed(() => chunk),",
  },
  {
    name: "a canceled job can be fired",
    area: "cancel",
    file: "shared/rules/job-states.ts",
    find: 'fire: { from: ["scheduled"], to: "queued" },',
    replace: 'fire: { from: ["scheduled", "canceled"], to: "queued" },',
  },
  {
    name: "a job under way can be canceled",
    area: "cancel",
    file: "shared/rules/job-states.ts",
    find: 'cancel: { from: ["scheduled"], to: "canceled" },',
    replace: 'cancel: { from: ["scheduled", "queued", "processing"], to: "canceled" },',
  },
  {
    name: "states are read first and written without a condition",
    area: "cancel",
    file: "shared/store/lifecycle.ts",
    find: 'return { kind: "change" as const, change: moving, when: when ? all(inPlace, when) : inPlace };',
    replace: 'return { kind: "change" as const, change: moving, when };',
  },
  {
    name: "a scheduled send takes its share of the quota at every attempt",
    area: "counters",
    file: dispatch,
    find: 'all(is("status", "queued"), absent("reserved"))',
    replace: 'all(is("status", "queued"))',
  },
  {
    name: "the quota is not checked when it is used",
    area: "counters",
    file: "shared/store/workspaces/usage.ts",
    find: "{ add: { sends: n } }, fits);",
    replace: "{ add: { sends: n } });",
  },
  {
    name: "an idempotency key may be remembered twice",
    area: "ledger",
    file: "functions/api/notifications/create.ts",
    find: ', any(absent(), below("until", now)))];',
    replace: ")];",
  },
];
