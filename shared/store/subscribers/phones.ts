// Who has a phone number: for messages that come from it. A sparse index over the attribute `phone` (D-ATTR).

import type { StoreContext, StoreReader } from "../../resources.ts";
import { isPhoneNumber } from "../../rules/contacts.ts";
import { indexes } from "../keys.ts";
import type { Value } from "../model.ts";
import { allItems } from "../pages.ts";

/** Where a profile with this number stands in the index; nowhere without a well-formed one. */
export const phonePlace = (
  { tenant }: Pick<StoreContext, "tenant">,
  id: string,
  phone: Value | undefined,
): { i4pk: string; i4sk: string } | undefined =>
  typeof phone === "string" && isPhoneNumber(phone) ? { i4pk: indexes.i4(tenant, phone), i4sk: id } : undefined;

/** Ids of all subscribers with this number; one that got it a moment ago may be missing. */
export async function findByPhone(store: StoreReader, phone: string): Promise<string[]> {
  return (await allItems(store, { pk: indexes.i4(store.tenant, phone), index: "i4" })).map(({ sk }) => sk);
}
