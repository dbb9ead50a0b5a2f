// The writes of a profile: an update is conditional on it, a creation is a transaction with the counter of subscribers.
import { ApiError, invalid } from "../../kernel/errors.ts";
import { absent, all } from "../conditions.ts";
import type { Store } from "../context.ts";
import { changeItem, putItem } from "../item.ts";
import type { Value } from "../model.ts";
import {
  type Attempt,
  changed,
  contended,
  done,
  failuresOf,
  oldRow,
  untilUncontended,
  whereItHolds,
} from "../refusals.ts";
import { beingChanged, isNewestIn, moveAddress } from "./address-moves.ts";
import {
  type ConsentAssertion,
  confirmedBefore,
  consentChange,
  consentWrite,
  isConfirmedElsewhere,
  isNewestConsent,
  keepsConfirmed,
} from "./consents.ts";
import { isAlive, Profile, type ProfileRow } from "./items.ts";
import { countWrite, newProfile, type ProfileInput, profileChange, type SubscriberInput } from "./profile-changes.ts";
import {
  becomesNearlyFull,
  growsTooLarge,
  isLight,
  isSmall,
  marksOf,
  refuseLargeProfile,
  refuseOverweight,
} from "./profile-sizes.ts";

/** How many subscribers a plan allows and how many there are, as last counted; hence whether one may be added. */
export interface SubscriberCap {
  mayCreate: boolean;
  used: number;
  limit: number;
  /** It is created first, which saves a refused update, and updated where it is there. */
  isLikelyNew?: boolean;
  /** Told whether one was created. */
  learn?: (isNew: boolean) => void;
}

/**
 * Updates the subscriber where there is one, else creates it; in the other order where it is likely to be new.
 * @returns the profile after the write, or the tombstone that prevented it.
 */
export async function writeProfile(
  store: Store,
  id: string,
  input: SubscriberInput,
  cap: Partial<SubscriberCap>,
): Promise<ProfileRow> {
  let isFirst = cap.isLikelyNew === true && cap.mayCreate !== false;
  return untilUncontended(beingChanged, async () => {
    const found = isFirst ? undefined : await update(store, id, input);
    isFirst = false;
    if (found) {
      cap.learn?.(false);
      return done(found);
    }
    const creation = await create(store, id, input, cap);
    if (creation.kind === "done") cap.learn?.(true);
    return creation;
  });
}

/** @returns the profile after the write, or the tombstone that prevented it; undefined if there is neither */
async function update(store: Store, id: string, input: SubscriberInput): Promise<ProfileRow | undefined> {
  const { attributes = {}, isPublishable = false } = input;
  const isMeasured = isPublishable && Object.keys(attributes).length > 0;
  const row = await (isMeasured ? updateWithin(store, id, input, attributes) : updateAsIs(store, id, input));
  if (row) await mark(store, row);
  return row;
}

/** Notes of a profile that was changed how large it is. */
export async function mark(store: Store, row: ProfileRow): Promise<void> {
  const marks = row.erased_at === undefined ? marksOf(row) : {};
  if (Object.keys(marks).length > 0)
    await whereItHolds(store.change(Profile, { id: row.id }, { set: marks }, isAlive()));
}

/** @param read the profile, where it was read */
const updateAsIs = (
  store: Store,
  id: string,
  input: SubscriberInput,
  read?: ProfileRow,
): Promise<ProfileRow | undefined> =>
  input.consent
    ? updateWithConsent(store, id, input, { stated: input.consent, read })
    : updateProfile(store, id, input);

/**
 * One write, unless the change is large or the profile is known to be nearly full: then its size is measured. @throws
 * 422 if it would grow
 */
async function updateWithin(
  store: Store,
  id: string,
  input: SubscriberInput,
  attributes: Readonly<Record<string, Value>>,
): Promise<ProfileRow | undefined> {
  if (input.consent || !isSmall(attributes)) return updateMeasured(store, id, input, attributes);
  const change = profileChange(store, input, id);
  const when = all(isAlive(), ...keepsConfirmed(input.email), absent("full"));
  const outcome = await changed(Profile, store.change(Profile, { id }, change, when));
  if (outcome.kind === "changed") return outcome.row;
  const { current: old } = outcome;
  if (!old || old.erased_at) return old;
  if (growsTooLarge(old, attributes)) throw refusedGrowth();
  return isConfirmedElsewhere(old, input.email)
    ? moveAddress(store, id, { input, old })
    : updateProfile(store, id, input);
}

/** @throws 422 if the profile would grow too large */
async function updateMeasured(
  store: Store,
  id: string,
  input: SubscriberInput,
  attributes: Readonly<Record<string, Value>>,
): Promise<ProfileRow | undefined> {
  const row = await store.get(Profile, { id });
  if (!row || row.erased_at) return row;
  if (growsTooLarge(row, attributes)) throw refusedGrowth();
  return updateAsIs(store, id, { ...input, isFull: becomesNearlyFull(row, attributes) }, row);
}

const refusedGrowth = () =>
  invalid({ attributes: "are, with those that are there already, more than the publishable key may write" });

