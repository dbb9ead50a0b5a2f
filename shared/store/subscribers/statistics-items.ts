// The stored statistics of all subscribers of a workspace: attribute names, and engagement.
import * as v from "valibot";
import { item } from "../item.ts";

export const SeenNames = item({
  about: "Names seen in attributes or in events, up to a limit.",
  pk: () => "NAMES",
  sk: ({ kind }: { kind: "attributes" | "events" }) => kind,
  row: { "k:*": v.number() },
  writers: ["react", "api-events"],
});

export const EngagementCount = item({
  about: "Deliveries and answers of a workspace by class of channels and week, in 16 shards: `wd:push:2954`.",
  pk: ({ shard }: { shard: string }) => `PRIOR#${shard}`,
  row: { "wd:*": v.number(), "we:*": v.number() },
  writers: ["fan-out", "deliver", "api-notifications", "api-experiences", "api-mail"],
});

export const AnswersItem = item({
  about: "How often a subscriber answered, by class of channels and week: `we:push:2954`.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: () => "W",
  prefix: "W",
  row: { "we:*": v.number() },
  writers: ["api-notifications", "api-mail"],
  personal: "removed",
});
