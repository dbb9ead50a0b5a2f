// The plan of a workspace with its limits and its usage, and the workspace's own cap on sends.
import * as v from "valibot";
import { Amount, OneOf, said, Timestamp } from "../../../shared/contract/schemas.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { largestOwnPlan } from "../../../shared/http/registration.ts";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { ApiError, notFound } from "../../../shared/kernel/errors.ts";
import { costOfUsage } from "../../../shared/rules/month-cost.ts";
import { type PlanName, planNames, plans } from "../../../shared/rules/plans.ts";
import {
  type PlatformReader,
  platformRead,
  platformWrite,
  type StoreReader,
  storeRead,
} from "../../../shared/store/context.ts";
import { storedBytes } from "../../../shared/store/experiences/assets.ts";
import { countDynamicSegments } from "../../../shared/store/segments/segments.ts";
import { countSubscribers } from "../../../shared/store/subscribers/subscribers.ts";
import { changePlan, planWrites } from "../../../shared/store/workspaces/plan-changes.ts";
import { forecast, periodAt, usageOf } from "../../../shared/store/workspaces/usage.ts";
import { changeWorkspace, getWorkspace } from "../../../shared/store/workspaces/workspaces.ts";

const Amounts = v.object({
  sends: v.number(),
  events: v.number(),
  subscribers: v.number(),
  asset_bytes: v.number(),
  dynamic_segments: v.number(),
});

const Dollars = v.object({
  dollars: said("In US dollars, if all sends went to many", v.number()),
  dollars_at_most: said("In US dollars, if each send was to one", v.number()),
});

const Billing = v.object({
  plan: v.picklist(planNames),
  status: v.picklist(["active", "past_due", "canceled"]),
  period_start: Timestamp,
  period_end: Timestamp,
  usage: Amounts,
  limits: v.object({
    ...Amounts.entries,
    requests_per_minute: v.number(),
    team_members: v.number(),
    lookback_days: v.nullable(v.number()),
    event_conditions_per_rule: v.number(),
  }),
  monthly_send_cap: v.nullable(v.number()),
  cost: said(
    "What the service took of its AWS account for this usage so far, computed at list prices. What providers charge is in " +
      "the reports of sends; what is stored is the operator's",
    v.object({ ...Dollars.entries, sends: said("Of the sends", Dollars), events: said("Of the events", Dollars) }),
  ),
  forecast: v.object({ sends_at_period_end: v.number() }),
});

const SendCap = v.nullable(Amount);

const endpoint = endpoints({ credentials: ["dashboard"], openWhileSuspended: true, uses: [] });

export const billing = group("billing", "Plan, usage and caps.", [
  endpoint(
    "GET /api/v1/billing",
    { agents: "read", uses: [storeRead, platformRead] },
    { summary: "Get plan, usage, limits and forecast", returns: Billing },
    ({ store, platform }) => billOf(store, platform),
  ),

  endpoint(
    "PATCH /api/v1/billing",
    { permission: "billing:manage", uses: [storeRead, platformWrite] },
    {
      summary: "Set the workspace's own monthly cap on sends; null removes it, 0 stops sending",
      body: v.strictObject({ monthly_send_cap: SendCap }),
      example: { body: { monthly_send_cap: 500_000 } },
      returns: Billing,
    },
    async ({ store, platform, tenant, body }) => {
      await changeWorkspace(platform, tenant, body);
      return billOf(store, platform);
    },
  ),

  endpoint(
    "PUT /api/v1/billing/plan",
    { permission: "billing:manage", uses: [storeRead, platformRead, planWrites, largestOwnPlan] },
    {
      summary: "Change the plan. A downgrade is never refused: what exceeds its limits can no longer grow",
      description: "Where anybody may register, the operator gives plans that are larger than that of new workspaces.",
      body: v.strictObject({ plan: OneOf(planNames) }),
      example: { body: { plan: "premium" } },
      returns: Billing,
    },
    async ({ store, platform, planWrites, largestOwnPlan: largest, body }) => {
      await changePlan({ store, platform, planWrites }, body.plan, (held) => {
        if (isLarger(body.plan, largest) && isLarger(body.plan, held))
          throw new ApiError("FORBIDDEN", `The operator gives plans that are larger than ${largest}.`);
      });
      return billOf(store, platform);
    },
  ),
]);

const isLarger = (one: PlanName, other: PlanName): boolean => planNames.indexOf(one) > planNames.indexOf(other);

async function billOf(store: StoreReader, platform: PlatformReader) {
  const [workspace, usage, subscribers, assetBytes, dynamicSegments] = await Promise.all([
    getWorkspace(platform, store.tenant),
    usageOf(store),
    countSubscribers(store),
    storedBytes(store),
    countDynamicSegments(store),
  ]);
  if (!workspace) throw notFound("workspace");

  const now = store.clock.now();
  const { start, end } = periodAt(now);
  return {
    plan: workspace.plan,
    status: "active" as const,
    period_start: timestamp(start),
    period_end: timestamp(end),
    usage: { ...usage, subscribers, asset_bytes: assetBytes, dynamic_segments: dynamicSegments },
    limits: limitsOf(workspace.plan),
    monthly_send_cap: workspace.monthly_send_cap,
    cost: {
      ...dollarsOf(usage),
      sends: dollarsOf({ ...usage, events: 0 }),
      events: dollarsOf({ ...usage, sends: 0 }),
    },
    forecast: { sends_at_period_end: forecast(usage.sends, now) },
  };
}

function dollarsOf(usage: Parameters<typeof costOfUsage>[0]) {
  const { least: dollars, most: dollars_at_most } = costOfUsage(usage);
  return { dollars, dollars_at_most };
}

function limitsOf(plan: PlanName) {
  const limits = plans[plan];
  return {
    sends: limits.sends,
    events: limits.events,
    subscribers: limits.subscribers,
    asset_bytes: limits.assetBytes,
    dynamic_segments: limits.dynamicSegments,
    requests_per_minute: limits.requestsPerMinute,
    team_members: limits.teamMembers,
    lookback_days: limits.lookbackDays,
    event_conditions_per_rule: limits.eventConditionsPerRule,
  };
}
