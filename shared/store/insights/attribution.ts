// What a conversion counts for, stored once: a row that names it, and the counters of its sends and sources.
import { SECOND } from "../../kernel/clock.ts";
import { namedError } from "../../kernel/errors.ts";
import { type Attribution, attribute, type Touch } from "../../rules/attribution.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { absent, is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { dayOf, type StoredEvent } from "../events/events.ts";
import { changeItem, type ItemWrite, putItem, type RowOf, ref } from "../item.ts";
import { contended, done, transacted, untilUncontended } from "../refusals.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";
import { findJobs } from "../sends/jobs/jobs.ts";
import { shardOf } from "../shards.ts";
import type { ConversionDefinition } from "./conversions.ts";
import { countedConversion, dayWrites } from "./hours.ts";
import {
  Conversion,
  type ConversionGroup,
  Converted,
  conversionGroups,
  conversionShard,
  DayTotals,
  JobConversionCount,
} from "./items.ts";
import { isBeingDelivered, isCompared, touchesOf } from "./touches-before.ts";

const MAX_ATTEMPTS = 8;
/** Sends that one transaction counts a conversion for: of each at most a job and a source, and the first conversion of both. */
const SENDS_TOGETHER = 20;

/**
 * Counts an event for what touched its subscriber. The same event again adds what was not known before, and changes
 * nothing otherwise. `awaiting`: the outcome of a touch before the event is still to come.
 */
export async function recordConversion(
  store: Store,
  subscriber: string,
  event: StoredEvent,
  { value_property, window_seconds }: ConversionDefinition,
): Promise<"settled" | "awaiting"> {
  const occurredAt = Date.parse(event.occurred_at);
  const { touches, open } = await touchesOf(store, subscriber, occurredAt - window_seconds * SECOND, occurredAt);
  const attribution = attribute(touches, occurredAt, window_seconds);
  if (attribution.jobs.length === 0) return "settled";
  const jobIds = attribution.jobs.map(({ job }) => job);
  const [jobs, isOpen] = await Promise.all([findJobs(store, jobIds), isBeingDelivered(store, open, occurredAt)]);
  const facts = { subscriber, event, revenue: revenueOf(event, value_property), last: lastOf(attribution, jobs) };
  const sends = attribution.jobs.map((send, i) => {
    const record = jobs[i];
    return { ...send, record, isAssigned: send.isAssigned && isCompared(store, record) };
  });
  // What is counted of the newer ones is known to the transaction after it.
  for (const some of chunksOf(sends, SENDS_TOGETHER)) await countFor(store, facts, some);
  return isOpen ? "awaiting" : "settled";
}

const countFor = (store: Store, facts: Facts, sends: readonly CountedSend[]): Promise<void> =>
  untilUncontended(
    () => namedError("ThrottlingException", "Too many conversions of one subscriber at once."),
    async () => {
      const writes = await conversionWrites(store, facts, sends);
      const isCounted = writes.length === 0 || (await transacted(store, writes));
      return isCounted ? done(undefined) : contended;
    },
    MAX_ATTEMPTS,
  );

/** In whole cents; a value that is not a number counts as 0, and so does one that no sum could hold exactly. */
function revenueOf({ properties }: StoredEvent, property: string | null): number {
  const value = property === null || !Object.hasOwn(properties, property) ? 0 : properties[property];
  const cents = typeof value === "number" ? Math.round(value) : 0;
  return Number.isSafeInteger(cents) ? cents : 0;
}

type CountedSend = Attribution["jobs"][number] & { record: JobRecord | undefined };

interface Facts {
  subscriber: string;
  event: StoredEvent;
  revenue: number;
  /** The send of the last touch, and the type of the channel by which it came. */
  last: { job: JobRecord; channel: string | undefined } | undefined;
}

/** What a conversion is counted for, on the day on which the send of its touch was dispatched. */
interface Credit {
  group: ConversionGroup;
  id: string;
  day: string;
}

const nameOf = ({ group, id }: Credit) => `${group}#${id}`;
const placeOf = (credit: Credit) => `${nameOf(credit)}#${credit.day}`;

