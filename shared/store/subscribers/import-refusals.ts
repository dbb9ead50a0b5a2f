// What a row refuses whose person is not imported: of the person where there is one, else of the addresses (AMB-132).
import { type AddressKind, normalizedAddress } from "../../rules/addresses.ts";
import { isOptOut } from "../../rules/import-consents.ts";
import type { Refusals } from "../../rules/import-refusals.ts";
import type { Store } from "../context.ts";
import { happened } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import { addressId } from "./address-items.ts";
import { optOutWrite } from "./addresses.ts";
import {
  type ImportedFrom,
  recordImportedChoices,
  recordImportedConsent,
  recordOfAddress,
} from "./imported-consents.ts";
import { findByExternalId } from "./subscribers.ts";

/**
 * Records what a rejected row refuses. A repeat changes nothing. One read, and a write for each thing refused.
 * @returns the address of mail that gets none from now on, whoever has it
 */
export async function recordRefusals(
  store: Store,
  secrets: Pick<RootSecrets, "idKey">,
  from: ImportedFrom,
  refusals: Refusals,
): Promise<string | undefined> {
  const { external_id, email, consent, choices } = refusals;
  const name = external_id ?? email?.toLowerCase();
  const person = name === undefined ? undefined : await findByExternalId(store, secrets, name);
  const isByAddress = person === undefined || external_id === undefined;
  await recordOfContacts(store, from, refusals, isByAddress);
  const isHeld = consent?.status === "suppressed" || (isOptOut(consent) && isByAddress);
  const held = isHeld ? normalizedAddress("email", email) : undefined;
  if (!person) {
    if (consent) await recordOfAddress(store, from, consent, { email, isByAddress });
    return held;
  }
  const address = { email, isByAddress, held: new Set<string>(), isHeldBefore: false };
  if (consent) await recordImportedConsent(store, person.id, from, consent, address);
  await recordImportedChoices(store, person.id, from, choices);
  return held;
}

/**
 * Records what a row refuses beside its person: for each further address of its cell, and for its number.
 * @param isByAddress whether the row names no person: then its number is opted out, for everybody who has it
 */
export async function recordOfContacts(
  store: Store,
  from: ImportedFrom,
  refusals: Refusals,
  isByAddress: boolean,
): Promise<void> {
  const { consent, otherEmails = [] } = refusals;
  if (isByAddress) await recordOfNumber(store, from, refusals);
  if (consent === undefined) return;
  for (const email of otherEmails)
    await recordOfAddress(store, from, consent, { email, isByAddress: true, isFurther: true });
}

const KIND: AddressKind = "phone";

async function recordOfNumber(
  store: Store,
  { created_at }: Pick<ImportedFrom, "created_at">,
  { phone, choices }: Pick<Refusals, "phone" | "choices">,
): Promise<void> {
  if (phone === undefined) return;
  for (const channel of ["sms", "chat_app"] as const) {
    const choice = choices[channel];
    if (!choice || !isOptOut(choice)) continue;
    const address = { id: addressId(KIND, phone), text: phone };
    await happened(store.transact([optOutWrite(KIND, address, channel, choice.at ?? created_at)]));
  }
}
