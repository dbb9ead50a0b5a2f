// Stores a conversion once: a row with the sends and sources that it counts for, and their counters.
import { SECOND } from "../../kernel/clock.ts";
import { namedError } from "../../kernel/errors.ts";
import { type Attribution, attribute, type Touch } from "../../rules/attribution.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { absent, asRead, is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { dayOf, type StoredEvent } from "../events/events.ts";
import { changeItem, type ItemWrite, putItem, type RowOf, ref } from "../item.ts";
import { contended, done, transacted, untilUncontended } from "../refusals.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";
import { findJobs } from "../sends/jobs/jobs.ts";
import { shardOf } from "../shards.ts";
import type { ConversionDefinition } from "./conversions.ts";
import {
  type AddedCredit,
  type Credit,
  creditAt,
  creditOf,
  daysOf,
  type LastTouch,
  lastCredits,
  nameOf,
  onMoreDays,
  placeOf,
  totalWrites,
} from "./credits.ts";
import { countedConversion, dayWrites } from "./hours.ts";
import {
  Conversion,
  type ConversionGroup,
  Converted,
  conversionGroups,
  conversionShard,
  JobConversionCount,
} from "./items.ts";
import { isBeingDelivered, isCompared, touchesOf } from "./touches-before.ts";

const MAX_ATTEMPTS = 8;
/** Sends of one transaction: each needs at most seven rows (its job, its source, days of the source). */
const SENDS_TOGETHER = 12;
/** The most days of a source for which it is noted that they count a subscriber. */
const MAX_DAYS = 400;

/**
 * Counts an event for the sends that reached its subscriber. The same event again only adds what was not known before.
 * `awaiting`: the outcome of an earlier touch is still to come.
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
  // The next transaction knows what this one has counted for newer sends.
  for (const batch of chunksOf(sends, SENDS_TOGETHER)) await countFor(store, facts, batch);
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

/**
 * The revenue in whole cents. A value that is not a number counts as 0, and so does one that no sum could hold exactly.
 */
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
  last: LastTouch | undefined;
}

/** The writes that count a conversion where it does not count yet; none if there is nothing to count. */
async function conversionWrites(
  store: Store,
  { subscriber, event, revenue, last: lastSend }: Facts,
  sends: readonly CountedSend[],
): Promise<ItemWrite<"workspace">[]> {
  const day = dayOf(event.occurred_at);
  const key = { day, at: event.occurred_at, event: event.id };
  const sources = sourcesOf(sends);
  const assigned = sends.filter(({ isAssigned }) => isAssigned);
  const converting = [...assigned.map(({ job }) => `job#${job}`), ...new Set(sources.map(nameOf))];

  const [old, ...converted] = await store.getEach([
    ref(Conversion, key),
    ...converting.map((source) => ref(Converted, { subscriber, source })),
  ]);
  if (old && !old.jobs) return [];

  const before = countedIn(old);
  const added = {
    jobs: assigned.filter((assignment) => !before.jobs.includes(jobName(assignment))),
    sources: sources.filter((source) => !before.sources.some((counted) => placeOf(counted) === placeOf(source))),
  };

  const last = lastCredits(lastSend);
  /** The category and the type of channel of the last touch. */
  const kind = lastSend && `${lastSend.job.category}|${lastSend.channel ?? ""}`;
  const lastAt = lastSend?.job.dispatched_at ?? undefined;
  const isMoved = last.map(placeOf).sort().join() !== before.last.map(placeOf).sort().join() || kind !== old?.last_kind;
  if (old && !isMoved && added.jobs.length + added.sources.length === 0) return [];
  const rowOf = (name: string) => converted[converting.indexOf(name)];
  const lastIn = (group: ConversionGroup) => last.find((credit) => credit.group === group)?.id;
  /** The credit of the last touch: the definition may have changed since. */
  const credited = old && !isMoved ? old.revenue : revenue;
  const row = {
    revenue: credited,
    last_campaign: lastIn("campaign"),
    last_journey: lastIn("journey"),
    last_channel: lastIn("channel"),
    last_kind: kind,
    last_at: lastAt,
    sources: [...before.sources, ...added.sources].map(placeOf),
    jobs: [...before.jobs, ...added.jobs.map(jobName)],
    looks: (old?.looks ?? 0) + 1,
  };

  const moved: AddedCredit[] = isMoved
    ? [
        ...before.last.map((credit) => ({ credit, add: { last_n: -1, last_revenue: -(old?.revenue ?? 0) } })),
        ...last.map((credit) => ({ credit, add: { last_n: 1, last_revenue: revenue } })),
      ]
    : [];
  const shard = conversionShard(shardOf(event.id));
  const bySource = [...new Set(added.sources.map(nameOf))].map((name): CountedSource => {
    const creditsOf = (credits: readonly Credit[]) => credits.filter((credit) => nameOf(credit) === name);
    return { name, row: rowOf(name), added: creditsOf(added.sources), counted: creditsOf(before.sources) };
  });

  return [
    putItem(Conversion, key, row, old ? is("looks", old.looks ?? 0) : absent()),
    ...added.jobs.flatMap((send) =>
      jobWrites(send, { subscriber, shard, revenue, isFirst: !rowOf(`job#${send.job}`) }),
    ),
    ...bySource.flatMap((source) => convertedWrites(subscriber, source)),
    ...totalWrites(shard, [
      ...bySource.flatMap(({ row, added }) => onMoreDays("converters", 1, added, row?.days ?? [])),
      ...bySource.flatMap(({ added, counted }) => onMoreDays("revenue", revenue, added, daysOf(counted))),
      ...moved,
    ]),
    ...(isMoved ? kindWrites(event, [lastAt, kind, revenue], [old?.last_at, old?.last_kind, old?.revenue ?? 0]) : []),
  ];
}

