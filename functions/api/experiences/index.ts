// In-app experiences: authored as drafts, published to an audience, hidden, shown again and recalled.
import * as v from "valibot";
import { type Caller, workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { pageFields } from "../../../shared/http/paging.ts";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { storeWrite, timers } from "../../../shared/resources.ts";
import { experienceStatuses } from "../../../shared/rules/experience-states.ts";
import {
  createExperience,
  duplicateExperience,
  getExperience,
  listExperiences,
  updateExperience,
} from "../../../shared/store/experiences/experiences.ts";
import {
  archiveExperience,
  endExperience,
  pauseExperience,
  publishExperience,
  resumeExperience,
} from "../../../shared/store/experiences/life.ts";
import { experienceStats } from "../../../shared/store/experiences/stats.ts";
import type { Allowance } from "../../../shared/store/workspaces/usage.ts";
import { Audience, Content, CopyName, Display, ExperienceChange, formats, NewExperience, VariantB } from "./input.ts";

const Experience = v.object({
  id: v.string(),
  name: v.string(),
  format: v.picklist(formats),
  status: v.picklist(experienceStatuses),
  content: Content,
  display: v.optional(Display),
  audience: v.optional(Audience),
  start_at: v.optional(Timestamp),
  end_at: v.optional(Timestamp),
  notification_id: v.optional(v.pipe(v.string(), v.description("The send that publishing began"))),
  variant_b: v.optional(VariantB),
  split_percentage: v.optional(v.number()),
  holdout_percentage: v.number(),
  created_at: Timestamp,
  updated_at: Timestamp,
  archived_at: v.optional(Timestamp),
});

const Counted = v.object({
  impressions: v.number(),
  clicks: v.number(),
  dismissals: v.number(),
  ctr: v.number(),
});

const ExperienceStats = v.object({
  experience_id: v.string(),
  status: v.picklist(experienceStatuses),
  ...Counted.entries,
  unique_reach: v.pipe(v.number(), v.description("Subscribers who have seen it")),
  dismiss_rate: v.number(),
  by_variant: v.optional(v.array(v.object({ variant_id: v.picklist(["a", "b"]), ...Counted.entries }))),
});

const access = { credentials: ["dashboard"], feature: "in_app", refusal: 400, uses: [storeWrite] } as const;
const endpoint = endpoints(access);
const sending = endpoints({ ...access, permission: "send" });

const allowanceOf = (caller: Caller): Allowance => {
  const { plan, sendCap } = workspaceOf(caller);
  return { plan, sendCap };
};

const moved = { returns: Experience, status: 200, errors: ["BAD_REQUEST", "NOT_FOUND"] } as const;
const sends = { ...moved, errors: [...moved.errors, "PAYMENT_REQUIRED", "SEND_CAP_REACHED"] } as const;

export const experiences = group("experiences", "In-app experiences, from draft to recall.", [
  endpoint(
    "POST /api/v1/in-app/experiences",
    { permission: "content:write" },
    {
      summary: "Create a draft of an experience",
      body: NewExperience,
      returns: Experience,
      status: 201,
      example: {
        body: {
          name: "Spring sale",
          format: "banner",
          content: {
            title: "Hello {{ subscriber.first_name }}",
            body: "Everything is 20 % off.",
            actions: [{ id: "shop", title: "To the shop", url: "https://example.com/sale" }],
          },
          display: { trigger: "session_start", frequency: "once", priority: 5, screens: ["/home"] },
          audience: { type: "all" },
        },
      },
      errors: ["QUOTA_EXCEEDED"],
    },
    ({ store, body }) => createExperience(store, body),
  ),

  endpoint(
    "GET /api/v1/in-app/experiences",
    {},
    {
      summary: "List experiences, newest first",
      query: v.object({
        ...pageFields("page_size"),
        status: v.optional(v.picklist(experienceStatuses, `must be one of ${experienceStatuses.join(", ")}`)),
      }),
      returns: v.object({ items: v.array(Experience), total: v.number(), page: v.number(), page_size: v.number() }),
    },
    async ({ store, query: { page, page_size, status } }) => ({
      ...(await listExperiences(store, { page, size: page_size, status })),
      ...{ page, page_size },
    }),
  ),

  endpoint(
    "GET /api/v1/in-app/experiences/:id",
    {},
    { summary: "Get an experience", returns: Experience, errors: ["NOT_FOUND"] },
    ({ store, params }) => getExperience(store, params.id),
  ),

  endpoint(
    "PATCH /api/v1/in-app/experiences/:id",
    { permission: "content:write" },
    {
      summary: "Change a draft: each block that is given replaces its whole block",
      description: "An empty `start_at` or `end_at` clears it. What is no longer a draft cannot be changed: 422.",
      body: ExperienceChange,
      returns: Experience,
      example: { body: { name: "Spring sale, second try", end_at: "2027-04-01T00:00:00.000Z" } },
      errors: ["NOT_FOUND", "VALIDATION_ERROR"],
    },
    ({ store, params, body }) => updateExperience(store, params.id, body),
  ),

  sending(
    "POST /api/v1/in-app/experiences/:id/publish",
    { uses: [timers] },
    {
      summary: "Publish a draft: its send begins now, or at start_at",
      description: "Needs an audience, content.body (and variant_b.body), and an end_at that has not passed.",
      ...sends,
    },
    ({ store, timers, caller, params }) => publishExperience(store, timers, allowanceOf(caller), params.id),
  ),

  sending(
    "POST /api/v1/in-app/experiences/:id/pause",
    {},
    { summary: "Hide a live experience: its messages are not seen, and a send still ahead is canceled", ...moved },
    ({ store, params }) => pauseExperience(store, params.id),
  ),

  sending(
    "POST /api/v1/in-app/experiences/:id/resume",
    { uses: [timers] },
    { summary: "Show a paused experience again; a send that the pause canceled begins anew", ...sends },
    ({ store, timers, caller, params }) => resumeExperience(store, timers, allowanceOf(caller), params.id),
  ),

  sending(
    "POST /api/v1/in-app/experiences/:id/end",
    {},
    { summary: "End an experience for good: its messages are recalled", ...moved },
    ({ store, params }) => endExperience(store, params.id),
  ),

  endpoint(
    "POST /api/v1/in-app/experiences/:id/archive",
    { permission: "content:write" },
    { summary: "Archive a draft or an experience that has ended", ...moved },
    ({ store, params }) => archiveExperience(store, params.id),
  ),

  endpoint(
    "POST /api/v1/in-app/experiences/:id/duplicate",
    { permission: "content:write" },
    {
      summary: "Make a new draft of what was authored, without its live window and send",
      body: CopyName,
      returns: Experience,
      status: 201,
      errors: ["NOT_FOUND", "QUOTA_EXCEEDED"],
    },
    ({ store, params, body }) => duplicateExperience(store, params.id, body.name),
  ),

  endpoint(
    "GET /api/v1/in-app/experiences/:id/stats",
    {},
    {
      summary: "Get what readers did with an experience",
      description: "Shares are of impressions, and 0 without any. `by_variant` is there for A/B experiences.",
      returns: ExperienceStats,
      errors: ["NOT_FOUND"],
    },
    ({ store, params }) => experienceStats(store, params.id),
  ),
]);
