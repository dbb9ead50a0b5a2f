// The memory of a rehearsal: the people and addresses that the rows so far would leave (F13).
import { normalizedAddress } from "../../../shared/rules/addresses.ts";
import { type GivenAddresses, type Refusals, refusalsIn } from "../../../shared/rules/import-refusals.ts";
import { listChannelOf } from "../../../shared/rules/list-consents.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import { familyOf } from "../../../shared/store/families.ts";
import { idKeys } from "../../../shared/store/item.ts";
import { ListMembership } from "../../../shared/store/lists/items.ts";
import type { RootSecrets } from "../../../shared/store/secrets.ts";
import { AddressItem, addressId } from "../../../shared/store/subscribers/address-items.ts";
import type { AddressRow } from "../../../shared/store/subscribers/addresses.ts";
import type { ImportedFrom } from "../../../shared/store/subscribers/imported-consents.ts";
import { Profile, type ProfileRow } from "../../../shared/store/subscribers/items.ts";
import {
  attributesOf,
  findByExternalId,
  type LivingProfile,
  living,
  subscriberId,
} from "../../../shared/store/subscribers/subscribers.ts";
import type { Person } from "./persons.ts";

/** The state of a person after the rows so far. */
export interface PersonState {
  /** The consent fields of its profile. */
  consents: Partial<ProfileRow>;
  email?: string | undefined;
  phone?: unknown;
  /** The person is on the list that the file fills. */
  isMember?: boolean;
}

export interface Rehearsal {
  /** By external id. */
  people: Map<string, PersonState>;
  /** By the id of an address; empty for an address without a row. */
  addresses: Map<string, Partial<AddressRow>>;
  /** By external id: refusals in rejected rows about people who do not exist. */
  awaited: Map<string, { given: GivenAddresses; refusing: Refusals[] }>;
}

/** Beyond this many people, the worker forgets them all and begins anew. */
export const MAX_REMEMBERED = 50_000;

export const openRehearsal = (): Rehearsal => ({ people: new Map(), addresses: new Map(), awaited: new Map() });

export const nameOf = ({ external_id, email }: Refusals): string | undefined => external_id ?? email?.toLowerCase();

/** Reads the people that no earlier row named. */
export async function readPeople(
  store: StoreReader,
  root: Pick<RootSecrets, "idKey">,
  { people }: Rehearsal,
  { names, from: { list, asks } }: { names: readonly string[]; from: Pick<ImportedFrom, "asks"> & { list: string } },
): Promise<void> {
  const unseen = [...new Set(names)].filter((name) => !people.has(name));
  const ids = unseen.map((name) => subscriberId(root, store.tenant, name, 0));
  const profiles = await store.getAll(Profile, idKeys(ids));
  const found: { name: string; known: LivingProfile }[] = [];
  for (const [i, name] of unseen.entries()) {
    const first = profiles[i];
    const known = living(first) ?? (first && (await findByExternalId(store, root, name)));
    if (known) found.push({ name, known });
  }

  // An external id that was erased before has another subscriber id.
  const memberKeys = asks.has(listChannelOf(list)) ? found.map(({ known }) => ({ subscriber: known.id, list })) : [];
  const members = await store.getAll(ListMembership, memberKeys);
  for (const [i, { name, known }] of found.entries()) {
    const { email } = known;
    const isMember = members[i] !== undefined;
    people.set(name, { consents: consentsIn(known), email, phone: attributesOf(known).phone, isMember });
  }
}

/** The consent fields of a profile: thousands of whole profiles would fill the memory of the worker. */
function consentsIn(profile: ProfileRow): Partial<ProfileRow> {
  const { confirmed_address } = profile;
  const consents: Partial<ProfileRow> = confirmed_address === undefined ? {} : { confirmed_address };
  for (const [channel, status] of familyOf(profile, "c:")) consents[`c:${channel}`] = status;
  for (const [channel, at] of familyOf(profile, "ct:")) consents[`ct:${channel}`] = at;
  for (const [channel, isConfirmed] of familyOf(profile, "cc:")) consents[`cc:${channel}`] = isConfirmed;
  return consents;
}

export const idOf = (kind: "email" | "phone", text: unknown): string | undefined => {
  const address = normalizedAddress(kind, text);
  return address === undefined ? undefined : addressId(kind, address);
};

export async function readAddresses(
  store: StoreReader,
  { people, addresses }: Rehearsal,
  persons: readonly Person[],
  refusing: readonly Refusals[],
): Promise<void> {
  const rows = persons.flatMap((person) => person.rows);
  const refusals = [...refusing, ...rows.map(({ row }) => refusalsIn(row))];
  const named = [
    ...persons.map(({ profile }) => profile.external_id),
    ...refusing.flatMap((refusal) => nameOf(refusal) ?? []),
  ];
  const known = named.flatMap((name) => people.get(name) ?? []);
  const emails = [...known, ...rows, ...refusals].map(({ email }) => email);
  const others = refusals.flatMap(({ otherEmails = [] }) => otherEmails);
  const phones = [...known, ...refusals].map(({ phone }) => phone);
  const numbers = refusals.flatMap((refusal) => Object.values(refusal.numbers).flat());
  const ids = [
    ...[...emails, ...others].map((email) => idOf("email", email) ?? []),
    ...[...phones, ...numbers].map((phone) => idOf("phone", phone) ?? []),
  ];
  const unseen = [...new Set(ids.flat())].filter((id) => !addresses.has(id));
  const stored = await store.getAll(AddressItem, idKeys(unseen));
  for (const [i, id] of unseen.entries()) addresses.set(id, stored[i] ?? {});
}