/** @returns the profile after the write, or the tombstone that prevented it; undefined if there is neither. */
export async function updateProfile(store: Store, id: string, input: ProfileInput): Promise<ProfileRow | undefined> {
  await measure(store, id, input);
  const when = all(isAlive(), ...keepsConfirmed(input.email), ...hasRoom(input));
  const outcome = await changed(Profile, store.change(Profile, { id }, profileChange(store, input, id), when));
  if (outcome.kind === "changed") return outcome.row;
  const { current: old } = outcome;
  if (old?.erased_at || !old) return old;
  refuseOverweight(old, input.attributes);
  if (isConfirmedElsewhere(old, input.email)) return moveAddress(store, id, { input, old });
  return isUnmeasured(old, input) ? updateProfile(store, id, { ...input, isMeasured: true }) : undefined;
}

const isUnmeasured = (row: ProfileRow, input: ProfileInput): boolean => row.heavy === true && hasRoom(input).length > 0;

/** A change that may be too much for any profile is measured before it is written. @throws as the table does for a large item */
async function measure(store: Store, id: string, { attributes, isMeasured }: ProfileInput): Promise<void> {
  if (isMeasured || isLight(attributes)) return;
  const row = await store.get(Profile, { id });
  if (row && !row.erased_at) refuseOverweight(row, attributes);
}

/** An unmeasured change is written if there is room for any. */
const hasRoom = ({ attributes = {}, isMeasured }: ProfileInput) =>
  isMeasured || Object.keys(attributes).length === 0 ? [] : [absent<"heavy">("heavy")];

type ConsentUpdate =
  | { kind: "written" }
  /** The profile has a newer consent of the channel. */
  | { kind: "older" }
  | { kind: "erased"; tombstone: ProfileRow | undefined }
  /** The profile is so large that the addition is measured. */
  | { kind: "heavy"; old: ProfileRow }
  /** It has another address, whose owner confirmed opt-ins. */
  | { kind: "confirmed elsewhere"; old: ProfileRow };

/**
 * The same with a consent, in one transaction. A refused one costs as much as one that is made, so whoever needs no secret
 * is read first.
 * @param stating.read the profile, where it was read
 */
export async function updateWithConsent(
  store: Store,
  id: string,
  input: ProfileInput,
  stating: { stated: ConsentAssertion; consentId?: string; read?: ProfileRow | undefined },
): Promise<ProfileRow | undefined> {
  await measure(store, id, input);
  const { stated, consentId = store.ids.uuidAt(store.clock.now()) } = stating;
  const isAsked = stated.status === "pending" || input.isPublishable === true;
  const read = stating.read ?? (isAsked ? await store.get(Profile, { id }) : undefined);
  if (isAsked && (!read || read.erased_at)) return read;
  const consent = stated.status === "pending" ? confirmedBefore(stated, read, input.email) : stated;
  if (read && isConfirmedElsewhere(read, input.email))
    return moveAddress(store, id, { input, old: read, stated: { consent, consentId } });
  const history = consentWrite(store, { subscriber: id, id: consentId }, consent);
  const plain = profileChange(store, input, id);
  const statement = consentChange(consent);
  const folded = { set: { ...plain.set, ...statement.set }, remove: [...plain.remove, ...statement.remove] };
  const keeps = [...keepsConfirmed(input.email), ...hasRoom(input)];

  const attempt = async (isNewest: boolean): Promise<ConsentUpdate> => {
    const change = isNewest
      ? changeItem(Profile, { id }, folded, all(isAlive(), ...keeps, isNewestConsent(consent)))
      : changeItem(Profile, { id }, plain, all(isAlive(), ...keeps));
    const failures = await failuresOf(store, [change, history]);
    if (failures.length === 0) return { kind: "written" };
    const old = oldRow(Profile, failures[0]);
    if (!old || old.erased_at) return { kind: "erased", tombstone: old };
    if (isConfirmedElsewhere(old, input.email)) return { kind: "confirmed elsewhere", old };
    return isUnmeasured(old, input) ? { kind: "heavy", old } : { kind: "older" };
  };
  const first = await attempt(!read || isNewestIn(read, consent));
  const outcome = first.kind === "older" ? await attempt(false) : first;
  switch (outcome.kind) {
    case "written":
    case "older":
      return store.get(Profile, { id });
    case "erased":
      return outcome.tombstone;
    case "heavy":
      refuseOverweight(outcome.old, input.attributes);
      return updateWithConsent(store, id, { ...input, isMeasured: true }, stating);
    case "confirmed elsewhere":
      return moveAddress(store, id, { input, old: outcome.old, stated: { consent, consentId } });
  }
}

/**
 * Creates a subscriber and counts it, in one transaction.
 * @returns the profile, or the tombstone that prevented it; contended if another request created the subscriber
 */
async function create(
  store: Store,
  id: string,
  input: SubscriberInput,
  { mayCreate = true, used, limit }: Partial<SubscriberCap>,
): Promise<Attempt<ProfileRow>> {
  if (!mayCreate) {
    const numbers = limit === undefined ? "" : ` (${used} of ${limit})`;
    throw new ApiError("QUOTA_EXCEEDED", `The plan's number of subscribers is reached${numbers}: none can be added.`);
  }
  const { consent, attributes = {}, isPublishable = false } = input;
  if (isPublishable) refuseLargeProfile(attributes);
  const profile = newProfile(store, id, input);
  const { pk: _, sk: __, ...row } = profile;
  const writes = [putItem(Profile, { id }, row, absent()), countWrite(id, 1)];
  if (consent) writes.push(consentWrite(store, { subscriber: id, id: store.ids.uuidAt(store.clock.now()) }, consent));
  const failures = await failuresOf(store, writes);
  if (failures.length === 0) return done(profile);
  const old = oldRow(Profile, failures[0]);
  return old?.erased_at ? done(old) : contended;
}
