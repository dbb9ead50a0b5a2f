// The credentials of the channels that a send goes by, opened once per environment.

import type { Credentials } from "../../../shared/contract/credentials.ts";
import { MINUTE } from "../../../shared/kernel/clock.ts";
import type { ChannelType } from "../../../shared/rules/channel-types.ts";
import { openCredentials } from "../../../shared/store/channels/credentials.ts";
import { CredentialsItem } from "../../../shared/store/channels/items.ts";
import { readShared } from "./memory.ts";
import type { Work } from "./work.ts";

/** How long credentials stay in clear, and go on when they were replaced, or their channel deleted. */
const OPEN_MS = MINUTE;

/** The credentials of a send's channel; undefined if it has none. */
export async function credentialsFor(
  { store, vault, clock, opened, job: { deliverySettings } }: Work,
  channel: ChannelType,
): Promise<Credentials | undefined> {
  const via = deliverySettings?.via.find(({ type }) => type === channel);
  if (!via) return undefined;
  const version = `${store.tenant} ${via.id} ${via.credentials}`;
  const read = async () => {
    const row = await store.get(CredentialsItem, { channel: via.id });
    return row && openCredentials(vault, via.id, row);
  };
  const found = await readShared(clock, opened, version, { ms: OPEN_MS, read });
  // Those that do not exist are read again.
  if (!found) opened.delete(version);
  return found;
}
