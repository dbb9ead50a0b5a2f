// The stored form of open live streams: a lease for each of a subscriber's streams, and counters of all streams.
import * as v from "valibot";
import { present } from "../../conditions.ts";
import type { Store } from "../../context.ts";
import { item, platformItem } from "../../item.ts";
import { whereItHolds } from "../../refusals.ts";

/** Milliseconds: after this the stream counts as closed. */
const lease = v.number();

export const SubscriberStream = item({
  about: "An open live stream of a subscriber: the newest three stay open.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  // Next to the messages, so that one read of a live stream finds new messages and whether its viewer has left.
  sk: ({ connection }: { connection: string }) => `I$${connection}`,
  prefix: "I$",
  row: {
    lease,
    /** The viewer said goodbye: the stream ends at its next poll. */
    left: v.optional(v.literal(true)),
    expires: v.number(),
  },
  writers: ["stream", "api-inbox"],
  lifetime: "65 seconds",
  personal: "removed",
});

/** Live streams count themselves once in each slot. */
export const STREAM_SLOT_MS = 30_000;
/** Counters of all streams in one slot, so that thousands of openings a second are not one hot item. */
export const STREAM_COUNTERS = 16;

export const OpenStreams = platformItem({
  about:
    "The number of live streams that were open in a slot of 30 seconds, for the limits of open streams: up to sixteen counters " +
    "of all, one of each workspace (`T#‹tenant›`), one of each address (`A#‹hash›`).",
  pk: ({ slot, counter }: { slot: number; counter: string }) => `STREAMS#${slot}#${counter}`,
  purge: "kept",
  row: { n: v.number(), expires: v.optional(v.number()) },
  writers: ["stream"],
  lifetime: "5 minutes",
});

/** The viewer of a stream has left. A stream that is not there, or has ended, is none to end. */
export async function leaveStream(store: Pick<Store, "change">, subscriber: string, connection: string): Promise<void> {
  await whereItHolds(store.change(SubscriberStream, { subscriber, connection }, { set: { left: true } }, present()));
}
