// Verifies the credentials of a channel with its provider. While the provider cannot be reached, it tries again (CHN-9,
// CHN-10).
import type { Credentials } from "../../../shared/contract/credentials.ts";
import type { Message } from "../../../shared/contract/messages.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import type { Verification } from "../../../shared/providers/provider.ts";
import { credentialProof } from "../../../shared/providers/providers.ts";
import { senderDomains } from "../../../shared/providers/sender-domain.ts";
import { verifyChannelQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { watchVerification } from "../../../shared/store/channels/channels.ts";
import { openCredentials } from "../../../shared/store/channels/credentials.ts";
import { noteSenderDomain } from "../../../shared/store/channels/sender-domains.ts";
import {
  acceptChannel,
  findVerification,
  noteUnavailable,
  type OpenVerification,
  refuseChannel,
} from "../../../shared/store/channels/verifications.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { vaultOpening } from "../../../shared/store/vault.ts";

/** After these delays only the timer tries again, until the verification is too old. */
const DELAYS_SECONDS = [5, 30, 120, 600];

const uses = [storeWrite, timers, vaultOpening, credentialProof, senderDomains, verifyChannelQueue] as const;
type WorkerContext = Context<typeof uses>;

export const verifyChannel = queueWorker(
  "verify-channel",
  "Verifies the credentials of a channel with its provider.",
  uses,
  async (message, context) => {
    const { store, log } = context;
    const verification = await findVerification(store, message.channel, message.verification);
    if (!verification) return log({ level: "info", message: "a verification is no longer open", ...message });

    const credentials = await credentialsIn(context, verification);
    const verdict = await verifyCredentials(context, verification, credentials);
    if (verdict.kind === "undecided" && !verification.isTooOld) {
      await noteUnavailable(store, verification, verdict.error);
      return retryLater(context, message);
    }
    // Noted also after a refusal: its owner then looks for the missing DNS records.
    const domain = credentials && (await context.senderDomain(credentials));
    if (domain) await noteSenderDomain(store, verification, domain);
    if (verdict.kind === "verified") return acceptChannel(store, verification);
    await refuseChannel(store, verification, verdict.error);
  },
);

const credentialsIn = async ({ vault }: WorkerContext, { channel, credentials }: OpenVerification) =>
  credentials && (await openCredentials(vault, channel.id, credentials));

/** A channel that needs no credentials is always verified (D-INAPP-CH). */
async function verifyCredentials(
  { proof }: WorkerContext,
  { channel }: OpenVerification,
  credentials: Credentials | undefined,
): Promise<Verification> {
  if (channel.type === "in_app") return { kind: "verified" };
  return credentials ? proof(channel.type, credentials) : { kind: "refused", error: "The credentials are gone." };
}

/** Tries again later. The timer's message names no verification: it sets the timer again. */
async function retryLater(
  { store, timers, verifyChannelQueue: queue }: WorkerContext,
  { tries = 0, ...message }: Message<"verify-channel">,
): Promise<void> {
  if (message.verification === undefined) return watchVerification(timers, store, message.channel);
  const delaySeconds = DELAYS_SECONDS[tries];
  if (delaySeconds !== undefined) await queue.send([{ ...message, tries: tries + 1 }], { delaySeconds });
}
