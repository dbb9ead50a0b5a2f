// The settlement of a quarter-hour of sends to one subscriber: the totals of its jobs are compared with the counted
// ones, and the difference is counted. It may run at any time and any number of times (docs/decisions/0055, 0056).
import { timeOfUuid, uuidPrefixOf } from "../../../kernel/ids.ts";
import { addedUp } from "../../../rules/counting.ts";
import { isTerminal } from "../../../rules/job-states.ts";
import type { Seals } from "../../audit/items.ts";
import { auditKey } from "../../audit/macs.ts";
import { addedSeals, sealsOf } from "../../audit/seals.ts";
import { absent, is, present } from "../../conditions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { familyOf } from "../../families.ts";
import { hashOf } from "../../hash.ts";
import { outcomeCounters, outcomesBeyond } from "../../insights/hours.ts";
import { HourCount } from "../../insights/items.ts";
import { changeItem, type ItemWrite, type RowOf, ref } from "../../item.ts";
import { fromJson, toJson } from "../../json-text.ts";
import type { Key } from "../../model.ts";
import { busy, contended, done, transacted, untilUncontended, whereItHolds } from "../../refusals.ts";
import type { Secrets } from "../../secrets.ts";
import { shardOf } from "../../shards.ts";
import { deliveryCounters } from "../../subscribers/engagement.ts";
import { EngagementCount } from "../../subscribers/statistics-items.ts";
import { pagesOf } from "../../table.ts";
import { Usage } from "../../workspaces/items.ts";
import { QUARTER_MS, quarterAt } from "../../workspaces/sends-ahead.ts";
import { periodAt } from "../../workspaces/usage.ts";
import { type JobLane, lanesOf } from "../jobs/job-ids.ts";
import { JobItem, JobWidth, QuarterItem } from "../jobs/job-items.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { jobOf } from "../jobs/jobs.ts";
import { addendsOf, beyond, tallyOf } from "./tallies.ts";

type JobRow = RowOf<typeof JobItem>;
type Numbers = Record<string, number>;

/** Sends of the quarter-hour whose share of the quota was taken ahead. */
const AHEAD = "ahead";
/** Counters of the workspace's days, as `day 2026-11-22 k|marketing|delivered`, and of its weeks. */
const DAY = "day";
const WEEK = "week";

/** The partitions of a workspace's sends to one subscriber. */
export async function directLanes(store: StoreReader): Promise<JobLane[]> {
  const width = await store.get(JobWidth, {});
  return lanesOf(["api"], (kind) => width?.[kind] === true);
}

/**
 * For this many quarter-hours, a quarter-hour is settled only by its watch. After that the nightly recount settles it
 * too.
 */
export const WATCHED_QUARTERS = 3;

const periodOf = (quarter: number): string => periodAt(quarter * QUARTER_MS).name;

interface SettledQuarter {
  /** The sends that have not ended. */
  open: JobRecord[];
  /** The totals that were not counted before. */
  counted: Numbers;
}

/**
 * Counts the uncounted part of a quarter-hour in one partition, in one transaction with the row of the counted totals.
 * That row is read before the jobs, so a worker with older jobs is refused and reads them again.
 */
export async function settleQuarter(
  store: Store,
  secrets: Secrets,
  quarter: number,
  lane: JobLane,
): Promise<SettledQuarter> {
  const key = auditKey(await secrets.root(), store.tenant);
  return untilUncontended(busy.transient("A quarter-hour is being settled by others."), async () => {
    const refs = [ref(QuarterItem, { quarter, lane }), ref(Usage, { period: periodOf(quarter) })] as const;
    const [former, usage] = await store.getEach(refs);
    const { totals, open, seals } = await readQuarter(store, quarter, lane, key);
    const counted = beyond(totals, former ? fromJson(former.totals) : {});
    const sealed = Object.keys(seals).length > 0 ? toJson(seals) : undefined;
    if (former && former.seals === sealed && Object.keys(counted).length === 0) return done({ open, counted });
    const set = { totals: toJson(totals), rev: (former?.rev ?? 0) + 1, ...(sealed && { seals: sealed }) };
    const isAsRead = former ? is("rev", former.rev) : absent();
    const counting = [
      changeItem(QuarterItem, { quarter, lane }, { set }, isAsRead),
      ...counterWrites(counted, shardOf(hashOf(`${quarter} ${lane}`))),
      ...(former && counted[AHEAD] ? [chargeLate(quarter, usage, counted[AHEAD])] : []),
    ];
    const isSettled = await transacted(store, counting);
    return isSettled ? done({ open, counted }) : contended;
  });
}

