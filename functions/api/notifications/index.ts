// Notifications: one-off sends with audience targeting, their state, and their cancellation.
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf, limit } from "../../../shared/contract/paging.ts";
import { arms, lost, reached } from "../../../shared/contract/results.ts";
import { Id, OneOf, said, TextUpTo, TimestampInput, Uuid } from "../../../shared/contract/schemas.ts";
import { periodFields, requirePeriod, textQuery } from "../../../shared/contract/window.ts";
import { attributesSeenBy } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { interactions, platforms } from "../../../shared/rules/interactions.ts";
import { jobStatuses } from "../../../shared/rules/job-states.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { mailReading } from "../../../shared/store/files/mails.ts";
import { sendReportOf } from "../../../shared/store/insights/send-report.ts";
import { countInteraction } from "../../../shared/store/sends/interactions/interactions.ts";
import { jobSources } from "../../../shared/store/sends/jobs/job-ids.ts";
import { listJobs } from "../../../shared/store/sends/jobs/job-list.ts";
import { getJob } from "../../../shared/store/sends/jobs/jobs.ts";
import {
  cancel,
  canceling,
  create,
  createUses,
  creating,
  Notification,
  read,
  reading,
  resume,
  resuming,
  shown,
} from "./sending.ts";

const optionalText = (maxLength: number) => v.optional(v.pipe(v.string(), v.maxLength(maxLength)));

const Interaction = v.strictObject({
  job_id: said("`notification_id` of the payload", Uuid),
  interaction: OneOf(interactions),
  platform: OneOf(platforms),
  occurred_at: TimestampInput,
  action_id: optionalText(256),
  url: optionalText(2_048),
  subscriber_id: v.optional(v.pipe(Id, v.toLowerCase())),
  device_id: optionalText(128),
  variant_id: optionalText(128),
});

const reportInteraction = endpoints({ credentials: ["sdk"], uses: [storeWrite] })(
  "POST /api/v1/notifications/interactions",
  {},
  {
    summary: "Report what a recipient did with a message",
    description:
      "Counts in stats, funnels and reports and fires the webhook event `notification.interaction`. A report equal to " +
      "an earlier one in every field, `occurred_at` included, counts once.",
    body: Interaction,
    example: {
      body: {
        job_id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60",
        interaction: "tapped",
        platform: "ios",
        occurred_at: "2026-11-20T12:00:00.000Z",
        subscriber_id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60",
      },
    },
    status: 202,
  },
  async ({ store, body }) => {
    await countInteraction(store, body);
  },
);

/** Where a page of the list begins. */
const Position = v.object({ sk: v.string() });

const ExcludedSources = v.pipe(
  TextUpTo(256),
  v.transform((text) => text.split(",")),
  v.array(v.picklist(jobSources, `must be some of ${jobSources.join(", ")}`)),
);

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });
const serverEndpoint = endpoints({ credentials: ["server"], uses: [] });

export const notifications = group("notifications", "One-off sends with audience targeting.", [
  endpoint(
    "POST /api/v1/notifications",
    { permission: "send", agents: "write:send", uses: createUses },
    {
      ...creating,
      example: {
        body: { target: { type: "all" }, title: "Hello {{ subscriber.first_name }}", body: "It works." },
        returns: { id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60", sent: 1 },
      },
    },
    create,
  ),

  endpoint(
    "GET /api/v1/notifications",
    { agents: "read", uses: [storeRead, secrets] },
    {
      summary: "List notifications, newest first",
      query: v.object({
        cursor,
        limit: limit(20, 100),
        status: v.optional(v.picklist(jobStatuses)),
        source_type: v.optional(OneOf(jobSources)),
        source_id: v.optional(TextUpTo(128)),
        exclude_source_type: v.optional(ExcludedSources),
        q: textQuery("the name or the title"),
        ...periodFields,
      }),
      returns: cursorPage(Notification),
    },
    async ({ store, secrets, caller, query: { cursor, ...filter } }) => {
      requirePeriod(filter);
      const hidesTitles = attributesSeenBy(caller) !== undefined;
      const cursors = cursorsOf(await secrets.root(), `notifications:${store.tenant}`, Position);
      const { jobs, next } = await listJobs(store, { ...filter, hidesTitles, after: cursors.open(cursor)?.sk });
      const items = await Promise.all(jobs.map((job) => shown(store, job)));
      return { items, next_cursor: cursors.seal(next === undefined ? undefined : { sk: next }) };
    },
  ),

  endpoint("GET /api/v1/notifications/:id", { agents: "read", uses: [storeRead, mailReading] }, reading, read),

  endpoint(
    "GET /api/v1/notifications/:id/report",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get what became of a notification, and of its arms",
      returns: v.object({ sent: v.number(), ...reached, ...lost, ...arms }),
    },
    async ({ store, params }) => sendReportOf(store, await getJob(store, params.id)),
  ),

  endpoint(
    "POST /api/v1/notifications/:id/cancel",
    { permission: "send", uses: [storeWrite, mailReading] },
    canceling,
    cancel,
  ),

  endpoint(
    "POST /api/v1/notifications/:id/resume",
    { permission: "send", uses: [storeWrite, mailReading] },
    resuming,
    resume,
  ),

  serverEndpoint(
    "POST /v1/notifications",
    { scope: "messages:send", unaudited: ["server"], uses: createUses },
    {
      ...creating,
      summary: "Send from a backend, to the workspace's own ids or to an audience",
      example: {
        body: { external_ids: ["ada"], title: "Your order has shipped", body: "It arrives tomorrow." },
        returns: { id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60", sent: 1, unknown: 0, unknown_ids: [] },
      },
    },
    create,
  ),

  serverEndpoint(
    "GET /v1/notifications/:id",
    { scope: "messages:read", uses: [storeRead, mailReading] },
    reading,
    read,
  ),

  serverEndpoint(
    "POST /v1/notifications/:id/cancel",
    { scope: "messages:send", uses: [storeWrite, mailReading] },
    canceling,
    cancel,
  ),

  serverEndpoint(
    "POST /v1/notifications/:id/resume",
    { scope: "messages:send", uses: [storeWrite, mailReading] },
    resuming,
    resume,
  ),

  reportInteraction,
]);
