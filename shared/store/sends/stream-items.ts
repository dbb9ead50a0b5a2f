// The stored form of open live streams. Each row is a lease that the stream renews.
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

export const OpenStream = platformItem({
  about: "An open live stream, counted against the concurrency limit of the service.",
  pk: () => "STREAMS",
  sk: ({ connection }: { connection: string }) => connection,
  purge: "kept",
  row: { lease, expires: v.number() },
  writers: ["stream"],
  lifetime: "65 seconds",
});
