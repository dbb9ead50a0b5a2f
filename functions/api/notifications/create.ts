// One-off sends as the API takes them: references checked, repeats of an idempotency key answered again.
import { createHash } from "node:crypto";
import { DAY, SECOND } from "../../../shared/clock.ts";
import { conflict, invalid } from "../../../shared/http/errors.ts";
import { type PlanName, requireFeature } from "../../../shared/plans.ts";
import type { Store } from "../../../shared/resources.ts";
import { requireChannels } from "../../../shared/store/channels/channels.ts";
import { chatAppContentOf, requireChatAppContent } from "../../../shared/store/channels/chat-app-content.ts";
import { absent, any, below } from "../../../shared/store/conditions.ts";
import { keys } from "../../../shared/store/keys.ts";
import { requireTarget } from "../../../shared/store/lists/targets.ts";
import type { Item, Value } from "../../../shared/store/model.ts";
import type { JobSpec } from "../../../shared/store/sends/jobs.ts";
import { startSend } from "../../../shared/store/sends/sends.ts";
import { requireTemplate } from "../../../shared/store/sends/templates.ts";
import type { Step } from "../../../shared/store/table.ts";
import type { Timers } from "../../../shared/store/timers.ts";
import type { Allowance } from "../../../shared/store/workspaces/usage.ts";
import type { NewNotification } from "./input.ts";

const REMEMBERED_MS = DAY;

export interface Created {
  id: string;
  sent: number;
  replayed: boolean;
}

/** @throws 403 by plan, 409 for a known key with another body, 422 for a reference that leads nowhere. */
export async function createNotification(
  store: Store,
  timers: Timers,
  allowance: Allowance,
  input: NewNotification,
  idempotencyKey: string | undefined,
): Promise<Created> {
  const { plan } = allowance;
  if (input.channel_arbitration_mode === "smart") requireFeature(plan, "smart_channel");
  const digest = createHash("sha256")
    .update(JSON.stringify({ ...input, idempotency_key: undefined }))
    .digest("hex");
  const remembered = idempotencyKey === undefined ? undefined : keys.idempotency(store.tenant, idempotencyKey);
  const known = remembered && (await store.get(remembered));
  if (known && Number(known.until) > store.clock.now()) return replay(known, digest);

  const spec = await specOf(store, plan, input);
  const until = store.clock.now() + REMEMBERED_MS;
  const remember = (answer: { id: string; sent: number }): Step[] =>
    remembered
      ? [
          {
            put: { ...remembered, ...answer, digest, until, expires: Math.ceil(until / SECOND) },
            when: any(absent(), below("until", store.clock.now())),
          },
        ]
      : [];
  const id = store.ids.uuidAt(store.clock.now());
  const given = input.subscriberIds && [...new Set(input.subscriberIds)];
  const started = await startSend(store, timers, allowance, { id, spec, given }, remember);
  return "refused" in started ? replay(started.refused[0]!, digest) : { ...started, replayed: false };
}

function replay(known: Item, digest: string): Created {
  if (known.digest !== digest) throw conflict("This idempotency key was used with another body in the last 24 hours.");
  return { id: String(known.id), sent: Number(known.sent), replayed: true };
}

/** Everything the request refers to exists, is ours and may be used. */
async function specOf(store: Store, plan: PlanName, input: NewNotification): Promise<JobSpec> {
  const { target = null, scheduled_at = null, template_id = null } = input;
  if (scheduled_at !== null && Date.parse(scheduled_at) <= store.clock.now())
    throw invalid({ scheduled_at: "must be in the future" });
  const channels = await requireChannels(store, plan, input.channel_ids);
  await requireTarget(store, target);
  if (template_id !== null) await requireTemplate(store, template_id);
  await requireChatAppContent(store, channels, input);
  const chat_app = chatAppContentOf(input);
  return {
    name: input.name ?? null,
    category: input.category,
    title: input.title ?? null,
    body: input.body ?? null,
    data: (input.data as { [name: string]: Value } | undefined) ?? null,
    template_id,
    channel_ids: channels.map(({ id }) => id),
    target,
    subscriber_ids_count: input.subscriberIds ? new Set(input.subscriberIds).size : null,
    device_filters: input.device_filters ?? null,
    subscriber_filters: input.subscriber_filters ?? null,
    scheduled_at,
    channel_arbitration_mode: input.channel_arbitration_mode,
    holdout_percentage: input.holdout_percentage,
    split_percentage: input.variant_b ? (input.split_percentage ?? 50) : null,
    variant_b: input.variant_b ?? null,
    bypass_quiet_hours: input.bypass_quiet_hours,
    source: { type: "api", id: null },
    ...(chat_app && { chat_app }),
  };
}
