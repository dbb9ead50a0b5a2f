// Subscribers: an upsert is one conditional update, ids are derived from the external id, tombstones stay forever.
import { createHmac } from "node:crypto";
import * as v from "valibot";
import { timestamp, uuidOf } from "../../clock.ts";
import { ApiError, invalid } from "../../http/errors.ts";
import { Timestamp } from "../../http/schemas.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { absent, all, any, atMost, present } from "../conditions.ts";
import { familyOf } from "../families.ts";
import { type ChangeOf, type ConditionOf, changeItem, fromJson, indexKey, toJson } from "../item.ts";
import type { TenantId, Value } from "../model.ts";
import { oldRow, onConditionFailed, onTransactionCanceled, tooLarge } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import { shardOf } from "../shards.ts";
import { type ConsentAssertion, consentWrite, foldedConsent, isNewestConsent } from "./consents.ts";
import { isAlive, Profile, type ProfileRow, SubscriberCount, SubscribersByAge } from "./items.ts";
import { phoneIndexKey } from "./phones.ts";

/** SUB-1: `attributes` is a JSON-encoded object. */
export const Subscriber = v.object({
  id: v.string(),
  external_id: v.string(),
  email: v.optional(v.string()),
  attributes: v.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Subscriber = v.InferOutput<typeof Subscriber>;

/** The profile of a subscriber that is not erased. */
export type LivingProfile = ProfileRow & Pick<Subscriber, "external_id" | "created_at" | "updated_at">;

export interface SubscriberInput {
  external_id: string;
  email?: string | null | undefined;
  /** Shallow merge; null deletes the key (AMB-44). */
  attributes?: Record<string, Value>;
  consent?: ConsentAssertion | undefined;
}

type IdKey = Pick<RootSecrets, "idKey">;

/** The same external id gives the same id until the subscriber is erased (docs/decisions/0021#subscriber-ids). */
export function subscriberId({ idKey }: IdKey, tenant: TenantId, externalId: string, generation: number): string {
  const digest = createHmac("sha256", idKey).update(`${tenant}|${externalId}|${generation}`).digest();
  return uuidOf(digest, 8);
}

/** How many subscribers a plan allows and how many there are, as last counted; hence whether one may be added. */
export interface SubscriberCap {
  mayCreate: boolean;
  used: number;
  limit: number;
}

/**
 * Creates or updates a subscriber: one request, 1 WCU (SUB-5, SUB-6). One that was erased before costs another request.
 * With a consent it is a transaction with the row of the consent (D-CONSENT).
 * @throws 429 QUOTA_EXCEEDED for a new one where none may be added (AMB-40).
 * @throws 422 where the attributes, together with the stored ones, are larger than an item can be.
 */
export async function upsertSubscriber(
  store: Store,
  secrets: IdKey,
  input: SubscriberInput,
  { mayCreate = true, ...cap }: Partial<SubscriberCap> = {},
): Promise<Subscriber> {
  const when = mayCreate ? absent("erased_at") : isAlive();
  let generation = 0;
  for (let hops = 0; ; hops++) {
    const id = subscriberId(secrets, store.tenant, input.external_id, generation);
    const row = await write(store, id, input, when, cap).catch(
      tooLarge(() => {
        throw invalid({ attributes: "are, with those that are there already, more than a subscriber can hold" });
      }),
    );
    if (isLiving(row)) {
      if (hops > 1) await rememberGeneration(store, secrets, input.external_id, generation);
      return subscriberOf(row);
    }
    generation = Math.max(generation + 1, row.next ?? 0);
  }
}

/** @returns the profile after the write, or the tombstone that prevented it. */
function write(
  store: Store,
  id: string,
  input: SubscriberInput,
  when: ConditionOf<typeof Profile>,
  { used, limit }: Partial<SubscriberCap>,
): Promise<ProfileRow> {
  const tombstoneOf = (old: ProfileRow | undefined): ProfileRow => {
    if (old?.erased_at) return old;
    const numbers = limit === undefined ? "" : ` (${used} of ${limit})`;
    throw new ApiError("QUOTA_EXCEEDED", `The plan's number of subscribers is reached${numbers}: none can be added.`);
  };
  if (input.consent) return writeWithConsent(store, id, input, input.consent, { when, tombstoneOf });
  return store
    .change(Profile, { id }, profileChange(store, id, input), when)
    .catch(onConditionFailed(Profile, tombstoneOf));
}

async function writeWithConsent(
  store: Store,
  id: string,
  input: SubscriberInput,
  consent: ConsentAssertion,
  { when, tombstoneOf }: { when: ConditionOf<typeof Profile>; tombstoneOf(old: ProfileRow | undefined): ProfileRow },
): Promise<ProfileRow> {
  const history = consentWrite(store, id, store.ids.uuidAt(store.clock.now()), consent);
  const plain = profileChange(store, id, input);
  const folded = { ...plain, set: { ...plain.set, ...foldedConsent(consent) } };

  const attempt = (isNewest: boolean): Promise<"written" | "older" | ProfileRow> =>
    store
      .transact([
        isNewest
          ? changeItem(Profile, { id }, folded, all(when, isNewestConsent(consent)))
          : changeItem(Profile, { id }, plain, when),
        history,
      ])
      .then(
        () => "written" as const,
        onTransactionCanceled(([failure]) => {
          const old = oldRow(Profile, failure);
          return old && !old.erased_at ? "older" : tombstoneOf(old);
        }),
      );
  let outcome = await attempt(true);
  if (outcome === "older") outcome = await attempt(false);
  if (typeof outcome === "object") return outcome;
  const row = await store.get(Profile, { id });
  if (!row) throw new Error("A subscriber vanished after it was written.");
  return row;
}

function profileChange(store: Store, id: string, { external_id, email, attributes = {} }: SubscriberInput) {
  const now = timestamp(store.clock.now());
  const set: NonNullable<ChangeOf<typeof Profile>["set"]> = { id, external_id, updated_at: now, react: "subscriber" };
  const remove: ("email" | "i4pk" | "i4sk" | `a:${string}`)[] = [];
  if (email === null) remove.push("email");
  else set.email = email;
  for (const [name, value] of Object.entries(attributes))
    if (value === null) remove.push(`a:${name}`);
    else set[`a:${name}`] = toJson(value);
  if (Object.hasOwn(attributes, "phone")) {
    const phone = phoneIndexKey(store, id, attributes.phone);
    if (phone) Object.assign(set, phone);
    else remove.push("i4pk", "i4sk");
  }
  const byAge = indexKey(SubscribersByAge, store.tenant, { shard: shardOf(id), created_at: now, id });
  return { set, initial: { created_at: now, ...byAge }, remove };
}

/** After several erasures of one external id, the first tombstone points at the current generation. */
async function rememberGeneration(store: Store, secrets: IdKey, externalId: string, generation: number): Promise<void> {
  const id = subscriberId(secrets, store.tenant, externalId, 0);
  const isBehind = any(absent("next"), atMost("next", generation));
  await store
    .change(Profile, { id }, { set: { next: generation } }, all(present("erased_at"), isBehind))
    .catch(onConditionFailed(() => undefined));
}

/** The profile of a subscriber; undefined if there is none or it was erased. */
export async function getProfile(store: StoreReader, id: string): Promise<LivingProfile | undefined> {
  return living(await store.get(Profile, { id }));
}

/** The subscriber with this id; undefined if there is none or it was erased. */
export async function getSubscriber(store: StoreReader, id: string): Promise<Subscriber | undefined> {
  const profile = await getProfile(store, id);
  return profile && subscriberOf(profile);
}

/** Profiles by id, in order; unknown and erased ones are undefined. */
export async function getProfiles(
  store: StoreReader,
  ids: readonly string[],
  options?: { eventual?: boolean },
): Promise<(LivingProfile | undefined)[]> {
  const keys = ids.map((id) => ({ id }));
  return (await store.getAll(Profile, keys, options)).map(living);
}

export async function findByExternalId(
  store: StoreReader,
  secrets: IdKey,
  externalId: string,
): Promise<Subscriber | undefined> {
  for (let generation = 0; ; ) {
    const row = await store.get(Profile, { id: subscriberId(secrets, store.tenant, externalId, generation) });
    if (!row) return undefined;
    if (isLiving(row)) return subscriberOf(row);
    generation = Math.max(generation + 1, row.next ?? 0);
  }
}

/**
 * Erases a subscriber: the tombstone at once, with one request; the erase worker removes the traces (SUB-8 to SUB-10).
 * @param eraseProperties the properties of its events are erased as well (D-EXPORTDEL).
 * @returns false if there is no such subscriber.
 */
export function eraseSubscriber(
  store: Store,
  id: string,
  { eraseProperties = false }: { eraseProperties?: boolean } = {},
): Promise<boolean> {
  const erased_by = store.ids.uuid();
  const tombstone = {
    erased_at: timestamp(store.clock.now()),
    erased_by,
    react: "erasure",
    erase_properties: eraseProperties || undefined,
  } as const;
  const remove = ["external_id", "email", "i3pk", "i3sk", "i4pk", "i4sk"] as const;
  return store.change(Profile, { id }, { set: tombstone, remove }, isAlive()).then(
    () => true,
    // The SDK retries after a lost response: the tombstone of this very call is a success.
    onConditionFailed(Profile, (old) => old?.erased_by === erased_by),
  );
}

/** Whether a profile is not a tombstone. */
export const isLiving = (row: ProfileRow): row is LivingProfile =>
  row.erased_at === undefined && row.external_id !== undefined;

/** A profile; undefined for a tombstone. */
export const living = (row: ProfileRow | undefined): LivingProfile | undefined =>
  row && isLiving(row) ? row : undefined;

/** The keys of a profile's attributes. */
export const attributeKeysOf = (row: ProfileRow): string[] => familyOf(row, "a:").map(([key]) => key);

/** The attributes of a profile, parsed. */
export function attributesOf(row: ProfileRow): Record<string, Value> {
  const attributes: Record<string, Value> = {};
  for (const [key, text] of familyOf(row, "a:")) attributes[key] = fromJson(text);
  return attributes;
}

/** What a filter or a rule sees of a profile: the attributes, and the fields of the subscriber itself. */
export function attributesForRules(profile: LivingProfile): Record<string, unknown> {
  const { external_id, email, created_at } = profile;
  return { external_id, ...(email !== undefined && { email }), created_at, ...attributesOf(profile) };
}

export const subscriberOf = (profile: LivingProfile): Subscriber => ({
  id: profile.id,
  external_id: profile.external_id,
  ...(profile.email !== undefined && { email: profile.email }),
  attributes: JSON.stringify(attributesOf(profile)),
  created_at: profile.created_at,
  updated_at: profile.updated_at,
});

/** How many subscribers a workspace has. The count follows the table's stream, so it is late by seconds. */
export async function countSubscribers(store: StoreReader): Promise<number> {
  const { items } = await store.query(SubscriberCount, {}, { eventual: true });
  return Math.max(
    0,
    items.reduce((sum, { n }) => sum + n, 0),
  );
}
