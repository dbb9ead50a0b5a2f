// Credentials of channels: sealed, replaced as a whole, shown to nobody; each upload begins a verification (CRD-1 to 8).
import { timestamp } from "../../clock.ts";
import { invalid, notFound } from "../../http/errors.ts";
import type { ChannelType } from "../../plans.ts";
import type { Credentials } from "../../providers/credentials.ts";
import type { Store } from "../../resources.ts";
import type { Opener, Sealer } from "../../vault.ts";
import { is } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { Timers } from "../timers.ts";
import { getChannel, watchVerification } from "./channels.ts";
import { queueing } from "./verifications.ts";

export type CredentialType = Credentials["type"];

/** AMB-19. */
const channelTypeOf: Record<CredentialType, ChannelType> = {
  ios_push: "ios",
  android_push: "android",
  vapid: "web_push",
  sms: "sms",
  chat_app: "chat_app",
  email: "email",
};

/** CRD-1: all that is ever said of them. */
export interface Confirmation {
  id: string;
  channel_id: string;
  type: CredentialType;
  created_at: string;
  updated_at: string;
  vapid_public_key?: string;
}

/**
 * Seals credentials, replaces what was there, and queues their verification, in one transaction. `prepare` runs before
 * it, once nothing speaks against them.
 * @throws 404, 422 for credentials of another type of channel (AMB-19).
 */
export async function storeCredentials(
  store: Store,
  timers: Timers,
  vault: Sealer,
  id: string,
  credentials: Credentials,
  prepare: () => Promise<void> = async () => undefined,
): Promise<Confirmation> {
  const { type } = credentials;
  const channel = await getChannel(store, id);
  if (channel.type !== channelTypeOf[type])
    throw invalid({ type: `${type} credentials belong to a channel of type ${channelTypeOf[type]}` });
  const sealed = await vault.seal({ channel: id, type }, credentials);
  await prepare();
  await watchVerification(timers, store, id);
  const now = timestamp(store.clock.now());
  const queued = queueing(store);
  const shown = type === "vapid" ? { vapid_public_key: credentials.public_key } : {};
  await store
    .transact([
      {
        update: keys.entity(store.tenant, "channel", id),
        change: { ...queued, set: { ...queued.set, credentials: store.ids.uuid() } },
        when: is("type", channel.type),
      },
      {
        update: keys.credentials(store.tenant, id),
        change: {
          set: { type, sealed, updated_at: now, ...shown },
          initial: { id: store.ids.uuid(), created_at: now },
        },
      },
    ])
    .catch(
      onTransactionCanceled(() => {
        throw notFound("channel");
      }),
    );
  const row = await store.get(keys.credentials(store.tenant, id));
  if (!row) throw notFound("channel");
  return confirmationOf(id, row);
}

/** What a row of sealed credentials holds. */
export async function openCredentials(vault: Opener, channel: string, row: Item): Promise<Credentials> {
  return (await vault.open({ channel, type: String(row.type) }, String(row.sealed))) as Credentials;
}

const confirmationOf = (channel_id: string, row: Item): Confirmation => ({
  id: String(row.id),
  channel_id,
  type: row.type as CredentialType,
  created_at: String(row.created_at),
  updated_at: String(row.updated_at),
  ...(row.vapid_public_key !== undefined && { vapid_public_key: String(row.vapid_public_key) }),
});