/**
 * Charges jobs that appeared after a settlement: the quota taken ahead for them was returned, unless that is still to
 * come.
 */
const chargeLate = (quarter: number, usage: RowOf<typeof Usage> | undefined, n: number): ItemWrite<"workspace"> => {
  const period = periodOf(quarter);
  const taken = `ahead:${quarter}` as const;
  return usage?.[taken] === undefined
    ? changeItem(Usage, { period }, { add: { sends: n } }, absent(taken))
    : changeItem(Usage, { period }, { add: { sends: 0 } }, present(taken));
};

/**
 * Returns the unused quota that was taken ahead in a quarter-hour, when all its partitions are settled. An environment
 * can no longer use its part by then.
 */
export async function returnUnused(store: Store, quarter: number, lanes: readonly JobLane[]): Promise<void> {
  const period = periodOf(quarter);
  const name = `ahead:${quarter}` as const;
  const taken = (await store.get(Usage, { period }))?.[name];
  if (taken === undefined) return;
  const keys = lanes.map((lane) => ({ quarter, lane }));
  const rows = await store.getAll(QuarterItem, keys);
  if (rows.some((row) => row === undefined)) return;
  const used = rows.reduce((sum, row) => sum + (row ? (fromJson(row.totals)[AHEAD] ?? 0) : 0), 0);
  await whereItHolds(
    store.change(Usage, { period }, { add: { sends: used - taken }, remove: [name] }, is(name, taken)),
  );
}

/** How many sends of a quarter-hour used quota that was taken ahead in it. */
export async function usedAhead(store: StoreReader, quarter: number): Promise<number> {
  let used = 0;
  for (const lane of await directLanes(store)) used += (await readQuarter(store, quarter, lane)).totals[AHEAD] ?? 0;
  return used;
}

/** Quarter-hours in which sends were taken ahead and that are not settled yet. */
export async function unsettledQuarters(store: StoreReader, at: number): Promise<number[]> {
  const row = await store.get(Usage, { period: periodAt(at).name });
  return familyOf(row ?? {}, "ahead:").map(([quarter]) => Number(quarter));
}

/** The quarter-hour of the first send to one subscriber from a time on; undefined if there is none. */
export async function firstQuarter(
  store: StoreReader,
  lanes: readonly JobLane[],
  { from, to }: { from: number; to: number },
): Promise<number | undefined> {
  const bounds = { from: uuidPrefixOf(from), to: uuidPrefixOf(to), limit: 1 };
  const pages = await Promise.all(lanes.map((lane) => store.query(JobItem, { lane }, bounds)));
  const found = pages.flatMap(({ items }) => items.map(({ id }) => quarterAt(timeOfUuid(id))));
  return found.length > 0 ? Math.min(...found) : undefined;
}

/** Quarter-hours before the current one that may not be settled yet. */
const UNSETTLED_QUARTERS = 3;
/** Sends that a report reads itself, of each partition. Of more than these, it shows none until they are settled. */
const MAX_SHOWN = 100;

export type DayCounters = Omit<RowOf<typeof HourCount>, "pk">;

/**
 * The pending additions of the last quarter-hours to the counters of days, so that a workspace with few sends sees its
 * own at once. @returns rows like those of `HourCount`
 */
