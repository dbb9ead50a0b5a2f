// Lists with double opt-in (AMB-129): an added subscriber becomes a member when the owner of the address agrees.
import { timestamp } from "../../kernel/clock.ts";
import { requireFound } from "../../kernel/errors.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { listChannelOf } from "../../rules/list-consents.ts";
import { absent, all, any, type Condition, is, oneOf } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { type AttributeOf, changeItem, checkItem, type ItemWrite } from "../item.ts";
import { transacted } from "../refusals.ts";
import { shardOf } from "../shards.ts";
import { mailAddressId } from "../subscribers/address-items.ts";
import { type ConsentAssertion, confirmedAsRead, consentWrite, foldedConsent } from "../subscribers/consents.ts";
import { isAlive, Profile } from "../subscribers/items.ts";
import { getProfiles, type LivingProfile } from "../subscribers/subscribers.ts";
import { removeUncounted } from "./imported-members.ts";
import { ListItem, ListMembership } from "./items.ts";
import { type AddResult, addMembers, removeMembers } from "./lists.ts";
import { countWrite } from "./member-counts.ts";
import { changeMembers, enterWrites } from "./memberships.ts";

/** Statements that are written at once. */
const MAX_CONCURRENT = 25;

interface JoinResult extends AddResult {
  /** The ids of subscribers who are asked to confirm first. */
  pending: string[];
}

/** How subscribers come to a list. */
interface JoinOptions {
  source: string;
  /** The import that adds them. */
  import_job_id?: string;
  /** Subscribers with a proof that they agreed to mail: they need not confirm, unless they do not agree any more. */
  proven?: ReadonlySet<string>;
  /** A subscriber who was asked already is not asked again. */
  isRepeat?: boolean;
  /** Adds the subscribers who need not confirm. */
  add?: (ids: readonly string[], read?: readonly (LivingProfile | undefined)[]) => Promise<AddResult>;
  /** The profiles of ids. */
  read?: (ids: readonly string[]) => Promise<(LivingProfile | undefined)[]>;
}

type SaidOfList = Pick<ConsentAssertion, "source" | "import_job_id"> & { channel: `list:${string}` };

/**
 * Adds subscribers to a list; of one that asks, those who confirmed before, and the others become pending.
 * @throws 404 for a list that there is not
 */
export async function joinList(
  store: Store,
  list: string,
  ids: readonly string[],
  {
    source,
    import_job_id,
    proven = new Set(),
    isRepeat = false,
    add = (batch, profiles) => addMembers(store, list, batch, profiles),
    read = (ids) => getProfiles(store, ids),
  }: JoinOptions,
): Promise<JoinResult> {
  const row = requireFound(await store.get(ListItem, { id: list }), "list");
  const distinct = [...new Set(ids)];
  const channel = listChannelOf(list);
  const said = { channel, source, import_job_id };
  if (!row.double_opt_in) {
    const profiles = await read(distinct);
    await endWaiting(store, profiles, said);
    return { ...(await add(distinct, profiles)), pending: [] };
  }

  const listKeys = distinct.map((subscriber) => ({ subscriber, list }));
  const [profiles, memberships] = await Promise.all([
    getProfiles(store, distinct),
    store.getAll(ListMembership, listKeys),
  ]);
  const outside = distinct.flatMap((_, i) => {
    const profile = profiles[i];
    const isIn = memberships[i] !== undefined || profile?.[`c:${channel}`] === "opted_in";
    return profile && !isIn ? [profile] : [];
  });
  const asks: LivingProfile[] = [];
  for (const batch of chunksOf(outside, MAX_CONCURRENT)) {
    const isProven = await Promise.all(
      batch.map((profile) => proven.has(profile.id) && stateProven(store, profile, said)),
    );
    asks.push(...batch.filter((_, i) => !isProven[i]));
  }
  const asked = new Set(asks.map(({ id }) => id));
  const added = await add(distinct.filter((id) => !asked.has(id)));
  const news = isRepeat ? asks.filter((profile) => profile[`c:${channel}`] !== "pending") : asks;
  for (const batch of chunksOf(news, MAX_CONCURRENT))
    await Promise.all(batch.map((profile) => statePending(store, profile, said)));
  return { ...added, pending: asks.map(({ id }) => id) };
}