/** The writes that make a conversion count for what it did not count for yet; none if there is nothing. */
async function conversionWrites(
  store: Store,
  { subscriber, event, revenue, last: lastSend }: Facts,
  sends: readonly CountedSend[],
): Promise<ItemWrite<"workspace">[]> {
  const day = dayOf(event.occurred_at);
  const key = { day, at: event.occurred_at, event: event.id };
  const sources = sourcesOf(sends);
  const assigned = sends.filter(({ isAssigned }) => isAssigned);
  const converting = [...assigned.map(({ job }) => `job#${job}`), ...sources.map(nameOf)];
  const [old, ...converted] = await store.getEach([
    ref(Conversion, key),
    ...converting.map((source) => ref(Converted, { subscriber, source })),
  ]);
  if (old && !old.jobs) return [];
  const before = countedIn(old);
  const added = {
    jobs: assigned.filter((one) => !before.jobs.includes(jobName(one))),
    sources: sources.filter((one) => !before.sources.has(nameOf(one))),
  };
  const last = lastCredits(lastSend);
  /** The category and the type of channel of the last touch. */
  const kind = lastSend && `${lastSend.job.category}|${lastSend.channel ?? ""}`;
  const lastAt = lastSend?.job.dispatched_at ?? undefined;
  const isMoved = last.map(placeOf).sort().join() !== before.last.map(placeOf).sort().join() || kind !== old?.last_kind;
  if (old && !isMoved && added.jobs.length + added.sources.length === 0) return [];
  const counted = new Set([...added.jobs.map(({ job }) => `job#${job}`), ...added.sources.map(nameOf)]);
  const first = new Set(converting.filter((name, i) => counted.has(name) && !converted[i]));
  /** Those by which the subscriber converted before, after an older send. */
  const again = added.sources.flatMap((credit) => {
    const countedOn = converted[converting.indexOf(nameOf(credit))]?.day;
    return countedOn !== undefined && countedOn < credit.day ? [{ ...credit, countedOn }] : [];
  });
  const lastIn = (group: ConversionGroup) => last.find((credit) => credit.group === group)?.id;
  /** What the last touch is credited with: the definition may have changed since. */
  const credited = old && !isMoved ? old.revenue : revenue;
  const row = {
    revenue: credited,
    last_campaign: lastIn("campaign"),
    last_journey: lastIn("journey"),
    last_channel: lastIn("channel"),
    last_kind: kind,
    last_at: lastAt,
    sources: [
      ...(old?.sources ?? []),
      ...added.sources.map(nameOf).map((name) => `${name}${first.has(name) ? "#first" : ""}`),
    ],
    jobs: [...before.jobs, ...added.jobs.map(jobName)],
    looks: (old?.looks ?? 0) + 1,
  };
  const shard = conversionShard(shardOf(event.id));
  return [
    putItem(Conversion, key, row, old ? is("looks", old.looks ?? 0) : absent()),
    ...[...first].map((source) =>
      putItem(Converted, { subscriber, source }, { day: dayIn(sources, source) }, absent()),
    ),
    ...again.map(({ countedOn, ...credit }) =>
      changeItem(Converted, { subscriber, source: nameOf(credit) }, { set: { day: credit.day } }, is("day", countedOn)),
    ),
    ...added.jobs.map(({ job, group }) => {
      const isFirst = first.has(`job#${job}`);
      const add =
        group === "treated"
          ? { t_n: 1, t_revenue: revenue, ...(isFirst && { t: 1 }) }
          : { h_n: 1, h_revenue: revenue, ...(isFirst && { h: 1 }) };
      return changeItem(JobConversionCount, { job, shard }, { add });
    }),
    ...creditWrites(
      { shard, revenue, creditedBefore: isMoved ? (old?.revenue ?? 0) : revenue },
      { sources: added.sources, first, again, last, lastBefore: before.last },
    ),
    ...(isMoved ? kindWrites(event, [lastAt, kind, revenue], [old?.last_at, old?.last_kind, old?.revenue ?? 0]) : []),
  ];
}

/** The day of a source; undefined of a job. */
const dayIn = (sources: readonly Credit[], name: string) => sources.find((one) => nameOf(one) === name)?.day;

const jobName = ({ job, group }: Pick<Touch, "job" | "group">): string => `${group}#${job}`;

