// The refusals of a row whose person is not imported: they apply to an existing person, else to the addresses
// (AMB-132).
import { normalizedAddress } from "../../rules/addresses.ts";
import { isOptOut } from "../../rules/import-consents.ts";
import {
  type GivenAddresses,
  isOfAddresses,
  type Refusals,
  refusedNumbers,
  refusedOfPerson,
  refusesNothing,
  withAddresses,
} from "../../rules/import-refusals.ts";
import type { Store, StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import type { ChangeOf, RowOf } from "../item.ts";
import { fromJson, type JsonText, toJson } from "../json-text.ts";
import { happened } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import { addressId } from "./address-items.ts";
import { optOutWrite } from "./addresses.ts";
import { AwaitedRefusal, type AwaitedStatement } from "./import-items.ts";
import {
  type ImportedFrom,
  recordImportedChoices,
  recordImportedConsent,
  recordOfAddress,
} from "./imported-consents.ts";
import { expiry } from "./imports.ts";
import { findByExternalId, subscriberId } from "./subscribers.ts";

/** Whether a row's refusal holds from now on, or only for a person that a later row names. `nothing`: it takes nothing back. */
export type RefusalOutcome = "kept" | "awaited" | "nothing";

interface RecordedRefusals {
  kept: RefusalOutcome;
  /** The mail addresses that get no mail from now on, with any owner, in normalized form. */
  held: string[];
}

/**
 * Records the refusals of a rejected row. A repeat changes nothing. It takes one read, and a write for each refusal.
 * @param given the addresses of its person in other rejected rows, if the person does not exist
 */
export async function recordRefusals(
  store: Store,
  secrets: Pick<RootSecrets, "idKey">,
  from: ImportedFrom,
  said: Refusals,
  given?: GivenAddresses,
): Promise<RecordedRefusals> {
  // A person with no other name than an address needs no other row to be reached.
  if (said.external_id === undefined && refusesNothing(said)) return { kept: "nothing", held: [] };
  const name = said.external_id ?? said.email?.toLowerCase();
  const person = name === undefined ? undefined : await findByExternalId(store, secrets, name);
  const refusals = person ? said : withAddresses(said, given);
  const { external_id, email, consent, choices, otherEmails = [] } = refusals;
  const isByAddress = person === undefined || external_id === undefined;

  await recordOfContacts(store, from, refusals, isByAddress);
  const isHeld = consent?.status === "suppressed" || (isOptOut(consent) && isByAddress);
  const further = consent ? otherEmails : [];
  const mails = isHeld ? [email ?? person?.email, ...further] : further;
  const held = mails.flatMap((mail) => normalizedAddress("email", mail) ?? []);

  if (!person) {
    if (consent) await recordOfAddress(store, from, consent, { email, isByAddress });
    await awaitPerson(store, secrets, from, refusals);
    return { kept: keptOf(refusals, false), held };
  }
  const address = { email, isByAddress, held: new Set<string>(), isHeldBefore: false };
  if (consent) await recordImportedConsent(store, person.id, from, consent, address);
  await recordImportedChoices(store, person.id, from, choices);
  return { kept: keptOf(refusals, true), held };
}

/** @param isThere there is a person that it is of */
export function keptOf(refusals: Refusals, isThere: boolean): RefusalOutcome {
  if (refusesNothing(refusals)) return "nothing";
  if (isThere || isOfAddresses(refusals)) return "kept";
  return refusedOfPerson(refusals) ? "awaited" : "nothing";
}

/** A row behind it may create its person, or refuse something without saying how to reach it. Of several rows the first counts. */
async function awaitPerson(
  store: Store,
  secrets: Pick<RootSecrets, "idKey">,
  { job, line }: ImportedFrom,
  refusals: Refusals,
): Promise<void> {
  const { external_id, email, phone } = refusals;
  const { consent, choices } = refusedOfPerson(refusals) ?? { choices: {} };
  const said = Object.entries({ ...choices, ...(consent && { email: consent }) });
  if (external_id === undefined || (said.length === 0 && email === undefined && phone === undefined)) return;
  const initial: NonNullable<ChangeOf<typeof AwaitedRefusal>["initial"]> = {};
  for (const [channel, { status, at, source }] of said) {
    const name = status === "suppressed" ? status : (`o:${channel}` as const);
    initial[name] = toJson({ line, at, source });
  }
  const subscriber = subscriberId(secrets, store.tenant, external_id, 0);
  await store.change(AwaitedRefusal, { job, subscriber }, { set: { email, phone, expires: expiry(store) }, initial });
}

export interface AwaitedPerson {
  given: GivenAddresses;
  /** In the order of the file. */
  refusing: readonly { line: number; refusals: Refusals }[];
}

/**
 * The refusals in earlier rejected rows about people who did not exist then, by external id. One read for a hundred
 * names.
 */
export async function awaitedPersons(
  store: StoreReader,
  secrets: Pick<RootSecrets, "idKey">,
  job: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, AwaitedPerson>> {
  const keys = names.map((name) => ({ job, subscriber: subscriberId(secrets, store.tenant, name, 0) }));
  const rows = await store.getAll(AwaitedRefusal, keys);
  return new Map(names.flatMap((name, i) => (rows[i] ? [[name, personIn(name, rows[i])] as const] : [])));
}

function personIn(external_id: string, row: RowOf<typeof AwaitedRefusal>): AwaitedPerson {
  const { email, phone, suppressed } = row;
  const of = (channel: string, status: "opted_out" | "suppressed", text: JsonText<AwaitedStatement>) => {
    const { line, at, source } = fromJson(text);
    const said = { status, at, source };
    const stated =
      channel === "email"
        ? { consent: said, choices: {} }
        : { choices: { [channel]: { ...said, status: "opted_out" as const } } };
    return { line, refusals: { external_id, numbers: {}, ...stated } };
  };
  const refusing = familyOf(row, "o:").map(([channel, text]) => of(channel, "opted_out", text));
  if (suppressed !== undefined) refusing.push(of("email", "suppressed", suppressed));
  return { given: { email, phone }, refusing: refusing.sort((a, b) => a.line - b.line) };
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
