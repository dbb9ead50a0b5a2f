// The stored form of notification jobs (NTF) and related rows: their content, the answer to a creation, a plan of an
// agent (AGT-3), and further counters beside their totals.
import * as v from "valibot";
import { Timestamp } from "../../../contract/schemas.ts";
import type { Figures, Halt } from "../../../rules/brake.ts";
import type { Seals } from "../../audit/items.ts";
import { hashOf } from "../../hash.ts";
import { item } from "../../item.ts";
import { json } from "../../json-text.ts";
import { tallyAttributes } from "../chunks/tallies.ts";
import { type JobLane, jobSources, laneOf } from "./job-ids.ts";
import { type DeliverySettings, type JobContent, type JobDetails, jobFields } from "./job-spec.ts";

/** Without null values and defaults. */
const storedFields = {
  ...jobFields,
  name: v.optional(jobFields.name),
  title: v.optional(jobFields.title),
  body: v.optional(jobFields.body),
  template_id: v.optional(jobFields.template_id),
  subscriber_ids_count: v.optional(jobFields.subscriber_ids_count),
  scheduled_at: v.optional(jobFields.scheduled_at),
  channel_arbitration_mode: v.optional(jobFields.channel_arbitration_mode),
  holdout_percentage: v.optional(jobFields.holdout_percentage),
  split_percentage: v.optional(jobFields.split_percentage),
  bypass_quiet_hours: v.optional(jobFields.bypass_quiet_hours),
};

export const JobItem = item({
  about: "A notification job: content, audience, state and totals. Its insertion starts the send.",
  pk: (of: { job: string } | { lane: JobLane }) => ("lane" in of ? of.lane : laneOf(of.job)),
  sk: ({ job }: { job: string }) => job,
  row: {
    react: v.literal("job"),
    ...storedFields,
    ...tallyAttributes,
    /**
     * Later results (`Late`, job-record.ts): `bounced` and `complained` mails, `lost` and `unsubscribed` recipients.
     */
    "late:*": v.number(),
    /** Absent where a send has nothing that is kept here: the row of a send to one subscriber is billed by its length. */
    details: v.optional(json<JobDetails>()),
    /** The hash under which its content is stored. Absent: it is in `title`, `body` and `details`. */
    content: v.optional(v.string()),
    /** It has two arms; of a job whose content is stored by its hash. */
    is_split: v.optional(v.boolean()),
    error: v.optional(v.string()),
    dispatched_at: v.optional(Timestamp),
    completed_at: v.optional(Timestamp),
    /** Those of the source, for the filters of a list. */
    source_type: v.picklist(jobSources),
    source_id: v.optional(v.string()),
    /** The server key that made it. */
    sent_by: v.optional(v.string()),
    /** Its recipients, packed, of a send that is delivered without ranges and chunks. */
    recipients: v.optional(v.string()),
    /** When the round of these recipients began, in milliseconds. */
    round: v.optional(v.number()),
    /** The claim of its only recipient, while it is delivered through providers (as `ClaimItem`). */
    owner: v.optional(v.string()),
    lease: v.optional(v.number()),
    at: v.optional(v.number()),
    step: v.optional(v.number()),
    progress: v.optional(v.string()),
    waits: v.optional(v.number()),
    deferred: v.optional(v.number()),
    reported: v.optional(json<Record<string, number>>()),
    /** The workspace had no webhook endpoints when the request of this send was made: none gets an event of its dispatch. */
    no_webhooks: v.optional(v.literal(true)),
    /** The ranges of the audience: set at creation for a small one, else at dispatch. */
    ranges: v.optional(v.array(v.string())),
    ranges_closed: v.optional(v.number()),
    /**
     * Its campaign is paused or archived: it is neither fired, dispatched nor planned, and its deferred messages wait.
     */
    held: v.optional(v.boolean()),
    /** The brake stopped it: why, with the figures of that moment. */
    halted: v.optional(json<Halt>()),
    /** The figures of its brake when it was resumed last. */
    resumed_with: v.optional(json<Figures>()),
    /** When it was last released, in milliseconds. */
    released_at: v.optional(v.number()),
    /** Set at dispatch. */
    settings: v.optional(json<DeliverySettings>()),
    /** Sends taken from the quota for this job; after its end, the number that it used. */
    reserved: v.optional(v.number()),
    /** When they were taken, in milliseconds. Absent: when it was created. */
    reserved_at: v.optional(v.number()),
    /** They were taken ahead, in the quarter-hour of its id. */
    ahead: v.optional(v.boolean()),
    /** Its outcomes are counted when its quarter-hour is settled. */
    counted: v.optional(v.literal("quarter")),
  },
  writers: [
    "api-notifications",
    "api-campaigns",
    "api-experiences",
    "run-campaign",
    "run-schedule",
    "step-journey",
    "end-experience",
    "fan-out",
    "deliver",
    "mail-event",
    "api-mail",
    "erase",
  ],
  personal: "anonymized",
});