interface CountedSource {
  name: string;
  /** The row that the subscriber has converted after the send. */
  row: RowOf<typeof Converted> | undefined;
  added: Credit[];
  /** The credits for which this conversion counts already. */
  counted: Credit[];
}

function convertedWrites(subscriber: string, { name: source, row, added }: CountedSource): ItemWrite<"workspace">[] {
  const known = row?.days ?? [];
  const days = [...new Set([...known, ...daysOf(added)])].sort().slice(-MAX_DAYS);
  if (!row) return [putItem(Converted, { subscriber, source }, { days }, absent())];
  if (days.join() === known.join()) return [];
  return [changeItem(Converted, { subscriber, source }, { set: { days } }, asRead("days", row.days))];
}

function jobWrites(
  { job, group }: CountedSend,
  { subscriber, shard, revenue, isFirst }: { subscriber: string; shard: string; revenue: number; isFirst: boolean },
): ItemWrite<"workspace">[] {
  const add =
    group === "treated"
      ? { t_n: 1, t_revenue: revenue, ...(isFirst && { t: 1 }) }
      : { h_n: 1, h_revenue: revenue, ...(isFirst && { h: 1 }) };
  return [
    ...(isFirst ? [putItem(Converted, { subscriber, source: `job#${job}` }, {}, absent())] : []),
    changeItem(JobConversionCount, { job, shard }, { add }),
  ];
}

const jobName = ({ job, group }: Pick<Touch, "job" | "group">): string => `${group}#${job}`;

/** The credits in a stored conversion. */
function countedIn(row: RowOf<typeof Conversion> | undefined) {
  const sources = (row?.sources ?? []).map(creditAt);
  const last = conversionGroups.flatMap((group): Credit[] => {
    const id = row?.[`last_${group}`];
    return id === undefined ? [] : [{ group, id, day: dayOf(row?.last_at ?? "") }];
  });
  return { jobs: row?.jobs ?? [], sources, last };
}

/** The sources of the sends that reached the subscriber, once for each day. */
function sourcesOf(sends: readonly CountedSend[]): Credit[] {
  const credits = sends.flatMap(({ isDelivered, record }) => (isDelivered ? (creditOf(record) ?? []) : []));
  return [...new Map(credits.map((credit) => [placeOf(credit), credit])).values()];
}

function lastOf({ jobs: sends, last }: Attribution, jobs: readonly (JobRecord | undefined)[]): LastTouch | undefined {
  const job = last && jobs[sends.findIndex((send) => send.job === last.job)];
  return job && { job, channel: last.channel };
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
