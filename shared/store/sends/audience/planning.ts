// The facts for planning an audience: the usable channels, the workspace's consent rule, and its history.
import type { AudienceRules } from "../../../rules/audience.ts";
import { capsOn } from "../../../rules/caps.ts";
import type { ChannelType } from "../../../rules/channel-types.ts";
import { isPriced } from "../../../rules/cost.ts";
import { listOfTarget } from "../../../rules/list-consents.ts";
import { hasPlaceholders } from "../../../rules/placeholders.ts";
import type { PlanName } from "../../../rules/plans.ts";
import { disturbs } from "../../../rules/quiet-hours.ts";
import { isInPlan, isUsable, listChannels } from "../../channels/channels.ts";
import { type ChannelRow, messagePrice } from "../../channels/items.ts";
import type { StoreReader } from "../../context.ts";
import { fromJson } from "../../json-text.ts";
import { zoneFor } from "../../segments/rules.ts";
import { tenantEngagements } from "../../subscribers/engagement.ts";
import type { SendingSettings } from "../../workspaces/settings.ts";
import type { DeliverySettings, JobSpec } from "../jobs/job-spec.ts";
import { audienceRules } from "./audiences.ts";

type PlannedSpec = Pick<
  JobSpec,
  | "category"
  | "channel_arbitration_mode"
  | "holdout_percentage"
  | "split_percentage"
  | "variant_b"
  | "device_filters"
  | "subscriber_filters"
  | "topic"
  | "target"
> &
  Pick<JobSpec, "confirms">;

/** The settings of a channel that a send keeps. */
export const channelSettings = (channel: ChannelRow): DeliverySettings["via"][number] => {
  const { id, type, credentials, settings } = channel;
  const isSmtp = type === "email" && settings !== undefined && fromJson(settings).provider === "smtp";
  return {
    id,
    type,
    credentials,
    ...(isPriced(type) && { price: messagePrice(channel) }),
    ...(isSmtp && { isSmtp: true as const }),
  };
};

type SpecTexts = Partial<Pick<JobSpec, "topic" | "title" | "body" | "data" | "by_channel" | "variant_b" | "in_app">>;

/** Why the profiles of recipients are read, which costs units: topic choices, or texts of their own. */
export function profileReads({ topic, ...said }: SpecTexts): Pick<DeliverySettings, "profiles"> {
  const { title, body, data, by_channel, variant_b, in_app } = said;
  const isPersonal = hasPlaceholders(JSON.stringify([title, body, data, by_channel, variant_b, in_app]));
  if (topic !== undefined) return { profiles: isPersonal ? "both" : "topic" };
  return isPersonal ? { profiles: "texts" } : {};
}

/** The settings of a send that is dispatched now. */
export function deliverySettingsOf(
  job: Pick<JobSpec, "category" | "bypass_quiet_hours" | "source">,
  via: DeliverySettings["via"],
  workspace: SendingSettings | undefined,
): DeliverySettings {
  const { email_consent_mode: emailConsent = "opt_out", quiet_hours, frequency_caps = [], timezone } = workspace ?? {};
  const channels = via.map(({ type }) => type);
  const respectsQuietHours = job.category === "marketing" && !job.bypass_quiet_hours && channels.some(disturbs);
  // An experience stays in the app and is shown as often as its own display rules say.
  const caps = job.source.type === "experience" ? [] : capsOn(frequency_caps, job.category, channels);
  return {
    via,
    emailConsent,
    ...(timezone !== undefined && ((respectsQuietHours && quiet_hours) || caps.length > 0) && { timezone }),
    ...(respectsQuietHours && quiet_hours && { quiet: quiet_hours }),
    ...(caps.length > 0 && { caps }),
  };
}

export async function planningRules(
  store: StoreReader,
  job: string,
  spec: PlannedSpec,
  { via, emailConsent }: DeliverySettings,
): Promise<AudienceRules> {
  const tenant = spec.channel_arbitration_mode === "smart" ? await tenantEngagements(store) : undefined;
  const { category, topic, confirms } = spec;
  const channels = via.map(({ type }): ChannelType => type);
  const reach = {
    channels,
    category,
    emailConsent,
    topic,
    list: listOfTarget(spec.target),
    ...(confirms && { confirms: true as const }),
  };
  return audienceRules(job, spec, { reach, tenant, zone: await zoneFor(store, spec.subscriber_filters) });
}

/** The usable channels of a send, one of each type: the first that was named. */
export const selectedChannels = async (
  store: StoreReader,
  spec: Pick<JobSpec, "channel_ids">,
  plan: PlanName,
): Promise<ChannelRow[]> => selectedOf(await listChannels(store), spec, plan);

/** The same of channels that were read. */
export function selectedOf(
  channels: readonly ChannelRow[],
  { channel_ids }: Pick<JobSpec, "channel_ids">,
  plan: PlanName,
): ChannelRow[] {
  const usable = channels.filter((channel) => isUsable(channel) && isInPlan(plan, channel));
  const named = channel_ids.flatMap((id) => usable.find((channel) => channel.id === id) ?? []);
  return [...new Map(named.toReversed().map((channel) => [channel.type, channel])).values()].toReversed();
}
