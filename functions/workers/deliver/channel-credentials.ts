// The credentials of a send's channels, opened once per environment.
import type { Credentials } from "../../../shared/contract/credentials.ts";
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import type { ChannelType } from "../../../shared/rules/channel-types.ts";
import type { PlanName } from "../../../shared/rules/plans.ts";
import type { SendOutcome } from "../../../shared/rules/progress.ts";
import { isInPlan, isProven } from "../../../shared/store/channels/channels.ts";
import { openCredentials } from "../../../shared/store/channels/credentials.ts";
import { ChannelItem, type ChannelRow, CredentialsItem } from "../../../shared/store/channels/items.ts";
import { ref } from "../../../shared/store/item.ts";
import { readShared } from "./memory.ts";
import { ownerOf } from "./send-gates.ts";
import type { Work } from "./work.ts";

/** How long opened credentials are kept and used, even if they were replaced or their channel deleted. */
const OPEN_MS = MINUTE;
/** How long a channel that may not send is not read again, however many recipients it has. */
const HELD_MS = SECOND;
/** A verification that takes longer means that the provider cannot be reached. */
const VERIFIED_WITHIN_MS = 30 * MINUTE;

/**
 * `held`: the channel is switched off, the plan no longer has its type, or its credentials were replaced since the
 * dispatch and are not verified yet (docs/decisions/0155).
 */
export type OpenedChannel =
  | { kind: "open"; credentials: Credentials }
  | { kind: "held"; outcome: SendOutcome }
  | { kind: "missing" };

export async function credentialsFor(work: Work, channel: ChannelType): Promise<OpenedChannel> {
  const { store, vault, clock, opened } = work;
  const { deliverySettings } = work.job;
  const via = deliverySettings?.via.find(({ type }) => type === channel);
  if (!via) return { kind: "missing" };
  const version = `${store.tenant} ${via.id} ${via.credentials}`;
  const read = async (): Promise<OpenedChannel> => {
    const [row, sealed] = await store.getEach([
      ref(ChannelItem, { id: via.id }),
      ref(CredentialsItem, { channel: via.id }),
    ]);
    if (!row || !sealed) return { kind: "missing" };
    const owner = await ownerOf(work);
    const held = heldBy(row, { ...via, plan: owner?.plan, read: sealed.version, now: clock.now() });
    if (held) return { kind: "held", outcome: { kind: "retryable", isHeld: true, ...held } };
    return { kind: "open", credentials: await openCredentials(vault, via.id, sealed) };
  };
  const found = await readShared(clock, opened, version, { ms: OPEN_MS, read });
  return found.kind === "open" ? found : readShared(clock, opened, version, { ms: HELD_MS, read });
}

interface CredentialsInput {
  /** Undefined if its workspace is deleted. */
  plan: PlanName | undefined;
  /** The version of the credentials with which the send was dispatched. */
  credentials?: string | undefined;
  /** The version that was read. The row of the channel may be older or newer than an upload. */
  read: string;
  now: number;
}

/**
 * Why a channel may not send now, though its send was dispatched. A verification in progress is not a failed attempt:
 * it takes seconds.
 */
function heldBy(channel: ChannelRow, { plan, credentials, read, now }: CredentialsInput) {
  if (!channel.active || (plan && !isInPlan(plan, channel))) return { reason: "no_channel" };
  const isTorn = channel.credentials !== read;
  if (read === credentials || (isProven(channel) && !isTorn)) return undefined;
  const isBeingVerified =
    isTorn || (channel.status === "pending" && now - Date.parse(channel.queued_at ?? "") < VERIFIED_WITHIN_MS);
  return { reason: "no_credentials", ...(isBeingVerified && { isThrottled: true as const }) };
}
