// Campaigns: several messages to one audience, released together, paused and archived as one.
import * as v from "valibot";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { pageFields } from "../../../shared/http/paging.ts";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { windowFields, windowOf } from "../../../shared/http/window.ts";
import { storeWrite, timers } from "../../../shared/resources.ts";
import { campaignStatuses } from "../../../shared/rules/campaign-states.ts";
import {
  actOnCampaign,
  type Campaign,
  campaignActions,
  createCampaign,
  getCampaign,
  listCampaigns,
  releaseCampaign,
  replaceCampaign,
} from "../../../shared/store/campaigns/campaigns.ts";
import { applyState, makeJobs } from "../../../shared/store/campaigns/jobs.ts";
import { reportOf } from "../../../shared/store/campaigns/report.ts";
import { CampaignReplacement, NewCampaign, specOf } from "./input.ts";

const Content = v.object({ title: v.string(), body: v.string() });
const parts = {
  content: v.optional(Content),
  template_id: v.optional(v.string()),
  chat_app_template_id: v.optional(v.string()),
  chat_app_parameters: v.optional(v.array(v.string())),
  channel_ids: v.array(v.string()),
  scheduled_at: v.optional(Timestamp),
};

const CampaignShape = v.object({
  id: v.string(),
  name: v.string(),
  status: v.picklist(campaignStatuses),
  category: v.picklist(["transactional", "marketing"]),
  target: v.looseObject({ type: v.string() }),
  ...parts,
  holdout_percentage: v.number(),
  messages: v.array(v.object({ id: v.string(), ...parts, position: v.number(), job_id: v.string() })),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const reached = { delivered: v.number(), opened: v.number(), opened_human: v.number(), clicked: v.number() };

const message = {
  content: { title: "Hello {{ subscriber.first_name }}", body: "It is spring." },
  channel_ids: ["5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60"],
};

/** The top level mirrors the first message; its time is the campaign's, if that has one (CMP-10, AMB-66). */
function shown({ releasedAt, archivedFrom, isRestored, ...campaign }: Campaign) {
  const { id, position, job_id, channel_ids = [], scheduled_at, ...first } = campaign.messages[0] ?? {};
  return { ...campaign, ...first, channel_ids, scheduled_at: campaign.scheduled_at ?? scheduled_at };
}

const reading = endpoints({ credentials: ["dashboard"], uses: [storeWrite] });
const writing = endpoints({ credentials: ["dashboard"], permission: "content:write", uses: [storeWrite] });
const sending = endpoints({ credentials: ["dashboard"], permission: "send", uses: [storeWrite, timers] });

export const campaigns = group("campaigns", "Several messages to one audience.", [
  writing(
    "POST /api/v1/campaigns",
    {},
    {
      summary: "Create a campaign as a draft",
      description:
        "Either `messages`, or `content` (or `template_id`) and `channel_ids` for a single one. Beside `messages`, `template_id` is what a message without content of its own says.",
      body: NewCampaign,
      returns: CampaignShape,
      status: 201,
      example: { body: { name: "Spring sale", ...message } },
      errors: ["TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE", "QUOTA_EXCEEDED"],
    },
    async ({ store, caller, body }) =>
      shown(await createCampaign(store, await specOf(store, workspaceOf(caller).plan, body))),
  ),

  reading(
    "GET /api/v1/campaigns",
    {},
    {
      summary: "List campaigns, newest first",
      query: v.object({
        ...pageFields("page_size"),
        status: v.optional(v.picklist(campaignStatuses, `must be one of ${campaignStatuses.join(", ")}`)),
      }),
      returns: v.object({ items: v.array(CampaignShape), total: v.number(), page: v.number(), page_size: v.number() }),
    },
    async ({ store, query: { page, page_size: size, status } }) => {
      const { items, ...rest } = await listCampaigns(store, { page, size, status });
      return { items: items.map(shown), ...rest };
    },
  ),

  reading(
    "GET /api/v1/campaigns/:id",
    {},
    { summary: "Get a campaign with its messages", returns: CampaignShape, errors: ["NOT_FOUND"] },
    async ({ store, params }) => shown(await getCampaign(store, params.id)),
  ),

  writing(
    "PUT /api/v1/campaigns/:id",
    {},
    {
      summary: "Replace a draft: what is omitted goes back to its default",
      body: CampaignReplacement,
      returns: CampaignShape,
      example: { body: { name: "Spring sale", messages: [message] } },
      errors: ["NOT_FOUND", "CONFLICT", "TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE"],
    },
    async ({ store, caller, params, body }) => {
      await getCampaign(store, params.id);
      return shown(await replaceCampaign(store, params.id, await specOf(store, workspaceOf(caller).plan, body)));
    },
  ),

  sending(
    "PATCH /api/v1/campaigns/:id",
    {},
    {
      summary: "Pause, resume, archive or unarchive a campaign",
      body: v.strictObject({
        action: v.picklist(campaignActions, `must be one of ${campaignActions.join(", ")}`),
      }),
      returns: CampaignShape,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    async ({ store, timers, params, body: { action } }) => {
      const campaign = await actOnCampaign(store, params.id, action);
      await applyState(store, timers, campaign);
      return shown(campaign);
    },
  ),

  sending(
    "POST /api/v1/campaigns/:id/release",
    {},
    {
      summary: "Release a draft: every message becomes a notification job",
      returns: CampaignShape,
      status: 200,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    async ({ store, timers, caller, params }) => {
      const { plan, sendCap } = workspaceOf(caller);
      const campaign = await releaseCampaign(store, params.id);
      await makeJobs(store, timers, { plan, sendCap }, campaign);
      return shown(campaign);
    },
  ),

  reading(
    "GET /api/v1/campaigns/:id/report",
    {},
    {
      summary: "Get what a campaign came to",
      description:
        "Of the messages dispatched between `start` and `end`, by default the last 30 days; each person once a message.",
      query: v.object(windowFields),
      returns: v.object({
        sent: v.number(),
        delivered: v.number(),
        opened: v.number(),
        opened_human: v.number(),
        clicked: v.number(),
        converted: v.number(),
        revenue_cents: v.number(),
        by_channel: v.array(v.pipe(v.object({ channel: v.string(), ...reached }), v.title("ChannelReport"))),
        by_message: v.array(
          v.pipe(v.object({ position: v.number(), label: v.string(), ...reached }), v.title("MessageReport")),
        ),
      }),
      errors: ["NOT_FOUND"],
    },
    async ({ store, clock, params, query }) =>
      reportOf(store, await getCampaign(store, params.id), windowOf(query, clock.now())),
  ),
]);
