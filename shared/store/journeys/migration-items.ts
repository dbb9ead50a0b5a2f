// The stored form of migrations of runs to another version of their journey (F20), for 30 days.
import * as v from "valibot";
import { item } from "../item.ts";
import { json } from "../json-text.ts";

export const MigrationItem = item({
  about: "A migration of the waiting runs of one version of a journey to another one, with the steps that correspond.",
  pk: ({ journey }: { journey: string }) => `journey#${journey}`,
  sk: ({ migration }: { migration: string }) => `MIG#${migration}`,
  prefix: "MIG#",
  row: {
    react: v.literal("migration"),
    id: v.string(),
    journey: v.string(),
    from: v.number(),
    to: v.number(),
    steps: json<Record<string, string>>(),
    created_at: v.string(),
    expires: v.number(),
  },
  writers: ["api-journeys"],
  lifetime: "30 days",
});

export const MigrationShard = item({
  about: "How many runs of a shard of the journey a migration has moved, and whether it has seen all of them.",
  pk: ({ migration }: { migration: string }) => `migration#${migration}`,
  sk: ({ shard }: { shard: string }) => shard,
  row: { moved: v.optional(v.number()), done: v.optional(v.boolean()), expires: v.number() },
  writers: ["step-journey"],
  lifetime: "30 days",
});
