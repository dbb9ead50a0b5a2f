// What a conversion counts for, stored once: a row that names it, and the counters of its sends and sources.
import { SECOND, timeOfUuid } from "../../clock.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { type Attribution, attribute, type Touch } from "../../rules/attribution.ts";
import { listChannels } from "../channels/channels.ts";
import type { Channel } from "../channels/items.ts";
import { absent } from "../conditions.ts";
import { dayOf, type StoredEvent } from "../events/events.ts";
import { changeItem, type ItemWrite, putItem } from "../item.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { messageIdOf, messagesSince } from "../sends/inbox.ts";
import { findJobs, type Job } from "../sends/jobs.ts";
import { touchesSince } from "../sends/touches.ts";
import { shardOf } from "../shards.ts";
import type { ConversionDefinition } from "./conversions.ts";
import {
  Conversion,
  type ConversionGroup,
  Converted,
  conversionShard,
  DayTotals,
  JobConversionCount,
} from "./items.ts";

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
      onTransactionCanceled(([existing]) => (existing ? ("existing" as const) : ("changed" as const))),
    );
    if (outcome !== "changed") return;
  }
  throw Object.assign(new Error("Too many conversions of one subscriber at once."), { name: "ThrottlingException" });
}

/** The touches of all sends that a subscriber was assigned in, from one time to another. */
async function touchesOf(store: StoreReader, subscriber: string, from: number, to: number): Promise<Touch[]> {
  const [rows, messages] = await Promise.all([
    touchesSince(store, subscriber, from),
    messagesSince(store, subscriber, from),
  ]);
  const sent = rows.map(({ sk, job, state, channel }): Touch => {
    const [, at = ""] = sk.split("#");
    return {
      job,
      at: Date.parse(at),
      group: state === "held_out" ? "held_out" : "treated",
      isDelivered: state === "sent",
      channel,
    };
  });
  const shown = messages.map(
    (row): Touch => ({
      job: row.job,
      at: timeOfUuid(messageIdOf(row)),
      group: "treated",
      isDelivered: true,
      channel: "in_app",
    }),
  );
  return [...sent, ...shown].filter(({ at }) => at >= from && at <= to);
}

/** In whole cents; a value that is not a number counts as 0. */
function revenueOf({ properties }: StoredEvent, property: string | null): number {
  const value = property === null || !Object.hasOwn(properties, property) ? 0 : properties[property];
  return typeof value === "number" && Number.isFinite(value) ? Math.round(value) : 0;
}

interface Facts {
  subscriber: string;
  event: StoredEvent;
  revenue: number;
  attribution: Attribution;
  jobs: readonly (Job | undefined)[];
  channels: readonly Channel[];
}

/** What a conversion is counted for. */
interface Credit {
  group: ConversionGroup;
  id: string;
}

const nameOf = ({ group, id }: Credit) => `${group}#${id}`;

async function writesOf(store: Store, facts: Facts): Promise<ItemWrite<"workspace">[]> {
  const { subscriber, event, revenue, attribution } = facts;
  const sources = sourcesOf(facts);
  const counted = [...attribution.jobs.map(({ job }) => `job#${job}`), ...sources.map(nameOf)];
  const existing = await store.getAll(
    Converted,
    counted.map((source) => ({ subscriber, source })),
  );
  const first = new Set(counted.filter((_, i) => !existing[i]));
  const last = lastOf(facts);
  const lastIn = (group: ConversionGroup) => last.find((credit) => credit.group === group)?.id;
  const day = dayOf(event.occurred_at);
  const row = {
    revenue,
    last_campaign: lastIn("campaign"),
    last_journey: lastIn("journey"),
    last_channel: lastIn("channel"),
    sources: sources.map(nameOf).map((name) => `${name}${first.has(name) ? "#first" : ""}`),
  };
  const shard = conversionShard(shardOf(event.id));
  return [
    putItem(Conversion, { day, at: event.occurred_at, event: event.id }, row, absent()),
    ...[...first].map((source) => putItem(Converted, { subscriber, source }, {}, absent())),
    ...attribution.jobs.map(({ job, group }) => {
      const isFirst = first.has(`job#${job}`);
      const add =
        group === "treated"
          ? { t_n: 1, t_revenue: revenue, ...(isFirst && { t: 1 }) }
          : { h_n: 1, h_revenue: revenue, ...(isFirst && { h: 1 }) };
      return changeItem(JobConversionCount, { job, shard }, { add });
    }),
    ...dayWrites({ day, shard, revenue }, { sources, first, last }),
  ];
}

/** The sources of the sends that reached the subscriber, each once. */
function sourcesOf({ attribution, jobs }: Facts): Credit[] {
  const sources = new Map<string, Credit>();
  for (const [i, { isDelivered }] of attribution.jobs.entries()) {
    const credit = isDelivered ? creditOf(jobs[i]) : undefined;
    if (credit) sources.set(nameOf(credit), credit);
  }
  return [...sources.values()];
}

const creditOf = (job: Job | undefined): Credit | undefined => {
  const { type, id } = job?.source ?? {};
  return id && (type === "campaign" || type === "journey") ? { group: type, id } : undefined;
};

/** The source of the last touch, and the channel of the touch: these get the conversion alone (AMB-97). */
function lastOf({ attribution: { jobs: assigned, last }, jobs, channels }: Facts): Credit[] {
  const job = last && jobs[assigned.findIndex((each) => each.job === last.job)];
  if (!job) return [];
  const source = creditOf(job);
  const channel = channels.find(({ id, type }) => type === last.channel && job.channel_ids.includes(id));
  return [...(source ? [source] : []), ...(channel ? [{ group: "channel" as const, id: channel.id }] : [])];
}

/** One write for each source or channel, as a transaction cannot change an item twice. */
function dayWrites(
  { day, shard, revenue }: { day: string; shard: string; revenue: number },
  { sources, first, last }: { sources: readonly Credit[]; first: ReadonlySet<string>; last: readonly Credit[] },
): ItemWrite<"workspace">[] {
  const isSource = new Set(sources.map(nameOf));
  const isLast = new Set(last.map(nameOf));
  const credits = new Map([...sources, ...last].map((credit) => [nameOf(credit), credit]));
  return [...credits].map(([name, credit]) => {
    const add = {
      ...(isSource.has(name) && { n: 1, revenue }),
      ...(first.has(name) && { converters: 1 }),
      ...(isLast.has(name) && { last_n: 1, last_revenue: revenue }),
    };
    return changeItem(DayTotals, { ...credit, day, shard }, { add });
  });
}
