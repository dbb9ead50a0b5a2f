// How often a job was seen, opened and clicked: the sums of its counters.
import { DAY } from "../../../kernel/clock.ts";
import { type Interaction, interactions, type Stage, stages } from "../../../rules/interactions.ts";
import type { StoreReader } from "../../context.ts";
import { familyOf } from "../../families.ts";
import type { NewRowOf, RowOf } from "../../item.ts";
import { SHARDS } from "../../shards.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { InteractionCount, type ReportedInteraction } from "./items.ts";

type Tally = {
  /** Reports by interaction. */
  interactions: Record<Interaction, number>;
  /** Distinct recipients who reached each stage. */
  recipients: Record<Stage, number>;
};

export interface InteractionTotals extends Tally {
  /** By channel type. */
  channels: Record<string, Tally>;
  /** By arm; only of A/B sends. */
  variants: Record<string, Tally>;
}

type CountedInteraction = Pick<
  NewRowOf<typeof ReportedInteraction>,
  "interaction" | "channel" | "variant_id" | "firsts" | "retracted"
>;

const REPORTS = "i";
const RECIPIENTS = "r";

/**
 * The additions of a row to the counters: `i|tapped`, `r|opened`, and the same under `c|<channel>` and `v|<variant>`.
 */
export function countersOf({ interaction, channel, variant_id, firsts, retracted = [] }: CountedInteraction) {
  const names = [`${REPORTS}|${interaction}`];
  if (channel !== undefined) names.push(`c|${channel}|${REPORTS}|${interaction}`);
  if (variant_id !== undefined) names.push(`v|${variant_id}|${REPORTS}|${interaction}`);
  const counters = Object.fromEntries(names.map((name) => [name, 1]));
  for (const name of recipientCounters(firsts, variant_id)) counters[name] = (counters[name] ?? 0) + 1;
  for (const name of recipientCounters(retracted, variant_id)) counters[name] = (counters[name] ?? 0) - 1;
  return counters;
}

export const recipientCounters = (stagesReached: readonly string[], variant: string | undefined): string[] =>
  stagesReached.flatMap((reached) => {
    const [stage, by] = reached.split("@");
    if (by !== undefined) return [`c|${by}|${RECIPIENTS}|${stage}`];
    const name = `${RECIPIENTS}|${stage}`;
    return variant === undefined ? [name] : [name, `v|${variant}|${name}`];
  });

/** Later interactions count on the last of these days, so that the counter of a job stays small. */
const MAX_DAYS = 30;

/**
 * The counters of a campaign's first opens and clicks by days in UTC since its dispatch; none of jobs of other sources.
 * @param marks stages that a recipient reached first; those by channel are left out
 * @param n -1 takes them back
 */
export function dayCounters(
  { source, dispatched_at }: Pick<JobRecord, "source" | "dispatched_at">,
  at: string,
  marks: readonly string[],
  n: 1 | -1 = 1,
): Record<string, number> {
  if (source.type !== "campaign" || !dispatched_at) return {};
  const dayNumber = (time: string) => Math.floor(Date.parse(time) / DAY);
  const after = Math.min(Math.max(0, dayNumber(at) - dayNumber(dispatched_at)), MAX_DAYS);
  const counted = marks.filter((mark) => mark !== "reached" && !mark.includes("@"));
  return Object.fromEntries(counted.map((stage) => [`d|${after}|${stage}`, n]));
}

/** How many first reached a stage on a day. */
export interface InteractionDay {
  /** Days in UTC since the dispatch of the job. */
  after: number;
  stage: string;
  n: number;
}

/** First opens and clicks of a campaign's job by day, and its totals: one request, half an RCU for each of 16 rows. */
export async function interactionCourse(
  store: StoreReader,
  job: string,
): Promise<{ totals: InteractionTotals; days: InteractionDay[] }> {
  const rows = await rowsOf(store, job);
  return { totals: totalsOf(rows.flatMap(countersIn)), days: rows.flatMap(daysIn) };
}

/** As `interactionCourse`, without the days. */
export async function interactionTotals(store: StoreReader, job: string): Promise<InteractionTotals> {
  return (await interactionCourse(store, job)).totals;
}

const daysIn = (row: RowOf<typeof InteractionCount>): InteractionDay[] =>
  familyOf(row, "d|").map(([name, n]) => {
    const [after = "0", stage = ""] = name.split("|");
    return { after: Number(after), stage, n };
  });

async function rowsOf(store: StoreReader, job: string): Promise<RowOf<typeof InteractionCount>[]> {
  const keys = SHARDS.map((shard) => ({ job, shard }));
  return (await store.getAll(InteractionCount, keys, { eventual: true })).flatMap((row) => row ?? []);
}

type Counter = readonly [name: string, n: number];

const countersIn = (row: RowOf<typeof InteractionCount>): Counter[] =>
  (["i|", "r|", "c|", "v|"] as const).flatMap((prefix) =>
    familyOf(row, prefix).map(([name, n]): Counter => [prefix + name, n]),
  );

type Sums = ReadonlyMap<string, number>;

/** The totals of counters by name, see `countersOf`. */
export function totalsOf(counters: readonly Counter[]): InteractionTotals {
  const sums = new Map<string, number>();
  for (const [name, n] of counters) sums.set(name, (sums.get(name) ?? 0) + n);
  return { ...tallyOf(sums, ""), channels: talliesBy(sums, "c"), variants: talliesBy(sums, "v") };
}

const tallyOf = (sums: Sums, scope: string): Tally => ({
  interactions: recordOf(interactions, (name) => sums.get(`${scope}${REPORTS}|${name}`) ?? 0),
  recipients: recordOf(stages, (name) => sums.get(`${scope}${RECIPIENTS}|${name}`) ?? 0),
});

function talliesBy(sums: Sums, by: "c" | "v"): Record<string, Tally> {
  const scopes = [...sums.keys()].map((name) => name.split("|")).filter(([first]) => first === by);
  const names = new Set(scopes.flatMap(([, name]) => name ?? []));
  return Object.fromEntries([...names].map((name) => [name, tallyOf(sums, `${by}|${name}|`)]));
}

/** A record of all these names. */
const recordOf = <K extends string>(names: readonly K[], count: (name: K) => number) =>
  Object.fromEntries(names.map((name) => [name, count(name)])) as Record<K, number>;
