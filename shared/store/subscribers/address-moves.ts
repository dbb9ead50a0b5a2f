// A subscriber gets another address than the one whose owner confirmed opt-ins (AMB-129).
import { timestamp } from "../../kernel/clock.ts";
import { all, is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { familyOf } from "../families.ts";
import { changeItem } from "../item.ts";
import { busy, transacted } from "../refusals.ts";
import { type ConsentAssertion, consentWrite, foldedConsent, unconfirmedAgain, waitAgain } from "./consents.ts";
import { isAlive, Profile, type ProfileRow } from "./items.ts";
import { type ProfileInput, profileChange } from "./profile-changes.ts";
import { refuseOverweight } from "./profile-sizes.ts";

/** Opt-ins that wait again with the address, beside its attributes: an expression has 4 KB. What is more waits before it. */
const WITH_ADDRESS = 20;

interface AddressMove {
  input: ProfileInput;
  /** The profile as it was read, with the address before. */
  old: ProfileRow;
  /** A consent that is written with it. */
  stated?: { consent: ConsentAssertion; consentId: string };
}

/**
 * Confirmed opt-ins wait again, for the owner of the new address. @throws 503 if others changed the profile in the
 * meantime
 */
export async function moveAddress(
  store: Store,
  id: string,
  { input, old, stated }: AddressMove,
): Promise<ProfileRow | undefined> {
  refuseOverweight(old, input.attributes);
  const now = store.clock.now();
  const newest = stated && isNewestIn(old, stated.consent) ? [stated.consent] : [];
  const isAsRead = all(isAlive(), is("confirmed_address", old.confirmed_address ?? ""));
  const again = unconfirmedAgain(old, timestamp(now)).filter(({ channel }) => channel !== newest[0]?.channel);
  const before = again.splice(WITH_ADDRESS);
  const areWaiting = await waitAgain(store, id, before, isAsRead);
  if (!areWaiting) throw beingChanged();

  const { set, remove } = profileChange(store, input, id);
  const left = new Set(before.map(({ channel }) => channel));
  const confirmed = familyOf(old, "cc:").flatMap(([channel]) => (left.has(channel) ? [] : [`cc:${channel}` as const]));
  const change = {
    set: Object.assign(set, ...[...again, ...newest].map(foldedConsent)) as typeof set,
    remove: [...remove, "confirmed_address" as const, ...confirmed],
  };
  const isMoved = await transacted(store, [
    changeItem(Profile, { id }, change, isAsRead),
    ...again.map((consent) => consentWrite(store, { subscriber: id, id: store.ids.uuidAt(now) }, consent)),
    ...(stated ? [consentWrite(store, { subscriber: id, id: stated.consentId }, stated.consent)] : []),
  ]);
  if (!isMoved) throw beingChanged();
  return store.get(Profile, { id });
}

/** Whether a consent is not older than what the profile has of its channel. */
export const isNewestIn = (row: ProfileRow, { channel, consented_at }: ConsentAssertion): boolean =>
  (row[`ct:${channel}`] ?? "") <= consented_at;

export const beingChanged = busy.unavailable("This subscriber is being changed by others just now.");
