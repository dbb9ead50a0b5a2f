// Subscriber lists (D-LIST): unique names, members added by hand or by import, member counts kept in counters.
import * as v from "valibot";
import { offsetOf, type PageQuery } from "../../contract/paging.ts";
import { said } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { conflict, notFound, requireFound } from "../../kernel/errors.ts";
import type { Store, StoreReader } from "../context.ts";
import { fieldsOf, type RowOf } from "../item.ts";
import { changeNamed, createNamed, getEntities, listNames, removeNamed, requireRoomForName } from "../name-index.ts";
import { getProfiles, type LivingProfile } from "../subscribers/subscribers.ts";
import type { Timers } from "../timers.ts";
import { usersOf } from "../uses.ts";
import { removeUncounted } from "./imported-members.ts";
import { ListItem, listFields, listGroup, Member, memberKey } from "./items.ts";
import { countMembers, countsOfMany } from "./member-counts.ts";
import { membershipDeletionWrite, planSecondPass } from "./membership-deletion.ts";
import { changeMembers } from "./memberships.ts";

export const SubscriberList = v.object({
  id: listFields.id,
  name: listFields.name,
  description: listFields.description,
  subscriber_count: v.number(),
  double_opt_in: said(
    "Who is added is `pending` and no member until the owner of the address confirms it by the link of a mail",
    v.boolean(),
  ),
  created_at: listFields.created_at,
  updated_at: listFields.updated_at,
});
export type SubscriberList = v.InferOutput<typeof SubscriberList>;

interface ListChange {
  name?: string | undefined;
  description?: string | null | undefined;
  double_opt_in?: boolean | undefined;
}

const nameTaken = () => conflict("The name is already used by another list.");

/** Creates a list. @throws 409 if the name is taken, 429 beyond 10,000 lists (AMB-81) */
export async function createList(
  store: Store,
  { name, description = null, double_opt_in = false }: ListChange & { name: string },
): Promise<SubscriberList> {
  await requireRoomForName(store, ListItem, "lists");
  const now = store.clock.now();
  const at = timestamp(now);
  const list = { id: store.ids.uuidAt(now), name, description, double_opt_in, created_at: at, updated_at: at };
  const created = await createNamed(store, ListItem, list);
  if (created === "name taken") throw nameTaken();
  return listOf(list, 0);
}

async function requireRow(store: StoreReader, id: string): Promise<RowOf<typeof ListItem>> {
  return requireFound(await store.get(ListItem, { id }), "list");
}

export const listExists = async (store: StoreReader, id: string): Promise<boolean> =>
  (await store.get(ListItem, { id })) !== undefined;

/** Whether a list has double opt-in. */
export const listAsks = async (store: StoreReader, id: string): Promise<boolean> =>
  (await store.get(ListItem, { id }))?.double_opt_in === true;

/** Requires a list. @throws 404, also for another workspace's list */
export const requireList = async (store: StoreReader, id: string): Promise<void> => void (await requireRow(store, id));

/** Gets a list. @throws 404 */
export async function getList(store: StoreReader, id: string): Promise<SubscriberList> {
  const [row, count] = await Promise.all([requireRow(store, id), countMembers(store, listGroup(id))]);
  return listOf(row, count);
}

/** Newest first; `name` matches anywhere in the name, in any case. */
export async function listLists(store: StoreReader, { name = "", ...page }: PageQuery & { name?: string | undefined }) {
  const names = await listNames(store, ListItem, name);
  const { from, to } = offsetOf(page);
  const ids = names.slice(from, to).map(({ id }) => id);
  const asRange = name === "";
  const [rows, counts] = await Promise.all([
    getEntities(store, ListItem, ids, { asRange }),
    countsOfMany(store, "list", ids, { asRange }),
  ]);
  return {
    items: rows.map((row) => listOf(row, counts.get(row.id) ?? 0)),
    total: names.length,
    page: page.page,
    page_size: page.size,
  };
}

/** Supplied fields overwrite, others stay. @throws 404, 409 if the new name is taken. */
export async function updateList(store: Store, id: string, { name, ...change }: ListChange): Promise<SubscriberList> {
  const set = { ...change, updated_at: timestamp(store.clock.now()) };
  const outcome = await changeNamed(store, ListItem, id, { change: { set }, name });
  if (outcome.kind === "taken") throw nameTaken();
  if (outcome.kind !== "changed") throw notFound("list");
  return listOf(outcome.row, await countMembers(store, listGroup(id)));
}

/**
 * Deletes a list at once, and its memberships in the background.
 * @throws 404, 409 while a scheduled notification or an experience uses it (D-LIST).
 */
export async function removeList(store: Store, timers: Timers, id: string): Promise<void> {
  const group = listGroup(id);
  await requireList(store, id);
  const [user] = await usersOf(store, group);
  if (user) throw conflict(`The list is named by ${user.kind} ${user.id}.`);
  await planSecondPass(store, timers, group);
  const removed = await removeNamed(store, ListItem, id, { extraItems: [membershipDeletionWrite(store, group)] });
  if (removed === "missing") throw notFound("list");
}

export interface AddResult {
  added: number;
  already_member: number;
  /** Ids of no subscriber of this workspace. */
  not_found: string[];
}

/**
 * Adds subscribers to an existing list; a repeat has no effect. Takes any number of ids, and counts each once.
 * @param read their profiles, where they were read, in the order of ids that are each given once
 */
export async function addMembers(
  store: Store,
  list: string,
  ids: readonly string[],
  read?: readonly (LivingProfile | undefined)[],
): Promise<AddResult> {
  const group = listGroup(list);
  const distinct = [...new Set(ids)];
  const memberKeys = distinct.map((id) => memberKey(group, id));
  const [profiles, members] = await Promise.all([
    read ?? getProfiles(store, distinct),
    store.getAll(Member, memberKeys),
  ]);
  const found = distinct.filter((_, i) => profiles[i]);
  const { entered } = await changeMembers(store, group, {
    enter: distinct.filter((_, i) => profiles[i] && !members[i]),
  });
  return {
    added: entered.length,
    already_member: found.length - entered.length,
    not_found: distinct.filter((_, i) => !profiles[i]),
  };
}

/** Removes subscribers from a list; `not_found` are those that are not in it. */
export async function removeMembers(
  store: Store,
  list: string,
  ids: readonly string[],
): Promise<{ removed: number; not_found: string[] }> {
  const group = listGroup(list);
  const distinct = [...new Set(ids)];
  const keys = distinct.map((id) => memberKey(group, id));
  const members = await store.getAll(Member, keys);
  const there = members.flatMap((member) => member ?? []);
  const removed = new Set(await removeUncounted(store, list, there));
  const { left } = await changeMembers(store, group, {
    leave: there.map(({ sk }) => sk).filter((id) => !removed.has(id)),
  });
  for (const id of left) removed.add(id);
  return { removed: removed.size, not_found: distinct.filter((id) => !removed.has(id)) };
}

const listOf = (
  row: Pick<RowOf<typeof ListItem>, keyof typeof listFields | "double_opt_in">,
  subscriber_count: number,
): SubscriberList => ({
  ...fieldsOf(listFields, row),
  double_opt_in: row.double_opt_in === true,
  subscriber_count,
});
