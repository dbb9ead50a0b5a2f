// Bugs of what goes out and comes in beside messages: webhooks, schedules, imports, and sends to lists and segments.
import type { Bug } from "./bug.ts";

const attemptResults = "shared/store/webhooks/attempt-results.ts";
const runSchedule = "functions/workers/run-schedule/index.ts";

export const integrationsBugs: readonly Bug[] = [
  {
    name: "a bounce that comes before the row of its mail is dropped",
    area: "ledger",
    file: "shared/store/sends/ledger/mail-events.ts",
    find: 'if (result.kind === "written" || (result.kind === "kept" && result.state !== "retryable")) return "recorded";',
    replace: 'if (result.kind !== "kept" || result.state !== "retryable") return "recorded";',
  },
  {
    name: "two workers read the file of an import at once",
    area: "imports",
    file: "shared/store/subscribers/imports.ts",
    find: 'all(oneOf("status", ["pending", "processing"]), isFree)',
    replace: 'oneOf("status", ["pending", "processing"])',
  },
  {
    name: "a row of the audit trail takes over an outcome before there is an end of its chain",
    area: "audit",
    file: "shared/store/audit/trail.ts",
    find: "const taken = chain.hasHead ? [...chain.open].slice(0, MAX_OUTCOMES) : [];",
    replace: "const taken = [...chain.open].slice(0, MAX_OUTCOMES);",
  },
  {
    name: "a result whose reply was lost leads to no further attempt",
    area: "webhooks",
    file: attemptResults,
    find: 'old?.[attemptName(n)] === attempt ? { kind: "written" } : { kind: "refused", old };',
    replace: 'n < 0 ? { kind: "written" } : { kind: "refused", old };',
  },
  {
    name: "a tick that the next one overtakes is lost",
    area: "timers",
    file: runSchedule,
    find: "await takeTick(context, schedule, next);",
    replace: "await takeTick(context, schedule, upTo);",
  },
  {
    name: "only the first page of a shard of a list or segment is read",
    area: "lists",
    file: "shared/store/lists/memberships.ts",
    find: "next: page.next?.sk,",
    replace: "next: undefined,",
  },
  {
    name: "a delivery does not end a series of failures",
    area: "webhooks",
    file: "functions/workers/post-webhook/posting.ts",
    find: 'outcome === "delivered" ? successWrites(webhook) : failures',
    replace: "failures",
  },
  {
    name: "an answer that comes after its attempt was given up is not in the log",
    area: "webhooks",
    file: attemptResults,
    find: 'if (!isGivenUp) return "settled before";',
    replace: 'if (n > 0) return "settled before";',
  },
  {
    name: "a delivery that ends without its payload does not log the attempt that was claimed",
    area: "webhooks",
    file: attemptResults,
    find: '{ set: { outcome: "failed", ...giveUp.set } }',
    replace: '{ set: { outcome: "failed" } }',
  },
  {
    name: "a job that is released shortly before its time is left to its timer",
    area: "campaigns",
    file: "functions/workers/react/sends.ts",
    find: "<= now + AHEAD_MS",
    replace: "<= now - AHEAD_MS",
  },
];
