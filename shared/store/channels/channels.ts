// Channels of a workspace: a handful, read as one collection.
import { MINUTE, timestamp } from "../../clock.ts";
import { ApiError, conflict, invalid, notFound } from "../../http/errors.ts";
import { type ChannelType, type PlanName, plans } from "../../plans.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { ChannelStatus } from "../../rules/channel-states.ts";
import { changeNamed, createNamed, removeNamed } from "../catalogue.ts";
import { absent, present } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import type { Timers } from "../timers.ts";

export interface Channel {
  id: string;
  type: ChannelType;
  name: string;
  active: boolean;
  status: ChannelStatus;
  verified_at?: string;
  verification_error?: string;
  created_at: string;
  /** The credentials it has were accepted before: asking about them again does not stop it. */
  isProven?: boolean;
  /** Another one with every upload of credentials; never shown. */
  credentials?: string;
}

/** They are listed whole, and read whole for every send. */
const MAX_CHANNELS = 100;

/** What stands for the credentials of a channel that needs none. */
const NO_CREDENTIALS = "none";

/** The in_app channel that every workspace has from the start: it needs no credentials (D-INAPP-CH, AMB-47). */
export async function createDefaultChannel(store: Store): Promise<void> {
  const now = store.clock.now();
  const created_at = timestamp(now);
  const state = { status: "active", verified_at: created_at, verified_credentials: NO_CREDENTIALS };
  const channel = { type: "in_app", active: true, ...state, created_at };
  await createNamed(store, "channel", "In-app", store.ids.uuidAt(now), channel);
}

/** What stands in a channel while its verification is under way: an outcome of an earlier one no longer fits. */
export const queuedVerification = ({ ids, clock }: Pick<Store, "ids" | "clock">) => ({
  verification: ids.uuid(),
  queued_at: timestamp(clock.now()),
  react: "channel",
});

const WATCH_EVERY_MS = 15 * MINUTE;

/**
 * Looks after a verification 15 to 30 minutes from now, and so on until it has an outcome. Requests of the same
 * quarter of an hour share a timer.
 */
export async function watchVerification(timers: Timers, { clock }: Pick<Store, "clock">, id: string): Promise<void> {
  const at = (Math.floor(clock.now() / WATCH_EVERY_MS) + 2) * WATCH_EVERY_MS;
  await timers.set([{ kind: "verification", id, at }]);
}

/**
 * CHN-12: a new channel is pending; one that needs no credentials verifies at once (D-INAPP-CH).
 * @throws 403 for a type outside the plan, 422 if the name is taken (AMB-18), 429 when there are enough.
 */
export async function createChannel(
  store: Store,
  timers: Timers,
  plan: PlanName,
  { type, name }: Pick<Channel, "type" | "name">,
): Promise<Channel> {
  if (!permits(plan, type)) throw channelTypeRefusal(plan);
  if ((await listChannels(store)).length >= MAX_CHANNELS)
    throw new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MAX_CHANNELS} channels.`);
  const now = store.clock.now();
  const channel: Channel = {
    ...{ id: store.ids.uuidAt(now), type, name, active: true },
    ...{ status: "pending", created_at: timestamp(now) },
  };
  const needsNone = type === "in_app";
  if (needsNone) await watchVerification(timers, store, channel.id);
  const { id, name: _, ...rest } = channel;
  const isCreated = await createNamed(store, "channel", name, id, {
    ...rest,
    ...(needsNone && queuedVerification(store)),
  });
  if (!isCreated) throw nameTaken();
  return channel;
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

/** CHN-16. @throws 404, 422 if the new name is taken. */
export async function updateChannel(
  store: Store,
  id: string,
  { name, active }: { name?: string | undefined; active?: boolean | undefined },
): Promise<Channel> {
  if (name === undefined && active === undefined) return getChannel(store, id);
  const changed = await changeNamed(store, "channel", id, { set: { active } }, name);
  if (changed === "missing") throw notFound("channel");
  if (changed === "taken") throw nameTaken();
  return channelOf(changed);
}

/**
 * Removes a channel with its credentials in one transaction, then what else it had; a repeat finishes that too.
 * @throws 404, 409 for one with stored credentials unless `force` (CHN-17).
 */
export async function removeChannel(store: Store, id: string, { force }: { force: boolean }): Promise<void> {
  const permit = (channel: Item) => {
    if (force) return present();
    if (channel.credentials !== undefined) throw conflict("Credentials are stored for this channel. Use force=true.");
    return absent("credentials");
  };
  const extraItems = [{ remove: keys.credentials(store.tenant, id) }];
  const isRemoved = await removeNamed(store, "channel", id, { permit, extraItems });
  await removeParts(store, id);
  if (!isRemoved) throw notFound("channel");
}

/** New parts need their channel, so none comes after these. */
async function removeParts(store: Store, id: string): Promise<void> {
  const pk = keys.channelParts(store.tenant, id);
  for (;;) {
    const { items } = await store.query({ pk });
    if (items.length === 0) return;
    await store.writeAll(items.map(({ sk }) => ({ remove: { pk, sk } })));
  }
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
  const isPermitted = ({ type }: Channel) => permits(plan, type);
  if (!wanted) return channels.filter((channel) => isUsable(channel) && isPermitted(channel));
  const chosen = [...new Set(wanted)].map((id) => channels.find((channel) => channel.id === id));
  const missing = chosen.indexOf(undefined);
  if (missing >= 0) throw invalid({ [`${field}.${missing}`]: "no such channel in this workspace" });
  const found = chosen.filter((channel) => channel !== undefined);
  if (!found.every(isPermitted)) throw channelTypeRefusal(plan);
  return found;
}

const permits = (plan: PlanName, type: ChannelType): boolean =>
  (plans[plan].channelTypes as readonly ChannelType[]).includes(type);

/** CHN-13, ERR-20. */
export const channelTypeRefusal = (plan: PlanName): ApiError =>
  new ApiError("FEATURE_NOT_AVAILABLE", "A channel type is not part of this workspace's plan.", {
    body: { error: "channel_type_not_permitted", allowed: plans[plan].channelTypes, upgrade_required: true },
  });

const nameTaken = () => invalid({ name: "is already used by another channel" });

/** Ready to send: enabled, and verified (CHN-4, CHN-5). */
export const isUsable = ({ active, status, isProven = false }: Channel): boolean =>
  active && (status === "active" || (status === "pending" && isProven));

export const channelOf = (item: Item): Channel => ({
  id: String(item.id),
  type: item.type as ChannelType,
  name: String(item.name),
  active: item.active === true,
  status: item.status as ChannelStatus,
  ...(item.verified_at !== undefined && { verified_at: String(item.verified_at) }),
  ...(item.verification_error !== undefined && { verification_error: String(item.verification_error) }),
  created_at: String(item.created_at),
  isProven: item.verified_credentials !== undefined && item.verified_credentials === credentialsOf(item),
  ...(item.credentials !== undefined && { credentials: String(item.credentials) }),
});

/** Which credentials a channel has: every upload is another version. */
export const credentialsOf = ({ type, credentials }: Item): string | undefined =>
  type === "in_app" ? NO_CREDENTIALS : (credentials as string | undefined);
