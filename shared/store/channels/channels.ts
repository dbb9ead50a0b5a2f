// Channels of a workspace. There are few, and they are read as one collection.
import { MINUTE, timestamp } from "../../kernel/clock.ts";
import { ApiError, conflict, invalid, notFound, requireFound } from "../../kernel/errors.ts";
import { pricedChannels } from "../../rules/channel-types.ts";
import { isPriced } from "../../rules/cost.ts";
import { fieldPath } from "../../rules/field-path.ts";
import { type PlanName, plans } from "../../rules/plans.ts";
import { absent, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { releaseChannel } from "../dependents.ts";
import { idKeys, removeItem } from "../item.ts";
import { changeNamed, createNamed, removeNamed } from "../name-index.ts";
import type { Timers } from "../timers.ts";
import { type Channel, ChannelItem, type ChannelRow, CredentialsItem } from "./items.ts";
import { giveSlotsAnew } from "./pace.ts";

/** A list returns all of them, and every send reads all of them. */
const MAX_CHANNELS = 100;

/** The credentials version of a channel that needs no credentials. */
const NO_CREDENTIALS = "none";

/** Creates the in_app channel of a new workspace. It needs no credentials (D-INAPP-CH, AMB-47). */
export async function createDefaultChannel(store: Store): Promise<void> {
  const now = store.clock.now();
  const created_at = timestamp(now);
  await createNamed(store, ChannelItem, {
    id: store.ids.uuidAt(now),
    name: "In-app",
    type: "in_app",
    active: true,
    status: "active",
    verified_at: created_at,
    verified_credentials: NO_CREDENTIALS,
    created_at,
  });
}

/** The attributes of a channel whose verification is in progress. */
export const queuedVerification = ({ ids, clock }: Pick<Store, "ids" | "clock">) => ({
  verification: ids.uuid(),
  queued_at: timestamp(clock.now()),
  react: "channel" as const,
});

const WATCH_EVERY_MS = 15 * MINUTE;

/**
 * Checks a verification 15 to 30 minutes from now, and again until it has an outcome. Requests of the same quarter of
 * an hour share a timer.
 */
export async function watchVerification(timers: Timers, { clock }: Pick<Store, "clock">, id: string): Promise<void> {
  const at = (Math.floor(clock.now() / WATCH_EVERY_MS) + 2) * WATCH_EVERY_MS;
  await timers.set([{ kind: "verification", id, at }]);
}

/**
 * Creates a channel, which is pending (CHN-12). If its type needs no credentials, the verification starts at once
 * (D-INAPP-CH). @throws 403 for a type outside the plan, 422 if the name is taken (AMB-18), 429 beyond 100 channels
 */
export async function createChannel(
  store: Store,
  timers: Timers,
  plan: PlanName,
  { type, name }: Pick<Channel, "type" | "name">,
): Promise<Channel> {
  if (!isInPlan(plan, { type })) throw channelTypeRefusal(plan);
  if ((await listChannels(store)).length >= MAX_CHANNELS)
    throw new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MAX_CHANNELS} channels.`);
  const now = store.clock.now();
  const channel = {
    id: store.ids.uuidAt(now),
    type,
    name,
    active: true,
    status: "pending" as const,
    created_at: timestamp(now),
  };
  const needsNoCredentials = type === "in_app";
  if (needsNoCredentials) await watchVerification(timers, store, channel.id);
  const row = { ...channel, ...(needsNoCredentials && queuedVerification(store)) };
  const created = await createNamed(store, ChannelItem, row);
  if (created === "name taken") throw nameTaken();
  return channel;
}

/** All channels, oldest first (CHN-14). */
export async function listChannels(store: StoreReader): Promise<ChannelRow[]> {
  return (await store.query(ChannelItem, {})).items;
}

/** Gets a channel. @throws 404 */
export async function getChannel(store: StoreReader, id: string): Promise<ChannelRow> {
  return requireFound(await store.get(ChannelItem, { id }), "channel");
}

interface ChannelChange {
  name?: string | undefined;
  active?: boolean | undefined;
  rate_per_second?: number | null | undefined;
  price_per_message?: number | null | undefined;
}

/**
 * Changes a channel (CHN-16). @throws 404, 422 if the new name is taken, and for a price of a channel without provider
 * charges (F10)
 */
export async function updateChannel(
  store: Store,
  id: string,
  { name, active, rate_per_second: rate, price_per_message: price }: ChannelChange,
): Promise<ChannelRow> {
  if (name === undefined && active === undefined && rate === undefined && price === undefined)
    return getChannel(store, id);
  if (price !== undefined && price !== null && !isPriced((await getChannel(store, id)).type))
    throw invalid({ price_per_message: `must not be given where the type is none of ${pricedChannels.join(", ")}` });
  const change = {
    set: { active, rate_per_second: rate ?? undefined, price_per_message: price ?? undefined },
    remove: [
      ...(rate === null ? ["rate_per_second" as const] : []),
      ...(price === null ? ["price_per_message" as const] : []),
    ],
  };
  const before = rate === undefined ? undefined : await getChannel(store, id);
  const outcome = await changeNamed(store, ChannelItem, id, { change, name });
  if (outcome.kind === "taken") throw nameTaken();
  if (outcome.kind !== "changed") throw notFound("channel");
  if (before?.rate_per_second !== outcome.row.rate_per_second && before) await giveSlotsAnew(store, id);
  return outcome.row;
}

/**
 * Removes a channel and its credentials in one transaction, then its other rows. A repeated request finishes an
 * interrupted removal.
 * @throws 404, 409 for a channel with stored credentials or that a released campaign uses, unless `force` (CHN-17,
 * AMB-119).
 */
export async function removeChannel(
  store: Store,
  timers: Timers,
  id: string,
  { force }: { force: boolean },
): Promise<void> {
  const permit = (channel: ChannelRow) => {
    if (force) return present();
    if (channel.credentials !== undefined) throw conflict("Credentials are stored for this channel. Use force=true.");
    return absent("credentials");
  };
  const channel = await store.get(ChannelItem, { id });
  if (channel) {
    await releaseChannel(store, timers, channel, { force });
    permit(channel);
  }
  const extraItems = [removeItem(CredentialsItem, { channel: id })];
  const removed = await removeNamed(store, ChannelItem, id, { permit, extraItems });
  await removeParts(store, id);
  if (removed === "missing") throw notFound("channel");
}

/** Rows are added only while their channel exists, so none are added after these. */
async function removeParts(store: Store, channel: string): Promise<void> {
  for (;;) {
    const { items } = await store.queryRows(CredentialsItem, { channel });
    if (items.length === 0) return;
    await store.removeRows(items);
  }
}

/**
 * The channels with the given ids, or every usable one that the plan permits.
 * @throws 422 naming the field for an id of no channel in this workspace (AMB-93), 403 for a type outside the plan
 * (CHN-13).
 */
export async function requireChannels(
  store: StoreReader,
  plan: PlanName,
  wanted: readonly string[] | undefined,
  field = "channel_ids",
): Promise<ChannelRow[]> {
  const isPermitted = (channel: ChannelRow) => isInPlan(plan, channel);
  if (!wanted) return (await listChannels(store)).filter((channel) => isUsable(channel) && isPermitted(channel));
  const chosen = await store.getAll(ChannelItem, idKeys([...new Set(wanted)]));
  const missing = chosen.indexOf(undefined);
  if (missing >= 0) throw invalid({ [fieldPath(field, missing)]: "no such channel in this workspace" });
  const found = chosen.filter((channel) => channel !== undefined);
  if (!found.every(isPermitted)) throw channelTypeRefusal(plan);
  return found;
}

/** A channel stays when its workspace changes to a plan without its type, and sends nothing (GEN-10, AMB-87). */
export const isInPlan = (plan: PlanName, { type }: Pick<ChannelRow, "type">): boolean =>
  plans[plan].channelTypes.includes(type);

/** CHN-13, ERR-20. */
const channelTypeRefusal = (plan: PlanName): ApiError =>
  new ApiError("FEATURE_NOT_AVAILABLE", "A channel type is not part of this workspace's plan.", {
    body: { error: "channel_type_not_permitted", allowed: plans[plan].channelTypes, upgrade_required: true },
  });

const nameTaken = () => invalid({ name: "is already used by another channel" });

/**
 * Ready to send: enabled and verified (CHN-4, CHN-5). A channel whose current credentials were verified before stays
 * usable while they are verified again.
 */
export const isUsable = (channel: ChannelRow): boolean =>
  channel.active && (channel.status === "active" || (channel.status === "pending" && isProven(channel)));

/** Whether its provider accepted its current credentials at the last verification. */
export const isProven = (channel: ChannelRow): boolean =>
  channel.verified_credentials !== undefined && channel.verified_credentials === credentialsOf(channel);

/** The version of a channel's credentials. */
export const credentialsOf = ({ type, credentials }: ChannelRow): string | undefined =>
  type === "in_app" ? NO_CREDENTIALS : credentials;
