// Asks a channel's provider whether its credentials work; one that cannot be asked is asked again (CHN-9, CHN-10).

import type { Context } from "../../../shared/deps.ts";
import type { Message } from "../../../shared/messages.ts";
import type { ProvidedChannel, Verification } from "../../../shared/providers/provider.ts";
import { credentialProof } from "../../../shared/providers/providers.ts";
import { storeWrite, timers, verifyChannelQueue } from "../../../shared/resources.ts";
import { watchVerification } from "../../../shared/store/channels/channels.ts";
import { openCredentials } from "../../../shared/store/channels/credentials.ts";
import {
  acceptChannel,
  findVerification,
  type OpenVerification,
  refuseChannel,
} from "../../../shared/store/channels/verifications.ts";
import { vaultOpening } from "../../../shared/vault.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** After these the watchdog alone asks again, until the verification is too old. */
const PAUSES_SECONDS = [5, 30, 120, 600];

const uses = [storeWrite, timers, vaultOpening, credentialProof, verifyChannelQueue] as const;
type WorkerContext = Context<typeof uses>;

export const verifyChannel = queueWorker(
  "verify-channel",
  "Verifies the credentials of a channel with its provider.",
  uses,
  async (message, context) => {
    const { store } = context;
    const open = await findVerification(store, message.channel, message.verification);
    if (!open) return;
    const verdict = await verify(context, open);
    if (verdict.ok) return acceptChannel(store, open);
    if (!verdict.mayPass || open.isTooOld) return refuseChannel(store, open, verdict.error);
    await askAgain(context, message);
  },
);

/** D-INAPP-CH: a channel that needs no credentials is right as it is. */
async function verify(
  { vault, proof }: WorkerContext,
  { channel, credentials }: OpenVerification,
): Promise<Verification> {
  if (channel.type === "in_app") return { ok: true };
  if (!credentials) return { ok: false, error: "The credentials are gone." };
  return proof(channel.type as ProvidedChannel, await openCredentials(vault, String(channel.id), credentials));
}

/** The watchdog's message names no verification; it comes back with the watchdog's own next time. */
async function askAgain(
  { store, timers, verifyChannelQueue: queue }: WorkerContext,
  { tries = 0, ...message }: Message<"verify-channel">,
): Promise<void> {
  if (message.verification === undefined) return watchVerification(timers, store, message.channel);
  const delaySeconds = PAUSES_SECONDS[tries];
  if (delaySeconds !== undefined) await queue.send([{ ...message, tries: tries + 1 }], { delaySeconds });
}
