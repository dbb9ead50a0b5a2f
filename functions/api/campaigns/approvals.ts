// The release of a campaign: at once, or by a second person if the workspace requires one (RDA-26,
// docs/decisions/0137).
import * as v from "valibot";
import { PreviewId } from "../../../shared/contract/notification-input.ts";
import { said, TrimmedTextUpTo, Uuid } from "../../../shared/contract/schemas.ts";
import { type Caller, requireUser, workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, replyWith } from "../../../shared/http/endpoint.ts";
import { conflict } from "../../../shared/kernel/errors.ts";
import {
  approveRelease,
  askRelease,
  declineRelease,
  type Member,
  withdrawRequest,
} from "../../../shared/store/campaigns/approvals.ts";
import { type Campaign, getCampaign } from "../../../shared/store/campaigns/campaigns.ts";
import { drawOfRelease, makeJobs } from "../../../shared/store/campaigns/jobs.ts";
import { releaseCampaign } from "../../../shared/store/campaigns/release.ts";
import { secrets, timers } from "../../../shared/store/capabilities.ts";
import { type StoreReader, storeWrite } from "../../../shared/store/context.ts";
import { mailReading } from "../../../shared/store/files/mails.ts";
import { KeyWarnings } from "../../../shared/store/subscribers/unknown-keys.ts";
import { topicExists } from "../../../shared/store/topics/topics.ts";
import { CampaignShape, shownWhole, unknownKeysOfTarget } from "./shapes.ts";

const endpoint = endpoints({ credentials: ["dashboard"], permission: "send", uses: [storeWrite, mailReading] });

function memberOf(caller: Caller): Member {
  const { user: user_id, name } = requireUser(caller);
  return { user_id, name };
}

/** Finds a campaign that can be released. @throws 404; 409 if its topic was deleted */
async function releasable(store: StoreReader, id: string): Promise<Campaign> {
  const campaign = await getCampaign(store, id);
  const { topic } = campaign;
  if (topic !== undefined && !(await topicExists(store, topic)))
    throw conflict(`The campaign's topic ${topic} was deleted.`);
  return campaign;
}

const Released = v.object({
  ...CampaignShape.entries,
  outcome: said(
    "`approval_requested`: nothing goes out before a second person approves",
    v.picklist(["released", "approval_requested"]),
  ),
  warnings: KeyWarnings,
});

const approval_id = said("The `id` of its `approval`: of the request that was seen", Uuid);

export const releases = [
  endpoint(
    "POST /api/v1/campaigns/:id/release",
    { uses: [timers, secrets] },
    {
      summary: "Release a draft: every message becomes a notification job",
      description:
        "`preview_id` may also be sent in a JSON body. With `approval_required` of the workspace it stays a draft, and its " +
        "`approval` waits for another member. Asking again replaces the request.",
      query: v.object({ preview_id: PreviewId }),
      returns: Released,
      replies: { 202: { description: "A second person was asked", returns: Released } },
      errors: ["CONFLICT"],
    },
    async ({ store, timers, mails, secrets, caller, params, query: { preview_id } }) => {
      const { plan, sendCap, isApprovalRequired } = workspaceOf(caller);
      const draft = await releasable(store, params.id);
      const draw =
        preview_id === undefined ? undefined : await drawOfRelease(store, await secrets.root(), draft, preview_id);
      const warnings = await unknownKeysOfTarget(store, draft.target);
      if (isApprovalRequired) {
        const asked = await askRelease(store, draft, memberOf(caller), draw);
        return replyWith(202, {
          ...(await shownWhole(mails.asRead, asked)),
          outcome: "approval_requested",
          ...warnings,
        });
      }
      const campaign = await releaseCampaign(store, draft, { draw });
      await makeJobs(store, timers, { plan, sendCap }, campaign);
      return { ...(await shownWhole(mails.asRead, campaign)), outcome: "released", ...warnings };
    },
  ),

  endpoint(
    "POST /api/v1/campaigns/:id/approve",
    { uses: [timers] },
    {
      summary: "Approve a release that another member asked for: it goes out as it was asked for",
      description:
        "Refused to who asked (403). Refused with the `fields` that changed since, and where a time of it has passed (409).",
      body: v.strictObject({ approval_id }),
      example: { body: { approval_id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60" } },
      returns: CampaignShape,
      errors: ["CONFLICT"],
    },
    async ({ store, timers, mails, caller, params, body }) => {
      const { plan, sendCap } = workspaceOf(caller);
      const draft = await releasable(store, params.id);
      const campaign = await approveRelease(store, draft, body.approval_id, memberOf(caller));
      await makeJobs(store, timers, { plan, sendCap }, campaign);
      return shownWhole(mails.asRead, campaign);
    },
  ),

  endpoint(
    "POST /api/v1/campaigns/:id/decline",
    {},
    {
      summary: "Decline a release that was asked for: the campaign stays a draft",
      body: v.strictObject({ approval_id, note: said("Why, for who asked", v.optional(TrimmedTextUpTo(500))) }),
      example: { body: { approval_id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60", note: "The price is wrong." } },
      returns: CampaignShape,
      errors: ["CONFLICT"],
    },
    async ({ store, mails, caller, params, body }) =>
      shownWhole(
        mails.asRead,
        await declineRelease(store, await getCampaign(store, params.id), body, memberOf(caller)),
      ),
  ),

  endpoint(
    "POST /api/v1/campaigns/:id/withdraw",
    {},
    {
      summary: "Withdraw a release that one has asked for",
      description: "Only who asked (403).",
      returns: CampaignShape,
      errors: ["CONFLICT"],
    },
    async ({ store, mails, caller, params }) =>
      shownWhole(mails.asRead, await withdrawRequest(store, await getCampaign(store, params.id), memberOf(caller))),
  ),
];
