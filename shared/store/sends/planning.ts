// What decides how an audience is planned: the usable channels, the workspace's consent rule, its history.
import type { StoreReader } from "../../resources.ts";
import type { AudienceRules } from "../../rules/audience.ts";
import { capsOn, type FrequencyCap } from "../../rules/caps.ts";
import { disturbs } from "../../rules/quiet-hours.ts";
import type { ReachChannel } from "../../rules/reach.ts";
import { type Channel, isUsable, listChannels } from "../channels/channels.ts";
import { tenantEngagements } from "../subscribers/engagement.ts";
import type { QuietSettings, WorkspaceSettings } from "../workspaces/workspaces.ts";
import { audienceRules } from "./audiences.ts";
import type { JobSpec } from "./jobs.ts";

type Planned = Pick<
  JobSpec,
  | "category"
  | "channel_arbitration_mode"
  | "holdout_percentage"
  | "split_percentage"
  | "variant_b"
  | "device_filters"
  | "subscriber_filters"
>;

/** By which channel of each type a send goes, whose consent it needs, what it heeds: settled when it is dispatched. */
export interface DeliverySettings {
  via: { id: string; type: ReachChannel; credentials?: string | undefined }[];
  emailConsent: "opt_out" | "opt_in";
  /** The workspace's, where quiet hours or caps need it. */
  timezone?: string;
  /** Where some of its channels disturb (D-QUIET). */
  quiet?: QuietSettings;
  /** Those that its messages meet (D-CAP). */
  caps?: FrequencyCap[];
}

/** What a send that is dispatched now heeds of its workspace. */
export function deliverySettingsOf(
  job: Pick<JobSpec, "category" | "bypass_quiet_hours" | "source">,
  via: DeliverySettings["via"],
  workspace: Omit<WorkspaceSettings, "name"> | undefined,
): DeliverySettings {
  const { email_consent_mode: emailConsent = "opt_out", quiet_hours, frequency_caps = [], timezone } = workspace ?? {};
  const channels = via.map(({ type }) => type);
  const respectsQuietHours = job.category === "marketing" && !job.bypass_quiet_hours && channels.some(disturbs);
  // An experience stays where it is and is shown as often as its own display rules say.
  const caps = job.source.type === "experience" ? [] : capsOn(frequency_caps, job.category, channels);
  return {
    via,
    emailConsent,
    ...(timezone !== undefined && ((respectsQuietHours && quiet_hours) || caps.length > 0) && { timezone }),
    ...(respectsQuietHours && quiet_hours && { quiet: quiet_hours }),
    ...(caps.length > 0 && { caps }),
  };
}

/** The rules by which a send's audience is judged. */
export async function planningRules(
  store: StoreReader,
  job: string,
  spec: Planned,
  { via, emailConsent }: DeliverySettings,
): Promise<AudienceRules> {
  const tenant = spec.channel_arbitration_mode === "smart" ? await tenantEngagements(store) : undefined;
  const reach = { channels: via.map(({ type }): ReachChannel => type), category: spec.category, emailConsent };
  return audienceRules(job, spec, { reach, tenant });
}

/** The usable ones among a send's channels, one of each type: the first that was named. */
export async function selectedChannels(
  store: StoreReader,
  { channel_ids }: Pick<JobSpec, "channel_ids">,
): Promise<Channel[]> {
  const channels = await listChannels(store);
  const named = channel_ids.flatMap((id) => channels.find((channel) => channel.id === id && isUsable(channel)) ?? []);
  return [...new Map(named.toReversed().map((channel) => [channel.type, channel])).values()].toReversed();
}
