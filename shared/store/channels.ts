// Channels of a workspace: a handful, read as one collection.
import { timestamp } from "../clock.ts";
import { ApiError, invalid, notFound } from "../http/errors.ts";
import { type ChannelType, type PlanName, plans } from "../plans.ts";
import type { Store, StoreReader } from "../resources.ts";
import { createNamed } from "./catalogue.ts";
import { keys } from "./keys.ts";
import type { Item } from "./model.ts";

export interface Channel {
  id: string;
  type: ChannelType;
  name: string;
  active: boolean;
  status: "pending" | "active" | "invalid";
  verified_at?: string;
  verification_error?: string;
  created_at: string;
}

/** The in_app channel that every workspace has from the start: it needs no credentials (D-INAPP-CH, AMB-47). */
export async function createDefaultChannel(store: Store): Promise<void> {
  const now = store.clock.now();
  const created_at = timestamp(now);
  const channel = { type: "in_app", active: true, status: "active", verified_at: created_at, created_at };
  await createNamed(store, "channel", "In-app", store.ids.uuidAt(now), channel);
}

/** All channels, oldest first (CHN-14). */
export async function listChannels(store: StoreReader): Promise<Channel[]> {
  const { items } = await store.query({ pk: keys.entities(store.tenant, "channel") });
  return items.map(channelOf);
}

/** @throws 404. */
export async function getChannel(store: StoreReader, id: string): Promise<Channel> {
  const item = await store.get(keys.entity(store.tenant, "channel", id));
  if (!item) throw notFound("channel");
  return channelOf(item);
}

/**
 * The channels asked for, or every usable one that the plan permits.
 * @throws 422 naming the field for one that is not this workspace's (AMB-93), 403 for a type outside the plan (CHN-13).
 */
export async function requireChannels(
  store: StoreReader,
  plan: PlanName,
  wanted: readonly string[] | undefined,
  field = "channel_ids",
): Promise<Channel[]> {
  const channels = await listChannels(store);
  const allowed = plans[plan].channelTypes;
  const permits = ({ type }: Channel) => (allowed as readonly string[]).includes(type);
  if (!wanted) return channels.filter((channel) => isUsable(channel) && permits(channel));
  const chosen = [...new Set(wanted)].map((id) => channels.find((channel) => channel.id === id));
  const missing = chosen.indexOf(undefined);
  if (missing >= 0) throw invalid({ [`${field}.${missing}`]: "no such channel in this workspace" });
  const found = chosen.filter((channel) => channel !== undefined);
  if (!found.every(permits)) throw channelTypeRefusal(plan);
  return found;
}

/** CHN-13, ERR-20. */
export const channelTypeRefusal = (plan: PlanName): ApiError =>
  new ApiError("FEATURE_NOT_AVAILABLE", "A channel type is not part of this workspace's plan.", {
    body: { error: "channel_type_not_permitted", allowed: plans[plan].channelTypes, upgrade_required: true },
  });

/** Ready to send: enabled, and verified (CHN-4, CHN-5). */
export const isUsable = ({ active, status }: Channel): boolean => active && status === "active";

const channelOf = (item: Item): Channel => ({
  id: String(item.id),
  type: item.type as ChannelType,
  name: String(item.name),
  active: item.active === true,
  status: item.status as Channel["status"],
  ...(item.verified_at !== undefined && { verified_at: String(item.verified_at) }),
  ...(item.verification_error !== undefined && { verification_error: String(item.verification_error) }),
  created_at: String(item.created_at),
});
