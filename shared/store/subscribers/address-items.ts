// The stored form of what holds for an address, for every subscriber that has it (AMB-128, AMB-130).
import * as v from "valibot";
import { type AddressKind, addressKinds, normalizedAddress, suppressionReasons } from "../../rules/addresses.ts";
import { uuidOfText } from "../hash.ts";
import { indexAttributes, indexOf, item } from "../item.ts";
import { json } from "../json-text.ts";

export const AddressItem = item({
  about:
    "An email address or phone number that is suppressed, or that opted out by a link or a message. It holds for every " +
    "subscriber with the address. Its id is made of a hash; an erasure removes the address and keeps the rest.",
  pk: ({ id }: { id: string }) => `AD#${id}`,
  row: {
    id: v.string(),
    kind: v.picklist(addressKinds),
    address: v.optional(v.string()),
    reason: v.optional(v.picklist(suppressionReasons)),
    suppressed_at: v.optional(v.string()),
    /** The origin of the statement: a user, a key, a file. */
    source: v.optional(v.string()),
    note: v.optional(v.string()),
    /** When an operator lifted the suppression, and why. */
    lifted_at: v.optional(v.string()),
    lifted_because: v.optional(v.string()),
    /** When its owner was asked to confirm an opt-in, in milliseconds, and by which statement: those of seven days. */
    asked: v.optional(json<{ at: number; by: string }[]>()),
    /** When it opted out, by channel. */
    "o:*": v.string(),
    ...indexAttributes("i1"),
  },
  writers: [
    "api-suppressions",
    "api-mail",
    "ask-confirmation",
    "api-inbound",
    "import-rows",
    "deliver",
    "mail-event",
    "erase",
  ],
  personal: "anonymized",
});

export const SuppressionsByTime = indexOf(AddressItem, {
  index: "i1",
  about: "Suppressed addresses of a shard, the first digit of their ids, in the order of their suppression.",
  pk: ({ shard }: { shard: string }) => `SU${shard}`,
  sk: ({ suppressed_at, id }: { suppressed_at: string; id: string }) => `${suppressed_at}#${id}`,
});

/** The id of the row of an address, which is normalized. */
export const addressId = (kind: AddressKind, address: string): string => uuidOfText(`${kind} ${address}`);

export function mailAddressId(profile: { email?: string | undefined } | undefined): string | undefined {
  const address = normalizedAddress("email", profile?.email);
  return address === undefined ? undefined : addressId("email", address);
}
