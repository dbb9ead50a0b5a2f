// Subscribers: one conditional update an upsert, ids derived from the external id, tombstones that never go away.
import { createHmac } from "node:crypto";
import { timestamp, uuidOf } from "../../clock.ts";
import { ApiError, invalid } from "../../http/errors.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { absent, all, any, atMost, type Condition, present } from "../conditions.ts";
import { indexes, keys, shardOf } from "../keys.ts";
import type { Item, TenantId, Value } from "../model.ts";
import { onConditionFailed, onTransactionCanceled, tooLarge } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import { type ConsentAssertion, consentRow, foldedConsent, isNewestConsent } from "./consents.ts";
import { phonePlace } from "./phones.ts";

/** SUB-1: `attributes` is a JSON-encoded object. */
export interface Subscriber {
  id: string;
  external_id: string;
  email?: string;
  attributes: string;
  created_at: string;
  updated_at: string;
}

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

const ATTRIBUTE = "a:";

/** How many subscribers a plan allows and how many there are, as far as is known; and so whether one may be added. */
export interface SubscriberCap {
  mayCreate: boolean;
  used: number;
  limit: number;
}

/**
 * Creates or updates a subscriber: one request, 1 WCU (SUB-5, SUB-6). Only a re-created one costs another request.
 * With a consent assertion it is a transaction with the consent row (D-CONSENT).
 * @throws 429 QUOTA_EXCEEDED for a new one where none may be added (AMB-40).
 * @throws 422 where the attributes, with those that are there already, are more than a subscriber can hold.
 */
export async function upsertSubscriber(
  store: Store,
  secrets: IdKey,
  input: SubscriberInput,
  { mayCreate = true, ...cap }: Partial<SubscriberCap> = {},
): Promise<Subscriber> {
  const when = mayCreate ? absent("erased_at") : all(present("external_id"), absent("erased_at"));
  let generation = 0;
  for (let hops = 0; ; hops++) {
    const id = subscriberId(secrets, store.tenant, input.external_id, generation);
    const outcome = await write(store, id, input, when, cap).catch(
      tooLarge(() => {
        throw invalid({ attributes: "are, with those that are there already, more than a subscriber can hold" });
      }),
    );
    if ("item" in outcome) {
      if (hops > 1) await rememberGeneration(store, secrets, input.external_id, generation);
      return subscriberOf(outcome.item);
    }
    generation = Math.max(generation + 1, Number(outcome.tombstone.next ?? 0));
  }
}

type Outcome = { item: Item } | { tombstone: Item };

async function write(
  store: Store,
  id: string,
  input: SubscriberInput,
  when: Condition,
  { used, limit }: Partial<SubscriberCap>,
): Promise<Outcome> {
  const key = keys.subscriber(store.tenant, id);
  const tombstoneOf = (old: Item | undefined): Outcome => {
    if (old?.erased_at) return { tombstone: old };
    const numbers = limit === undefined ? "" : ` (${used} of ${limit})`;
    throw new ApiError("QUOTA_EXCEEDED", `The plan's number of subscribers is reached${numbers}: none can be added.`);
  };
  if (!input.consent)
    return store
      .update(key, profileChange(store, id, input), when)
      .then((item): Outcome => ({ item }), onConditionFailed(tombstoneOf));
  return writeWithConsent(store, id, { ...input, consent: input.consent }, when, tombstoneOf);
}

async function writeWithConsent(
  store: Store,
  id: string,
  input: SubscriberInput & { consent: ConsentAssertion },
  when: Condition,
  tombstoneOf: (old: Item | undefined) => Outcome,
): Promise<Outcome> {
  const { consent } = input;
  const key = keys.subscriber(store.tenant, id);
  const row = consentRow(store, id, store.ids.uuidAt(store.clock.now()), consent);
  const plain = profileChange(store, id, input);
  const folded = { ...plain, set: { ...plain.set, ...foldedConsent(consent) } };

  const attempt = (newest: boolean): Promise<"written" | "older" | Outcome> =>
    store
      .transact([
        {
          update: key,
          change: newest ? folded : plain,
          when: newest ? all(when, isNewestConsent(consent)) : when,
        },
        { put: row },
      ])
      .then(
        () => "written" as const,
        onTransactionCanceled(([failure]) =>
          failure?.old && !failure.old.erased_at ? "older" : tombstoneOf(failure?.old),
        ),
      );
  let outcome = await attempt(true);
  if (outcome === "older") outcome = await attempt(false);
  if (typeof outcome === "object") return outcome;
  const item = await store.get(key);
  if (!item) throw new Error("A subscriber vanished after it was written.");
  return item.erased_at ? { tombstone: item } : { item };
}

