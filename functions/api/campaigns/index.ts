// Campaigns: several messages to one audience, released together, paused and archived as one.
import * as v from "valibot";
import { SendCost } from "../../../shared/contract/cost.ts";
import { inOneAnswer, numberedPage, pageFields } from "../../../shared/contract/paging.ts";
import { arms, lost, missed, reached } from "../../../shared/contract/results.ts";
import { OneOf, said, TrueOrFalse, titled } from "../../../shared/contract/schemas.ts";
import { periodFields, requirePeriod, textQuery, windowFields, windowOf } from "../../../shared/contract/window.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { editAsSeen, IF_MATCH, tagged } from "../../../shared/http/if-match.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import { overduePolicies } from "../../../shared/rules/campaign-resume.ts";
import { campaignStatuses } from "../../../shared/rules/campaign-states.ts";
import {
  actOnCampaign,
  campaignActions,
  createCampaign,
  duplicateCampaign,
  getCampaign,
  listCampaigns,
  replaceCampaign,
} from "../../../shared/store/campaigns/campaigns.ts";
import { campaignFields, MessageError } from "../../../shared/store/campaigns/items.ts";
import { applyState, deleteCampaign, resume } from "../../../shared/store/campaigns/jobs.ts";
import { rewrittenMessages } from "../../../shared/store/campaigns/mails.ts";
import { campaignFailures, haltedSends, reportOf, resultsOf } from "../../../shared/store/campaigns/report.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { mailKeeping, mailReading } from "../../../shared/store/files/mails.ts";
import { releases } from "./approvals.ts";
import { CampaignReplacement, NewCampaign, specOf, withoutMirror } from "./input.ts";
import { CampaignShape, failures, halted, ListedCampaign, shown, shownWhole } from "./shapes.ts";

