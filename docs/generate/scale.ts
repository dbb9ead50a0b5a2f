// docs/scale.md: what a day of a billion events and a hundred million pushes takes, from the rates that were measured, and the
// ceiling that each of it meets (D21).
import { readFileSync } from "node:fs";
import { STAGE_LIMIT } from "../../infra/limits.ts";
import { workerConcurrencyOf } from "../../infra/settings.ts";
import { dollarsOf, PER_RECIPIENT, type Rate } from "../../shared/rules/cost.ts";
import { tiers } from "../../shared/rules/event-limits.ts";
import { MEASURED, RATES, STORED_BYTES } from "../../shared/rules/month-cost.ts";
import { plans } from "../../shared/rules/plans.ts";

/** Of one day. */
const EVENTS = 1_000_000_000;
const PUSHES = 100_000_000;
const DAY_SECONDS = 86_400;
/** The busiest second beside an average one. */
const PEAK = 3;
const MILLION = 1_000_000;
const GB = 1_000_000_000;
const PER_REQUEST = tiers.server.eventsPerRequest;
/** Memory of what takes events, and of what delivers, in GB (infra/functions.ts). */
const MEMORY = { events: 0.5, pushes: 1 };
/** Of AWS, by default: units a second of one table, and of one partition; requests a second of all HTTP APIs of an account. */
export const TABLE_UNITS = 40_000;
const PARTITION_UNITS = 1_000;
const NEW_TABLE_UNITS = 4_000;
const GATEWAY_REQUESTS = 10_000;
/** A batch of the table's stream, how many of one shard run at once, and how long one takes in seconds, about. */
const STREAM = { batch: 100, parallel: 10, seconds: 0.5 };
/** Pushes a minute that Google takes of a project by default. */
const FCM_A_MINUTE = 600_000;

/** The settings with which the day fits. */
export const SETTINGS = {
  accountConcurrency: 3_000,
  workerConcurrency: 40,
  warmThroughput: { reads: 80_000, writes: 80_000 },
} as const;

const perSecond = (units: number) => units / DAY_SECONDS;

/** Of all units of a rate, each second on average. */
const flow = (n: number, { wcu, rcu, messages, gbSeconds }: Rate, memory: number) => ({
  writes: perSecond(n * wcu),
  reads: perSecond(n * rcu),
  messages: perSecond(n * messages),
  atOnce: perSecond(n * gbSeconds) / memory,
});

export const events = flow(EVENTS, MEASURED.eventOfMany, MEMORY.events);
export const pushes = flow(PUSHES, PER_RECIPIENT.other, MEMORY.pushes);
const requests = perSecond(EVENTS / PER_REQUEST);
/** A block of events, and a chunk of recipients, wake the worker of the table's stream once. */
const reactions = requests + pushes.messages;

interface Ceiling {
  what: string;
  unit: string;
  /** In the busiest second. */
  need: number;
  /** As a deployment begins, and with SETTINGS and a raised quota. */
  first: number;
  lifted: number;
  /** What lifts it. */
  by: string;
  /** What tells before it is reached. */
  rings: string;
}

/** A row of "Ceilings of one workspace" in docs/performance.md: what the hottest partition key allows each second. */
function measuredCeiling(load: string): number {
  const page = readFileSync(new URL("../performance.md", import.meta.url), "utf8");
  const row = page.split("\n").find((line) => line.startsWith(`| ${load} |`));
  const found = /^\d+$/.exec(row?.split(" | ")[5] ?? "");
  if (!found) throw new Error(`docs/performance.md has no ceiling of "${load}".`);
  return Number(found[0]);
}

const writesAtPeak = PEAK * (events.writes + pushes.writes);
const shards = Math.ceil(writesAtPeak / PARTITION_UNITS);
const deliverers = (atOnce: number) => atOnce / (PER_RECIPIENT.other.gbSeconds / MEMORY.pushes);

