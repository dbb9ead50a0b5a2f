// The stored form of conversions (D-ATTRIB) and of the counters of insights (ISG). A counter changes in the transaction
// of its event.
import * as v from "valibot";
import { entity, item } from "../item.ts";
import { CONVERSION_SHARDS } from "../shards.ts";

export const conversionGroups = ["campaign", "journey", "channel"] as const;
export type ConversionGroup = (typeof conversionGroups)[number];

/** The shard of a counter of conversions. @param digit a hex digit of an id */
export const conversionShard = (digit: string): string => String(Number.parseInt(digit, 16) % CONVERSION_SHARDS.length);

const count = v.optional(v.number());

export const Conversion = item({
  about: "A conversion and what it counts for, stored once. It names no subscriber.",
  pk: ({ day }: { day: string }) => `CV#${day}`,
  sk: ({ at, event }: { at: string; event: string }) => `${at}#${event}`,
  row: {
    /** In cents. */
    revenue: v.number(),
    last_campaign: v.optional(v.string()),
    last_journey: v.optional(v.string()),
    last_channel: v.optional(v.string()),
    /** The category of the send of the last touch, and the type of its channel: `marketing|email`. */
    last_kind: v.optional(v.string()),
    /** When that send was dispatched: the conversion counts on this day. */
    last_at: v.optional(v.string()),
    /** `campaign#<id>#<day>` or `journey#<id>#<day>`: each day of the touches before it. */
    sources: v.array(v.string()),
    /** Jobs that it counts for in lift: `treated#<id>` or `held_out#<id>`. Absent: it no longer changes. */
    jobs: v.optional(v.array(v.string())),
    /** How often it was written. */
    looks: v.optional(v.number()),
  },
  writers: ["attribute"],
});

export const DayTotals = item({
  about:
    "Sums of a day by campaign, journey or channel, in 4 shards. Of journeys also what was sent and opened, and its cost.",
  pk: ({ group }: { group: ConversionGroup }) => `CVD#${group}`,
  sk: ({ day, id, shard }: { day: string; id: string; shard: string }) => `${day}#${id}#${shard}`,
  row: {
    /** After a touch of a send of this day. */
    revenue: count,
    converters: count,
    /** How many of these the earlier day in the name counts too: a window counts each once. */
    "revenue_of|*": v.number(),
    "converters_of|*": v.number(),
    last_n: count,
    last_revenue: count,
    sent: count,
    delivered: count,
    bounced: count,
    complained: count,
    unsubscribed: count,
    failed: count,
    uncertain: count,
    opened: count,
    opened_human: count,
    clicked: count,
    clicked_human: count,
    /** The cost of the sends for the service and its providers, in millionths (F10). */
    "cost|*": v.number(),
    /** Sends with messages of unknown price, by type of channel. */
    "unpriced|*": v.number(),
  },
  writers: ["attribute", "fan-out", "deliver", "mail-event", "api-notifications", "api-mail"],
});

export const JobConversionCount = item({
  about: "Conversions after a job, of treated recipients (t) and of those held out (h), in 4 shards.",
  pk: ({ job }: { job: string }) => `J#${job}`,
  sk: ({ shard }: { shard: string }) => `V#${shard}`,
  prefix: "V#",
  row: { t: count, t_n: count, t_revenue: count, h: count, h_n: count, h_revenue: count },
  writers: ["attribute"],
});

export const Converted = item({
  about: "A subscriber has converted after a job or a source, and the days of a source that count it, newest last.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: ({ source }: { source: string }) => `X#${source}`,
  prefix: "X#",
  row: { days: v.optional(v.array(v.string())) },
  writers: ["attribute"],
  personal: "removed",
});

/** The id of this entity is the name of its event. */
export const ConversionDefinitionItem = entity("conversion", {
  about: "A conversion definition: an event that counts as a conversion.",
  row: { event_name: v.string(), value_property: v.optional(v.string()), window_seconds: v.number() },
  writers: ["api-insights"],
});

export const HourCount = item({
  about: "What happened on a day, in 16 shards: deliveries and first opens by the hour in UTC, and the day's series.",
  pk: ({ shard }: { shard: string }) => `HOURS#${shard}`,
  sk: ({ day }: { day: string }) => day,
  row: {
    "delivered:*": v.number(),
    "opened:*": v.number(),
    /** Of the day by category: `k|marketing|failed`. */
    "k|*": v.number(),
    /** Of the day by type of channel: `c|email|delivered`. */
    "c|*": v.number(),
    /** Of the mails of the day by the provider of their mailboxes, with the letters of `mailboxFigures`: `m|gmail|d`. */
    "m|*": v.number(),
  },
  writers: ["fan-out", "deliver", "api-notifications", "api-mail", "attribute", "mail-event"],
});
