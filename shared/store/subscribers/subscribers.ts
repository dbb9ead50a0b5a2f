// Subscribers: an upsert is one conditional update, ids are derived from the external id, tombstones stay forever.
import * as v from "valibot";
import { personal } from "../../contract/personal.ts";
import { said, Timestamp } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { invalid } from "../../kernel/errors.ts";
import { hmacUnder } from "../../kernel/hmac.ts";
import { type TenantId, uuidOf } from "../../kernel/ids.ts";
import { fullNameIn } from "../../rules/person-name.ts";
import { pathsIn } from "../../rules/predicates.ts";
import { absent, all, any, atMost, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { actorText, subscriberActor } from "../events/actors.ts";
import { familyOf } from "../families.ts";
import { changeItem, idKeys, putItem } from "../item.ts";
import { fromJson } from "../json-text.ts";
import type { Value } from "../model.ts";
import { failuresOf, oldRow, tooLarge, whereItHolds } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import { type Consent, type ConsentAssertion, consentOf } from "./consents.ts";
import { ErasingActor } from "./erasing-items.ts";
import { ConsentItem, isAlive, Profile, type ProfileRow, SubscriberCount } from "./items.ts";
import { countWrite, type ProfileInput, type SubscriberInput } from "./profile-changes.ts";
import { mark, type SubscriberCap, updateProfile, updateWithConsent, writeProfile } from "./profile-writes.ts";

/** SUB-1: `attributes` is a JSON-encoded object. */
export const Subscriber = v.object({
  id: v.string(),
  external_id: personal(v.string()),
  email: personal(v.optional(v.string())),
  attributes: personal(v.string()),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Subscriber = v.InferOutput<typeof Subscriber>;

/** The profile of a subscriber that is not erased. */
export type LivingProfile = ProfileRow & Pick<Subscriber, "external_id" | "created_at" | "updated_at">;

type IdKey = Pick<RootSecrets, "idKey">;

/** The same external id gives the same id until the subscriber is erased (docs/decisions/0021#subscriber-ids). */
export function subscriberId({ idKey }: IdKey, tenant: TenantId, externalId: string, generation: number): string {
  const digest = hmacUnder(idKey).update(`${tenant}|${externalId}|${generation}`).digest();
  return uuidOf(digest, 8);
}

/** The caller's data about a subscriber is older than its erasure. */
export class ErasedSince extends Error {
  /** The profile's addresses, which the tombstone keeps while an earlier import is in progress. */
  readonly profile: ProfileRow;

  constructor(profile: ProfileRow) {
    super("The subscriber was erased since.");
    this.profile = profile;
  }
}

/**
 * Creates or updates a subscriber (SUB-5, SUB-6). An update is one request and 1 WCU; a creation is one request more, a
 * transaction with the counter of subscribers, and without the first one where a creation is expected. One that was erased before costs another request. With a consent it is a
 * transaction with the row of the consent (D-CONSENT).
 * @param saidAt RFC 3339: when that was said which is written
 * @throws 429 QUOTA_EXCEEDED for a new one where none may be added (AMB-40).
 * @throws 422 where the attributes, together with the stored ones, are larger than an item can be.
 * @throws ErasedSince where it was erased at that time or later
 */
export async function upsertSubscriber(
  store: Store,
  secrets: IdKey,
  input: SubscriberInput,
  { saidAt, ...cap }: Partial<SubscriberCap> & { saidAt?: string | undefined } = {},
): Promise<Subscriber> {
  let generation = 0;
  for (let hops = 0; ; hops++) {
    const id = subscriberId(secrets, store.tenant, input.external_id, generation);
    const row = await writeProfile(store, id, input, cap).catch(tooLarge(refuseAttributes));
    if (isLiving(row)) {
      if (hops > 1) await rememberGeneration(store, secrets, input.external_id, generation);
      return subscriberOf(row);
    }
    if (saidAt !== undefined && row.erased_at !== undefined && row.erased_at >= saidAt) throw new ErasedSince(row);
    generation = Math.max(generation + 1, row.next ?? 0);
  }
}

/** @throws 422. For attributes that, with those that are there, are larger than an item can be. */
function refuseAttributes(): never {
  throw invalid({ attributes: "are, with those that are there already, more than a subscriber can hold" });
}

/** After several erasures of one external id, the first tombstone points at the current generation. */
async function rememberGeneration(store: Store, secrets: IdKey, externalId: string, generation: number): Promise<void> {
  const id = subscriberId(secrets, store.tenant, externalId, 0);
  const isBehind = any(absent("next"), atMost("next", generation));
  await whereItHolds(store.change(Profile, { id }, { set: { next: generation } }, all(present("erased_at"), isBehind)));
}

/** The profile of a subscriber; undefined if there is none or it was erased. */
export async function getProfile(
  store: StoreReader,
  id: string,
  options?: { eventual?: boolean },
): Promise<LivingProfile | undefined> {
  return living(await store.get(Profile, { id }, options));
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
  const keys = idKeys(ids);
  return (await store.getAll(Profile, keys, options)).map(living);
}

/** The profile of the subscriber with this id of the workspace's own; undefined if there is none or it was erased. */
export async function findByExternalId(
  store: StoreReader,
  secrets: IdKey,
  externalId: string,
): Promise<LivingProfile | undefined> {
  const row = await newestOfExternalId(store, secrets, externalId);
  return row && living(row);
}

/** The same, or the tombstone of the last one who had this id and was erased. */
export async function newestOfExternalId(
  store: StoreReader,
  secrets: IdKey,
  externalId: string,
): Promise<ProfileRow | undefined> {
  let newest: ProfileRow | undefined;
  for (let generation = 0; ; ) {
    const row = await store.get(Profile, { id: subscriberId(secrets, store.tenant, externalId, generation) });
    if (!row || isLiving(row)) return row ?? newest;
    newest = row;
    generation = Math.max(generation + 1, row.next ?? 0);
  }
}

/**
 * Erases a subscriber: the tombstone at once, in one transaction with the counter of subscribers and the register of
 * erasures; the erase worker removes the traces (SUB-8 to SUB-10).
 * @param eraseProperties the properties of its events are erased as well (D-EXPORTDEL).
 * @returns false if there is no such subscriber.
 */
export async function eraseSubscriber(
  store: Store,
  id: string,
  { eraseProperties }: { eraseProperties: boolean },
): Promise<boolean> {
  const erased_by = store.ids.uuid();
  const tombstone = {
    erased_at: timestamp(store.clock.now()),
    erased_by,
    react: "erasure",
    erase_properties: eraseProperties || undefined,
  } as const;
  // The identifiers stay until the erase worker has looked for them in the files of imports.
  const remove = ["i2pk", "i2sk", "i3pk", "i3sk"] as const;
  const { erase_properties } = tombstone;
  const failures = await failuresOf(store, [
    changeItem(Profile, { id }, { set: tombstone, remove }, isAlive()),
    countWrite(id, -1),
    putItem(ErasingActor, { actor: actorText(subscriberActor(id)) }, { erase_properties }),
  ]);
  // The SDK retries after a lost response: the tombstone of this very call is a success.
  return failures.length === 0 || oldRow(Profile, failures[0])?.erased_by === erased_by;
}

/** Whether a profile is not a tombstone. */
export const isLiving = (row: ProfileRow): row is LivingProfile =>
  row.erased_at === undefined && row.external_id !== undefined;

/** A profile; undefined for a tombstone. */
export const living = (row: ProfileRow | undefined): LivingProfile | undefined =>
  row && isLiving(row) ? row : undefined;

/** The keys that a rule finds a value for in a profile's attributes: their own, and paths through objects (AMB-148). */
export const attributeKeysOf = (row: ProfileRow): string[] => pathsIn(attributesOf(row));

export function attributesOf(row: ProfileRow): Record<string, Value> {
  const attributes: Record<string, Value> = {};
  for (const [key, text] of familyOf(row, "a:")) attributes[key] = fromJson(text);
  return attributes;
}

/** A field of lists of people. */
export const PersonName = personal(
  said("The attributes `first_name` and `last_name`; `null` without them", v.nullable(v.string())),
);

/** The name of a subscriber; `null` without one. */
export const nameOf = (row: ProfileRow): string | null => fullNameIn(attributesOf(row)) || null;

/** The name of a subscriber for sentences, never empty. */
export const displayName = (profile: LivingProfile): string => nameOf(profile) ?? profile.external_id;

/** The fields of a profile for filters and rules: the attributes, and the subscriber's own fields. */
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

/** How many subscribers a workspace has, from the counters: exact but for the lag of an eventually consistent read. */
export async function countSubscribers(store: StoreReader): Promise<number> {
  const { items } = await store.query(SubscriberCount, {}, { eventual: true });
  const counted = items.reduce((sum, { n }) => sum + n, 0);
  return Math.max(0, counted);
}

/** Changes a subscriber. @returns undefined if there is no such subscriber @throws 422 as an upsert does */
export async function changeSubscriber(
  store: Store,
  id: string,
  change: ProfileInput,
): Promise<Subscriber | undefined> {
  const row = await updateProfile(store, id, change).catch(tooLarge(refuseAttributes));
  const profile = living(row);
  if (profile) await mark(store, profile);
  return profile && subscriberOf(profile);
}

/** Adds a consent to the history (D-CONSENT). @returns undefined if there is no such subscriber. */
export async function recordConsent(
  store: Store,
  subscriber: string,
  assertion: ConsentAssertion,
): Promise<Consent | undefined> {
  const id = store.ids.uuidAt(store.clock.now());
  const row = await updateWithConsent(store, subscriber, {}, { stated: assertion, consentId: id });
  const consent = living(row) && (await store.get(ConsentItem, { subscriber, consent: id }));
  return consent && consentOf(consent);
}
