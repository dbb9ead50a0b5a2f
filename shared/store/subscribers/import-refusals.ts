// What a row refuses whose person is not imported: of the person where there is one, else of the addresses (AMB-132).
import { normalizedAddress } from "../../rules/addresses.ts";
import { isOptOut } from "../../rules/import-consents.ts";
import { type Refusals, refusedNumbers, refusedOfPerson } from "../../rules/import-refusals.ts";
import type { Store, StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import type { ChangeOf } from "../item.ts";
import { happened } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import { addressId } from "./address-items.ts";
import { optOutWrite } from "./addresses.ts";
import { AwaitedRefusal } from "./import-items.ts";
import {
  type ImportedFrom,
  recordImportedChoices,
  recordImportedConsent,
  recordOfAddress,
} from "./imported-consents.ts";
import { expiry } from "./imports.ts";
import { findByExternalId, subscriberId } from "./subscribers.ts";

/**
 * Records what a rejected row refuses. A repeat changes nothing. One read, and a write for each thing refused.
 * @returns the addresses of mail that get none from now on, whoever has them, in normalized form
 */
export async function recordRefusals(
  store: Store,
  secrets: Pick<RootSecrets, "idKey">,
  from: ImportedFrom,
  refusals: Refusals,
): Promise<string[]> {
  const { external_id, email, consent, choices, otherEmails = [] } = refusals;
  const name = external_id ?? email?.toLowerCase();
  const person = name === undefined ? undefined : await findByExternalId(store, secrets, name);
  const isByAddress = person === undefined || external_id === undefined;
  await recordOfContacts(store, from, refusals, isByAddress);
  const isHeld = consent?.status === "suppressed" || (isOptOut(consent) && isByAddress);
  const further = consent ? otherEmails : [];
  const mails = isHeld ? [email ?? person?.email, ...further] : further;
  const held = mails.flatMap((mail) => normalizedAddress("email", mail) ?? []);
  if (!person) {
    if (consent) await recordOfAddress(store, from, consent, { email, isByAddress });
    await awaitPerson(store, secrets, from, refusals);
    return held;
  }
  const address = { email, isByAddress, held: new Set<string>(), isHeldBefore: false };
  if (consent) await recordImportedConsent(store, person.id, from, consent, address);
  await recordImportedChoices(store, person.id, from, choices);
  return held;
}

/** A row behind it may create its person. */
async function awaitPerson(
  store: Store,
  secrets: Pick<RootSecrets, "idKey">,
  { job, created_at, line }: ImportedFrom,
  refusals: Refusals,
): Promise<void> {
  const left = refusedOfPerson(refusals);
  if (left?.external_id === undefined) return;
  const set: NonNullable<ChangeOf<typeof AwaitedRefusal>["set"]> = { line, expires: expiry(store) };
  const { consent, choices } = left;
  const at = consent?.at ?? created_at;
  if (consent?.status === "suppressed") set.suppressed = at;
  else if (consent) set["o:email"] = at;
  for (const [channel, choice] of Object.entries(choices)) set[`o:${channel}`] = choice.at ?? created_at;
  const subscriber = subscriberId(secrets, store.tenant, left.external_id, 0);
  await store.change(AwaitedRefusal, { job, subscriber }, { set });
}

/** What rejected rows before these refuse of people who were not there then. One read for a hundred names. */
export async function awaitedRefusals(
  store: StoreReader,
  secrets: Pick<RootSecrets, "idKey">,
  job: string,
  names: readonly string[],
): Promise<{ line: number; refusals: Refusals }[]> {
  const keys = names.map((name) => ({ job, subscriber: subscriberId(secrets, store.tenant, name, 0) }));
  const rows = await store.getAll(AwaitedRefusal, keys);
  return rows.flatMap((row, i) => {
    if (row === undefined) return [];
    const { suppressed, line } = row;
    const { email, ...others } = Object.fromEntries(
      familyOf(row, "o:").map(([channel, at]) => [channel, { status: "opted_out" as const, at }]),
    );
    const consent = suppressed === undefined ? email : { status: "suppressed" as const, at: suppressed };
    return [{ line, refusals: { external_id: names[i], numbers: {}, consent, choices: others } }];
  });
}

/**
 * Records what a row refuses beside its person: for each further address of its cell, and for numbers that it has.
 * @param isByAddress whether the row names no person: then the number of its person is opted out too, for everybody who has it
 */
export async function recordOfContacts(
  store: Store,
  from: ImportedFrom,
  refusals: Refusals,
  isByAddress: boolean,
): Promise<void> {
  const { consent, otherEmails = [] } = refusals;
  await recordOfNumbers(store, from.created_at, refusals, isByAddress);
  if (consent === undefined) return;
  for (const email of otherEmails)
    await recordOfAddress(store, from, consent, { email, isByAddress: true, isFurther: true });
}

/** The text of a number beside that of the person would outlive its erasure. */
async function recordOfNumbers(
  store: Store,
  created_at: string,
  refusals: Refusals,
  isByAddress: boolean,
): Promise<void> {
  for (const { channel, number, at = created_at } of refusedNumbers(refusals, isByAddress)) {
    const address = { id: addressId("phone", number), text: number === refusals.phone ? number : undefined };
    await happened(store.transact([optOutWrite("phone", address, channel, at)]));
  }
}
