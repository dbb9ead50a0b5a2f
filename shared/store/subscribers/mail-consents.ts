// Opting out by the link of a mail: of the person, and of the address that the mail went to (AMB-130).
import { timestamp } from "../../kernel/clock.ts";
import { absent, all, any, oneOf } from "../conditions.ts";
import type { Store } from "../context.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { happened } from "../refusals.ts";
import { mailAddressId } from "./address-items.ts";
import { optOutWrite } from "./addresses.ts";
import { type ConsentAssertion, consentWrite, foldedConsent } from "./consents.ts";
import { isAlive, Profile } from "./items.ts";
import { getProfile } from "./subscribers.ts";

/**
 * No marketing mail from now on, to this subscriber and to whoever has the address. A subscriber who opted out before or
 * was erased gets no consent; the address opts out all the same. A repeat changes nothing.
 * @param address the id of the one that the mail went to
 * @param counted written with the change, once
 */
export async function unsubscribe(
  store: Store,
  { subscriber, address }: { subscriber: string; address: string },
  counted: readonly ItemWrite<"workspace">[] = [],
): Promise<void> {
  const now = store.clock.now();
  const at = timestamp(now);
  const profile = await getProfile(store, subscriber);
  const text = mailAddressId(profile) === address ? profile?.email?.toLowerCase() : undefined;
  const ofAddress = optOutWrite("email", { id: address, text }, "email", at);

  const consent: ConsentAssertion = { channel: "email", status: "opted_out", consented_at: at, source: "unsubscribe" };
  const isOpen = any(absent("c:email"), oneOf("c:email", ["opted_in", "pending", "unknown"]));
  const isDone = await happened(
    store.transact([
      changeItem(Profile, { id: subscriber }, { set: foldedConsent(consent) }, all(isAlive(), isOpen)),
      consentWrite(store, subscriber, store.ids.uuidAt(now), consent, absent()),
      ofAddress,
      ...counted,
    ]),
  );
  if (!isDone) await happened(store.transact([ofAddress]));
}