/** What a stored conversion counts for. */
function countedIn(row: RowOf<typeof Conversion> | undefined) {
  const sources = new Set(row?.sources.map((source) => source.split("#", 2).join("#")));
  const last = conversionGroups.flatMap((group): Credit[] => {
    const id = row?.[`last_${group}`];
    return id === undefined ? [] : [{ group, id, day: dayOf(row?.last_at ?? "") }];
  });
  return { jobs: row?.jobs ?? [], sources, last };
}

/** The sources of the sends that reached the subscriber, each once, by the newest of its sends. */
function sourcesOf(sends: readonly CountedSend[]): Credit[] {
  const sources = new Map<string, Credit>();
  for (const { isDelivered, record } of sends) {
    const credit = isDelivered ? creditOf(record) : undefined;
    if (credit && !sources.has(nameOf(credit))) sources.set(nameOf(credit), credit);
  }
  return [...sources.values()];
}

const creditOf = (job: JobRecord | undefined): Credit | undefined => {
  if (!job?.source.id) return undefined;
  const { type, id } = job.source;
  return type === "campaign" || type === "journey" ? { group: type, id, day: dispatchDay(job) } : undefined;
};

const dispatchDay = ({ dispatched_at, created_at }: JobRecord): string => dayOf(dispatched_at ?? created_at);

function lastOf({ jobs: sends, last }: Attribution, jobs: readonly (JobRecord | undefined)[]): Facts["last"] {
  const job = last && jobs[sends.findIndex((send) => send.job === last.job)];
  return job && { job, channel: last.channel };
}

/** The source of the last touch, and the channel of the touch: these get the conversion alone (AMB-97). */
function lastCredits(last: Facts["last"]): Credit[] {
  if (!last) return [];
  const { job, channel: type } = last;
  // Of several channels of the type, the one that the send went by.
  const channel = job.deliverySettings?.via.find((one) => one.type === type)?.id;
  const source = creditOf(job);
  const byChannel = channel && { group: "channel" as const, id: channel, day: dispatchDay(job) };
  return [...(source ? [source] : []), ...(byChannel ? [byChannel] : [])];
}

type Last = readonly [at: string | undefined, kind: string | undefined, revenue: number];

/** The write that counts a conversion in the series of the day of its last touch, or moves it from another one. */
const kindWrites = ({ id }: StoredEvent, [at, kind, revenue]: Last, [atBefore, before, creditedBefore]: Last) =>
  dayWrites(shardOf(id), [
    ...(at === undefined || kind === undefined ? [] : [countedConversion(at, kind, revenue, 1)]),
    ...(atBefore === undefined || before === undefined
      ? []
      : [countedConversion(atBefore, before, creditedBefore, -1)]),
  ]);

/** One write for each source or channel and day, as a transaction cannot change an item twice. */
function creditWrites(
  { shard, revenue, creditedBefore }: { shard: string; revenue: number; creditedBefore: number },
  credits: {
    sources: readonly Credit[];
    first: ReadonlySet<string>;
    again: readonly (Credit & { countedOn: string })[];
    last: readonly Credit[];
    lastBefore: readonly Credit[];
  },
): ItemWrite<"workspace">[] {
  const isIn = (list: readonly Credit[]) => {
    const places = new Set(list.map(placeOf));
    return (credit: Credit) => (places.has(placeOf(credit)) ? 1 : 0);
  };
  const [isSource, isLast, wasLast] = [isIn(credits.sources), isIn(credits.last), isIn(credits.lastBefore)];
  const all = [...credits.sources, ...credits.last, ...credits.lastBefore];
  return [...new Map(all.map((credit) => [placeOf(credit), credit])).values()].flatMap((credit) => {
    const moved = isLast(credit) - wasLast(credit);
    const movedRevenue = isLast(credit) * revenue - wasLast(credit) * creditedBefore;
    const before = credits.again.find((one) => placeOf(one) === placeOf(credit));
    const add = {
      ...(isSource(credit) === 1 && { n: 1, revenue }),
      ...(before && { [`again|${before.countedOn}`]: 1 }),
      ...(isSource(credit) === 1 && credits.first.has(nameOf(credit)) && { converters: 1 }),
      ...(moved !== 0 && { last_n: moved }),
      ...((moved !== 0 || movedRevenue !== 0) && { last_revenue: movedRevenue }),
    };
    return Object.keys(add).length === 0 ? [] : [changeItem(DayTotals, { ...credit, shard }, { add })];
  });
}
