// The changes of a profile by a write, and the row of a new one.
import { timestamp } from "../../kernel/clock.ts";
import type { Store } from "../context.ts";
import { countChange } from "../counters.ts";
import { changeItem, type ItemWrite, indexKey, keyOf } from "../item.ts";
import { toJson } from "../json-text.ts";
import type { Value } from "../model.ts";
import { counterShardOf, shardOf } from "../shards.ts";
import { type ConsentAssertion, foldedConsent } from "./consents.ts";
import { Profile, type ProfileRow, SubscriberCount, SubscribersByAge } from "./items.ts";
import { phoneIndexKey } from "./phones.ts";
import { marksOf, refuseOverweight } from "./profile-sizes.ts";

export interface SubscriberInput {
  external_id: string;
  email?: string | null | undefined;
  /** Shallow merge; null deletes the key (AMB-44). */
  attributes?: Record<string, Value>;
  consent?: ConsentAssertion | undefined;
  /** It is written with the publishable key (AMB-146). */
  isPublishable?: boolean;
  /** Its attributes fit beside those that are there. */
  isMeasured?: boolean;
  /** The profile is nearly full with it. */
  isFull?: boolean;
  /** By an import that starts no journeys (AMB-133). */
  isHistorical?: boolean;
}

/** The changes of a subscriber. Without `external_id`, that of its profile stays. */
export type ProfileInput = Omit<SubscriberInput, "external_id"> & { external_id?: string };

/** The attributes that an input sets and removes in the row of a profile. */
export function profileChange(store: Store, input: ProfileInput, id: string) {
  const { external_id, email, attributes = {}, isHistorical = false, isFull = false } = input;
  const set: Partial<ProfileRow> = {
    ...(external_id !== undefined && { external_id }),
    updated_at: timestamp(store.clock.now()),
    react: "subscriber",
    ...(isHistorical && { historical: true }),
    ...(isFull && { full: true }),
  };
  const remove: ("email" | "historical" | "i3pk" | "i3sk" | `a:${string}`)[] = isHistorical ? [] : ["historical"];
  if (email === null) remove.push("email");
  else if (email !== undefined) set.email = email;
  for (const [name, value] of Object.entries(attributes))
    if (value === null) remove.push(`a:${name}`);
    else set[`a:${name}`] = toJson(value);
  if (Object.hasOwn(attributes, "phone")) {
    const phone = phoneIndexKey(store, id, attributes.phone);
    if (phone) Object.assign(set, phone);
    else remove.push("i3pk", "i3sk");
  }
  return { set, remove };
}

/** The row of a new profile. @throws the table's error for an item that is too large */
export function newProfile(store: Store, id: string, input: SubscriberInput): ProfileRow {
  const created_at = timestamp(store.clock.now());
  const row: ProfileRow = {
    ...profileChange(store, input, id).set,
    ...keyOf(Profile, store.tenant, { id }),
    id,
    created_at,
    ...(input.consent && foldedConsent(input.consent)),
    ...indexKey(SubscribersByAge, store.tenant, { shard: shardOf(id), created_at, id }),
  };
  refuseOverweight({ ...keyOf(Profile, store.tenant, { id }), id }, input.attributes);
  return { ...row, ...marksOf(row) };
}

/** Counts a subscriber that is created or erased, in the transaction that does it. */
export const countWrite = (id: string, n: 1 | -1): ItemWrite<"workspace"> =>
  changeItem(SubscriberCount, { shard: counterShardOf(id) }, countChange({ n }));
