// The rows of a batch by the person that they name. Several rows of one person are one profile, in which the later value
// of two wins and an empty cell says nothing; what each of them says of consent counts by itself, in their order (D-CSV).
import { normalizedAddress } from "../../../shared/rules/addresses.ts";
import type { ImportedRow } from "../../../shared/rules/import-rows.ts";
import type { Record } from "../../../shared/store/files/records.ts";

export interface GoodRow {
  row: ImportedRow;
  record: Record;
}

/** A row with what those before it in the batch say. */
export interface PersonRow extends GoodRow {
  /** The address of its person when it is read. */
  email: string | undefined;
  /** Whether a row before it suppresses that address, or opts it out. */
  isHeldBefore: boolean;
}

export interface Person {
  profile: Pick<ImportedRow, "external_id" | "email" | "attributes"> & { isHistorical: boolean };
  /** In the order of the file. */
  rows: PersonRow[];
}

/** The persons of a batch, in the order in which the file names them first. @param isHistorical it starts no journeys */
export function personsOf(batch: readonly GoodRow[], isHistorical: boolean): Person[] {
  const persons = new Map<string, Person>();
  const held = new Set<string>();
  for (const good of batch) {
    const { external_id, email: own, attributes, consent, isByAddress } = good.row;
    const before = persons.get(external_id);
    const email = own ?? before?.profile.email;
    const address = normalizedAddress("email", email);

    const isHeldBefore = address !== undefined && held.has(address);
    const isOfAddress = consent?.status === "suppressed" || (consent?.status === "opted_out" && isByAddress);
    if (address !== undefined && isOfAddress) held.add(address);

    const profile = {
      external_id,
      ...(email !== undefined && { email }),
      attributes: { ...before?.profile.attributes, ...attributes },
      isHistorical,
    };
    persons.set(external_id, { profile, rows: [...(before?.rows ?? []), { ...good, email, isHeldBefore }] });
  }
  return [...persons.values()];
}
