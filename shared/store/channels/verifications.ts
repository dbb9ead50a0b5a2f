// Verification of channels: asked for, and its outcome, which counts only while nothing newer was asked (CHN-8 to 11).
import { HOUR, timestamp } from "../../clock.ts";
import { ApiError, notFound } from "../../http/errors.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { channelMoves } from "../../rules/channel-states.ts";
import { all, any, is, oneOf, present } from "../conditions.ts";
import type { Change } from "../expressions.ts";
import { annotation } from "../insights/annotations.ts";
import { keys } from "../keys.ts";
import { move } from "../lifecycle.ts";
import type { Item } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { Timers } from "../timers.ts";
import { credentialsOf, queuedVerification, watchVerification } from "./channels.ts";

/** A provider that cannot be asked for so long counts as a refusal: nothing stays queued for ever. */
const GIVE_UP_MS = 24 * HOUR;

/** The change that begins the cycle anew. */
export const queueing = (store: Store): Change => ({
  set: { ...queuedVerification(store), status: channelMoves.queue.to },
  remove: ["verified_at", "verification_error"],
});

/** CHN-18. @throws 404 without a channel, and without credentials where the channel needs them. */
export async function requestVerification(store: Store, timers: Timers, id: string): Promise<void> {
  const key = keys.entity(store.tenant, "channel", id);
  refuseUnverifiable(await store.get(key));
  await watchVerification(timers, store, id);
  const moved = await move(store, key, channelMoves, "queue", {
    change: queueing(store),
    when: any(present("credentials"), is("type", "in_app")),
  });
  if (!("item" in moved)) refuseUnverifiable(moved.current);
}

function refuseUnverifiable(channel: Item | undefined): void {
  if (!channel) throw notFound("channel");
  if (channel.credentials === undefined && channel.type !== "in_app")
    throw new ApiError("NOT_FOUND", "No credentials are stored for this channel.");
}

export interface OpenVerification {
  id: string;
  channel: Item;
  /** The row of the credentials in question; a channel that needs none has none. */
  credentials: Item | undefined;
  isTooOld: boolean;
}

/** The verification that is under way, if it is the one asked for (or any, for the watchdog). */
export async function findVerification(
  store: StoreReader,
  id: string,
  verification: string | undefined,
): Promise<OpenVerification | undefined> {
  const [channel, credentials] = await store.getAll([
    keys.entity(store.tenant, "channel", id),
    keys.credentials(store.tenant, id),
  ]);
  if (channel?.verification === undefined) return undefined;
  if (verification !== undefined && channel.verification !== verification) return undefined;
  const isTooOld = store.clock.now() - Date.parse(String(channel.queued_at)) > GIVE_UP_MS;
  return { id: String(channel.verification), channel, credentials, isTooOld };
}

/** CHN-9. Late, double or overtaken, it changes nothing. */
export async function acceptChannel(store: Store, { id, channel }: OpenVerification): Promise<void> {
  await move(store, channel, channelMoves, "accept", {
    change: {
      set: { verified_at: timestamp(store.clock.now()), verified_credentials: credentialsOf(channel) },
      remove: ["verification", "queued_at", "verification_error"],
    },
    when: is("verification", id),
  });
}

/** CHN-10, D-ANNAUTO: with an annotation where the channel had been working. Late, double or overtaken: nothing. */
export async function refuseChannel(store: Store, { id, channel }: OpenVerification, error: string): Promise<void> {
  const { from, to } = channelMoves.refuse;
  const change: Change = {
    set: { status: to, verification_error: error },
    remove: ["verification", "queued_at", "verified_at", "verified_credentials"],
  };
  const text = `The channel ${channel.name} became invalid: ${error}`;
  const note = annotation(store, { kind: "channel_invalid", text, ref_id: String(channel.id) });
  await store
    .transact([
      { update: channel, change, when: all(oneOf("status", from), is("verification", id)) },
      ...(channel.verified_credentials === undefined ? [] : [{ put: note }]),
    ])
    .catch(onTransactionCanceled(() => undefined));
}
