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
import { channelClasses } from "../../../shared/rules/reach.ts";
import { chatAppInputOf } from "../../../shared/store/channels/chat-app-content.ts";
import type { Key } from "../../../shared/store/model.ts";
import { soFar } from "../../../shared/store/sends/deferred.ts";
import { cancelJob, getJob, type JobItem, listJobs } from "../../../shared/store/sends/jobs.ts";
import { readoutOf } from "../../../shared/store/sends/tallies.ts";
import { createNotification } from "./create.ts";
import { reportInteraction } from "./interactions.ts";

const Counts = v.object({
  total: v.number(),
  sent: v.number(),
  delivered: v.number(),
  failed: v.number(),
  skipped: v.number(),
  held_out: v.number(),
});

/** SMA-7: aggregates only; absent for explicit sends (SMA-9). */
const Arbitration = v.object({
  chosen: v.array(
    v.object({
      class: v.picklist(channelClasses),
      source: v.picklist(["personal", "tenant", "default"]),
      subscribers: v.number(),
    }),
  ),
  suppressed_devices: v.number(),
  rank_errors: v.number(),
  fallback_steps: v.number(),
  fallback_dedup_errors: v.number(),
});

const Notification = v.object({
  id: v.string(),
  status: v.picklist(jobStatuses),
  name: v.nullable(v.string()),
  category: v.picklist(["marketing", "transactional"]),
  title: v.nullable(v.string()),
  body: v.nullable(v.string()),
  data: v.nullable(v.record(v.string(), v.any())),
  template_id: v.nullable(v.string()),
  chat_app_template_id: v.optional(v.string()),
  chat_app_parameters: v.optional(v.array(v.string())),
  channel_ids: v.array(v.string()),
  target: v.nullable(v.looseObject({ type: v.string() })),
  subscriber_ids_count: v.nullable(v.number()),
  device_filters: v.nullable(v.record(v.string(), v.any())),
  subscriber_filters: v.nullable(v.record(v.string(), v.any())),
  scheduled_at: v.nullable(Timestamp),
  channel_arbitration_mode: v.picklist(["explicit", "smart"]),
  holdout_percentage: v.number(),
  split_percentage: v.nullable(v.number()),
  variant_b: v.nullable(v.object({ title: v.string(), body: v.string() })),
  source: v.object({ type: v.string(), id: v.nullable(v.string()) }),
  sent: v.number(),
  counts: Counts,
  skip_reasons: v.record(v.string(), v.number()),
  fail_reasons: v.record(v.string(), v.number()),
  delivered_by_channel: v.record(v.string(), v.number()),
  /** Recipients who wait for the end of quiet hours (D-QUIET). */
  deferred: v.number(),
  error: v.nullable(v.string()),
  created_at: Timestamp,
  dispatched_at: v.nullable(Timestamp),
  completed_at: v.nullable(Timestamp),
  channel_arbitration: v.optional(Arbitration),
});

/** `sent` is what was promised at creation until the job runs, then what was accepted into delivery. */
const shown = async (store: StoreReader, job: JobItem) => {
  const { counts, skip_reasons, fail_reasons, delivered_by_channel, arbitration, deferred } = await soFar(store, job);
  return {
    ...job,
    ...chatAppInputOf(job.chat_app),
    ...{ counts, skip_reasons, fail_reasons, delivered_by_channel, deferred },
    sent: isTerminal(job.status) ? counts.sent : Math.max(job.sent, counts.sent),
    ...(job.channel_arbitration_mode === "smart" && { channel_arbitration: readoutOf(arbitration) }),
  };
};

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeRead, secrets] });
const sending = endpoints({ credentials: ["dashboard"], permission: "send", uses: [storeWrite, timers] });

export const notifications = group("notifications", "One-off sends with audience targeting.", [
  sending(
    "POST /api/v1/notifications",
    {},
    {
      summary: "Send a notification now or at a future time",
      description:
        "An `Idempotency-Key` header (or `idempotency_key`) makes the call safe to repeat for 24 hours: the same body " +
        "gets the first answer again with `Idempotent-Replayed: true`, another body 409.",
      body: NewNotification,
      returns: v.object({ id: v.string(), sent: v.number() }),
      status: 201,
      idempotent: true,
      example: {
        body: { target: { type: "all" }, title: "Hello {{ subscriber.first_name }}", body: "It works." },
        returns: { id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60", sent: 1 },
      },
      errors: ["CONFLICT", "TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE", "PAYMENT_REQUIRED", "SEND_CAP_REACHED"],
    },
    async ({ store, timers, caller, body, headers }) => {
      const { plan, sendCap, emailConsent } = workspaceOf(caller);
      const header = headers["idempotency-key"];
      if (header !== undefined && !v.is(IdempotencyKey, header))
        throw invalid({ "Idempotency-Key": "must have 1 to 255 characters" });
      const key = header ?? body.idempotency_key;
      const { replayed, ...answer } = await createNotification(
        store,
        timers,
        { plan, sendCap, emailConsent },
        body,
        key,
      );
      return replayed ? existing(answer, { "idempotent-replayed": "true" }) : answer;
    },
  ),

  endpoint(
    "GET /api/v1/notifications",
    {},
    {
      summary: "List notifications, newest first",
      query: v.object({
        cursor: v.optional(v.string()),
        limit: limit(20, 100),
        status: v.optional(v.picklist(jobStatuses)),
        source_type: v.optional(v.string()),
        source_id: v.optional(v.string()),
      }),
      returns: v.object({ items: v.array(Notification), next_cursor: v.string() }),
    },
    async ({ store, secrets, query: { cursor, ...filter } }) => {
      const root = await secrets.root();
      const scope = `notifications:${store.tenant}`;
      const after = cursor === undefined ? undefined : (openCursor(root, scope, cursor) as Key);
      const { jobs, next } = await listJobs(store, { ...filter, after });
      const items = await Promise.all(jobs.map((job) => shown(store, job)));
      return { items, next_cursor: next ? sealCursor(root, scope, next) : "" };
    },
  ),

  endpoint(
    "GET /api/v1/notifications/:id",
    {},
    { summary: "Get a notification", returns: Notification, errors: ["NOT_FOUND"] },
    async ({ store, params }) => shown(store, await getJob(store, params.id)),
  ),

  sending(
    "POST /api/v1/notifications/:id/cancel",
    {},
    {
      summary: "Cancel a scheduled notification: nobody is reached after this",
      returns: Notification,
      status: 200,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    async ({ store, params }) => shown(store, await cancelJob(store, params.id)),
  ),

  reportInteraction,
]);
