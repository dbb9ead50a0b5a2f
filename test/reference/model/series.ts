// Figures over time, conversions by their last touch, and the hours of the week (RDA-10, ISG-3 to ISG-5, D-ATTRIB, AMB-97).
import { ok } from "./access.ts";
import { conversionsAfter, everyTouch, isOfOneMoment, type Touch, windowOf } from "./attribution.ts";
import { CLICKS, channelOf, OPENS } from "./interactions.ts";
import { ANY, type Body, DAY, HOUR, invalid, iso, isUuid, MINUTE, type Request, Unordered } from "./kit.ts";
import type { Channel, Interaction, Job, Recipient } from "./records/sends.ts";
import { lostOf } from "./tallies.ts";
import type { World } from "./world.ts";

/** Something that one figure counts. */
interface Fact {
  /** Of a report: when it came. */
  known_at?: number;
  at: number;
  measure: string;
  job: Job;
  /** The types of channels that it belongs to. */
  channels: string[];
  n: number;
}

const MEASURES = [
  "sent",
  "delivered",
  "failed",
  "skipped",
  "bounced",
  "complained",
  "unsubscribed",
  "opened",
  "opened_human",
  "clicked",
  "clicked_human",
];
const OF_CONVERSIONS = ["conversions", "last_touch_revenue_cents"];

/** What became of a recipient, on the day of the outcome; what came back later on that of its mail (AMB-139). */
function outcomesOf(job: Job, recipient: Recipient, isByChannel: boolean): Fact[] {
  const { state, deliveries, at } = recipient;
  const types = (states: string[]) =>
    deliveries.filter((d) => states.includes(d.state)).map(({ channel }) => channel.type);
  const fact = (measure: string, time: number, channels: string[] = []): Fact => ({
    at: time,
    measure,
    job,
    channels,
    n: 1,
  });
  const arrived = deliveries.filter(({ delivered_at }) => delivered_at !== null);
  const arrivals = [...Map.groupBy(arrived, ({ channel }) => isByChannel && channel.type)];
  // A mail that came back is counted by channel even if another channel reached the person.
  const isBounced = isByChannel ? types(["bounced"]).length > 0 : state === "bounced";
  const mailed = deliveries.find(({ channel }) => channel.type === "email")?.attempts.at(-1) ?? at;
  const failure = state === "failed" ? [fact("failed", at)] : [];
  const failures = isByChannel
    ? lostOf(recipient).map(([type, own]) => fact("failed", Math.max(...own.map((d) => d.failed_at ?? 0)), [type]))
    : failure;
  const facts = [
    ...arrivals.map(([type, own]) =>
      fact("delivered", Math.min(...own.map((d) => d.delivered_at!)), type ? [type] : []),
    ),
    ...(isBounced ? [fact("bounced", mailed, ["email"])] : []),
    ...failures,
    ...(state === "skipped" ? [fact("skipped", at)] : []),
    ...(recipient.hasComplained ? [fact("complained", mailed, ["email"])] : []),
    ...(recipient.hasUnsubscribed ? [fact("unsubscribed", mailed, ["email"])] : []),
  ];
  const isSent = arrived.length > 0 || ["failed", "bounced"].includes(state);
  return isSent ? [...facts, { ...facts[0]!, measure: "sent" }] : facts;
}

/** A report that says it is older counts when it comes, as one of a client's event would be refused (EVT-17). */
export const timeOf = ({ occurred_at, received_at }: Interaction) =>
  received_at - occurred_at < 2 * DAY ? occurred_at : received_at;

/**
 * AMB-68, F19: the first time that a person opened, or clicked, in all or by each type of channel; of people what apps
 * report, for programs name no browser.
 */
function engagementOf(world: World, job: Job, isByChannel: boolean): Fact[] {
  const first = (measure: string, kinds: string[], isHuman: boolean): Fact[] => {
    const rows = world.interactions.filter(
      ({ job_id, subscriber_id, interaction, said }) =>
        job_id === job.id && subscriber_id && kinds.includes(interaction) && (!isHuman || said !== null),
    );
    const keyOf = (row: Interaction) => `${row.subscriber_id} ${isByChannel ? channelOf(row) : ""}`;
    return [...Map.groupBy(rows, keyOf).values()].map((own) => {
      const [earliest] = own.toSorted((a, b) => a.received_at - b.received_at);
      const channel = channelOf(earliest!);
      const known_at = earliest!.received_at;
      return { at: timeOf(earliest!), known_at, measure, job, channels: channel === undefined ? [] : [channel], n: 1 };
    });
  };
  return [
    ...[...first("opened", [...OPENS, ...CLICKS], false), ...first("opened_human", [...OPENS, ...CLICKS], true)],
    ...[...first("clicked", CLICKS, false), ...first("clicked_human", CLICKS, true)],
  ];
}

