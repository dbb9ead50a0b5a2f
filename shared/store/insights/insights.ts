// What sends came to: funnels, sums by last touch, lift against the control group, and when people open (ISG).

import { DAY, SECOND, timestamp } from "../../clock.ts";
import type { StoreReader } from "../../resources.ts";
import { liftOf, rateOf } from "../../rules/lift.ts";
import { type Campaign, findCampaign } from "../campaigns/campaigns.ts";
import { type JourneyTotals, journeyTotals } from "../journeys/totals.ts";
import { CONVERSION_SHARDS, keys, SHARDS } from "../keys.ts";
import type { Item } from "../model.ts";
import { allItems } from "../pages.ts";
import { interactionTotals } from "../sends/interaction-totals.ts";
import { findJobs, getJob, type JobItem } from "../sends/jobs.ts";
import type { ConversionGroup } from "./attribution.ts";
import { conversionDefinitions, DEFAULT_WINDOW_SECONDS } from "./conversions.ts";

/** Milliseconds; both ends included. */
export interface Window {
  start: number;
  end: number;
}

const dayAt = (at: number) => timestamp(at).slice(0, 10);
const startOfDay = (day: string) => Date.parse(`${day}T00:00:00.000Z`);

interface DaySum {
  id: string;
  n: number;
  revenue: number;
  converters: number;
  lastN: number;
  lastRevenue: number;
}

/** Sums of a group over a window: whole days from their counters, the days at its ends from their rows. */
async function conversionsOf(
  store: StoreReader,
  group: ConversionGroup,
  { start, end }: Window,
): Promise<Map<string, DaySum>> {
  const sums = new Map<string, DaySum>();
  const sumOf = (id: string): DaySum => {
    const found = sums.get(id) ?? { id, n: 0, revenue: 0, converters: 0, lastN: 0, lastRevenue: 0 };
    sums.set(id, found);
    return found;
  };
  const [first, last] = [dayAt(start), dayAt(end)];
  const isWhole = (day: string) => startOfDay(day) >= start && startOfDay(day) + DAY - 1 <= end;
  for (const item of await daysOf(store, group, { start, end })) {
    const [day = "", id = ""] = item.sk.split("#");
    if (!isWhole(day)) continue;
    const sum = sumOf(id);
    sum.n += Number(item.n ?? 0);
    sum.revenue += Number(item.revenue ?? 0);
    sum.converters += Number(item.converters ?? 0);
    sum.lastN += Number(item.last_n ?? 0);
    sum.lastRevenue += Number(item.last_revenue ?? 0);
  }
  for (const day of new Set([first, last].filter((each) => !isWhole(each)))) {
    const rows = await all(store, {
      pk: keys.conversions(store.tenant, day),
      from: timestamp(Math.max(start, startOfDay(day))),
      to: `${timestamp(Math.min(end, startOfDay(day) + DAY - 1))}~`,
    });
    for (const row of rows) {
      const revenue = Number(row.revenue);
      for (const source of (row.sources ?? []) as string[]) {
        const [type, id = "", isFirst] = source.split("#");
        if (type !== group) continue;
        const sum = sumOf(id);
        sum.n++;
        sum.revenue += revenue;
        if (isFirst) sum.converters++;
      }
      const lastId = row[`last_${group}`];
      if (lastId === undefined) continue;
      const sum = sumOf(String(lastId));
      sum.lastN++;
      sum.lastRevenue += revenue;
    }
  }
  return sums;
}

/** The rows of every day that the window touches. */
const daysOf = (store: StoreReader, group: ConversionGroup, { start, end }: Window): Promise<Item[]> =>
  all(store, { pk: keys.conversionDays(store.tenant, group), from: dayAt(start), to: `${dayAt(end)}~` });

const all = (store: StoreReader, range: { pk: string; from: string; to: string }): Promise<Item[]> =>
  allItems(store, { ...range, eventual: true });

export interface Funnel {
  sent: number;
  delivered: number;
  opened: number;
  /** Without those that machines alone opened (F19). */
  opened_human: number;
  clicked: number;
  converted: number;
  revenue_cents: number;
}

const isWithin = ({ start, end }: Window, at: string | null) =>
  at !== null && Date.parse(at) >= start && Date.parse(at) <= end;

/** The jobs of a campaign's messages that were dispatched within a window. */
export async function dispatchedJobs(store: StoreReader, { messages }: Campaign, window: Window): Promise<JobItem[]> {
  const released = messages.filter(({ job_id }) => job_id !== "");
  const jobs = await findJobs(
    store,
    released.map(({ job_id }) => job_id),
  );
  return jobs.flatMap((job) => (job && isWithin(window, job.dispatched_at) ? [job] : []));
}

/**
 * ISG-1: what was dispatched within the window, and what was converted within it. A journey's sends are counted by
 * whole days in UTC: the days in which the window begins and ends belong to it.
 */