const ofRequests = (): Ceiling[] => [
  {
    what: "Requests to the stage of the gateway, a thousand events each",
    unit: "a second",
    need: PEAK * requests,
    first: STAGE_LIMIT.throttlingRateLimit,
    lifted: STAGE_LIMIT.throttlingRateLimit,
    by: `nothing needed. One event a request would be ${count(PEAK * perSecond(EVENTS))} a second: beyond \`STAGE_LIMIT\` (\`infra/limits.ts\`) and beyond AWS's ${count(GATEWAY_REQUESTS)} an account`,
    rings: "no alarm: the gateway's 429 are in its metric `4xx`, on the dashboard",
  },
  {
    what: "Requests of a workspace",
    unit: "a minute",
    need: 60 * PEAK * requests,
    first: plans.enterprise.requestsPerMinute,
    lifted: plans.enterprise.requestsPerMinute,
    by: "the plan (`shared/rules/plans.ts`)",
    rings: "`Retry-After` of the 429",
  },
];

const ofTable = (): Ceiling[] => [
  {
    what: "Write units of the table",
    unit: "a second",
    need: writesAtPeak,
    first: NEW_TABLE_UNITS,
    lifted: SETTINGS.warmThroughput.writes,
    by: `\`warmThroughput\`, and AWS's quota "Table-level write throughput limit" (${count(TABLE_UNITS)} by default)`,
    rings: "`TableThrottled`",
  },
  {
    what: "Read units of the table",
    unit: "a second",
    need: PEAK * (events.reads + pushes.reads),
    first: 3 * NEW_TABLE_UNITS,
    lifted: SETTINGS.warmThroughput.reads,
    by: `\`warmThroughput\`, and the quota "Table-level read throughput limit" (${count(TABLE_UNITS)} by default)`,
    rings: "`TableThrottled`",
  },
  {
    what: "Events of one workspace, by the hottest partition key",
    unit: "a second",
    need: PEAK * perSecond(EVENTS),
    first: measuredCeiling("events in batches"),
    lifted: measuredCeiling("events in batches"),
    by: "nothing: beyond it, more workspaces. Measured by `npm run bench -- scale` on the model of the table",
    rings: "`TableThrottled`",
  },
];

const ofFunctions = (): Ceiling[] => [
  {
    what: "Pushes that the workers deliver",
    unit: "a second",
    need: PEAK * perSecond(PUSHES),
    first: deliverers(workerConcurrencyOf({ accountConcurrency: 1_000 } as Parameters<typeof workerConcurrencyOf>[0])),
    lifted: deliverers(SETTINGS.workerConcurrency),
    by: "`workerConcurrency` (AWS allows 1,000 a queue)",
    rings: "`DeliverLate`, after half an hour",
  },
  {
    what: "Invocations at once: events, deliveries, reactions and as much again for all else",
    unit: "",
    need: 2 * PEAK * (events.atOnce + pushes.atOnce + (reactions / STREAM.batch) * STREAM.seconds),
    first: 1_000,
    lifted: SETTINGS.accountConcurrency,
    by: "AWS's quota of concurrent executions (L-B99A9384), which `npm run deploy` reads",
    rings: "`NearConcurrency`, at 80%",
  },
  {
    what: `Changes that wake \`react\`, of ${shards} shards of the table's stream`,
    unit: "a second",
    need: PEAK * reactions,
    first: (NEW_TABLE_UNITS / PARTITION_UNITS) * STREAM.parallel * (STREAM.batch / STREAM.seconds),
    lifted: shards * STREAM.parallel * (STREAM.batch / STREAM.seconds),
    by: "partitions: the table has a shard for each",
    rings: "`ReactionsLate`, after five minutes",
  },
  {
    what: "Pushes that Google takes of one project",
    unit: "a second",
    need: PEAK * perSecond(PUSHES),
    first: FCM_A_MINUTE / 60,
    lifted: FCM_A_MINUTE / 60,
    by: "Google, on request; a throttle is waited out, and costs no attempt",
    rings: "the rate and the time to finish are in the send",
  },
];

export const ceilings = (): Ceiling[] => [...ofRequests(), ...ofTable(), ...ofFunctions()];

/** What the day leaves in the table, in GB. */
const storedGb = (EVENTS * STORED_BYTES.event + PUSHES * STORED_BYTES.send) / GB;

