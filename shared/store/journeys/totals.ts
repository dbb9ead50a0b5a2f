// The totals of a journey's sends, in the row that has the conversions of the day on which they were dispatched.
import { costOf, type Rate, roundedDollars, type SendCost } from "../../rules/cost.ts";
import type { Stage } from "../../rules/interactions.ts";
import { fateOf, figuresOfFate, type RecipientFate } from "../../rules/recipient-fates.ts";
import { dayOf } from "../events/events.ts";
import { familyOf } from "../families.ts";
import { conversionShard, DayTotals } from "../insights/items.ts";
import { changeItem, type ItemWrite, type RowOf } from "../item.ts";
import { uncertainIn } from "../sends/chunks/tallies.ts";
import { expensesOf } from "../sends/jobs/job-cost.ts";
import type { LateResult } from "../sends/jobs/job-items.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";

/** The counters of sends: `opened_human` and `clicked_human` exclude interactions by machines only (F19). */
export const stages = [
  "sent",
  "delivered",
  "bounced",
  "complained",
  "unsubscribed",
  "failed",
  "uncertain",
  "opened",
  "opened_human",
  "clicked",
  "clicked_human",
] as const;
export type JourneyTotals = Record<(typeof stages)[number], number>;

const MILLION = 1_000_000;

type SentJob = Pick<JobRecord, "id" | "source" | "dispatched_at">;

/** The writes for the end of jobs, one for each journey and day; none for jobs of other sources. */
export function endedWrites(jobs: readonly JobRecord[]): ItemWrite<"workspace">[] {
  const dayOfSource = ({ source, dispatched_at }: SentJob) =>
    `${source.type} ${source.id} ${dayOf(dispatched_at ?? "")}`;
  const groups = Map.groupBy(jobs, dayOfSource);
  return [...groups.values()].flatMap((group) => {
    const sum = (stage: "sent" | "delivered" | "failed") => group.reduce((n, { counts }) => n + counts[stage], 0);
    const uncertain = group.reduce((n, { fail_reasons }) => n + uncertainIn(fail_reasons), 0);
    const ended = { sent: sum("sent"), delivered: sum("delivered"), failed: sum("failed"), uncertain };
    return group[0] ? addWrites(group[0], { ...ended, ...costsOf(group) }) : [];
  });
}

/** The writes for a report by which a recipient reached these stages for the first time. @param n -1 takes them back */
export const reachedWrites = (job: SentJob, reached: readonly Stage[], n: 1 | -1 = 1): ItemWrite<"workspace">[] =>
  addWrites(
    job,
    Object.fromEntries(
      reached.filter((stage) => stage !== "reached").map((stage) => [stage, n]),
    ) as Partial<JourneyTotals>,
  );

/** The writes for a mail of a journey that arrived after all, came back, was complained about or led to an opt-out. */
export function lateTotalWrites(job: SentJob, late: LateResult): ItemWrite<"workspace">[] {
  const { kind } = late;
  if (kind === "complained" || kind === "unsubscribed") return addWrites(job, { [kind]: 1 });
  const fate = fateOf(late);
  return fate ? addWrites(job, figuresOfFate(fate, 1)) : [];
}

/** The writes that take such a result back. */
export const fateTotalWrites = (job: SentJob, fate: RecipientFate): ItemWrite<"workspace">[] =>
  addWrites(job, figuresOfFate(fate, -1));

type Costs = Record<`cost|${string}` | `unpriced|${string}`, number>;

/** Whole numbers: their sums are exact, whatever the order. */
function costsOf(jobs: readonly JobRecord[]): Costs {
  const costs: Costs = {};
  const add = (name: keyof Costs, n: number) => {
    costs[name] = (costs[name] ?? 0) + n;
  };
  for (const job of jobs) {
    const { taken, provider } = expensesOf(job, job);
    for (const [name, n] of Object.entries({ ...taken, provider: provider.dollars }))
      add(`cost|${name}`, Math.round(n * MILLION));
    for (const type of provider.unpriced) add(`unpriced|${type}`, 1);
  }
  return costs;
}

function addWrites(
  { id, source, dispatched_at }: SentJob,
  counted: Partial<JourneyTotals & Costs>,
): ItemWrite<"workspace">[] {
  const add = Object.fromEntries(Object.entries(counted).filter(([, n]) => n !== 0));
  if (source.type !== "journey" || source.id === null || !dispatched_at || Object.keys(add).length === 0) return [];
  const shard = conversionShard(id.slice(-1));
  return [changeItem(DayTotals, { group: "journey", day: dayOf(dispatched_at), id: source.id, shard }, { add })];
}

/** The rows of one journey: a day has the rows of all. */
const rowsOf = (rows: readonly RowOf<typeof DayTotals>[], journey: string) =>
  rows.filter(({ sk }) => sk.split("#")[1] === journey);

/** The sums of one journey in the rows of some days. A mail may come back before its send has ended and counts. */
export function journeyTotals(rows: readonly RowOf<typeof DayTotals>[], journey: string): JourneyTotals {
  const journeyRows = rowsOf(rows, journey);
  const totalOf = (stage: keyof JourneyTotals) => journeyRows.reduce((sum, row) => sum + (row[stage] ?? 0), 0);
  return Object.fromEntries(stages.map((stage) => [stage, Math.max(0, totalOf(stage))])) as JourneyTotals;
}

/** The cost of one journey's sends, from the rows of some days (F10). */
export function journeyCost(rows: readonly RowOf<typeof DayTotals>[], journey: string): SendCost {
  const journeyRows = rowsOf(rows, journey);
  const sum = (name: keyof Rate | "provider") =>
    journeyRows.reduce((total, row) => total + (row[`cost|${name}`] ?? 0), 0) / MILLION;
  const unpriced = new Set(journeyRows.flatMap((row) => familyOf(row, "unpriced|").map(([type]) => type)));
  const taken = { wcu: sum("wcu"), rcu: sum("rcu"), messages: sum("messages"), gbSeconds: sum("gbSeconds") };
  return costOf(taken, { dollars: roundedDollars(sum("provider")), unpriced: [...unpriced].sort() });
}
