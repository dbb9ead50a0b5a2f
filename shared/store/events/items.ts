// The stored form of events (EVT): immutable rows, found by time for exports and by actor for histories.
import * as v from "valibot";
import { indexAttributes, indexOf, item, json } from "../item.ts";
import type { Value } from "../model.ts";

export const eventSources = ["client", "server"] as const;

/** The actor of an event: a subscriber, or an anonymous id. */
export type Actor = { subscriber: string } | { anonymous: string };

/** The actor and the time of an event are stored in index keys alone. */
export const EventItem = item({
  about: "An event. The id is derived from the idempotency key, if there is one.",
  pk: ({ id }: { id: string }) => `E#${id}`,
  sk: () => "e",
  row: {
    /** Only where something of the workspace reacts to the event. */
    react: v.optional(v.literal("event")),
    event_name: v.string(),
    platform: v.optional(v.string()),
    properties: v.optional(json<{ [name: string]: Value }>()),
    received_at: v.string(),
    source: v.picklist(eventSources),
    i1pk: v.string(),
    i1sk: v.string(),
    /** Removed by an erasure. */
    ...indexAttributes("i2"),
  },
  writers: ["api-events", "erase"],
  personal: "anonymized",
});

export const EventsByTime = indexOf(EventItem, {
  index: "i1",
  about: "Events of a day, in up to 16 partitions, in the order of (occurred_at, id).",
  pk: ({ day, shard }: { day: string; shard: string }) => `D#${day}#${shard}`,
  sk: ({ occurred_at, id }: { occurred_at: string; id: string }) => `${occurred_at}#${id}`,
});

/** A prefix of the kind: an anonymous id can never be read as the id of a subscriber. */
export const EventsByActor = indexOf(EventItem, {
  index: "i2",
  about: "Events of a subscriber or an anonymous id, by name and time.",
  pk: (actor: Actor) => ("subscriber" in actor ? `H#S#${actor.subscriber}` : `H#A#${actor.anonymous}`),
  sk: ({ event_name, occurred_at }: { event_name: string; occurred_at: string }) => `${event_name}#${occurred_at}#`,
});

export const EventDay = item({
  about: "A partition of the export index that holds events of a day: exports read only these.",
  pk: () => "DAYS",
  sk: ({ day, shard }: { day: string; shard: string }) => `${day}#${shard}`,
  row: {},
  writers: ["api-events"],
});