interface Conversion {
  touch: Touch;
  revenue: number;
  /** That of the touch; several where one round handed over to several. */
  channels: Channel[];
}

/** Each conversion event for the message that was delivered last before it. Of two sends at one instant: either. */
function lastTouches(world: World): Conversion[] | undefined {
  if (isOfOneMoment(world) || world.events.some(({ erased, looks }) => erased && looks.length > 0)) return undefined;
  const last = new Map<unknown, Conversion>();
  for (const touch of everyTouch(world.jobs))
    for (const { event, revenue } of conversionsAfter(world, touch.recipient.subscriber_id, touch.at)) {
      const known = last.get(event);
      const isAlike = known?.touch.at === touch.at;
      if (known && isAlike && known.touch.job !== touch.job) return undefined;
      if (known && isAlike) known.channels = [...new Set([...known.channels, touch.channel])];
      if (!known || known.touch.at < touch.at) last.set(event, { touch, revenue, channels: [touch.channel] });
    }
  return [...last.values()];
}

/** AMB-97: an event counts for one channel. Of several of one round it may be any. */
function lastTouchesByChannel(world: World): Conversion[] | undefined {
  const all = lastTouches(world);
  return all?.some(({ channels }) => channels.length > 1) ? undefined : all;
}

function conversionFacts(conversions: Conversion[] | undefined): Fact[] | undefined {
  return conversions?.flatMap(({ touch: { job }, revenue, channels: reached }) => {
    const at = job.dispatched_at!;
    const channels = reached.map(({ type }) => type);
    return OF_CONVERSIONS.map((measure) => ({
      at,
      measure,
      job,
      channels,
      n: measure === "conversions" ? 1 : revenue,
    }));
  });
}

function factsOf(world: World, isByChannel = false): Fact[] {
  return world.jobs.flatMap((job) => [
    ...job.recipients.flatMap((recipient) => outcomesOf(job, recipient, isByChannel)),
    ...engagementOf(world, job, isByChannel),
  ]);
}

