// Verification of channels: requested, and then its outcome, which counts only if no newer one was requested
// (CHN-8 to 11).
import type { LastError } from "../../contract/schemas.ts";
import { HOUR, timestamp } from "../../kernel/clock.ts";
import { ApiError, notFound } from "../../kernel/errors.ts";
import { channelMoves } from "../../rules/channel-states.ts";
import { any, is, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { annotationWrite } from "../insights/annotations.ts";
import { type ChangeOf, ref } from "../item.ts";
import { move, moveWrite } from "../lifecycle.ts";
import { whereItHolds } from "../refusals.ts";
import type { Timers } from "../timers.ts";
import { credentialsOf, queuedVerification, watchVerification } from "./channels.ts";
import { ChannelItem, type ChannelRow, CredentialsItem, type CredentialsRow } from "./items.ts";

/** After this time an unavailable provider counts as a refusal, so that no verification stays queued forever. */
const GIVE_UP_MS = 24 * HOUR;

export const verificationChange = (store: Store): ChangeOf<typeof ChannelItem> => ({
  set: { ...queuedVerification(store), status: channelMoves.queue.to },
  remove: ["verified_at", "verification_error", "last_error"],
});

/**
 * Requests a verification (CHN-18). @throws 404 without a channel, and without credentials if the channel needs them
 */
export async function requestVerification(store: Store, timers: Timers, id: string): Promise<void> {
  requireVerifiable(await store.get(ChannelItem, { id }));
  await watchVerification(timers, store, id);
  const moved = await move(
    store,
    ChannelItem,
    { id },
    {
      lifecycle: channelMoves,
      action: "queue",
      change: verificationChange(store),
      when: any(present("credentials"), is("type", "in_app")),
    },
  );
  if (moved.kind === "refused") requireVerifiable(moved.current);
}

function requireVerifiable(channel: ChannelRow | undefined): void {
  if (!channel) throw notFound("channel");
  if (channel.credentials === undefined && channel.type !== "in_app")
    throw new ApiError("NOT_FOUND", "No credentials are stored for this channel.");
}

export interface OpenVerification {
  id: string;
  channel: ChannelRow;
  /** Undefined for a channel that needs none. */
  credentials: CredentialsRow | undefined;
  isTooOld: boolean;
}

/** The verification in progress, if it is the given one; without an id (from the timer) any. */
export async function findVerification(
  store: StoreReader,
  id: string,
  verification: string | undefined,
): Promise<OpenVerification | undefined> {
  const [channel, credentials] = await store.getEach([ref(ChannelItem, { id }), ref(CredentialsItem, { channel: id })]);
  if (channel?.verification === undefined) return undefined;
  if (verification !== undefined && channel.verification !== verification) return undefined;
  const isTooOld = store.clock.now() - Date.parse(channel.queued_at ?? "") > GIVE_UP_MS;
  return { id: channel.verification, channel, credentials, isTooOld };
}

/** Records acceptance (CHN-9). It changes nothing if the verification has an outcome or was replaced. */
export async function acceptChannel(store: Store, { id, channel }: OpenVerification): Promise<void> {
  await move(
    store,
    ChannelItem,
    { id: channel.id },
    {
      lifecycle: channelMoves,
      action: "accept",
      change: {
        set: { verified_at: timestamp(store.clock.now()), verified_credentials: credentialsOf(channel) },
        remove: ["verification", "queued_at", "verification_error", "last_error"],
      },
      when: is("verification", id),
    },
  );
}

const lastError = ({ clock }: Pick<Store, "clock">, code: string, message: string): LastError => ({
  code,
  message,
  at: timestamp(clock.now()),
});

/** Notes that the provider cannot be reached: the channel shows it while the verification is tried again (AMB-123). */
export async function noteUnavailable(store: Store, { id, channel }: OpenVerification, error: string): Promise<void> {
  const set = { last_error: lastError(store, "PROVIDER_UNAVAILABLE", error) };
  await whereItHolds(store.change(ChannelItem, { id: channel.id }, { set }, is("verification", id)));
}

/**
 * Records a refusal (CHN-10), with an annotation if the channel was verified before (D-ANNAUTO). It changes nothing if
 * the verification has an outcome or was replaced.
 */
export async function refuseChannel(store: Store, { id, channel }: OpenVerification, error: string): Promise<void> {
  const text = `The channel ${channel.name} became invalid: ${error}`;
  await whereItHolds(
    store.transact([
      moveWrite(
        ChannelItem,
        { id: channel.id },
        {
          lifecycle: channelMoves,
          action: "refuse",
          change: {
            set: { verification_error: error, last_error: lastError(store, "VERIFICATION_FAILED", error) },
            remove: ["verification", "queued_at", "verified_at", "verified_credentials"],
          },
          when: is("verification", id),
        },
      ),
      ...(channel.verified_credentials === undefined
        ? []
        : [annotationWrite(store, { kind: "channel_invalid", text, ref_id: channel.id })]),
    ]),
  );
}
