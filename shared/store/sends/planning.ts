// What decides how an audience is planned: the usable channels, the workspace's consent rule, its history.
import type { StoreReader } from "../../resources.ts";
import type { AudienceRules } from "../../rules/audience.ts";
import type { ReachChannel } from "../../rules/reach.ts";
import { type Channel, isUsable, listChannels } from "../channels/channels.ts";
import { tenantEngagements } from "../subscribers/engagement.ts";
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

/** By which channel of each type a send goes, and whose consent it needs: settled when it is dispatched. */
export interface Means {
  via: { id: string; type: ReachChannel; credentials?: string | undefined }[];
  emailConsent: "opt_out" | "opt_in";
}

/** The rules by which a send's audience is judged. */
export async function planningRules(
  store: StoreReader,
  job: string,
  spec: Planned,
  { via, emailConsent }: Means,
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
