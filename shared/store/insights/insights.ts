// Results of sends (ISG): funnels, sums by last touch, lift against the control group, and when messages are opened.
import { DAY, SECOND, timestamp } from "../../kernel/clock.ts";
import { compareTexts } from "../../kernel/order.ts";
import { type SendCost, sumOfCosts } from "../../rules/cost.ts";
import { liftFields, liftOf, rateOf } from "../../rules/lift.ts";
import { type Campaign, findCampaign } from "../campaigns/campaigns.ts";
import type { StoreReader } from "../context.ts";
import { dayOf } from "../events/events.ts";
import { familyOf } from "../families.ts";
import type { RowOf } from "../item.ts";
import { type JourneyTotals, journeyCost, journeyTotals } from "../journeys/totals.ts";
import { namesOf } from "../names.ts";
import { jobNow, soFar } from "../sends/chunks/deferred.ts";
import type { Tally } from "../sends/chunks/tallies.ts";
import { type InteractionTotals, interactionTotals } from "../sends/interactions/totals.ts";
import { costOfJob } from "../sends/jobs/job-cost.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";
import { findJobs, getJob } from "../sends/jobs/jobs.ts";
import { countsNow } from "../sends/jobs/late.ts";
import { CONVERSION_SHARDS } from "../shards.ts";
import { conversionDefinitions, DEFAULT_WINDOW_SECONDS } from "./conversions.ts";
import { countersOfDays } from "./days.ts";
import { type ConversionGroup, DayTotals, JobConversionCount } from "./items.ts";

/** Milliseconds; both ends included. */
export interface Window {
  start: number;
  end: number;
}

const dayAt = (at: number) => timestamp(at).slice(0, 10);
/** @returns milliseconds */
export const startOfDay = (day: string) => Date.parse(`${day}T00:00:00.000Z`);

/** The credits of a source or channel in a window. */
interface CreditTotals {
  id: string;
  revenue: number;
  converters: number;
  /** By last touch. */
  lastN: number;
  lastRevenue: number;
}

type IsCounted = (day: string) => boolean;

/** The days from the beginning of a window on. */
const since =
  ({ start }: Pick<Window, "start">): IsCounted =>
  (day) =>
    day >= dayAt(start);

/** The addend of a day in the sum of a window, without what an earlier counted day has added already. */
export const addedBy = (row: RowOf<typeof DayTotals>, of: "converters" | "revenue", isCounted: IsCounted): number =>
  familyOf(row, `${of}_of|`).reduce((sum, [day, n]) => (isCounted(day) ? sum - n : sum), row[of] ?? 0);

/** Totals of a group over some days. */
function conversionsIn(rows: readonly RowOf<typeof DayTotals>[], isCounted: IsCounted): Map<string, CreditTotals> {
  const totals = new Map<string, CreditTotals>();
  for (const row of rows) {
    const [day = "", id = ""] = row.sk.split("#");
    if (!isCounted(day)) continue;
    const { last_n = 0, last_revenue = 0 } = row;
    const sum = totals.get(id) ?? { id, revenue: 0, converters: 0, lastN: 0, lastRevenue: 0 };
    totals.set(id, sum);
    sum.revenue += addedBy(row, "revenue", isCounted);
    sum.converters += addedBy(row, "converters", isCounted);
    sum.lastN += last_n;
    sum.lastRevenue += last_revenue;
  }
  return totals;
}

const daysOf = (store: StoreReader, group: ConversionGroup, { start, end }: Window) =>
  store.queryAll(DayTotals, { group }, { from: dayAt(start), to: `${dayAt(end)}~`, eventual: true });

export interface Funnel extends JourneyTotals {
  /** Subscribers who converted after any of its messages, and the revenue of their conversions. */
  converted: number;
  revenue_cents: number;
  /** By last touch. */
  conversions: number;
  last_touch_revenue_cents: number;
  /** The cost of its sends (F10), without the moves of a journey's runs. */
  cost: SendCost;
}

const isWithin = ({ start, end }: Window, at: string | null) =>
  at !== null && Date.parse(at) >= start && Date.parse(at) <= end;

