// A send by an agent (AGT-3): planned first, then confirmed, so that what goes out is what was previewed.

import type { NewNotification } from "../../../shared/contract/notification-input.ts";
import { MINUTE, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { conflict, invalid, notFound } from "../../../shared/kernel/errors.ts";
import { plans } from "../../../shared/rules/plans.ts";
import { present } from "../../../shared/store/conditions.ts";
import type { Store, StoreReader } from "../../../shared/store/context.ts";
import { hashOf } from "../../../shared/store/hash.ts";
import type { RowOf } from "../../../shared/store/item.ts";
import { findSegment } from "../../../shared/store/segments/segments.ts";
import type { SendPreview } from "../../../shared/store/sends/audience/preview.ts";
import { SendPlan } from "../../../shared/store/sends/jobs/job-items.ts";
import { requireTemplate } from "../../../shared/store/templates/templates.ts";
import { usageOf } from "../../../shared/store/workspaces/usage.ts";
import { type Agent, type Arguments, shownTo, type Tools } from "./tools.ts";

export const CREATE = "POST /api/v1/notifications";
export const PREVIEW = "POST /api/v1/notifications/preview";

const VALID_MS = 10 * MINUTE;
/** How long a confirmation may be repeated for the same answer. */
const KEPT_MS = 60 * MINUTE;
const TOKEN_BYTES = 24;
const TOKEN = /^plan_[A-Za-z0-9_-]{32}$/;
/** Of an audience that is so large that it is estimated: the share by which it may differ. */
const MAX_DRIFT = 0.01;

export interface SendContext {
  agent: Agent;
  store: Store;
  run(route: string, given: Arguments, headers?: Readonly<Record<string, string>>): ReturnType<Tools["run"]>;
}

export async function planSend({ agent, store, run }: SendContext, given: Arguments): Promise<unknown> {
  if (given.idempotency_key !== undefined)
    throw invalid({ idempotency_key: "must be left out: the plan's token makes the confirmation safe to repeat" });
  const preview = (await run(PREVIEW, given)) as SendPreview;
  const now = store.clock.now();
  const token = `plan_${store.ids.bytes(TOKEN_BYTES).toString("base64url")}`;
  await store.put(
    SendPlan,
    { token },
    {
      id: store.ids.uuid(),
      agent_key: agent.key,
      body: JSON.stringify(given),
      digest: await digestOf(store, given),
      ...audienceOf(given, preview),
      until: now + VALID_MS,
      expires: Math.ceil((now + KEPT_MS) / SECOND),
    },
  );
  const { plan, sendCap } = agent.workspace;
  const { sends } = await usageOf(store);
  const limit = Math.min(plans[plan].sends, sendCap ?? Number.POSITIVE_INFINITY);
  return {
    token,
    expires_at: timestamp(now + VALID_MS),
    ...(shownTo(agent, PREVIEW, preview) as object),
    cost: { ...preview.cost, sends: preview.counts.sent, used: sends, limit, left: Math.max(0, limit - sends) },
    next: "Show this to a person. To send exactly this, call confirm_send with the token before it expires.",
  };
}

/** @throws 404 for a token that is not this key's, 409 where the plan is no longer what was shown. */
export async function confirmSend({ agent, store, run }: SendContext, { token, ...more }: Arguments): Promise<unknown> {
  for (const name of Object.keys(more)) throw invalid({ [name]: "is not a known field" });
  if (typeof token !== "string") throw invalid({ token: "must be a string" });
  const plan = TOKEN.test(token) ? await store.get(SendPlan, { token }) : undefined;
  const now = store.clock.now();
  if (!plan || plan.agent_key !== agent.key || plan.expires * SECOND <= now) throw notFound("plan");
  if (plan.job !== undefined) return { id: plan.job, sent: plan.sent ?? 0, replayed: true };
  if (plan.body === undefined || plan.until <= now) throw conflict("The plan has expired. Plan the send again.");
  const given = JSON.parse(plan.body) as Arguments;
  if ((await digestOf(store, given)) !== plan.digest)
    throw conflict("The content or the rule of the send has changed since it was planned. Plan the send again.");
  const audience = audienceOf(given, (await run(PREVIEW, given)) as SendPreview);
  if (differs(plan, audience))
    throw conflict(
      `The audience has changed since it was planned: ${plan.total} then, ${audience.total} now` +
        `${plan.reached === undefined ? "" : ` (${plan.reached} and ${audience.reached ?? 0} reached)`}. Plan the send again.`,
    );
  // The id is the idempotency key, so two confirmations at once are one send.
  const made = (await run(CREATE, given, { "idempotency-key": `plan-${plan.id}` })) as { id: string; sent: number };
  await store.change(SendPlan, { token }, { set: { job: made.id, sent: made.sent }, remove: ["body"] }, present());
  return { id: made.id, sent: made.sent, replayed: false };
}

interface Audience {
  total: number;
  reached?: number;
  exact: boolean;
}

/** What a plan is bound to. The control group is drawn anew by each preview, so there the total alone counts. */
function audienceOf({ holdout_percentage = 0 }: Partial<NewNotification>, { counts, exact }: SendPreview): Audience {
  return { total: counts.total, ...(holdout_percentage === 0 && { reached: counts.sent }), exact };
}

function differs(plan: RowOf<typeof SendPlan>, now: Audience): boolean {
  if (plan.exact !== now.exact) return true;
  if (now.exact) return plan.total !== now.total || plan.reached !== now.reached;
  return Math.abs(plan.total - now.total) > plan.total * MAX_DRIFT;
}

/** Of the body, and of what it names and another may change meanwhile. */
async function digestOf(store: StoreReader, given: Partial<NewNotification>): Promise<string> {
  const { template_id, target } = given;
  const [template, segment] = await Promise.all([
    template_id === undefined ? null : requireTemplate(store, template_id),
    target?.type === "segment" ? findSegment(store, target.segment_id) : null,
  ]);
  return hashOf(JSON.stringify([given, template?.content ?? null, segment?.rule ?? null]));
}
