// The specification of a one-off send, for its creation and for its preview.
import type { NewNotification } from "../../../contract/notification-input.ts";
import { invalid } from "../../../kernel/errors.ts";
import { WIDE_FROM } from "../../../rules/cost.ts";
import type { PlanName } from "../../../rules/plans.ts";
import { requireChannels } from "../../channels/channels.ts";
import { chatAppContentOf, requireChatAppContent } from "../../channels/chat-app-content.ts";
import type { ChannelRow } from "../../channels/items.ts";
import type { StoreReader } from "../../context.ts";
import { requireTarget } from "../../lists/targets.ts";
import { requireTemplate } from "../../templates/templates.ts";
import { requireTopic } from "../../topics/topics.ts";
import type { JobContent, JobSpec } from "./job-spec.ts";

/**
 * Checks that everything the request refers to exists in the workspace and may be used. @throws 422 naming the field
 * @returns the content of the send, and its channels
 */
export async function oneOffSpec(
  store: StoreReader,
  plan: PlanName,
  input: NewNotification,
): Promise<{ spec: JobSpec; channels: ChannelRow[] }> {
  const { target = null, scheduled_at = null, template_id = null } = input;
  const ids = input.subscriberIds ?? input.external_ids;
  if (scheduled_at !== null && Date.parse(scheduled_at) <= store.clock.now())
    throw invalid({ scheduled_at: "must be in the future" });
  const channels = await requireChannels(store, plan, input.channel_ids);
  await requireTarget(store, target);
  if (template_id !== null) await requireTemplate(store, template_id);
  await requireChatAppContent(store, channels, input);
  const topic = await requireTopic(store, input.topic);
  const spec: JobSpec = {
    name: input.name ?? null,
    category: input.category,
    ...saidIn(input),
    template_id,
    channel_ids: channels.map(({ id }) => id),
    target,
    subscriber_ids_count: ids ? new Set(ids).size : null,
    scheduled_at,
    channel_arbitration_mode: input.channel_arbitration_mode,
    holdout_percentage: input.holdout_percentage,
    split_percentage: input.variant_b ? (input.split_percentage ?? 50) : null,
    bypass_quiet_hours: input.bypass_quiet_hours,
    source: { type: "api", id: null },
    ...(input.safety !== undefined && { safety: input.safety ?? "off" }),
    ...(topic && { topic }),
    ...(isLookedUp(input) && { looked_up: true }),
  };
  return { spec, channels };
}

/** The ids of few are looked up where they are planned, unless they are the workspace's own or it is sent later. */
function isLookedUp({ external_ids, subscriberIds, scheduled_at }: NewNotification): boolean {
  const { size } = new Set(subscriberIds ?? external_ids);
  return size > 1 && (external_ids !== undefined || scheduled_at !== undefined || size >= WIDE_FROM);
}

/** The content in a request itself. */
export function saidIn(input: NewNotification): JobContent {
  const chat_app = chatAppContentOf(input);
  return {
    title: input.content?.title ?? input.title ?? null,
    body: input.content?.body ?? input.body ?? null,
    ...(input.content?.by_channel && { by_channel: input.content.by_channel }),
    data: input.data ?? null,
    device_filters: input.device_filters ?? null,
    subscriber_filters: input.subscriber_filters ?? null,
    variant_b: input.variant_b ?? null,
    ...(chat_app && { chat_app }),
  };
}
