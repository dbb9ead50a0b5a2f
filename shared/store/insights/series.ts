// Figures over time (RDA-10): of a workspace by day or hour, in all or by category or type of channel, and of one
// campaign or journey by day. They are sums of counters that other reports use too (docs/decisions/0041).
import { DAY, HOUR, timestamp } from "../../kernel/clock.ts";
import { invalid } from "../../kernel/errors.ts";
import { compareTexts } from "../../kernel/order.ts";
import { findCampaign } from "../campaigns/campaigns.ts";
import type { StoreReader } from "../context.ts";
import { dayOf } from "../events/events.ts";
import { familyOf } from "../families.ts";
import { stages } from "../journeys/totals.ts";
import { interactionCourse } from "../sends/interactions/totals.ts";
import { countsNow } from "../sends/jobs/late.ts";
import { countersOfDays } from "./days.ts";
import { addedBy, campaignJobs, startOfDay, type Window } from "./insights.ts";
import { DayTotals } from "./items.ts";

/** Counted when a message was sent, beside the reactions of its recipients. */
const ofASend = [
  "sent",
  "delivered",
  "failed",
  "uncertain",
  "skipped",
  "bounced",
  "complained",
  "unsubscribed",
] as const;
const measures = [
  ...ofASend,
  "opened",
  "opened_human",
  "clicked",
  "clicked_human",
  "converted",
  "revenue_cents",
  "conversions",
  "last_touch_revenue_cents",
] as const;
type Measure = (typeof measures)[number];

/** `null`: not counted in this series. */
type Bucket = { at: string; group: string | null } & Record<Measure, number | null>;

type SeriesGroup = "channel" | "category";

/**
 * Adds up buckets by time and group; all-zero ones are left out. @param counted the measures with values; others are
 * `null`
 */
function createSums(counted: readonly Measure[]) {
  const sums = new Map<string, Bucket>();
  const nothing = Object.fromEntries(measures.map((name) => [name, counted.includes(name) ? 0 : null]));
  return {
    add: (at: string, group: string | null, name: Measure, n: number): void => {
      const key = `${at} ${group}`;
      const bucket = sums.get(key) ?? ({ at, group, ...nothing } as Bucket);
      sums.set(key, bucket);
      bucket[name] = (bucket[name] ?? 0) + n;
    },
    buckets: (): Bucket[] =>
      [...sums.values()]
        .filter((bucket) => measures.some((name) => bucket[name]))
        .sort((a, b) => compareTexts(a.at, b.at) || compareTexts(a.group ?? "", b.group ?? "")),
  };
}

const MAX_DAYS = { day: 366, hour: 31 };

interface SeriesQuery {
  interval: "day" | "hour";
  group_by?: SeriesGroup | undefined;
  source_type?: "campaign" | "journey" | undefined;
  source_id?: string | undefined;
}

/** A series. @throws 422 for parameters that exclude each other, and for a window that is too long */
export async function seriesOf(
  store: StoreReader,
  { interval, group_by, source_type: type, source_id: id }: SeriesQuery,
  window: Window,
): Promise<Bucket[]> {
  const max = MAX_DAYS[interval];
  if (window.end - window.start > max * DAY)
    throw invalid({ start: `must be at most ${max} days before end where interval is ${interval}` });
  if (type !== undefined || id !== undefined) {
    if (id === undefined) throw invalid({ source_id: "must be given with source_type" });
    if (type === undefined) throw invalid({ source_type: "must be given with source_id" });
    if (group_by) throw invalid({ group_by: "must not be given with source_type" });
    if (interval === "hour") throw invalid({ interval: "must be day where source_type is given" });
    return sourceSeries(store, { type, id }, window);
  }
  if (interval === "hour" && group_by) throw invalid({ group_by: "must not be given where interval is hour" });
  return interval === "hour" ? hourSeries(store, window) : daySeries(store, group_by, window);
}

/** The stored names of measures, if they differ. */
const stored: Readonly<Record<string, Measure>> = { converted: "conversions", revenue: "last_touch_revenue_cents" };
const measureOf = (name: string): Measure | undefined =>
  stored[name] ?? measures.find((candidate) => candidate === name);

const midnightOf = (day: string) => timestamp(startOfDay(day));

/** The counters of the days that the window touches. */
const hourRows = (store: StoreReader, { start, end }: Window) =>
  countersOfDays(store, { from: dayOf(timestamp(start)), to: dayOf(timestamp(end)) });

/** Measures that are counted by source only: people who converted after any touch, and unconfirmed messages. */
const ofSources: readonly Measure[] = ["converted", "revenue_cents", "uncertain"];
const notOfChannels: readonly Measure[] = [...ofSources, "sent", "skipped"];