export async function unsettledDays(store: StoreReader): Promise<DayCounters[]> {
  const lanes = await directLanes(store);
  const last = quarterAt(store.clock.now());
  const quarters = Array.from({ length: UNSETTLED_QUARTERS + 1 }, (_, i) => last - i);
  const bounds = {
    from: uuidPrefixOf((last - UNSETTLED_QUARTERS) * QUARTER_MS),
    to: uuidPrefixOf((last + 1) * QUARTER_MS),
  };
  const days: DayCounters[] = [];
  await Promise.all(
    lanes.map(async (lane) => {
      const { items, next } = await store.query(JobItem, { lane }, { ...bounds, limit: MAX_SHOWN });
      if (next || items.length === 0) return;
      const keys = quarters.map((quarter) => ({ quarter, lane }));
      const settled = await store.getAll(QuarterItem, keys);
      const counted = addedUp(settled.map((row) => (row ? fromJson(row.totals) : {})));
      for (const [day, counters] of byDay(beyond(totalsOf(items), counted)).days) days.push({ sk: day, ...counters });
    }),
  );
  return days;
}

export const sealsOfQuarter = async (store: StoreReader, key: Buffer, quarter: number, lane: JobLane): Promise<Seals> =>
  (await readQuarter(store, quarter, lane, key)).seals;

/** Reads a quarter-hour. @param key of the audit trail, if the seals are needed */
async function readQuarter(store: StoreReader, quarter: number, lane: JobLane, key?: Buffer) {
  const bounds = { from: uuidPrefixOf(quarter * QUARTER_MS), to: uuidPrefixOf((quarter + 1) * QUARTER_MS) };
  let totals: Numbers = {};
  let seals: Seals = {};
  const open: JobRecord[] = [];
  for await (const { items } of pagesOf((after?: Key) => store.query(JobItem, { lane }, { ...bounds, after }))) {
    open.push(...items.filter((row) => row.recipients !== undefined && !isTerminal(row.status)).map(jobOf));
    totals = addedUp([totals, totalsOf(items)]);
    if (key) seals = addedSeals([seals, sealsOf(key, items)]);
  }
  return { totals, open, seals };
}

/** The additions of sends to one subscriber to the counters. */
function totalsOf(rows: readonly JobRow[]): Numbers {
  const totals: Numbers = {};
  for (const row of rows)
    if (row.recipients !== undefined) for (const [name, n] of countersOf(row)) totals[name] = (totals[name] ?? 0) + n;
  return totals;
}

/** The additions of a job to the counters. If it waited, the outcomes before the wait were counted then. */
function countersOf(row: JobRow): [name: string, n: number][] {
  const counters: [string, number][] = row.ahead ? [[AHEAD, row.reserved ?? 0]] : [];
  if (row.counted === undefined || row.completed_at === undefined) return counters;
  const { completed_at: at, category, reported } = row;
  const outcomes = outcomeCounters(at, category, outcomesBeyond(addendsOf(row), reported ? fromJson(reported) : {}));
  const day = at.slice(0, "2026-11-22".length);
  for (const [name, n] of Object.entries(outcomes)) counters.push([`${DAY} ${day} ${name}`, n]);
  const deliveries: Numbers = { ...deliveryCounters(Date.parse(at), tallyOf(row).delivered_by_channel) };
  for (const [name, n] of Object.entries(deliveries)) counters.push([`${WEEK} ${name}`, n]);
  return counters;
}

function byDay(counted: Numbers): { days: Map<string, Numbers>; weeks: Numbers } {
  const days = new Map<string, Numbers>();
  const weeks: Numbers = {};
  for (const [name, n] of Object.entries(counted)) {
    const [kind, day = "", counter = ""] = name.split(" ");
    if (kind === WEEK) weeks[day] = n;
    if (kind === DAY) days.set(day, { ...days.get(day), [counter]: n });
  }
  return { days, weeks };
}

function counterWrites(counted: Numbers, shard: string): ItemWrite<"workspace">[] {
  const { days, weeks } = byDay(counted);
  return [
    ...[...days].map(([day, add]) => changeItem(HourCount, { shard, day }, { add })),
    ...(Object.keys(weeks).length > 0 ? [changeItem(EngagementCount, { shard }, { add: weeks })] : []),
  ];
}
