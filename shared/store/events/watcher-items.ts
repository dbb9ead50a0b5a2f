// The stored form of watchers: reactions by event name.
import * as v from "valibot";
import { item } from "../item.ts";

export type WatcherKind = "segment" | "journey" | "conversion";

export const Watcher = item({
  about: "The names of the events that a segment, journey or conversion reacts to.",
  pk: () => "WATCHERS",
  sk: ({ kind, id }: { kind: WatcherKind; id: string }) => `${kind}#${id}`,
  row: { names: v.array(v.string()) },
  writers: ["api-segments", "api-journeys", "api-insights"],
});

export const WatchVersion = item({
  about: "A version that every change of a watcher, and of what webhook endpoints ask for, increases.",
  pk: () => "WATCHED",
  row: { version: v.number() },
  writers: [
    "api-segments",
    "recompute-segment",
    "api-journeys",
    "api-insights",
    "api-hooks",
    "api-webhooks",
    "post-webhook",
  ],
});