const message = {
  content: { title: "Hello {{ subscriber.first_name }}", body: "It is spring." },
  channel_ids: ["5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60"],
};

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const campaigns = group("campaigns", "Several messages to one audience.", [
  endpoint(
    "POST /api/v1/campaigns",
    { permission: "content:write", agents: "write:drafts", uses: [storeWrite, mailKeeping] },
    {
      summary: "Create a campaign as a draft",
      description:
        "Either `messages`, or `content` (or `template_id`) and `channel_ids` for a single one. With `messages`, `template_id` applies to the messages without content or template of their own.",
      body: NewCampaign,
      returns: CampaignShape,
      status: 201,
      example: { body: { name: "Spring sale", ...message } },
      errors: ["TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE", "QUOTA_EXCEEDED"],
    },
    async ({ store, mails, caller, body }) => {
      const spec = await specOf(store, workspaceOf(caller).plan, body);
      const kept = { ...spec, messages: await rewrittenMessages(mails.keep, spec.messages) };
      return shownWhole(mails.asRead, await createCampaign(store, kept));
    },
  ),

  endpoint(
    "GET /api/v1/campaigns",
    { agents: "read", uses: [storeRead] },
    {
      summary: "List campaigns, newest first",
      query: v.object({
        ...pageFields("page_size"),
        status: v.optional(OneOf(campaignStatuses)),
        awaiting_approval: said("Drafts whose release was asked for", v.optional(v.literal("true", "must be true"))),
        q: textQuery("the name"),
        ...periodFields,
        results: said(
          "Whether each comes with its results so far: of at most 1,000 sends, else 422",
          v.optional(TrueOrFalse, "false"),
        ),
      }),
      returns: numberedPage(ListedCampaign),
    },
    async ({ store, query: { page_size: size, results, awaiting_approval, ...query } }) => {
      requirePeriod(query);
      const filter = awaiting_approval ? { status: "draft", ...query, waits: true } : query;
      const { items, ...rest } = await listCampaigns(store, { ...filter, size });
      const found = results ? await resultsOf(store, items) : [];
      const shownItems = items.map((item, n) => ({ ...shown(item), ...(found[n] && { results: found[n] }) }));
      return { items: inOneAnswer(shownItems), ...rest };
    },
  ),

  endpoint(
    "GET /api/v1/campaigns/:id",
    { agents: "read", uses: [storeRead, mailReading] },
    {
      summary: "Get a campaign with its messages, and what of them failed",
      description: "The header `ETag` is its version.",
      returns: v.object({ ...CampaignShape.entries, ...failures, halted }),
    },
    async ({ store, mails, params }) => {
      const campaign = await getCampaign(store, params.id);
      const [failed, halts] = await Promise.all([campaignFailures(store, campaign), haltedSends(store, campaign)]);
      return tagged({ ...(await shownWhole(mails.whole, campaign)), ...failed, halted: halts });
    },
  ),

  endpoint(
    "PUT /api/v1/campaigns/:id",
    { permission: "content:write", agents: "write:drafts", uses: [storeWrite, mailKeeping] },
    {
      summary: "Replace a draft: omitted fields get their defaults",
      description: IF_MATCH,
      body: CampaignReplacement,
      returns: CampaignShape,
      example: { body: { name: "Spring sale", messages: [message] } },
      errors: ["CONFLICT", "PRECONDITION_FAILED", "TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE"],
    },
    ({ store, mails, caller, params, body, headers }) =>
      editAsSeen(headers, CampaignShape, {
        read: () => getCampaign(store, params.id),
        edit: async (seen) => {
          const draft = seen ?? (await getCampaign(store, params.id));
          const spec = await specOf(store, workspaceOf(caller).plan, withoutMirror(body, draft), draft.messages);
          const kept = { ...spec, messages: await rewrittenMessages(mails.keep, spec.messages) };
          return replaceCampaign(store, params.id, kept, seen?.version);
        },
        show: (campaign) => shownWhole(mails.asRead, campaign),
      }),
  ),

  endpoint(
    "DELETE /api/v1/campaigns/:id",
    { permission: "content:write", uses: [storeWrite, timers] },
    {
      summary: "Delete a draft, or an archived campaign with its schedules",
      description: "What an archived campaign still holds back is never sent. Its sends stay in the list of sends.",
      errors: ["CONFLICT"],
    },
    ({ store, timers, params }) => deleteCampaign(store, timers, params.id),
  ),

  endpoint(
    "POST /api/v1/campaigns/:id/duplicate",
    { permission: "content:write", uses: [storeWrite, mailReading] },
    {
      summary: "Copy a campaign as a draft",
      description: "Times that have passed are left out.",
      returns: CampaignShape,
      status: 201,
      errors: ["QUOTA_EXCEEDED"],
    },
    async ({ store, mails, params }) => shownWhole(mails.asRead, await duplicateCampaign(store, params.id)),
  ),

  endpoint(
    "PATCH /api/v1/campaigns/:id",
    { permission: "send", uses: [storeWrite, timers, mailReading] },
    {
      summary: "Pause, resume, archive or unarchive a campaign",
      body: v.strictObject({
        action: OneOf(campaignActions),
        overdue: v.pipe(
          v.optional(OneOf(overduePolicies)),
          v.metadata({ default: "keep_distance" }),
          v.description(
            "Of a resume: what becomes of messages that fell due meanwhile. `keep_distance`: the first goes out now, " +
              "and all after it keep at least their planned distances; `now`: all go out now; `skip`: none does",
          ),
        ),
      }),
      returns: CampaignShape,
      errors: ["CONFLICT"],
    },
    async ({ store, timers, mails, params: { id }, body: { action, overdue } }) => {
      if (overdue !== undefined && action !== "resume") throw invalid({ overdue: "is understood with resume only" });
      const campaign =
        action === "resume"
          ? await resume(store, id, overdue ?? "keep_distance")
          : await actOnCampaign(store, id, action);
      await applyState(store, timers, campaign);
      return shownWhole(mails.asRead, campaign);
    },
  ),

  ...releases,

  endpoint(
    "GET /api/v1/campaigns/:id/report",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get the report of a campaign",
      description:
        "Messages dispatched between `start` and `end`, by default the last 30 days. Each subscriber counts once per message.",
      query: v.object(windowFields),
      returns: v.object({
        sent: v.number(),
        ...reached,
        ...failures,
        last_error: campaignFields.last_error,
        converted: said("As in the funnel: subscribers who converted after any message", v.number()),
        revenue_cents: said("As in the funnel: of all conversions after any message", v.number()),
        conversions: said("By last touch, as in the sums of sources", v.number()),
        last_touch_revenue_cents: said("By last touch, in cents", v.number()),
        cost: v.pipe(
          v.object({
            ...SendCost.pipe[0].entries,
            per_conversion: said("`dollars` over `converted`; `null` without conversions", v.nullable(v.number())),
          }),
          v.description("What these messages cost so far, computed from their numbers at list prices"),
          v.title("CampaignCost"),
        ),
        by_channel: v.array(
          titled("ChannelReport", {
            channel: v.string(),
            ...reached,
            ...missed,
            provider_dollars: said(
              "What its provider charges, in US dollars; `null` where no price is set",
              v.nullable(v.number()),
            ),
          }),
        ),
        skip_reasons: v.record(v.string(), v.number()),
        ...arms,
        by_message: v.array(
          titled("MessageReport", {
            position: v.number(),
            label: v.string(),
            ...reached,
            ...lost,
            dollars: said("What it cost so far, in US dollars", v.number()),
            error: v.optional(MessageError),
          }),
        ),
      }),
    },
    async ({ store, clock, params, query }) =>
      reportOf(store, await getCampaign(store, params.id), windowOf(query, clock.now())),
  ),
]);