/**
 * A series by days in UTC; the first and the last day of the window count whole. `sent` is the number of delivered,
 * failed and bounced messages, on the day of the outcome; a later bounce counts on the day of its mail. By channel,
 * only figures of a channel are counted. A conversion counts for the last message delivered before it.
 */
async function daySeries(store: StoreReader, group: SeriesGroup | undefined, window: Window): Promise<Bucket[]> {
  const isByChannel = group === "channel";
  const sums = createSums(measures.filter((name) => !(isByChannel ? notOfChannels : ofSources).includes(name)));
  for (const row of await hourRows(store, window))
    for (const [name, n] of familyOf(row, isByChannel ? "c|" : "k|")) {
      const [of = "", what = ""] = name.split("|");
      const measure = measureOf(what);
      if (!measure) continue;
      const at = midnightOf(row.sk);
      const bucket = group === undefined ? null : of;
      sums.add(at, bucket, measure, n);
      if (!isByChannel && (measure === "delivered" || measure === "failed" || measure === "bounced"))
        sums.add(at, bucket, "sent", n);
    }
  return sums.buckets();
}

/** By hours in UTC: deliveries and first opens. The hours in which the window begins and ends count whole. */
async function hourSeries(store: StoreReader, window: Window): Promise<Bucket[]> {
  const counted = ["delivered", "opened"] as const;
  const sums = createSums(counted);
  for (const row of await hourRows(store, window))
    for (const measure of counted)
      for (const [hour, n] of familyOf(row, `${measure}:`)) {
        const at = startOfDay(row.sk) + Number(hour) * HOUR;
        if (at > window.start - HOUR && at <= window.end) sums.add(timestamp(at), null, measure, n);
      }
  return sums.buckets();
}

/**
 * The series of one source, by days in UTC. Sends count on the day of their dispatch. Opens and clicks of a campaign
 * count on their own day, those of a journey on the day of the dispatch, and so do conversions (ISG-1).
 */
async function sourceSeries(
  store: StoreReader,
  source: { type: "campaign" | "journey"; id: string },
  window: Window,
): Promise<Bucket[]> {
  const sums = createSums(source.type === "journey" ? measures.filter((name) => name !== "skipped") : measures);
  const [first, last] = [dayOf(timestamp(window.start)), dayOf(timestamp(window.end))];
  const add = (day: string, measure: Measure, n: number) => {
    if (day >= first && day <= last) sums.add(midnightOf(day), null, measure, n);
  };
  const range = { from: first, to: `${last}~`, eventual: true };
  const [rows] = await Promise.all([
    store.queryAll(DayTotals, { group: source.type }, range),
    source.type === "campaign" && addCampaign(store, source.id, add),
  ]);
  for (const row of rows) {
    const { sk, last_n = 0, last_revenue = 0 } = row;
    const [day = "", id] = sk.split("#");
    if (id !== source.id) continue;
    const isCounted = (counted: string) => counted >= first;
    add(day, "converted", addedBy(row, "converters", isCounted));
    add(day, "revenue_cents", addedBy(row, "revenue", isCounted));
    add(day, "conversions", last_n);
    add(day, "last_touch_revenue_cents", last_revenue);
    if (source.type === "campaign") continue;
    for (const stage of stages) {
      const measure = measureOf(stage);
      if (measure) add(day, measure, row[stage] ?? 0);
    }
  }
  return sums.buckets();
}

/** The fates of mails in a window of whole days in UTC. */
export async function mailFates(store: StoreReader, window: Window) {
  const fates = { delivered: 0, bounced: 0, complained: 0 };
  for (const row of await hourRows(store, window))
    for (const [name, n] of familyOf(row, "c|email|"))
      if (name === "delivered" || name === "bounced" || name === "complained") fates[name] += n;
  return fates;
}

async function addCampaign(
  store: StoreReader,
  id: string,
  add: (day: string, measure: Measure, n: number) => void,
): Promise<void> {
  const campaign = await findCampaign(store, id);
  const jobs = campaign ? await campaignJobs(store, campaign) : [];
  const dispatched = jobs.flatMap((job) => (job.dispatched_at ? [{ ...job, dispatched_at: job.dispatched_at }] : []));
  await Promise.all(
    dispatched.map(async (job) => {
      const day = dayOf(job.dispatched_at);
      const counts = countsNow(job, job);
      for (const name of ofASend) add(day, name, counts[name]);
      for (const { after, stage, n } of (await interactionCourse(store, job.id)).days) {
        const measure = measureOf(stage);
        if (measure) add(dayOf(timestamp(startOfDay(day) + after * DAY)), measure, n);
      }
    }),
  );
}