/** Sums by bucket and group; a bucket in which nothing happened is left out. */
function bucketsOf(facts: Fact[], width: number, groupsOf: (fact: Fact) => (string | null)[], names: string[]): Body[] {
  const buckets = new Map<string, Body>();
  for (const fact of facts)
    for (const group of groupsOf(fact)) {
      const at = iso(Math.floor(fact.at / width) * width);
      const zero = { at, group, ...Object.fromEntries(names.map((name) => [name, 0])) };
      const bucket = buckets.get(`${at} ${group}`) ?? zero;
      bucket[fact.measure] += fact.n;
      buckets.set(`${at} ${group}`, bucket);
    }
  const order = ({ at, group }: Body) => `${at} ${group ?? ""}`;
  return [...buckets.values()]
    .filter((bucket) => names.some((name) => bucket[name] !== 0))
    .sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** The buckets in which the period begins and ends count whole. */
const touching = (facts: Fact[], [start, end]: [number, number], width: number): Fact[] =>
  facts.filter(({ at }) => Math.floor(at / width) * width > start - width && Math.floor(at / width) * width <= end);

/**
 * In a storm what a worker does late may fall into the next bucket. A person who was reached after a bounced mail counts when
 * either went out.
 */
const straddles = (world: World, facts: Fact[], width: number): boolean =>
  (world.isStorm === true && facts.some(({ at }) => at % width >= width - 5 * MINUTE)) ||
  world.jobs.some(({ recipients }) => recipients.some((one) => isReachedAfterMail(one, width)));

function isReachedAfterMail({ deliveries }: Recipient, width: number): boolean {
  const bucketOf = (time: number) => Math.floor(time / width);
  const mailed = deliveries.flatMap(({ state, attempts }) => (state === "bounced" ? (attempts.at(-1) ?? []) : []));
  const arrivals = deliveries.flatMap(({ delivered_at }) => delivered_at ?? []);
  return mailed.some((mail) => arrivals.some((time) => bucketOf(time) !== bucketOf(mail)));
}

/** RDA-10. */
export function series(world: World, { query }: Request) {
  const { interval = "day", group_by, source_type, source_id } = query;
  const window = windowOf(world, query);
  if (source_type !== undefined) return ok({ buckets: ofSource(world, source_type, source_id, window) });
  if (interval === "hour" && group_by !== undefined) invalid("group_by");
  if (interval === "hour" && window[1] - window[0] > 31 * DAY) invalid("start");
  const width = interval === "hour" ? HOUR : DAY;
  const isByChannel = group_by === "channel";
  const touchesOf = isByChannel ? lastTouchesByChannel : lastTouches;
  const lasts = interval === "hour" ? [] : touchesOf(world);
  const conversions = conversionFacts(lasts);
  if (conversions === undefined) return ok({ buckets: ANY });
  const names = interval === "hour" ? ["delivered", "opened"] : [...MEASURES, ...OF_CONVERSIONS];
  // A recipient may have several channels: what it comes to in all belongs to none.
  const shown = isByChannel ? names.filter((name) => !["sent", "skipped"].includes(name)) : names;
  const all = [...factsOf(world, isByChannel), ...conversions].filter(({ measure }) => shown.includes(measure));
  if (straddles(world, all, width)) return ok({ buckets: ANY });
  const groups = ({ job, channels }: Fact): (string | null)[] => {
    if (isByChannel) return [...new Set(channels)];
    return group_by === "category" ? [job.spec.category ?? "marketing"] : [null];
  };
  return ok({ buckets: bucketsOf(touching(all, window, width), width, groups, shown) });
}

/**
 * Of a campaign or journey: by the day of the dispatch; opens and clicks of campaigns on their own day, from the thirtieth
 * day on together (docs/decisions/0041). What is under way is not promised.
 */
function ofSource(world: World, type: string, id: string | undefined, window: [number, number]): Body {
  if (!isUuid(id)) invalid("source_id");
  if (world.jobs.some(({ source, status }) => source.id === id && status === "processing")) return ANY;
  const isOwn = ({ job: { source, error } }: Fact) => source.type === type && source.id === id && !error;
  const isEngagement = ({ measure }: Fact) => /^(opened|clicked)/.test(measure);
  const dated = factsOf(world)
    .filter(isOwn)
    .flatMap((fact) => {
      const dispatched = fact.job.dispatched_at;
      if (dispatched === null) return [];
      if (!isEngagement(fact) || type !== "campaign") return [{ ...fact, at: dispatched }];
      // What somebody reports of a send before there was one has no day.
      if (fact.known_at! < dispatched) return [];
      const [at, thirtieth] = [Math.max(fact.at, dispatched), dispatched + 30 * DAY];
      return [{ ...fact, at: Math.min(at, thirtieth) }];
    });
  // A person that a step cannot reach is in no send of it.
  const names = type === "journey" ? MEASURES.filter((name) => name !== "skipped") : MEASURES;
  const counted = touching(dated, window, DAY).filter(({ measure }) => names.includes(measure));
  return bucketsOf(counted, DAY, () => [null], names);
}

/** ISG-3, AMB-97: conversion events by last touch; for channels `source_id` is the channel. */
export function summary(world: World, { query }: Request) {
  const { group_by } = query;
  if (!["campaign", "journey", "channel"].includes(group_by!)) invalid("group_by");
  const [start, end] = windowOf(world, query);
  const conversions = group_by === "channel" ? lastTouchesByChannel(world) : lastTouches(world);
  if (!conversions) return ok({ rows: ANY });
  const rows = new Map<string, Body>();
  for (const { touch, revenue, channels } of conversions) {
    const day = Math.floor(touch.job.dispatched_at! / DAY) * DAY;
    if (day <= start - DAY || day > end) continue;
    const { type, id } = touch.job.source;
    const own = type === group_by ? [id!] : [];
    const sources = group_by === "channel" ? channels.map((channel) => channel.id) : own;
    for (const source_id of new Set(sources)) {
      const row = rows.get(source_id) ?? { source_id, conversions: 0, revenue_cents: 0 };
      rows.set(source_id, row);
      row.conversions++;
      row.revenue_cents += revenue;
    }
  }
  return ok({ rows: new Unordered([...rows.values()]) });
}

/** ISG-4, ISG-5, AMB-56: weekday and hour in UTC, of so many days with today; empty buckets are left out. */
export function heatmap(world: World, { query }: Request) {
  const text = query.days ?? "90";
  if (!/^\d+$/.test(text) || Number(text) < 1) invalid();
  const window_days = Math.min(Number(text), 365);
  const cells = new Map<string, Body>();
  const today = Math.floor(world.now / DAY) * DAY;
  const facts = factsOf(world).filter(({ measure }) => measure === "delivered" || measure === "opened");
  if (straddles(world, facts, HOUR)) return ok({ window_days, cells: ANY });
  for (const { at, measure, n } of touching(facts, [today - (window_days - 1) * DAY, world.now], DAY)) {
    const [weekday, hour] = [new Date(at).getUTCDay(), new Date(at).getUTCHours()];
    const cell = cells.get(`${weekday} ${hour}`) ?? { weekday, hour, delivered: 0, opened: 0 };
    cells.set(`${weekday} ${hour}`, cell);
    cell[measure] += n;
  }
  return ok({ window_days, cells: new Unordered([...cells.values()]) });
}
