// Notifications: one-off sends with audience targeting, their state, and their cancellation.
import * as v from "valibot";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, existing, group } from "../../../shared/http/endpoint.ts";
import { invalid } from "../../../shared/http/errors.ts";
import { IdempotencyKey, NewNotification } from "../../../shared/http/notification-input.ts";
import { limit, openCursor, sealCursor } from "../../../shared/http/paging.ts";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { type StoreReader, secrets, storeRead, storeWrite, timers } from "../../../shared/resources.ts";
import { isTerminal, jobStatuses } from "../../../shared/rules/job-states.ts";
import { chatAppInputOf } from "../../../shared/store/channels/chat-app-content.ts";
import { soFar } from "../../../shared/store/sends/deferred.ts";
import { withContent } from "../../../shared/store/sends/job-content.ts";
import { jobSources } from "../../../shared/store/sends/job-ids.ts";
import { jobFields } from "../../../shared/store/sends/job-items.ts";
import { listJobs } from "../../../shared/store/sends/job-list.ts";
import { jobWidths } from "../../../shared/store/sends/job-width.ts";
import { cancelJob, getJob, type Job } from "../../../shared/store/sends/jobs.ts";
import { ArbitrationReport, arbitrationReport, tallyFields } from "../../../shared/store/sends/tallies.ts";
import { createNotification } from "./create.ts";
import { reportInteraction } from "./interactions.ts";

const {
  id,
  status,
  name,
  category,
  title,
  body,
  template_id,
  channel_ids,
  subscriber_ids_count,
  scheduled_at,
  channel_arbitration_mode,
  holdout_percentage,
  split_percentage,
  sent,
  created_at,
} = jobFields;

/** Where a page of the list begins. */
const Position = v.object({ sk: v.string() });

const ExcludedSources = v.pipe(
  v.string(),
  v.transform((text) => text.split(",")),
  v.array(v.picklist(jobSources, `must be some of ${jobSources.join(", ")}`)),
);

const JsonRecord = v.record(v.string(), v.any());

const Notification = v.object({
  id,
  status,
  name,
  category,
  title,
  body,
  data: v.nullable(JsonRecord),
  template_id,
  chat_app_template_id: v.optional(v.string()),
  chat_app_parameters: v.optional(v.array(v.string())),
  channel_ids,
  target: v.nullable(v.looseObject({ type: v.string() })),
  subscriber_ids_count,
  device_filters: v.nullable(JsonRecord),
  subscriber_filters: v.nullable(JsonRecord),
  scheduled_at,
  channel_arbitration_mode,
  holdout_percentage,
  split_percentage,
  variant_b: v.nullable(v.object({ title: v.string(), body: v.string() })),
  source: v.object({ type: v.string(), id: v.nullable(v.string()) }),
  sent,
  ...tallyFields,
  /** Recipients that wait for the end of quiet hours (D-QUIET). */
  deferred: v.number(),
  error: v.nullable(v.string()),
  created_at,
  dispatched_at: v.nullable(Timestamp),
  completed_at: v.nullable(Timestamp),
  /** Aggregates only; absent for explicit sends (SMA-9). */
  channel_arbitration: v.optional(ArbitrationReport),
});

/** `sent` is the size of the audience at creation until the job runs, then the number accepted into delivery. */
const shown = async (store: StoreReader, job: Job): Promise<v.InferInput<typeof Notification>> => {
  const { counts, skip_reasons, fail_reasons, delivered_by_channel, arbitration, deferred } = await soFar(store, job);
  return {
    ...job,
    ...chatAppInputOf(job.chat_app),
    counts,
    skip_reasons,
    fail_reasons,
    delivered_by_channel,
    deferred,
    sent: isTerminal(job.status) ? counts.sent : Math.max(job.sent, counts.sent),
    ...(job.channel_arbitration_mode === "smart" && { channel_arbitration: arbitrationReport(arbitration) }),
  };
};

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const notifications = group("notifications", "One-off sends with audience targeting.", [
  endpoint(
    "POST /api/v1/notifications",
    { permission: "send", uses: [storeWrite, timers, jobWidths] },
    {
      summary: "Send a notification now or at a future time",
      description:
        "An `Idempotency-Key` header (or `idempotency_key`) makes the call safe to repeat for 24 hours: the same body " +
        "gets the first answer again with `Idempotent-Replayed: true`, another body 409.",
      body: NewNotification,
      returns: v.object({
        id: v.string(),
        sent: v.number(),
        unknown: v.optional(v.pipe(v.number(), v.description("How many of the given ids are of no subscriber"))),
        unknown_ids: v.optional(v.pipe(v.array(v.string()), v.description("The first 100 of them"))),
      }),
      status: 201,
      idempotent: true,
      example: {
        body: { target: { type: "all" }, title: "Hello {{ subscriber.first_name }}", body: "It works." },
        returns: { id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60", sent: 1 },
      },
      errors: ["CONFLICT", "TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE", "PAYMENT_REQUIRED", "SEND_CAP_REACHED"],
    },
    async ({ store, timers, jobWidths, caller, body, headers }) => {
      const { plan, sendCap, emailConsent, hasCaps } = workspaceOf(caller);
      const header = headers["idempotency-key"];
      if (header !== undefined && !v.is(IdempotencyKey, header))
        throw invalid({ "Idempotency-Key": "must have 1 to 255 characters" });
      const key = header ?? body.idempotency_key;
      const { replayed, ...answer } = await createNotification(
        store,
        { timers, jobWidths },
        { plan, sendCap, emailConsent, hasCaps },
        body,
        key,
      );
      return replayed ? existing(answer, { "idempotent-replayed": "true" }) : answer;
    },
  ),

  endpoint(
    "GET /api/v1/notifications",
    { uses: [storeRead, secrets] },
    {
      summary: "List notifications, newest first",
      query: v.object({
        cursor: v.optional(v.string()),
        limit: limit(20, 100),
        status: v.optional(v.picklist(jobStatuses)),
        source_type: v.optional(v.string()),
        source_id: v.optional(v.string()),
        exclude_source_type: v.optional(ExcludedSources),
      }),
      returns: v.object({ items: v.array(Notification), next_cursor: v.string() }),
    },
    async ({ store, secrets, query: { cursor, ...filter } }) => {
      const root = await secrets.root();
      const scope = `notifications:${store.tenant}`;
      const after = cursor === undefined ? undefined : v.parse(Position, openCursor(root, scope, cursor)).sk;
      const { jobs, next } = await listJobs(store, { ...filter, after });
      const items = await Promise.all(jobs.map((job) => shown(store, job)));
      return { items, next_cursor: next ? sealCursor(root, scope, { sk: next }) : "" };
    },
  ),

  endpoint(
    "GET /api/v1/notifications/:id",
    { uses: [storeRead] },
    { summary: "Get a notification", returns: Notification, errors: ["NOT_FOUND"] },
    async ({ store, params }) => shown(store, await withContent(store, await getJob(store, params.id))),
  ),

  endpoint(
    "POST /api/v1/notifications/:id/cancel",
    { permission: "send", uses: [storeWrite] },
    {
      summary: "Cancel a scheduled notification: it reaches no recipient after this",
      returns: Notification,
      status: 200,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    async ({ store, params }) => shown(store, await withContent(store, await cancelJob(store, params.id))),
  ),

  reportInteraction,
]);
