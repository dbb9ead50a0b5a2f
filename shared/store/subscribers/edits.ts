// What people change about a subscriber that they look at: its e-mail address, its attributes, its consents.
import type { Store } from "../context.ts";
import { tooLarge } from "../refusals.ts";
import { type Consent, type ConsentAssertion, consentOf } from "./consents.ts";
import { ConsentItem } from "./items.ts";
import { type ProfileInput, updateProfile, updateWithConsent } from "./profile-writes.ts";
import { living, refuseAttributes, type Subscriber, subscriberOf } from "./subscribers.ts";

/** @returns undefined if there is no such subscriber. @throws 422 as an upsert does. */
export async function changeSubscriber(
  store: Store,
  id: string,
  change: ProfileInput,
): Promise<Subscriber | undefined> {
  const row = await updateProfile(store, id, change).catch(tooLarge(refuseAttributes));
  const profile = living(row);
  return profile && subscriberOf(profile);
}

/** Adds a consent to the history (D-CONSENT). @returns undefined if there is no such subscriber. */
export async function recordConsent(
  store: Store,
  subscriber: string,
  assertion: ConsentAssertion,
): Promise<Consent | undefined> {
  const id = store.ids.uuidAt(store.clock.now());
  const row = await updateWithConsent(store, subscriber, {}, assertion, id);
  const consent = living(row) && (await store.get(ConsentItem, { subscriber, consent: id }));
  return consent && consentOf(consent);
}
