// The stored form of what comes back of a send after it was handed over (F21).
import * as v from "valibot";
import { item } from "../../item.ts";

/** Reports come in bursts, and one item takes only so many transactions. */
export const SIGNAL_SHARDS = 4;

export const SignalItem = item({
  about: "Bounces, complaints and opt-outs of a job, in shards, each counted in the transaction that records it.",
  pk: ({ job }: { job: string }) => `J#${job}`,
  sk: ({ shard }: { shard: number }) => `B#${shard}`,
  prefix: "B#",
  row: {
    bounced: v.optional(v.number()),
    complained: v.optional(v.number()),
    opted_out: v.optional(v.number()),
  },
  writers: ["mail-event", "api-mail"],
});
