// Subscribers by phone number, for incoming messages: a sparse index over the attribute `phone` (D-ATTR).
import { isPhoneNumber } from "../../rules/contacts.ts";
import type { StoreContext, StoreReader } from "../context.ts";
import { indexKey } from "../item.ts";
import type { Value } from "../model.ts";
import { SubscribersByPhone } from "./items.ts";

/** The attributes that put a profile into the index; undefined unless the number is well-formed. */
export const phoneIndexKey = (
  { tenant }: Pick<StoreContext, "tenant">,
  id: string,
  phone: Value | undefined,
): { i3pk: string; i3sk: string } | undefined =>
  typeof phone === "string" && isPhoneNumber(phone) ? indexKey(SubscribersByPhone, tenant, { phone, id }) : undefined;

/** Ids of all subscribers with this number; one that got it a moment ago may be missing. */
export async function findByPhone(store: StoreReader, phone: string): Promise<string[]> {
  return (await store.queryAll(SubscribersByPhone, { phone })).map(({ sk }) => sk);
}