/** A job with the reactions of its recipients. */
export interface CampaignSend {
  job: JobRecord;
  totals: InteractionTotals;
}

/** The jobs of a campaign's messages; a draft has none. */
export const jobIdsOf = ({ messages }: Pick<Campaign, "messages">): string[] =>
  messages.flatMap(({ job_id }) => (job_id === "" ? [] : [job_id]));

export async function campaignJobs(store: StoreReader, campaign: Campaign): Promise<JobRecord[]> {
  const found = (await findJobs(store, jobIdsOf(campaign))).flatMap((job) => job ?? []);
  return Promise.all(found.map((job) => jobNow(store, job)));
}

/** The sends that were dispatched within a window. */
export async function campaignSends(
  store: StoreReader,
  jobs: readonly JobRecord[],
  window: Window,
): Promise<CampaignSend[]> {
  const dispatched = jobs.filter((job) => isWithin(window, job.dispatched_at));
  return Promise.all(dispatched.map(async (job) => ({ job, totals: await interactionTotals(store, job.id) })));
}

/**
 * The sends dispatched within the window and their results, also after its end (ISG-1). Conversions and a journey's
 * sends are counted by whole days in UTC, including the first and the last day of the window. @param sends of a
 * campaign, if they are read already
 */
export async function funnelOf(
  store: StoreReader,
  { type, id }: { type: "campaign" | "journey"; id: string },
  window: Window,
  sends?: Promise<CampaignSend[]>,
): Promise<Funnel> {
  const [rows, campaignSends] = await Promise.all([
    daysOf(store, type, window),
    type === "campaign" ? (sends ?? sendsOf(store, id, window)) : undefined,
  ]);
  const days = campaignSends && new Set(campaignSends.map(({ job }) => dayOf(job.dispatched_at ?? job.created_at)));
  const isCounted: IsCounted = days ? (day) => days.has(day) : since(window);
  const { converters = 0, revenue = 0, lastN = 0, lastRevenue = 0 } = conversionsIn(rows, isCounted).get(id) ?? {};
  return {
    ...(campaignSends ? campaignTotals(campaignSends) : ofJourney(rows, id)),
    converted: converters,
    revenue_cents: revenue,
    conversions: lastN,
    last_touch_revenue_cents: lastRevenue,
  };
}

const ofJourney = (rows: readonly RowOf<typeof DayTotals>[], id: string) => ({
  ...journeyTotals(rows, id),
  cost: journeyCost(rows, id),
});

async function sendsOf(store: StoreReader, id: string, window: Window): Promise<CampaignSend[]> {
  const campaign = await findCampaign(store, id);
  return campaign ? campaignSends(store, await campaignJobs(store, campaign), window) : [];
}

export function campaignTotals(sends: readonly CampaignSend[]): JourneyTotals & { cost: SendCost } {
  const sum = (count: (send: CampaignSend) => number) => sends.reduce((total, send) => total + count(send), 0);
  const result = (name: keyof ReturnType<typeof countsNow>) => sum(({ job }) => countsNow(job, job)[name]);
  return {
    sent: sum(({ job }) => job.counts.sent),
    delivered: result("delivered"),
    bounced: result("bounced"),
    complained: result("complained"),
    unsubscribed: result("unsubscribed"),
    failed: result("failed"),
    uncertain: result("uncertain"),
    opened: sum(({ totals }) => totals.recipients.opened),
    opened_human: sum(({ totals }) => totals.recipients.opened_human),
    clicked: sum(({ totals }) => totals.recipients.clicked),
    clicked_human: sum(({ totals }) => totals.recipients.clicked_human),
    cost: sumOfCosts(sends.map(({ job }) => costOfJob(job, job))),
  };
}

