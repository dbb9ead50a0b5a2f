// The credentials of the channels that a send goes by, opened once per environment.

import type { Credentials } from "../../../shared/contract/credentials.ts";
import { MINUTE } from "../../../shared/kernel/clock.ts";
import type { Capability } from "../../../shared/kernel/deps.ts";
import type { ChannelType } from "../../../shared/rules/channel-types.ts";
import { openCredentials } from "../../../shared/store/channels/credentials.ts";
import { CredentialsItem } from "../../../shared/store/channels/items.ts";
import { recent } from "../../../shared/store/recent.ts";
import type { Job } from "../../../shared/store/sends/jobs/jobs.ts";
import type { WorkerContext } from "./rounds.ts";

const MAX_OPENED_CHANNELS = 100;
/** How long credentials stay in clear. */
const OPEN_MS = 5 * MINUTE;

interface Opened {
  at: number;
  credentials: Promise<Credentials | undefined>;
}

/** Credentials that an environment has open, by their version: as they were when the send was dispatched. */
export const openedCredentials: Capability<"opened", ReturnType<typeof recent<Opened>>> = {
  as: "opened",
  env: [],
  grants: [],
  open: () => {
    const opened = recent<Opened>(MAX_OPENED_CHANNELS);
    return () => opened;
  },
};

/** The credentials of a send's channel; undefined if it has none. */
export async function credentialsFor(
  { store, vault, clock, opened }: WorkerContext,
  { deliverySettings }: Job,
  channel: ChannelType,
): Promise<Credentials | undefined> {
  const via = deliverySettings?.via.find(({ type }) => type === channel);
  if (!via) return undefined;
  const version = `${store.tenant} ${via.id} ${via.credentials}`;
  const cached = opened.get(version);
  if (cached && clock.now() - cached.at < OPEN_MS) return cached.credentials;
  // Chunks that begin together share one read. Credentials that could not be opened, or do not exist, are read again.
  const credentials = store
    .get(CredentialsItem, { channel: via.id })
    .then((row) => row && openCredentials(vault, via.id, row));
  opened.set(version, { at: clock.now(), credentials });
  const found = await credentials.catch((error) => {
    opened.delete(version);
    throw error;
  });
  if (!found) opened.delete(version);
  return found;
}
