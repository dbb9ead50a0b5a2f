// Groups the rows of a batch by person. Several rows of one person make one profile: a later value replaces an earlier
// one, and an empty cell changes nothing. The consents of each row count separately, in order (D-CSV).
import { normalizedAddress } from "../../../shared/rules/addresses.ts";
import { isOptOut } from "../../../shared/rules/import-consents.ts";
import { otherChannels } from "../../../shared/rules/import-mapping.ts";
import { refusalsIn, refusedNumbers } from "../../../shared/rules/import-refusals.ts";
import type { ImportedRow } from "../../../shared/rules/import-rows.ts";
import type { Record } from "../../../shared/store/files/records.ts";

export interface GoodRow {
  row: ImportedRow;
  record: Record;
}

/** A row with the effects of earlier rows in the batch. */
export interface PersonRow extends GoodRow {
  /** The address of its person when the row is read. */
  email: string | undefined;
  /** The channels on which an earlier row suppresses or opts out the address or number of its person. */
  heldBefore: ReadonlySet<string>;
  /**
   * Its refusal of mail applies to its address: the row names no person, or one who has another address by a later row.
   */
  isOfAddress: boolean;
  /** A row of its person has an address that differs from the one of this row and those before it. */
  isLeft: boolean;
}

export interface Person {
  profile: Pick<ImportedRow, "external_id" | "email" | "attributes"> & { isHistorical: boolean };
  /** In the order of the file. */
  rows: PersonRow[];
}

export interface PersonAddresses {
  email?: string | undefined;
  phone?: unknown;
}

/**
 * The persons of a batch, in the order of their first row.
 * @param isHistorical it starts no journeys
 * @param addressesOf the stored addresses of existing persons, by external id
 */
export function personsOf(
  batch: readonly GoodRow[],
  isHistorical: boolean,
  addressesOf: (external_id: string) => PersonAddresses | undefined,
): Person[] {
  const persons = new Map<string, Person>();
  const held = new Set<string>();
  const last = new Map(batch.flatMap(({ row }) => (row.email === undefined ? [] : [[row.external_id, row.email]])));
  for (const good of batch) {
    const { external_id, email: ownEmail, attributes, consent, isByAddress } = good.row;
    const before = persons.get(external_id);
    const email = ownEmail ?? before?.profile.email;
    const { phone } = { ...before?.profile.attributes, ...attributes };
    const stored = addressesOf(external_id);
    const address = normalizedAddress("email", email ?? stored?.email);
    const number = normalizedAddress("phone", phone ?? stored?.phone);
    const reached = [
      { channel: "email" as const, to: address },
      ...otherChannels.map((channel) => ({ channel, to: number })),
    ];

    const heldBefore = new Set(
      reached.filter((reachedAddress) => held.has(nameOf(reachedAddress))).map(({ channel }) => channel),
    );
    const isLeft = last.has(external_id) && normalizedAddress("email", last.get(external_id)) !== address;
    const isOfAddress = isByAddress || (ownEmail !== undefined && isLeft);
    const isMailRefused = consent?.status === "suppressed" || (isOptOut(consent) && isOfAddress);
    const mails = isMailRefused ? [address] : [];
    if (consent?.status === "suppressed" || isOptOut(consent)) mails.push(...(good.row.otherEmails ?? []));
    for (const mail of mails) {
      const to = normalizedAddress("email", mail);
      if (to !== undefined) held.add(nameOf({ channel: "email", to }));
    }
    for (const { channel, number: to } of refusedNumbers(refusalsIn(good.row), isByAddress))
      held.add(nameOf({ channel, to }));

    const profile = {
      external_id,
      ...(email !== undefined && { email }),
      attributes: { ...before?.profile.attributes, ...attributes },
      isHistorical,
    };
    const row = { ...good, email, heldBefore, isOfAddress, isLeft };
    persons.set(external_id, { profile, rows: [...(before?.rows ?? []), row] });
  }
  return [...persons.values()];
}

/**
 * The addresses that the rows of a person suppress, each once.
 * @param stored the person's addresses before the import
 */
export function suppressedAddresses({ profile, rows }: Person, stored: PersonAddresses | undefined): string[] {
  const mails = rows.flatMap(({ row, email = profile.email ?? stored?.email }) =>
    row.consent?.status === "suppressed" ? [email, ...(row.otherEmails ?? [])] : [],
  );
  return [...new Set(mails.flatMap((mail) => normalizedAddress("email", mail) ?? []))];
}

/** The key of a refusal: a channel to an address or number. */
const nameOf = ({ channel, to = "" }: { channel: string; to: string | undefined }): string => `${channel} ${to}`;
