// The consent state of an address, for every subscriber that has it: one row of the address has its suppression, and
// the channels that it opted out of (AMB-128 to AMB-130).
import { timestamp } from "../../kernel/clock.ts";
import {
  type AddressKind,
  type AddressState,
  addressKindOf,
  addressKinds,
  consentAt,
  normalizedAddress,
  type SuppressionReason,
  suppressionReasons,
} from "../../rules/addresses.ts";
import { type ChannelType, type ConsentChannel, consentChannels } from "../../rules/channel-types.ts";
import { channels } from "../../rules/channels.ts";
import { type OtherChannel, otherChannels } from "../../rules/import-mapping.ts";
import type { Contact } from "../../rules/reach.ts";
import { above, absent, all, any, atMost, below, oneOf, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { changeItem, type ItemWrite, indexKey, type RowOf } from "../item.ts";
import { happened, onConditionFailed, transacted } from "../refusals.ts";
import { shardOf } from "../shards.ts";
import { AddressItem, addressId, mailAddressId, SuppressionsByTime } from "./address-items.ts";
import { type ConsentAssertion, consentChange, consentWrite } from "./consents.ts";
import { isAlive, Profile, type ProfileRow } from "./items.ts";
import { attributesOf, type LivingProfile } from "./subscribers.ts";

export type AddressRow = RowOf<typeof AddressItem>;

/** The rows of the addresses that a subscriber has now; a kind without a row is held to nothing. */
export type Addresses = Partial<Record<AddressKind, AddressRow>>;

/** The normalized addresses of a subscriber. */
function addressesIn(profile: ProfileRow): { kind: AddressKind; address: string }[] {
  const texts = { email: profile.email, phone: attributesOf(profile).phone };
  return addressKinds.flatMap((kind) => {
    const address = normalizedAddress(kind, texts[kind]);
    return address === undefined ? [] : [{ kind, address }];
  });
}

/**
 * The states of the addresses of subscribers, in order. One request reads a hundred. @param by only the kinds of
 * address that these send to are read; default: all
 */
export async function addressesOf(
  store: StoreReader,
  profiles: readonly (LivingProfile | undefined)[],
  by?: readonly ChannelType[],
): Promise<Addresses[]> {
  const kinds = new Set<AddressKind | undefined>(by?.map(addressKindOf) ?? addressKinds);
  const wanted = profiles.map((profile) =>
    (profile ? addressesIn(profile) : [])
      .filter(({ kind }) => kinds.has(kind))
      .map(({ kind, address }) => ({ kind, id: addressId(kind, address) })),
  );
  const keys = wanted.flat();
  if (keys.length === 0) return profiles.map(() => ({}));
  const rows = await store.getAll(AddressItem, keys, { eventual: true });
  let next = 0;
  return wanted.map((ids) => Object.fromEntries(ids.map(({ kind }) => [kind, rows[next++]])));
}

/** The email addresses in normalized form that are suppressed or opted out. One request reads a hundred. */
export async function heldAddresses(store: StoreReader, emails: readonly string[]): Promise<ReadonlySet<string>> {
  const all = emails.flatMap((email) => normalizedAddress("email", email) ?? []);
  const keys = all.map((address) => ({ id: addressId("email", address) }));
  const rows = keys.length === 0 ? [] : await store.getAll(AddressItem, keys, { eventual: true });
  return new Set(all.filter((_, i) => rows[i]?.reason !== undefined || rows[i]?.["o:email"] !== undefined));
}

/** Of phone numbers in normalized form, the channels that hold, and the number behind each: of a suppressed one, all. */
export async function heldNumbers(store: StoreReader, numbers: readonly string[]): Promise<ReadonlySet<string>> {
  const keys = numbers.map((number) => ({ id: addressId("phone", number) }));
  const rows = keys.length === 0 ? [] : await store.getAll(AddressItem, keys);
  const isHeld = (row: AddressRow | undefined, channel: OtherChannel) =>
    row?.reason !== undefined || row?.[`o:${channel}`] !== undefined;
  const held = numbers.flatMap((number, i) =>
    otherChannels.flatMap((channel) => (isHeld(rows[i], channel) ? [heldNumber(channel, number)] : [])),
  );
  return new Set(held);
}

export const heldNumber = (channel: OtherChannel, number: string): string => `${channel} ${number}`;

/** Reasons that the owner of an address ends by a confirmed opt-in (AMB-129). */
export const OWN_REASONS: readonly SuppressionReason[] = ["bounce", "complaint"];

/** The same for a mail that asks to confirm an opt-in: an address that bounced or complained may get it. */
export const askable = (addresses: Addresses): Addresses =>
  Object.fromEntries(
    Object.entries(addresses).map(([kind, row]) => {
      const isOwn = row?.reason !== undefined && OWN_REASONS.includes(row.reason);
      return [kind, isOwn ? { ...row, reason: undefined } : row];
    }),
  );

const stateOf = (row: AddressRow): AddressState => ({
  suppressedAt: row.reason && row.suppressed_at,
  optedOutAt: (channel) => row[`o:${channel}`],
});

/** The consent on a channel, from the person and the present address. */
export function consentNow(profile: ProfileRow, addresses: Addresses, channel: ConsentChannel) {
  const [status, at = ""] = [profile[`c:${channel}`], profile[`ct:${channel}`]];
  const row = addresses[channels[channel].address];
  return consentAt(channel, status && { status, at }, row && stateOf(row));
}

/** The same by channel, and the choices of topics. */
export function consentsNow(profile: ProfileRow, addresses: Addresses): Contact["consents"] {
  const now = consentChannels.map((channel) => [channel, consentNow(profile, addresses, channel)?.status]);
  return { ...Object.fromEntries(familyOf(profile, "c:")), ...Object.fromEntries(now) };
}

export interface NewSuppression {
  kind: AddressKind;
  /** Normalized. */
  address: string;
  reason: SuppressionReason;
  source?: string | undefined;
  note?: string | undefined;
  /** In milliseconds. Default: now. */
  at?: number | undefined;
  /** A file says the time: where the address is suppressed since that very moment, the file is our own, and says nothing new. */
  isDated?: boolean | undefined;
  /** A report comes later than its event: a user who lifted the suppression since then knew more. */
  isReport?: true | undefined;
}

/**
 * Suppresses an address. A weaker reason changes nothing, and neither does a repeat.
 * @returns the row as it is then, and whether it was written
 */
export async function suppressAddress(
  store: Store,
  { kind, address, reason, source, note, at = store.clock.now(), isDated, isReport }: NewSuppression,
): Promise<{ row: AddressRow; isNew: boolean }> {
  const id = addressId(kind, address);
  const suppressed_at = timestamp(at);
  const set = {
    id,
    kind,
    address,
    reason,
    suppressed_at,
    source,
    note,
    ...indexKey(SuppressionsByTime, store.tenant, { shard: shardOf(id), suppressed_at, id }),
  };
  // A statement about a weaker reason does not concern this one.
  const remove = (["source", "note"] as const).filter((key) => set[key] === undefined);
  const weaker = suppressionReasons.slice(0, suppressionReasons.indexOf(reason));
  const isOther = any(below("suppressed_at", suppressed_at), above("suppressed_at", suppressed_at));
  const isWeaker = isDated ? all(oneOf("reason", weaker), isOther) : oneOf("reason", weaker);
  const isStronger = weaker.length === 0 ? absent("reason") : any(absent("reason"), isWeaker);
  const isLater = any(absent("lifted_at"), atMost("lifted_at", suppressed_at));
  return store.change(AddressItem, { id }, { set, remove }, isReport ? all(isStronger, isLater) : isStronger).then(
    (row) => ({ row, isNew: true }),
    onConditionFailed(AddressItem, (old) => ({ row: old!, isNew: false })),
  );
}

/** The write that opts an address out of a channel; a repeat moves the time. */
export function optOutWrite(
  kind: AddressKind,
  address: { id: string; text?: string | undefined },
  channel: string,
  at: string,
): ItemWrite<"workspace"> {
  const set: Partial<AddressRow> = {
    id: address.id,
    kind,
    ...(address.text !== undefined && { address: address.text }),
  };
  set[`o:${channel}`] = at;
  return changeItem(AddressItem, { id: address.id }, { set }, any(absent(`o:${channel}`), atMost(`o:${channel}`, at)));
}

/** An address whose owner is erased keeps what holds for it, under its hash. @returns how many rows named one */
export async function forgetAddresses(store: Store, profile: ProfileRow): Promise<number> {
  const said = ["address", "note", "lifted_because"] as const;
  const isSaid = any(...said.map((name) => present(name)));
  const forget = async (id: string) => {
    const row = await store.get(AddressItem, { id });
    // The row of a file may say anything of where it comes from.
    const set = row?.reason === "imported" && row.source !== "file" ? { source: "import" } : {};
    return happened(store.change(AddressItem, { id }, { set, remove: said }, isSaid));
  };
  const named = await Promise.all(addressesIn(profile).map(({ kind, address }) => forget(addressId(kind, address))));
  return named.filter(Boolean).length;
}

/**
 * No marketing mail from now on, to this subscriber and to whoever has the address. A subscriber who opted out before or
 * was erased gets no consent; the address opts out anyway. A repeat changes nothing.
 * @param address the id of the one that the mail went to
 * @param profile of the subscriber, unless it is gone
 * @param counted written with the change, once
 */
export async function unsubscribe(
  store: Store,
  { subscriber, address }: { subscriber: string; address: string },
  profile: LivingProfile | undefined,
  counted: readonly ItemWrite<"workspace">[] = [],
): Promise<void> {
  const now = store.clock.now();
  const at = timestamp(now);
  const text = mailAddressId(profile) === address ? profile?.email?.toLowerCase() : undefined;
  const ofAddress = optOutWrite("email", { id: address, text }, "email", at);

  const consent: ConsentAssertion = { channel: "email", status: "opted_out", consented_at: at, source: "unsubscribe" };
  const isOpen = any(absent("c:email"), oneOf("c:email", ["opted_in", "pending", "unknown"]));
  // A repeat would be refused, and cost as much as the first write.
  const isDone =
    profile !== undefined &&
    profile["c:email"] !== "opted_out" &&
    (await transacted(store, [
      changeItem(Profile, { id: subscriber }, consentChange(consent), all(isAlive(), isOpen)),
      consentWrite(store, { subscriber, id: store.ids.uuidAt(now) }, consent, absent()),
      ofAddress,
      ...counted,
    ]));
  if (!isDone) await transacted(store, [ofAddress]);
}
