// Subscriber lists (D-LIST): unique names, members by hand or by import, counts from counters beside the rows.
import { timestamp } from "../../clock.ts";
import { ApiError, conflict, notFound } from "../../http/errors.ts";
import { offsetOf, type PageQuery } from "../../http/paging.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { changeNamed, createNamed, getEntities, listEntries, MAX_ENTRIES, removeNamed } from "../catalogue.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { getProfiles } from "../subscribers/subscribers.ts";
import type { Timers } from "../timers.ts";
import { usersOf } from "../uses.ts";
import { membershipDeletionWrite, planSecondPass } from "./membership-deletion.ts";
import { changeMembers, countMembers, countsOfMany, type Group } from "./memberships.ts";

export interface SubscriberList {
  id: string;
  name: string;
  description: string | null;
  subscriber_count: number;
  created_at: string;
  updated_at: string;
}

interface ListChange {
  name?: string | undefined;
  description?: string | null | undefined;
}

const groupOf = (id: string): Group => ({ kind: "list", id });
const nameTaken = () => conflict("The name is already used by another list.");

/** @throws 409 if the name is taken, 429 beyond 10,000 lists (AMB-81). */
export async function createList(
  store: Store,
  { name, description = null }: ListChange & { name: string },
): Promise<SubscriberList> {
  if ((await listEntries(store, "list")).length >= MAX_ENTRIES)
    throw new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MAX_ENTRIES} lists.`);
  const now = store.clock.now();
  const id = store.ids.uuidAt(now);
  const [created_at, updated_at] = [timestamp(now), timestamp(now)];
  if (!(await createNamed(store, "list", name, id, { description, created_at, updated_at }))) throw nameTaken();
  return { id, name, description, subscriber_count: 0, created_at, updated_at };
}

async function requireItem(store: StoreReader, id: string): Promise<Item> {
  const item = await store.get(keys.entity(store.tenant, "list", id));
  if (!item) throw notFound("list");
  return item;
}

/** @throws 404, also for another workspace's list. */
export const listExists = async (store: StoreReader, id: string): Promise<boolean> =>
  (await store.get(keys.entity(store.tenant, "list", id))) !== undefined;

export const requireList = async (store: StoreReader, id: string): Promise<void> => void (await requireItem(store, id));

/** @throws 404. */
export async function getList(store: StoreReader, id: string): Promise<SubscriberList> {
  const [item, count] = await Promise.all([requireItem(store, id), countMembers(store, groupOf(id))]);
  return listOf(item, count);
}

/** Newest first; `name` matches anywhere, whatever the case. */
export async function listLists(store: StoreReader, { name = "", ...page }: PageQuery & { name?: string | undefined }) {
  const wanted = name.toLowerCase();
  const entries = (await listEntries(store, "list")).filter((entry) => entry.name.toLowerCase().includes(wanted));
  const { from, to } = offsetOf(page);
  const ids = entries.slice(from, to).map(({ id }) => id);
  const asRange = { asRange: wanted === "" };
  const [items, counts] = await Promise.all([
    getEntities(store, "list", ids, asRange),
    countsOfMany(store, "list", ids, asRange),
  ]);
  return {
    items: items.map((item) => listOf(item, counts.get(String(item.id)) ?? 0)),
    total: entries.length,
    page: page.page,
    page_size: page.size,
  };
}

/** Supplied fields overwrite, others stay. @throws 404, 409 if the new name is taken. */
export async function updateList(store: Store, id: string, { name, description }: ListChange): Promise<SubscriberList> {
  const set = { description, updated_at: timestamp(store.clock.now()) };
  const changed = await changeNamed(store, "list", id, { set }, name);
  if (changed === "missing") throw notFound("list");
  if (changed === "taken") throw nameTaken();
  return listOf(changed, await countMembers(store, groupOf(id)));
}

/** The list goes at once, its members in the background. @throws 404, 409 while something to come names it (D-LIST). */
export async function removeList(store: Store, timers: Timers, id: string): Promise<void> {
  await requireList(store, id);
  const [user] = await usersOf(store, "list", id);
  if (user !== undefined) throw conflict(`The list is named by ${user}.`);
  await planSecondPass(store, timers, "list", id);
  if (!(await removeNamed(store, "list", id, { extraItems: [membershipDeletionWrite(store, "list", id)] })))
    throw notFound("list");
}

export interface Added {
  added: number;
  already_member: number;
  /** Ids that belong to no subscriber of this workspace. */
  not_found: string[];
}

/** Adds subscribers to a list that is there; the same again changes nothing. Any number of ids, each counted once. */
export async function addMembers(store: Store, list: string, ids: readonly string[]): Promise<Added> {
  const distinct = [...new Set(ids)];
  const [profiles, rows] = await Promise.all([
    getProfiles(store, distinct),
    store.getAll(distinct.map((id) => keys.member(store.tenant, "list", list, id))),
  ]);
  const found = distinct.filter((_, i) => profiles[i]);
  const { entered } = await changeMembers(store, groupOf(list), {
    enter: distinct.filter((_, i) => profiles[i] && !rows[i]),
  });
  return {
    added: entered.length,
    already_member: found.length - entered.length,
    not_found: distinct.filter((_, i) => !profiles[i]),
  };
}

/** Takes subscribers out of a list; `not_found` are those that are not in it. */
export async function removeMembers(
  store: Store,
  list: string,
  ids: readonly string[],
): Promise<{ removed: number; not_found: string[] }> {
  const distinct = [...new Set(ids)];
  const rows = await store.getAll(distinct.map((id) => keys.member(store.tenant, "list", list, id)));
  const { left } = await changeMembers(store, groupOf(list), { leave: distinct.filter((_, i) => rows[i]) });
  const gone = new Set(left);
  return { removed: left.length, not_found: distinct.filter((id) => !gone.has(id)) };
}

const listOf = (item: Item, subscriber_count: number): SubscriberList => ({
  id: String(item.id),
  name: String(item.name),
  description: item.description === undefined ? null : (item.description as string | null),
  subscriber_count,
  created_at: String(item.created_at),
  updated_at: String(item.updated_at),
});
