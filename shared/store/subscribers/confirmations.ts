// The confirmed opt-in: a statement is pending until the owner of the address confirms it by the link of a mail (AMB-129).
import type { ConfirmToken } from "../../contract/mail-tokens.ts";
import { DAY, SECOND, timestamp } from "../../kernel/clock.ts";
import { mailboxOf, normalizedAddress } from "../../rules/addresses.ts";
import { listIdOf } from "../../rules/list-consents.ts";
import { topicKeyOf } from "../../rules/topics.ts";
import { absent, all, asRead, is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { joinWrites, listName } from "../lists/joining.ts";
import { busy, contended, done, failuresOf, untilUncontended } from "../refusals.ts";
import { isDoubleOptIn } from "../topics/topics.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import { AddressItem, addressId, mailAddressId } from "./address-items.ts";
import { askable, consentNow, OWN_REASONS } from "./addresses.ts";
import { type ConsentAssertion, consentWrite, foldedConsent } from "./consents.ts";
import { ConsentItem, isAlive, Profile, type ProfileRow } from "./items.ts";
import { getProfile, type LivingProfile } from "./subscribers.ts";
import { liftWrite } from "./suppressions.ts";

/** The owner of an address is asked no more often, also where others state the opt-in: they may know the address. */
const MAX_ASKED = 3;
const ASKED_WITHIN_MS = 7 * DAY;
/** How long the link of a mail confirms. */
const CONFIRMS_MS = 30 * DAY;
/** Statements of a subscriber since a mail: with more, its link confirms nothing. */
const MAX_STATEMENTS = 200;

/** Whether an opt-in to a channel or topic waits for a confirmation. */
export async function needsConfirmation(
  store: StoreReader,
  workspace: () => Promise<Pick<WorkspaceRecord, "double_opt_in"> | undefined>,
  channel: string,
): Promise<boolean> {
  const topic = topicKeyOf(channel);
  if (topic !== undefined) return isDoubleOptIn(store, topic);
  return channel === "email" && (await workspace())?.double_opt_in === true;
}

type ConfirmationRequest =
  | { kind: "asks"; profile: LivingProfile; address: string; write: ItemWrite<"workspace"> }
  | { kind: "not pending" | "asked before" | "asked too often" | "no address" | "suppressed" | "opted out" };

/**
 * Whether the owner of a subscriber's address is asked to confirm an opt-in now. @returns with the write that notes it,
 * on condition that no other request has asked since
 */
export async function askingOf(store: Store, subscriber: string, channel: string): Promise<ConfirmationRequest> {
  const profile = await getProfile(store, subscriber);
  if (profile?.[`c:${channel}`] !== "pending") return { kind: "not pending" };
  const text = normalizedAddress("email", profile.email);
  if (text === undefined) return { kind: "no address" };

  const address = addressId("email", text);
  const mailbox = mailboxOf(text);
  const id = addressId("email", mailbox);
  const [row, counted] = await store.getAll(AddressItem, [{ id: address }, { id }]);
  if (row?.reason !== undefined && !OWN_REASONS.includes(row.reason)) return { kind: "suppressed" };
  // A subscriber who is added to a list has stated nothing: an earlier opt-out holds.
  const isOfList = listIdOf(channel) !== undefined;
  if (isOfList && consentNow(profile, row ? askable({ email: row }) : {}, "email")?.status === "opted_out")
    return { kind: "opted out" };

  const now = store.clock.now();
  const asked = (counted?.asked ? fromJson(counted.asked) : []).filter(({ at }) => at > now - ASKED_WITHIN_MS);
  const by = `${subscriber} ${channel} ${profile[`ct:${channel}`]}`;
  if (asked.some((pending) => pending.by === by)) return { kind: "asked before" };
  if (asked.length >= MAX_ASKED) return { kind: "asked too often" };

  const set = { id, kind: "email" as const, address: mailbox, asked: toJson([...asked, { at: now, by }]) };
  const isAsRead = asRead("asked", counted?.asked);
  return { kind: "asks", profile, address, write: changeItem(AddressItem, { id }, { set }, isAsRead) };
}

type Confirmation =
  /** `email`: as the subscriber has it. */
  | { kind: "open"; email: string | undefined }
  /** It was confirmed before. */
  | { kind: "confirmed" }
  | { kind: "gone" };

type ConfirmedAddress = Pick<ConfirmToken, "subscriber" | "address" | "channel" | "askedAt">;

/** The effect of a mail's link now: none if the address, the statement or the subscriber has changed. */
export async function confirmationOf(store: StoreReader, confirmed: ConfirmedAddress): Promise<Confirmation> {
  const { subscriber, address, channel, askedAt } = confirmed;
  const profile = await getProfile(store, subscriber);
  if (!profile || mailAddressId(profile) !== address) return { kind: "gone" };
  const status = profile[`c:${channel}`];
  if (status === "opted_in") return { kind: "confirmed" };
  const isOver = store.clock.now() > askedAt * SECOND + CONFIRMS_MS;
  const list = listIdOf(channel);
  const isListGone = list !== undefined && (await listName(store, list)) === undefined;
  if (status !== "pending" || isOver || isListGone) return { kind: "gone" };
  const isRefused = await isOptedOutSince(store, confirmed);
  return isRefused ? { kind: "gone" } : { kind: "open", email: profile.email };
}

/** An opt-out answers all earlier questions: a later statement has a mail of its own. */
async function isOptedOutSince(store: StoreReader, { subscriber, address, channel, askedAt }: ConfirmedAddress) {
  const [{ items }, row] = await Promise.all([
    store.query(ConsentItem, { subscriber }, { newestFirst: true, limit: MAX_STATEMENTS }),
    store.get(AddressItem, { id: address }),
  ]);
  const since = timestamp(askedAt * SECOND);
  const statements = items.filter(({ recorded_at }) => recorded_at >= since);
  const optedOutAt = row?.["o:email"];
  return (
    statements.length === MAX_STATEMENTS ||
    statements.some((statement) => statement.channel === channel && statement.status === "opted_out") ||
    (optedOutAt !== undefined && optedOutAt >= since)
  );
}

/**
 * Records the opt-in of the owner of an address, with what the page said as its evidence. With it, it ends a bounce or complaint
 * of the address, for whoever confirms has read a mail there. Of a list, it makes a member in the same transaction.
 * @param said.email as it was read: a change of the address at this moment is confirmed by the owner of the next one
 * @returns false if it is not open any more
 */
export async function confirm(
  store: Store,
  { subscriber, address, channel }: ConfirmedAddress,
  { email, ip, text }: { email: string | undefined; ip: string; text: string },
): Promise<boolean> {
  const now = store.clock.now();
  const consent: ConsentAssertion = {
    channel,
    status: "opted_in",
    consented_at: timestamp(now),
    source: "confirmed_opt_in",
    ip,
    text,
  };
  const isPending = is<`c:${string}`>(`c:${channel}`, "pending");
  const set: Partial<ProfileRow> = { ...foldedConsent(consent), confirmed_address: address };
  set[`cc:${channel}`] = true;
  const list = listIdOf(channel);
  const joins = list === undefined ? [] : await joinWrites(store, list, subscriber);
  return untilUncontended(busy.transient("The address is suppressed by others at this moment."), async () => {
    const row = await store.get(AddressItem, { id: address });
    const isOwn = row?.reason !== undefined && OWN_REASONS.includes(row.reason);
    const lifts = isOwn ? [liftWrite(store, address, "confirmed opt-in", OWN_REASONS)] : [];
    const failures = await failuresOf(store, [
      ...lifts,
      changeItem(Profile, { id: subscriber }, { set }, all(isAlive(), isPending, asRead("email", email))),
      consentWrite(store, { subscriber, id: store.ids.uuidAt(now) }, consent, absent()),
      ...joins,
    ]);
    if (failures.length === 0) return done(true);
    const isRefused = failures.slice(lifts.length).some((failure) => failure !== undefined);
    return isRefused ? done(false) : contended;
  });
}
