// The consent history of a subscriber: append-only; the newest assertion decides (D-CONSENT).
import { createHash } from "node:crypto";
import * as v from "valibot";
import { personal } from "../../contract/personal.ts";
import { Timestamp } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { uuidV7 } from "../../kernel/ids.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { absent, all, any, asRead, atMost, is, oneOf } from "../conditions.ts";
import type { Store, StoreContext } from "../context.ts";
import { familyOf } from "../families.ts";
import { type ConditionOf, changeItem, checkItem, type ItemWrite, putItem, type RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { failuresOf, transacted, whereItHolds } from "../refusals.ts";
import { mailAddressId } from "./address-items.ts";
import { ConsentItem, consentFields, isAlive, Profile, type ProfileRow } from "./items.ts";

export const Consent = v.object({
  ...consentFields,
  source: personal(v.nullable(v.string())),
  evidence: v.object({
    ip: personal(v.nullable(v.string())),
    text: personal(v.nullable(v.string())),
    import_job_id: v.nullable(v.string()),
  }),
  recorded_at: Timestamp,
});
export type Consent = v.InferOutput<typeof Consent>;

export interface ConsentAssertion {
  channel: string;
  /** `pending`: an opt-in that its owner has yet to confirm. `unknown`: a pending one that has ended. */
  status: "opted_in" | "opted_out" | "pending" | "unknown";
  /** RFC 3339. */
  consented_at: string;
  source?: string | undefined;
  ip?: string | undefined;
  text?: string | undefined;
  import_job_id?: string | undefined;
  /** From an import: it counts only without an earlier statement. It is not stored. */
  isPending?: true | undefined;
}

/** The write that adds an assertion to the history of a subscriber. @param when it has no such id yet, for one that may be repeated */
export const consentWrite = (
  { clock }: Pick<StoreContext, "clock">,
  { subscriber, id }: { subscriber: string; id: string },
  { channel, status, consented_at, source, ip, text, import_job_id }: ConsentAssertion,
  when?: ConditionOf<typeof ConsentItem>,
): ItemWrite<"workspace"> =>
  putItem(
    ConsentItem,
    { subscriber, consent: id },
    {
      id,
      subscriber_id: subscriber,
      channel,
      status,
      express: status === "opted_in" || status === "pending",
      consented_at,
      source,
      evidence: toJson({ ip, text, import_job_id }),
      recorded_at: timestamp(clock.now()),
    },
    when,
  );

/** The newest assertion of a channel, in the form of the profile (docs/decisions/0021#subscriber-shards). */
export function foldedConsent({ channel, status, consented_at }: ConsentAssertion) {
  const set: Partial<ProfileRow> = {};
  set[`c:${channel}`] = status;
  set[`ct:${channel}`] = consented_at;
  return set;
}

/** The change of a profile with such assertions. An opt-out ends what the owner of an address confirmed (AMB-129). */
export const consentChange = (...assertions: readonly ConsentAssertion[]) => ({
  set: Object.assign({}, ...assertions.map(foldedConsent)) as Partial<ProfileRow>,
  remove: assertions
    .filter(({ status }) => status === "opted_out")
    .map(({ channel }): `cc:${string}` => `cc:${channel}`),
});

/** The subscriber has not opted out of the channel. */
export const isOpenConsent = (channel: string): ConditionOf<typeof Profile> =>
  any(absent(`c:${channel}`), oneOf(`c:${channel}`, ["opted_in", "pending"]));

/** A subscriber who has opted in before, with the address that a change keeps, has nothing to confirm again. */
export const confirmedBefore = (
  assertion: ConsentAssertion,
  profile: Partial<ProfileRow> | undefined,
  email: string | null | undefined,
): ConsentAssertion => {
  const isSame = email === undefined || mailAddressId({ email: email ?? undefined }) === mailAddressId(profile);
  const isOptedIn = profile?.[`c:${assertion.channel}`] === "opted_in";
  return assertion.status === "pending" && isOptedIn && isSame ? { ...assertion, status: "opted_in" } : assertion;
};

/** The address of a change is the one whose owner confirmed opt-ins, if one did (AMB-129). */
export function keepsConfirmed(email: string | null | undefined): ConditionOf<typeof Profile>[] {
  if (typeof email !== "string") return [];
  const address = mailAddressId({ email });
  const none = absent("confirmed_address");
  return [address === undefined ? none : any(none, is("confirmed_address", address))];
}

/** The same of a profile that was read. */
export const isConfirmedElsewhere = (
  { confirmed_address }: Partial<ProfileRow>,
  email: string | null | undefined,
): boolean =>
  confirmed_address !== undefined && typeof email === "string" && mailAddressId({ email }) !== confirmed_address;

/** Ends the confirmations of the former owner of an address. @param at RFC 3339 */
export const unconfirmedAgain = (profile: Partial<ProfileRow>, at: string): ConsentAssertion[] =>
  familyOf(profile, "cc:")
    .filter(([channel]) => profile[`c:${channel}`] === "opted_in")
    .map(([channel]) => ({ channel, status: "pending", consented_at: at, source: "address_changed" }));

/** Statements of one transaction. */
const WAITING_AT_ONCE = 60;

/** Writes such statements of a profile, some at a time. @returns false where its condition failed */
export async function waitAgain(
  store: Store,
  subscriber: string,
  again: readonly ConsentAssertion[],
  when: ConditionOf<typeof Profile>,
): Promise<boolean> {
  for (const batch of chunksOf(again, WAITING_AT_ONCE)) {
    const set: Partial<ProfileRow> = Object.assign({}, ...batch.map(foldedConsent));
    const remove = batch.map(({ channel }): `cc:${string}` => `cc:${channel}`);
    const isWritten = await transacted(store, [
      changeItem(Profile, { id: subscriber }, { set, remove }, when),
      ...batch.map((choice) => consentWrite(store, { subscriber, id: store.ids.uuidAt(store.clock.now()) }, choice)),
    ]);
    if (!isWritten) return false;
  }
  return true;
}

/** The placeholder for a missing address: any later one differs from it. */
const NO_ADDRESS = "";

/** A proof in a file is as good as a confirmation: of the address that the profile has, and of no other (AMB-129). */
export function confirmedAsRead(profile: Partial<ProfileRow>, channels: readonly string[]) {
  const set: Partial<ProfileRow> = {};
  if (channels.length === 0) return { set, when: [] };
  set.confirmed_address = mailAddressId(profile) ?? NO_ADDRESS;
  for (const channel of channels) set[`cc:${channel}`] = true;
  return { set, when: [asRead("email", profile.email)] };
}

/** The profile has no later assertion of the channel. */
export const isNewestConsent = ({ channel, consented_at }: ConsentAssertion): ConditionOf<typeof Profile> =>
  any(absent(`ct:${channel}`), atMost(`ct:${channel}`, consented_at));

/** An opt-out that a subscriber sent as a message. A repeat of the message changes nothing (AMB-90). */
export async function recordOptOut(
  store: Store,
  subscriber: string,
  { channel, message, text, at }: { channel: string; message: string; text: string; at: number },
): Promise<void> {
  const consented_at = timestamp(Math.min(at, store.clock.now()));
  const consent: ConsentAssertion = { channel, status: "opted_out", consented_at, source: "inbound_message", text };
  const id = uuidV7(at, createHash("sha256").update(`${channel} ${message} ${subscriber}`).digest());
  const history = consentWrite(store, { subscriber, id }, consent, absent());
  const profile = { id: subscriber };
  const change = consentChange(consent);
  const newest = changeItem(Profile, profile, change, all(isAlive(), isNewestConsent(consent)));
  const [later, existing] = await failuresOf(store, [newest, history]);
  // The condition on the profile failed: it has a later assertion, or the subscriber was erased.
  if (later && !existing) await whereItHolds(store.transact([checkItem(Profile, profile, isAlive()), history]));
}

export function consentOf(row: RowOf<typeof ConsentItem>): Consent {
  const { pk: _, sk: __, source = null, evidence, ...fields } = row;
  const { ip = null, text = null, import_job_id = null } = fromJson(evidence);
  return { ...fields, source, evidence: { ip, text, import_job_id } };
}
