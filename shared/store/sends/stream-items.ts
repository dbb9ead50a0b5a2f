// The stored form of open live streams: a lease for each of a subscriber's streams, and counters of all streams.
import * as v from "valibot";
import { item, platformItem } from "../item.ts";

/** Milliseconds: after this the stream counts as closed. */
const lease = v.number();

export const SubscriberStream = item({
  about: "An open live stream of a subscriber: the newest three stay open.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: ({ connection }: { connection: string }) => `ST#${connection}`,
  prefix: "ST#",
  row: { lease, expires: v.number() },
  writers: ["stream"],
  lifetime: "65 seconds",
  personal: "removed",
});

/** Live streams count themselves once in each slot. */
export const STREAM_SLOT_MS = 30_000;
/** Counters of one slot, so that thousands of openings a second are not one hot item. */
export const STREAM_COUNTERS = 16;

export const OpenStreams = platformItem({
  about: "The number of live streams that were open in a slot of 30 seconds, for the limit of open streams.",
  pk: ({ slot, counter }: { slot: number; counter: number }) => `STREAMS#${slot}#${counter}`,
  purge: "kept",
  row: { n: v.number(), expires: v.optional(v.number()) },
  writers: ["stream"],
  lifetime: "5 minutes",
});