export async function funnelOf(
  store: StoreReader,
  { type, id }: { type: "campaign" | "journey"; id: string },
  window: Window,
): Promise<Funnel> {
  const [reached, conversions] = await Promise.all([
    type === "campaign" ? campaignTotals(store, id, window) : journeyTotals(await daysOf(store, type, window), id),
    conversionsOf(store, type, window),
  ]);
  const { converters = 0, revenue = 0 } = conversions.get(id) ?? {};
  return { ...reached, converted: converters, revenue_cents: revenue };
}

async function campaignTotals(store: StoreReader, id: string, window: Window): Promise<JourneyTotals> {
  const campaign = await findCampaign(store, id);
  const jobs = campaign ? await dispatchedJobs(store, campaign, window) : [];
  const totals = await Promise.all(jobs.map((job) => interactionTotals(store, job.id)));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);
  return {
    sent: sum(jobs.map(({ counts }) => counts.sent)),
    delivered: sum(jobs.map(({ counts }) => counts.delivered)),
    opened: sum(totals.map(({ recipients }) => recipients.opened)),
    opened_human: sum(totals.map(({ recipients }) => recipients.opened_human)),
    clicked: sum(totals.map(({ recipients }) => recipients.clicked)),
  };
}

/** ISG-3: each conversion counts for its last touch alone. */
export async function summaryOf(store: StoreReader, group: ConversionGroup, window: Window) {
  const sums = [...(await conversionsOf(store, group, window)).values()].filter(({ lastN }) => lastN > 0);
  return sums
    .sort((a, b) => b.lastRevenue - a.lastRevenue || b.lastN - a.lastN || (a.id < b.id ? -1 : 1))
    .map(({ id, lastN, lastRevenue }) => ({ source_id: id, conversions: lastN, revenue_cents: lastRevenue }));
}

export interface JobConversions {
  converters: number;
  revenue: number;
}

/** Conversions after a job, of those it was sent to and of those it was held back from. */
export async function conversionsOfJob(
  store: StoreReader,
  job: string,
): Promise<{ treated: JobConversions; holdout: JobConversions }> {
  const items = await store.getAll(
    CONVERSION_SHARDS.map((shard) => keys.jobConversions(store.tenant, job, shard)),
    { eventual: true },
  );
  const sum = (name: string) => items.reduce((total, item) => total + Number(item?.[name] ?? 0), 0);
  return {
    treated: { converters: sum("t"), revenue: sum("t_revenue") },
    holdout: { converters: sum("h"), revenue: sum("h_revenue") },
  };
}

/** ISG-6 to ISG-9, with the interval of F9. @throws 404 for an unknown job. */
export async function liftOfJob(store: StoreReader, id: string) {
  const [job, definitions] = await Promise.all([getJob(store, id), conversionDefinitions(store)]);
  const conversions = await conversionsOfJob(store, id);
  const arm = (size: number, { converters, revenue }: JobConversions) => ({
    size,
    converters,
    conversion_rate: rateOf({ size, converters }),
    revenue_cents: revenue,
  });
  const treated = arm(job.counts.sent, conversions.treated);
  const holdout = arm(job.counts.held_out, conversions.holdout);
  const { points, low, high, pValue, significant, detectable } = liftOf(treated, holdout);
  const longest = Math.max(0, ...definitions.map(({ window_seconds }) => window_seconds));
  return {
    job_id: id,
    treated,
    holdout,
    lift_percentage_points: points,
    ci_low: low,
    ci_high: high,
    p_value: pValue,
    significant,
    min_detectable_points: detectable,
    window_days: Math.ceil(((longest || DEFAULT_WINDOW_SECONDS) * SECOND) / DAY),
    conversion_configured: definitions.length > 0,
  };
}

/** ISG-4, ISG-5: when messages arrived and when they were opened, by weekday and hour in UTC. */
export async function heatmapOf(store: StoreReader, days: number) {
  const today = startOfDay(dayAt(store.clock.now()));
  const from = dayAt(today - (days - 1) * DAY);
  const parts = await Promise.all(
    SHARDS.map((shard) => all(store, { pk: keys.hours(store.tenant, shard, from).pk, from, to: "9999" })),
  );
  const cells = new Map<string, { weekday: number; hour: number; delivered: number; opened: number }>();
  for (const row of parts.flat()) {
    const weekday = new Date(startOfDay(row.sk)).getUTCDay();
    for (const [name, n] of Object.entries(row)) {
      const [, kind, hour] = /^(delivered|opened):(\d{2})$/.exec(name) ?? [];
      if (hour === undefined) continue;
      const key = `${weekday} ${hour}`;
      const cell = cells.get(key) ?? { weekday, hour: Number(hour), delivered: 0, opened: 0 };
      cell[kind as "delivered" | "opened"] += Number(n);
      cells.set(key, cell);
    }
  }
  return {
    window_days: days,
    cells: [...cells.values()].sort((a, b) => a.weekday - b.weekday || a.hour - b.hour),
  };
}
