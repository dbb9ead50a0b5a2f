// The stored form of interactions (INT). Rows and counters are in partitions that follow from the digest of a report,
// so that a burst of reports has no hot key.
import * as v from "valibot";
import { interactions, platforms } from "../../../rules/interactions.ts";
import { knownProviders } from "../../../rules/mailbox-providers.ts";
import { machineVerdicts } from "../../../rules/tracking.ts";
import { item } from "../../item.ts";

export const ReportedInteraction = item({
  about: "A reported interaction, stored once however often it is reported. It names no subscriber.",
  pk: ({ job, part }: { job: string; part: string }) => `JI#${job}#${part}`,
  sk: ({ digest }: { digest: string }) => `I#${digest}`,
  row: {
    react: v.literal("interaction"),
    job: v.string(),
    interaction: v.picklist(interactions),
    platform: v.picklist(platforms),
    occurred_at: v.string(),
    received_at: v.string(),
    /** Stages that its recipient reached first by it: `opened`, `opened@in_app`. */
    firsts: v.array(v.string()),
    /** Stages that were counted for a person shortly before, and were a machine's as this report shows. */
    retracted: v.optional(v.array(v.string())),
    channel: v.optional(v.string()),
    variant_id: v.optional(v.string()),
    action_id: v.optional(v.string()),
    machine: v.optional(v.picklist(machineVerdicts)),
  },
  writers: ["api-notifications", "api-mail"],
});

/** The key of a report: the first two digits of its digest choose one of 256 partitions. */
export const interactionKey = (job: string, digest: string) => ({ job, part: digest.slice(0, 2), digest });

export const InteractionCount = item({
  about: "Interactions of a job in 16 shards, changed in the transaction that stores the report.",
  pk: ({ job, shard }: { job: string; shard: string }) => `JN#${job}#${shard}`,
  sk: () => "n",
  row: {
    /** Reports by interaction. */
    "i|*": v.number(),
    /** Recipients by stage. */
    "r|*": v.number(),
    /** Both by channel: `c|in_app|r|opened`. */
    "c|*": v.number(),
    /** Both by variant: `v|a|i|tapped`. */
    "v|*": v.number(),
    /** First opens and clicks of a campaign by days since the dispatch: `d|0|opened`. */
    "d|*": v.number(),
  },
  writers: ["api-notifications", "api-mail"],
});

export const Engagement = item({
  about: "The stages that a recipient reached with a job, each once, so that recipients are counted and not reports.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: ({ job }: { job: string }) => `E#${job}`,
  prefix: "E#",
  row: {
    "reached*": v.string(),
    "opened*": v.string(),
    "clicked*": v.string(),
    /** When each link of the mail was followed last, in milliseconds. */
    "l:*": v.number(),
    /** The mailbox provider of a mail that a person opened; absent for a provider without figures of its own. */
    mailbox: v.optional(v.picklist(knownProviders)),
    /** The classes of channels in which the job was answered. */
    "answered@*": v.string(),
  },
  writers: ["api-notifications", "api-mail"],
  personal: "removed",
});
