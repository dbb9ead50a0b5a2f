// The stored form of events (EVT). See docs/decisions/0025 for how the items of one batch belong together.
import * as v from "valibot";
import { indexAttributes, indexOf, item } from "../item.ts";
import { json } from "../json-text.ts";
import type { Value } from "../model.ts";

export const eventSources = ["client", "server"] as const;

export type Actor = { kind: "subscriber"; id: string } | { kind: "anonymous"; id: string };

/** Set if the events start no journey (AMB-134). */
const historical = v.optional(v.literal(true));

/** Packed events, see `packEvents`. */
const packed = () => v.custom<Uint8Array>((value) => value instanceof Uint8Array);

export const EventItem = item({
  about:
    "An event that was sent alone; or the id of an event in a block, if it has an idempotency key or if a journey or " +
    "conversion reacts to it. The id is derived from the key, if there is one.",
  pk: ({ id }: { id: string }) => `E#${id}`,
  sk: () => "e",
  row: {
    /** The block with the event, if it is not stored here. */
    block: v.optional(v.string()),
    event_name: v.optional(v.string()),
    /** See `actorText`. Removed by an erasure. */
    actor: v.optional(v.string()),
    platform: v.optional(v.string()),
    properties: v.optional(json<{ [name: string]: Value }>()),
    received_at: v.optional(v.string()),
    source: v.optional(v.picklist(eventSources)),
    historical,
    ...indexAttributes("i1"),
  },
  writers: ["api-events", "complete-events", "erase"],
  personal: "anonymized",
});

export const EventsByTime = indexOf(EventItem, {
  index: "i1",
  about: "Events that were sent alone, of a day, in up to 16 partitions, in the order of (occurred_at, id).",
  pk: ({ day, shard }: { day: string; shard: string }) => `D#${day}#${shard}`,
  sk: ({ occurred_at, id }: { occurred_at: string; id: string }) => `${occurred_at}#${id}`,
});

export const EventShard = item({
  about: "A partition that holds events of a day, alone or in blocks: exports read only these.",
  pk: () => "EVENTDAYS",
  sk: ({ day, shard }: { day: string; shard: string }) => `${day}#${shard}`,
  row: {},
  writers: ["api-events"],
});

const partition = ({ day, shard }: { day: string; shard: string }) => `EB#${day}#${shard}`;

export const EventBlock = item({
  about:
    "Events of one request, day and period, packed, with their actors. It counts once it has a seal. `at` begins with " +
    "the time of its first event.",
  pk: partition,
  sk: ({ at }: { at: string }) => at,
  row: {
    react: v.literal("block"),
    received_at: v.string(),
    source: v.picklist(eventSources),
    historical,
    /** Raised by each change: an erasure removes actors, and repeats are taken out. */
    rev: v.number(),
    events: packed(),
  },
  writers: ["api-events", "complete-events", "erase"],
  personal: "anonymized",
});

export const EventSeal = item({
  about: "The mark of a block whose events are stored everywhere: it counts from then on.",
  pk: partition,
  sk: ({ at }: { at: string }) => `${at}#s`,
  row: {},
  writers: ["api-events", "complete-events"],
});

export const ActorEvents = item({
  about: "Events of one actor and block, packed: its history, in the order of the last event of each row.",
  pk: ({ kind, id }: Actor) => (kind === "subscriber" ? `U#${id}` : `EH#${id}`),
  sk: ({ until, batch }: { until: string; batch: string }) => `0E#${until}#${batch}`,
  prefix: "0E#",
  row: {
    /** Only if the workspace reacts to one of the events. */
    react: v.optional(v.literal("events")),
    actor: v.string(),
    /** Names and ids of the events with reactions. */
    watched: v.optional(json<[name: string, id: string][]>()),
    /** The block; absent if the event has a row of its own. */
    block: v.optional(v.string()),
    received_at: v.string(),
    source: v.picklist(eventSources),
    historical,
    n: v.number(),
    events: packed(),
  },
  writers: ["api-events", "complete-events", "erase"],
  personal: "removed",
});