/** A proof is of the address that it came with: the owner of a later one has confirmed nothing. @returns false if there is none */
async function stateProven(store: Store, profile: LivingProfile, said: SaidOfList): Promise<boolean> {
  if (profile["c:email"] !== "opted_in" || mailAddressId(profile) === undefined) return false;
  const { set, when } = confirmedAsRead(profile, [said.channel]);
  return record(store, profile, { ...said, status: "opted_in" }, { set, when: [is("c:email", "opted_in"), ...when] });
}

interface RecordOptions {
  set?: ReturnType<typeof confirmedAsRead>["set"];
  when: readonly Condition<AttributeOf<typeof Profile>>[];
}

/** Records a statement of a subscriber as of now. @returns whether the conditions hold */
async function record(
  store: Store,
  { id }: LivingProfile,
  said: SaidOfList & Pick<ConsentAssertion, "status">,
  { set = {}, when }: RecordOptions,
): Promise<boolean> {
  const now = store.clock.now();
  const consent: ConsentAssertion = { ...said, consented_at: timestamp(now) };
  const change = { set: { ...foldedConsent(consent), ...set } };
  return transacted(store, [
    changeItem(Profile, { id }, change, all(isAlive(), ...when)),
    consentWrite(store, { subscriber: id, id: store.ids.uuidAt(now) }, consent, absent()),
  ]);
}

/**
 * Removes subscribers from a list, also those who have yet to confirm it: the link of their mail makes them no members.
 * A subscriber who confirms at this moment is a member, and is removed as one.
 */
export async function leaveList(
  store: Store,
  list: string,
  ids: readonly string[],
): Promise<{ removed: number; not_found: string[] }> {
  const distinct = [...new Set(ids)];
  const said = { channel: listChannelOf(list), source: "dashboard" } as const;
  const waiting = new Set(await endWaiting(store, await getProfiles(store, distinct), said));
  const { not_found } = await removeMembers(store, list, distinct);
  const others = not_found.filter((id) => !waiting.has(id));
  return { removed: distinct.length - others.length, not_found: others };
}

/** Ends the waiting confirmations of these subscribers. @returns the ids of those who waited */
async function endWaiting(
  store: Store,
  profiles: readonly (LivingProfile | undefined)[],
  said: SaidOfList,
): Promise<string[]> {
  const waiting = profiles.flatMap((profile) => (profile?.[`c:${said.channel}`] === "pending" ? [profile] : []));
  for (const batch of chunksOf(waiting, MAX_CONCURRENT))
    await Promise.all(batch.map((profile) => stateUnasked(store, profile, said)));
  return waiting.map(({ id }) => id);
}

/**
 * Records that a subscriber who is added to a list without double opt-in, or removed from a list, has nothing to
 * confirm.
 */
async function stateUnasked(store: Store, profile: LivingProfile, said: SaidOfList): Promise<void> {
  const isPending = is<`c:${string}`>(`c:${said.channel}`, "pending");
  await record(store, profile, { ...said, status: "unknown" }, { when: [isPending] });
}

/** The stream has the owner of the address asked. */
async function statePending(store: Store, profile: LivingProfile, said: SaidOfList): Promise<void> {
  const key = `c:${said.channel}` as const;
  const isOpen = any(absent(key), oneOf(key, ["pending", "unknown"]));
  await record(store, profile, { ...said, status: "pending" }, { when: [isOpen] });
}

/** The name of a list that asks; undefined for one that is gone. */
export const listName = async (store: StoreReader, id: string): Promise<string | undefined> =>
  (await store.get(ListItem, { id }))?.name;

/** Removes a member whose confirmation was for another address, until the new one is confirmed. */
export async function leaveUnconfirmed(store: Store, list: string, subscriber: string): Promise<void> {
  const membership = await store.get(ListMembership, { subscriber, list });
  if (!membership) return;
  const isPending = is<`c:${string}`>(`c:${listChannelOf(list)}`, "pending");
  const hold = checkItem(Profile, { id: subscriber }, isPending);
  const uncounted = await removeUncounted(store, list, [{ sk: subscriber, pack: membership.pack }], hold);
  if (uncounted.length === 0) await changeMembers(store, { kind: "list", id: list }, { leave: [subscriber], hold });
}

/** The writes with which a subscriber becomes a member; none for a member. */
export async function joinWrites(store: Store, list: string, subscriber: string): Promise<ItemWrite<"workspace">[]> {
  if (await store.get(ListMembership, { subscriber, list })) return [];
  const group = { kind: "list", id: list } as const;
  const entering = enterWrites({ group, subscriber, historical: undefined, at: store.clock.now() });
  return [...entering, countWrite(group, shardOf(subscriber), 1)];
}