export const ContentItem = item({
  about: "What jobs say, if it is long, under its hash: jobs with the same content share it. Written before them.",
  pk: ({ hash }: { hash: string }) => `S#${hash}`,
  row: { content: json<JobContent>() },
  writers: ["api-notifications", "api-experiences", "run-campaign", "run-schedule", "step-journey", "fan-out"],
});

export const JobWidth = item({
  about: "The kinds of jobs that are spread over 16 partitions, because a workspace makes many of them.",
  pk: () => "JOBWIDTH",
  row: { api: v.optional(v.boolean()), journey: v.optional(v.boolean()), authored: v.optional(v.boolean()) },
  writers: ["api-notifications", "step-journey"],
});

export const IdempotencyRecord = item({
  about: "The answer to a creation with an idempotency key.",
  pk: ({ key }: { key: string }) => `IDEM#${hashOf(key)}`,
  row: {
    id: v.string(),
    sent: v.number(),
    /** Given ids of no subscriber, and the first of them. */
    unknown: v.optional(v.number()),
    unknown_ids: v.optional(v.array(v.string())),
    /** The digest of the request's body. */
    digest: v.string(),
    /** Until when the key is remembered, in milliseconds. */
    until: v.number(),
    expires: v.number(),
  },
  writers: ["api-notifications"],
  lifetime: "24 hours",
});

export const QuarterItem = item({
  about: "What is counted of the sends to one subscriber of a quarter-hour, by the partition of their jobs.",
  pk: () => "QUARTERS",
  sk: ({ quarter, lane }: { quarter: number; lane: JobLane }) => `${quarter}#${lane}`,
  row: {
    totals: json<Record<string, number>>(),
    /** The seals of the sends of its partition, by server key. */
    seals: v.optional(json<Seals>()),
    rev: v.number(),
    /** In the row of the first partition: a MAC of what the audit trail has of the quarter-hour, by server key. */
    "s:*": v.string(),
  },
  writers: ["fan-out", "recount"],
});

export const SendPlan = item({
  about: "A send that an agent key has planned, found by the hash of its token; after the confirmation, its answer.",
  pk: ({ token }: { token: string }) => `PLAN#${hashOf(token)}`,
  row: {
    /** The idempotency key of the send. */
    id: v.string(),
    /** The agent key that planned it, and alone may confirm it. */
    agent_key: v.string(),
    /** The body of the send as JSON, without the recipients of its target, who are kept by id. The confirmation removes it. */
    body: v.optional(v.string()),
    /** The request of the agent, as JSON. */
    asked: v.optional(v.string()),
    /** It has conditions over people, or its text has. */
    conditional: v.optional(v.boolean()),
    /** The digest of the body, and of the template and the rule that it names. */
    digest: v.string(),
    /** Until when it may be confirmed, in milliseconds. */
    until: v.number(),
    /** The id of the send. */
    job: v.optional(v.string()),
    sent: v.optional(v.number()),
    expires: v.number(),
  },
  writers: ["api-mcp"],
  lifetime: "1 hour",
});

export const ConditionalSend = item({
  about:
    "A send that an agent planned for people who meet conditions, or whose text depends on them: agents count no small group of it.",
  pk: ({ job }: { job: string }) => `CONDITIONAL#${job}`,
  row: {},
  writers: ["api-mcp"],
});

/** A later result of a mail, after its send was counted. */
export interface LateResult {
  kind: "arrived" | "bounced" | "complained" | "unsubscribed";
  /** When the mail was sent, in milliseconds: it counts on that day. */
  at: number;
  /** For a mail that arrived or bounced: no other channel reached the recipient. */
  isAlone?: boolean;
  /** The provider of its mailbox; undefined for any other. */
  mailbox?: string | undefined;
  /** Its provider had not answered, so the tally has it as failed. Of a mail that arrived it is so. */
  isUnsure?: boolean;
}
