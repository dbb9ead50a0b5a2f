// Credentials of channels: sealed, replaced as a whole, never returned. Each upload starts a verification (CRD-1 to 8).
import { type Credentials, settingsOf } from "../../contract/credentials.ts";
import { timestamp } from "../../kernel/clock.ts";
import { invalid, notFound, requireFound } from "../../kernel/errors.ts";
import { providedChannels } from "../../rules/channel-types.ts";
import { channels } from "../../rules/channels.ts";
import { is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { changeItem, fieldsOf } from "../item.ts";
import { toJson } from "../json-text.ts";
import { orRefuse } from "../refusals.ts";
import type { Timers } from "../timers.ts";
import type { Opener, Sealer } from "../vault.ts";
import { getChannel, watchVerification } from "./channels.ts";
import { ChannelItem, CredentialConfirmation, CredentialsItem, type CredentialsRow } from "./items.ts";
import { verificationChange } from "./verifications.ts";

/**
 * Seals credentials, replaces the stored ones, and queues their verification, in one transaction. `prepare` runs before
 * it, once the credentials are known to be acceptable.
 * @throws 404, 422 for credentials of another type of channel (AMB-19).
 */
export async function storeCredentials(
  { store, timers, vault }: { store: Store; timers: Timers; vault: Sealer },
  id: string,
  credentials: Credentials,
  prepare: () => Promise<void> = async () => undefined,
): Promise<CredentialConfirmation> {
  const { type } = credentials;
  const channel = await getChannel(store, id);
  const owner = providedChannels.find((providedChannel) => channels[providedChannel].credentials.type === type);
  if (channel.type !== owner) throw invalid({ type: `${type} credentials belong to a channel of type ${owner}` });

  const sealed = await vault.seal({ channel: id, type }, credentials);
  await prepare();
  await watchVerification(timers, store, id);
  const now = timestamp(store.clock.now());
  const queued = verificationChange(store);
  const version = store.ids.uuid();
  await store
    .transact([
      changeItem(
        ChannelItem,
        { id },
        {
          ...queued,
          set: { ...queued.set, credentials: version, settings: toJson(settingsOf(credentials)) },
        },
        is("type", channel.type),
      ),
      changeItem(
        CredentialsItem,
        { channel: id },
        {
          set: {
            type,
            sealed,
            version,
            updated_at: now,
            vapid_public_key: type === "vapid" ? credentials.public_key : undefined,
          },
          initial: { id: store.ids.uuid(), created_at: now },
        },
      ),
    ])
    .catch(orRefuse(() => notFound("channel")));
  const row = requireFound(await store.get(CredentialsItem, { channel: id }), "channel");
  return { channel_id: id, ...fieldsOf(CredentialConfirmation.entries, row) };
}

/** Opens credentials that `storeCredentials` sealed. */
export async function openCredentials(
  vault: Opener,
  channel: string,
  { type, sealed }: CredentialsRow,
): Promise<Credentials> {
  return (await vault.open({ channel, type }, sealed)) as Credentials;
}