/** Sums by last touch (ISG-3): each conversion counts only for its last touch, on the day of that send. */
export async function summaryOf(store: StoreReader, group: ConversionGroup, window: Window) {
  const sums = [...conversionsIn(await daysOf(store, group, window), since(window)).values()].filter(
    ({ lastN }) => lastN > 0,
  );
  const wanted = sums.map(({ id }) => ({ kind: group, id }));
  const names = await namesOf(store, wanted);
  return sums
    .sort((a, b) => b.lastRevenue - a.lastRevenue || b.lastN - a.lastN || compareTexts(a.id, b.id))
    .map(({ id, lastN, lastRevenue }) => ({
      source_id: id,
      source: { id, name: names.of(group, id) },
      conversions: lastN,
      revenue_cents: lastRevenue,
      last_touch_revenue_cents: lastRevenue,
    }));
}

interface JobConversions {
  converters: number;
  revenue: number;
}

/** Conversions after a job: of its recipients, and of its control group. */
async function conversionsOfJob(
  store: StoreReader,
  job: string,
): Promise<{ treated: JobConversions; holdout: JobConversions }> {
  const keys = CONVERSION_SHARDS.map((shard) => ({ job, shard }));
  const rows = await store.getAll(JobConversionCount, keys, { eventual: true });
  const sum = (name: "t" | "t_revenue" | "h" | "h_revenue") =>
    rows.reduce((total, row) => total + (row?.[name] ?? 0), 0);
  return {
    treated: { converters: sum("t"), revenue: sum("t_revenue") },
    holdout: { converters: sum("h"), revenue: sum("h_revenue") },
  };
}

/** The recipients of a job at its dispatch: a recipient skipped only later can convert as well (D-ATTRIB). */
const assignedTo = ({ counts, late_skips }: Pick<Tally, "counts" | "late_skips">): number => counts.sent + late_skips;

/** The lift of a job (ISG-6 to ISG-9), with the interval of F9. @throws 404 for an unknown job */
export async function liftOfJob(store: StoreReader, id: string) {
  const [job, definitions] = await Promise.all([
    getJob(store, id).then((found) => soFar(store, found)),
    conversionDefinitions(store),
  ]);
  const [conversions, names] = await Promise.all([
    conversionsOfJob(store, id),
    namesOf(store, [{ kind: "notification", id }]),
  ]);
  const arm = (size: number, { converters, revenue }: JobConversions) => ({
    size,
    converters,
    conversion_rate: rateOf({ size, converters }),
    revenue_cents: revenue,
  });
  const treated = arm(assignedTo(job), conversions.treated);
  const holdout = arm(job.counts.held_out, conversions.holdout);
  const longest = Math.max(0, ...definitions.map(({ window_seconds }) => window_seconds));
  return {
    job_id: id,
    job: { id, name: names.of("notification", id) },
    treated,
    holdout,
    ...liftFields(liftOf(treated, holdout)),
    window_days: Math.ceil(((longest || DEFAULT_WINDOW_SECONDS) * SECOND) / DAY),
    conversion_configured: definitions.length > 0,
  };
}

/** When messages arrived and were opened, by weekday and hour in UTC (ISG-4, ISG-5). */
export async function heatmapOf(store: StoreReader, days: number) {
  const today = startOfDay(dayAt(store.clock.now()));
  const from = dayAt(today - (days - 1) * DAY);
  const rows = await countersOfDays(store, { from, to: dayAt(today) });
  const cells = new Map<string, { weekday: number; hour: number; delivered: number; opened: number }>();
  for (const row of rows) {
    const weekday = new Date(startOfDay(row.sk)).getUTCDay();
    for (const counted of ["delivered", "opened"] as const)
      for (const [hour, n] of familyOf(row, `${counted}:`)) {
        const key = `${weekday} ${hour}`;
        const cell = cells.get(key) ?? { weekday, hour: Number(hour), delivered: 0, opened: 0 };
        cell[counted] += n;
        cells.set(key, cell);
      }
  }
  return {
    window_days: days,
    // A bounce counts at its own hour, and its delivery when its range was closed: that may be the hour after.
    cells: [...cells.values()]
      .map((cell) => ({ ...cell, delivered: Math.max(0, cell.delivered) }))
      .filter(({ delivered, opened }) => delivered > 0 || opened > 0)
      .sort((a, b) => a.weekday - b.weekday || a.hour - b.hour),
  };
}
