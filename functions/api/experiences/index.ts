// In-app experiences: authored as drafts, published to an audience, paused, resumed and ended.
import * as v from "valibot";
import { numberedPage, pageFields } from "../../../shared/contract/paging.ts";
import { NameUpTo, OneOf, said, TimestampInput } from "../../../shared/contract/schemas.ts";
import { Percentage } from "../../../shared/contract/send-input.ts";
import { type Caller, workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { editAsSeen, IF_MATCH, tagged } from "../../../shared/http/if-match.ts";
import { experienceStatuses } from "../../../shared/rules/experience-states.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { Audience, Content, Display, Format, VariantB } from "../../../shared/store/experiences/blocks.ts";
import {
  createExperience,
  deleteDraft,
  duplicateExperience,
  experienceStats,
  getExperience,
  listExperiences,
  MAX_NAME_CHARACTERS,
  updateExperience,
} from "../../../shared/store/experiences/experiences.ts";
import {
  archiveExperience,
  endExperience,
  publishExperience,
  resumeExperience,
} from "../../../shared/store/experiences/life.ts";
import { pauseExperience } from "../../../shared/store/experiences/moves.ts";
import { Experience } from "../../../shared/store/experiences/shown.ts";
import type { Allowance } from "../../../shared/store/workspaces/usage.ts";

const Name = NameUpTo(MAX_NAME_CHARACTERS);

/** A time; an empty one clears it (INX-26). */
const Time = v.union([v.literal(""), TimestampInput], "must be an RFC 3339 timestamp, or empty for none");

const optional = {
  display: v.optional(Display),
  audience: v.optional(Audience),
  start_at: v.optional(Time),
  end_at: v.optional(Time),
  variant_b: v.optional(VariantB),
  split_percentage: v.optional(
    said("The share of arm A in percent, 1 to 99. Default: 50 where there is an arm B", Percentage(1)),
  ),
  holdout_percentage: v.optional(Percentage(0)),
};

const NewExperience = v.strictObject({ name: Name, format: Format, content: Content, ...optional });

const ExperienceChange = v.strictObject({
  name: v.optional(Name),
  format: v.optional(Format),
  content: v.optional(Content),
  ...optional,
  remove_variant_b: v.optional(v.boolean()),
});

const CopyName = v.strictObject({ name: v.optional(Name) });

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
  unique_reach: said("Subscribers who have seen it", v.number()),
  dismiss_rate: v.number(),
  by_variant: v.optional(v.array(v.object({ variant_id: v.picklist(["a", "b"]), ...Counted.entries }))),
});

const endpoint = endpoints({ credentials: ["dashboard"], feature: "in_app", refusal: 400, uses: [] });

const allowanceOf = (caller: Caller): Allowance => {
  const { plan, sendCap } = workspaceOf(caller);
  return { plan, sendCap };
};

const sends = { returns: Experience, errors: ["PAYMENT_REQUIRED", "SEND_CAP_REACHED"] } as const;

export const experiences = group("experiences", "In-app experiences, from draft to recall.", [
  endpoint(
    "POST /api/v1/in-app/experiences",
    { permission: "content:write", agents: "write:drafts", uses: [storeWrite] },
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
            body: "Everything is 20% off.",
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
    { agents: "read", uses: [storeRead] },
    {
      summary: "List experiences, newest first",
      query: v.object({
        ...pageFields("page_size"),
        status: v.optional(OneOf(experienceStatuses)),
      }),
      returns: numberedPage(Experience),
    },
    async ({ store, query: { page, page_size, status } }) => ({
      ...(await listExperiences(store, { page, size: page_size, status })),
      page,
      page_size,
    }),
  ),

  endpoint(
    "GET /api/v1/in-app/experiences/:id",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get an experience",
      description: "The header `ETag` is its version.",
      returns: Experience,
    },
    async ({ store, params }) => tagged(await getExperience(store, params.id)),
  ),

  endpoint(
    "PATCH /api/v1/in-app/experiences/:id",
    { permission: "content:write", uses: [storeWrite] },
    {
      summary: "Change a draft: each given block replaces the whole block",
      description: `An empty \`start_at\` or \`end_at\` clears it. An experience that is not a draft cannot be changed: 422. ${IF_MATCH}`,
      body: ExperienceChange,
      returns: Experience,
      example: { body: { name: "Spring sale, second try", end_at: "2027-04-01T00:00:00.000Z" } },
      errors: ["VALIDATION_ERROR", "PRECONDITION_FAILED"],
    },
    ({ store, params, body, headers }) =>
      editAsSeen(headers, Experience, {
        read: () => getExperience(store, params.id),
        edit: (seen) => updateExperience(store, params.id, body, seen?.version),
      }),
  ),

  endpoint(
    "DELETE /api/v1/in-app/experiences/:id",
    { permission: "content:write", uses: [storeWrite] },
    { summary: "Delete a draft", errors: ["CONFLICT"] },
    ({ store, params }) => deleteDraft(store, params.id),
  ),

  endpoint(
    "POST /api/v1/in-app/experiences/:id/publish",
    { permission: "send", uses: [storeWrite, timers] },
    {
      summary: "Publish a draft: its send starts now, or at start_at",
      description: "Needs an audience, content.body (and variant_b.body), and an end_at that has not passed.",
      ...sends,
    },
    ({ store, timers, caller, params }) => publishExperience(store, timers, allowanceOf(caller), params.id),
  ),

  endpoint(
    "POST /api/v1/in-app/experiences/:id/pause",
    { permission: "send", uses: [storeWrite] },
    {
      summary: "Pause a live experience: its messages are hidden, and a scheduled send is canceled",
      returns: Experience,
    },
    ({ store, params }) => pauseExperience(store, params.id),
  ),

  endpoint(
    "POST /api/v1/in-app/experiences/:id/resume",
    { permission: "send", uses: [storeWrite, timers] },
    {
      summary: "Resume a paused experience; a send that the pause canceled, or that reached nobody, starts again",
      ...sends,
    },
    ({ store, timers, caller, params }) => resumeExperience(store, timers, allowanceOf(caller), params.id),
  ),

  endpoint(
    "POST /api/v1/in-app/experiences/:id/end",
    { permission: "send", uses: [storeWrite] },
    {
      summary: "End an experience: its messages are recalled, a send under way stops, and it cannot be resumed",
      returns: Experience,
    },
    ({ store, params }) => endExperience(store, params.id),
  ),

  endpoint(
    "POST /api/v1/in-app/experiences/:id/archive",
    { permission: "content:write", uses: [storeWrite] },
    { summary: "Archive a draft or an experience that has ended", returns: Experience },
    ({ store, params }) => archiveExperience(store, params.id),
  ),

  endpoint(
    "POST /api/v1/in-app/experiences/:id/duplicate",
    { permission: "content:write", uses: [storeWrite] },
    {
      summary: "Copy an experience to a new draft, without its live window and send",
      body: CopyName,
      example: { body: { name: "Summer sale" } },
      returns: Experience,
      status: 201,
      errors: ["QUOTA_EXCEEDED"],
    },
    ({ store, params, body }) => duplicateExperience(store, params.id, body.name),
  ),

  endpoint(
    "GET /api/v1/in-app/experiences/:id/stats",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get the statistics of an experience",
      description: "Rates are shares of impressions, and 0 without any. `by_variant` is present for A/B experiences.",
      returns: ExperienceStats,
    },
    ({ store, params }) => experienceStats(store, params.id),
  ),
]);
