// What a conversion counts for, written down once: a row that says so, and the counters of its sends and sources.
import { SECOND, timeOfUuid } from "../../clock.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { type Attribution, attribute, type Touch } from "../../rules/attribution.ts";
import type { Channel } from "../channels/channels.ts";
import { listChannels } from "../channels/channels.ts";
import { absent } from "../conditions.ts";
import { dayOf, type StoredEvent } from "../events/events.ts";
import { CONVERSION_SHARDS, keys, shardOf } from "../keys.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { messagesSince } from "../sends/inbox.ts";
import { findJobs, type JobItem } from "../sends/jobs.ts";
import { touchesSince } from "../sends/touches.ts";
import type { TransactItem } from "../table.ts";
import type { ConversionDefinition } from "./conversions.ts";

export const conversionGroups = ["campaign", "journey", "channel"] as const;
export type ConversionGroup = (typeof conversionGroups)[number];

const MAX_ATTEMPTS = 8;

/** Counts an event for what touched its subscriber; the same event again changes nothing. */
export async function recordConversion(
  store: Store,
  subscriber: string,
  event: StoredEvent,
  { value_property, window_seconds }: ConversionDefinition,
): Promise<void> {
  const occurredAt = Date.parse(event.occurred_at);
  const touches = await touchesOf(store, subscriber, occurredAt - window_seconds * SECOND, occurredAt);
  const attribution = attribute(touches, occurredAt, window_seconds);
  if (attribution.jobs.length === 0) return;
  const [jobs, channels] = await Promise.all([
    findJobs(
      store,
      attribution.jobs.map(({ job }) => job),
    ),
    listChannels(store),
  ]);
  const facts = { subscriber, event, revenue: revenueOf(event, value_property), attribution, jobs, channels };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const writes = await writesOf(store, facts);
    const outcome = await store.transact(writes).then(
      () => "counted" as const,
      onTransactionCanceled(([existing]) => (existing ? ("known" as const) : ("again" as const))),
    );
    if (outcome !== "again") return;
  }
  throw Object.assign(new Error("Too many conversions of one subscriber at once."), { name: "ThrottlingException" });
}

/** Everything a subscriber was assigned in, from one time to another. */
async function touchesOf(store: StoreReader, subscriber: string, from: number, to: number): Promise<Touch[]> {
  const [rows, messages] = await Promise.all([
    touchesSince(store, subscriber, from),
    messagesSince(store, subscriber, from),
  ]);
  const sent = rows.map(
    (row): Touch => ({
      job: String(row.job),
      at: Date.parse(row.sk.split("#")[1]!),
      group: row.state === "held_out" ? "held_out" : "treated",
      isDelivered: row.state === "sent",
      channel: row.channel as string | undefined,
    }),
  );
  const shown = messages.map(
    (row): Touch => ({
      job: String(row.job),
      at: timeOfUuid(row.sk.slice("I#".length)),
      group: "treated",
      isDelivered: true,
      channel: "in_app",
    }),
  );
  return [...sent, ...shown].filter(({ at }) => at >= from && at <= to);
}

/** Whole cents; what is no number counts nothing. */
function revenueOf({ properties }: StoredEvent, property: string | null): number {
  const value = property === null || !Object.hasOwn(properties, property) ? 0 : properties[property];
  return typeof value === "number" && Number.isFinite(value) ? Math.round(value) : 0;
}

interface Facts {
  subscriber: string;
  event: StoredEvent;
  revenue: number;
  attribution: Attribution;
  jobs: readonly (JobItem | undefined)[];
  channels: readonly Channel[];
}

async function writesOf(store: Store, facts: Facts): Promise<TransactItem[]> {
  const { subscriber, event, revenue, attribution, jobs } = facts;
  const { tenant } = store;
  const day = dayOf(event.occurred_at);
  const shard = CONVERSION_SHARDS[Number.parseInt(shardOf(event.id), 16) % CONVERSION_SHARDS.length]!;
  const sources = new Map<string, { type: ConversionGroup; id: string }>();
  for (const [i, { isDelivered }] of attribution.jobs.entries()) {
    const source = jobs[i]?.source;
    if (isDelivered && source && source.id !== null && (source.type === "campaign" || source.type === "journey"))
      sources.set(`${source.type}#${source.id}`, { type: source.type, id: source.id });
  }
  const marks = [...attribution.jobs.map(({ job }) => `job#${job}`), ...sources.keys()];
  const existing = await store.getAll(marks.map((mark) => keys.converted(tenant, subscriber, mark)));
  const isFirst = new Set(marks.filter((_, i) => !existing[i]));
  const last = lastOf(facts);
  const row = {
    ...keys.conversion(tenant, day, `${event.occurred_at}#${event.id}`),
    revenue,
    ...Object.fromEntries(last.map(({ type, id }) => [`last_${type}`, id])),
    sources: [...sources].map(([mark]) => `${mark}${isFirst.has(mark) ? "#first" : ""}`),
  };
  const byDay = new Map<string, Record<string, number>>();
  const addOn = (type: ConversionGroup, id: string, counters: Record<string, number>) => {
    const name = `${type} ${id}`;
    byDay.set(name, { ...byDay.get(name), ...counters });
  };
  for (const [mark, { type, id }] of sources)
    addOn(type, id, { n: 1, revenue, ...(isFirst.has(mark) && { converters: 1 }) });
  for (const { type, id } of last) addOn(type, id, { last_n: 1, last_revenue: revenue });
  return [
    { put: row, when: absent() },
    ...[...isFirst].map(
      (mark): TransactItem => ({ put: { ...keys.converted(tenant, subscriber, mark) }, when: absent() }),
    ),
    ...attribution.jobs.map(({ job, group }): TransactItem => {
      const arm = group === "treated" ? "t" : "h";
      const add = { [`${arm}_n`]: 1, [`${arm}_revenue`]: revenue, ...(isFirst.has(`job#${job}`) && { [arm]: 1 }) };
      return { update: keys.jobConversions(tenant, job, shard), change: { add } };
    }),
    ...[...byDay].map(([name, add]): TransactItem => {
      const [type, id] = name.split(" ") as [ConversionGroup, string];
      return { update: keys.conversionDay(tenant, type, day, id, shard), change: { add } };
    }),
  ];
}

/** Whom the last touch gives the conversion to: its source, and the channel it came by (AMB-97). */
function lastOf({ attribution: { jobs: assigned, last }, jobs, channels }: Facts) {
  const given: { type: ConversionGroup; id: string }[] = [];
  const job = last && jobs[assigned.findIndex((each) => each.job === last.job)];
  if (!job) return given;
  const { source } = job;
  if (source.id !== null && (source.type === "campaign" || source.type === "journey"))
    given.push({ type: source.type, id: source.id });
  const channel = channels.find(({ id, type }) => type === last.channel && job.channel_ids.includes(id));
  if (channel) given.push({ type: "channel", id: channel.id });
  return given;
}
