// The stored form of notification jobs (NTF).
import * as v from "valibot";
import { Timestamp } from "../../http/schemas.ts";
import { jobStatuses } from "../../rules/job-states.ts";
import { hashOf } from "../hash.ts";
import { item, json } from "../item.ts";
import type { DeliverySettings, JobDetails } from "./job-spec.ts";
import { tallyAttributes } from "./tallies.ts";

/** Attributes of a job that are fields of the API as well. */
export const jobFields = {
  id: v.string(),
  status: v.picklist(jobStatuses),
  name: v.nullable(v.string()),
  category: v.picklist(["marketing", "transactional"]),
  title: v.nullable(v.string()),
  body: v.nullable(v.string()),
  template_id: v.nullable(v.string()),
  channel_ids: v.array(v.string()),
  subscriber_ids_count: v.nullable(v.number()),
  scheduled_at: v.nullable(Timestamp),
  channel_arbitration_mode: v.picklist(["explicit", "smart"]),
  holdout_percentage: v.number(),
  split_percentage: v.nullable(v.number()),
  bypass_quiet_hours: v.boolean(),
  sent: v.number(),
  created_at: Timestamp,
};

export const JobItem = item({
  about: "A notification job: content, audience, state and totals. Its insertion starts the send.",
  pk: () => "JOB",
  sk: ({ job }: { job: string }) => job,
  row: {
    react: v.literal("job"),
    ...jobFields,
    ...tallyAttributes,
    json: json<JobDetails>(),
    error: v.optional(v.string()),
    dispatched_at: v.optional(Timestamp),
    completed_at: v.optional(Timestamp),
    /** Those of the source, for the filters of a list. */
    source_type: v.string(),
    source_id: v.optional(v.string()),
    /** The ranges of the audience: set at creation for a small one, else at dispatch. */
    ranges: v.optional(v.array(v.string())),
    ranges_closed: v.optional(v.number()),
    /** Its campaign is paused or archived: it does not fire, and what it has deferred waits. */
    held: v.optional(v.boolean()),
    /** When it was last released, in milliseconds. */
    let_go_at: v.optional(v.number()),
    /** Set at dispatch. */
    means: v.optional(json<DeliverySettings>()),
    /** Sends taken from the quota for this job. */
    reserved: v.optional(v.number()),
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
  ],
});

export const IdempotencyRecord = item({
  about: "The answer to a creation with an idempotency key.",
  pk: ({ key }: { key: string }) => `IDEM#${hashOf(key)}`,
  row: {
    id: v.string(),
    sent: v.number(),
    /** Of the request's body. */
    digest: v.string(),
    /** Until when the key is remembered, in milliseconds. */
    until: v.number(),
    expires: v.number(),
  },
  writers: ["api-notifications"],
  lifetime: "24 hours",
});