/** Dollars of the day, by what AWS bills; `kept`: of each further month that the events are stored. */
const dollars = () => ({
  events: dollarsOf(EVENTS, MEASURED.eventOfMany, "burst"),
  requests: (EVENTS / PER_REQUEST / MILLION) * RATES.requests,
  pushes: dollarsOf(PUSHES, PER_RECIPIENT.other, "burst"),
  kept: storedGb * RATES.storedGb,
});

const count = (n: number) => (n >= 10 ? Math.round(n) : Math.round(n * 10) / 10).toLocaleString("en-US");
const hours = (perSecond: number) => count(PUSHES / perSecond / 3_600);

export function scalePage(): string {
  const flows = [
    ["API requests", requests, 0],
    ["write units of the table", events.writes, pushes.writes],
    ["read units of the table", events.reads, pushes.reads],
    ["messages of queues", events.messages, pushes.messages],
    ["invocations at once", events.atOnce, pushes.atOnce],
  ] as const;
  const day = dollars();
  const deliver = ceilings().find(({ what }) => what.startsWith("Pushes that the workers"))!;
  return `<!-- Generated by \`npm run docs\`; never edited. -->

# A billion events and 100 million pushes a day

What such a day takes, computed from the units that [performance.md](performance.md) measured, and the ceilings that it meets.
Nothing of it was run on AWS. The table's part is measured on the model of its throughput, by \`npm run bench -- scale\`. The busiest
second is taken as ${PEAK} times an average one, events come a thousand a request with keys, nearly every one of a different person, pushes go
to many. Where a request has the events of a hundred people, an event takes ${count(MEASURED.event.wcu)} write units in place of ${count(MEASURED.eventOfMany.wcu)}, and a third of the storage.

## Each second

| | events | pushes | both | in the busiest second |
|---|--:|--:|--:|--:|
| how many | ${count(perSecond(EVENTS))} | ${count(perSecond(PUSHES))} | | |
${flows.map(([what, a, b]) => `| ${what} | ${count(a)} | ${count(b)} | ${count(a + b)} | ${count(PEAK * (a + b))} |`).join("\n")}

## Ceilings

"Needed" is of the busiest second. "At first" is a new deployment in an account with 1,000 invocations at once, "lifted" is with
the settings below and the quotas that are named.

| ceiling | needed | at first | lifted | what lifts it | what tells |
|---|--:|--:|--:|---|---|
${ceilings()
  .map(
    ({ what, unit, need, first, lifted, by, rings }) =>
      `| ${what} | ${[count(need), unit].filter(Boolean).join(" ")} | ${count(first)} | ${count(lifted)} | ${by} | ${rings} |`,
  )
  .join("\n")}

\`\`\`json
${JSON.stringify(SETTINGS, null, 2)}
\`\`\`

- **Plans.** The largest plan counts ${count(plans.enterprise.events)} events and ${count(plans.enterprise.sends)} sends a month: a day of this uses them up.
  \`shared/rules/plans.ts\` has the numbers.
- **Hours.** The pushes take ${hours(deliver.first)} hours at the first worker concurrency of 10, and ${hours(deliver.lifted)} at ${SETTINGS.workerConcurrency}, if the providers take them: Google's
  ${count(FCM_A_MINUTE)} a minute alone are ${hours(FCM_A_MINUTE / 60)} hours.
- **Partitions.** ${shards} partitions take the busiest second. A table that is warmed has them at once; one that is not splits its hot
  partitions within minutes, and throttles meanwhile.
- **Lambda** adds 1,000 environments of a function every ten seconds, which is faster than this load rises.
- **Queues** and the scheduler have no ceiling that this load meets: EventBridge Scheduler gets one schedule a minute of due rows.

## Dollars

| of this day | dollars |
|---|--:|
| events: units, queues, functions | ${count(day.events)} |
| their requests | ${count(day.requests)} |
| pushes | ${count(day.pushes)} |
| storing them, for each month | ${count(day.kept)} |

Storage is the largest part soon: a month of such days is ${count(30 * storedGb)} GB, which cost ${count(30 * day.kept)} dollars for each month that they are kept.
`;
}