function profileChange(store: Store, id: string, { external_id, email, attributes = {} }: SubscriberInput) {
  const now = timestamp(store.clock.now());
  const set: Record<string, Value | undefined> = { id, external_id, updated_at: now, react: "subscriber" };
  const remove: string[] = [];
  const assign = (name: string, value: Value | undefined, stored: Value | undefined) => {
    if (value === null) remove.push(name);
    else set[name] = stored;
  };
  assign("email", email, email);
  for (const [name, value] of Object.entries(attributes)) assign(ATTRIBUTE + name, value, JSON.stringify(value));
  if (Object.hasOwn(attributes, "phone")) {
    const place = phonePlace(store, id, attributes.phone);
    if (place) Object.assign(set, place);
    else remove.push("i4pk", "i4sk");
  }
  const initial = {
    created_at: now,
    i3pk: indexes.i3(store.tenant, shardOf(id)),
    i3sk: `${now}#${id}`,
  };
  return { set, initial, remove };
}

/** Housekeeping after several erasures of one external id: the first tombstone points at the current generation. */
async function rememberGeneration(store: Store, secrets: IdKey, externalId: string, generation: number): Promise<void> {
  const first = keys.subscriber(store.tenant, subscriberId(secrets, store.tenant, externalId, 0));
  await store
    .update(
      first,
      { set: { next: generation } },
      all(present("erased_at"), any(absent("next"), atMost("next", generation))),
    )
    .catch(onConditionFailed(() => undefined));
}

/** The subscriber with this id, unless there is none or it was erased. */
export async function getSubscriber(store: StoreReader, id: string): Promise<Subscriber | undefined> {
  const item = await store.get(keys.subscriber(store.tenant, id));
  return item && isLiving(item) ? subscriberOf(item) : undefined;
}

/** Profiles by id, in order; unknown and erased ones are undefined. */
export async function getProfiles(store: StoreReader, ids: readonly string[], options?: { eventual?: boolean }) {
  const items = await store.getAll(
    ids.map((id) => keys.subscriber(store.tenant, id)),
    options,
  );
  return items.map((item) => (item && isLiving(item) ? item : undefined));
}

export async function findByExternalId(
  store: StoreReader,
  secrets: IdKey,
  externalId: string,
): Promise<Subscriber | undefined> {
  for (let generation = 0; ; ) {
    const item = await store.get(
      keys.subscriber(store.tenant, subscriberId(secrets, store.tenant, externalId, generation)),
    );
    if (!item) return undefined;
    if (isLiving(item)) return subscriberOf(item);
    generation = Math.max(generation + 1, Number(item.next ?? 0));
  }
}

/**
 * Erases a subscriber: the tombstone at once, one request; the traces go with the erase worker (SUB-8 to SUB-10).
 * @param eraseProperties the properties of its events go as well (D-EXPORTDEL).
 * @returns false if there is no such subscriber.
 */
export function eraseSubscriber(
  store: Store,
  id: string,
  { eraseProperties = false }: { eraseProperties?: boolean } = {},
): Promise<boolean> {
  const erased_by = store.ids.uuid();
  return store
    .update(
      keys.subscriber(store.tenant, id),
      {
        set: {
          ...{ erased_at: timestamp(store.clock.now()), erased_by, react: "erasure" },
          ...(eraseProperties && { erase_properties: true }),
        },
        remove: ["external_id", "email", "i3pk", "i3sk", "i4pk", "i4sk"],
      },
      all(present("external_id"), absent("erased_at")),
    )
    .then(
      () => true,
      // A lost reply makes the client ask again: the tombstone of this very call is no refusal.
      onConditionFailed((old) => old?.erased_by === erased_by),
    );
}

/** A profile row, not a tombstone and not a device. */
export const isLiving = (item: Item): boolean => item.erased_at === undefined && item.external_id !== undefined;

/** The keys of a profile row's attributes. */
export const attributeKeysOf = (item: Item): string[] =>
  Object.keys(item)
    .filter((name) => name.startsWith(ATTRIBUTE))
    .map((name) => name.slice(ATTRIBUTE.length));

/** The attributes of a profile row, parsed. */
export function attributesOf(item: Item): Record<string, Value> {
  const attributes: Record<string, Value> = {};
  for (const [name, value] of Object.entries(item))
    if (name.startsWith(ATTRIBUTE)) attributes[name.slice(ATTRIBUTE.length)] = JSON.parse(String(value));
  return attributes;
}

/** What a filter or a rule sees of a profile row: the attributes, and the fields of the subscriber itself. */
export function attributesForRules(profile: Item): Record<string, unknown> {
  const { external_id, email, created_at } = subscriberOf(profile);
  return { external_id, ...(email !== undefined && { email }), created_at, ...attributesOf(profile) };
}

export const subscriberOf = (item: Item): Subscriber => ({
  id: String(item.id),
  external_id: String(item.external_id),
  ...(item.email !== undefined && { email: String(item.email) }),
  attributes: JSON.stringify(attributesOf(item)),
  created_at: String(item.created_at),
  updated_at: String(item.updated_at),
});

/** How many subscribers a workspace has; soft: it follows the table's stream. */
export async function countSubscribers(store: StoreReader): Promise<number> {
  const { items } = await store.query({ pk: keys.counts(store.tenant, "subscribers"), eventual: true });
  return Math.max(
    0,
    items.reduce((sum, { n }) => sum + Number(n ?? 0), 0),
  );
}
