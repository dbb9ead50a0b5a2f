// Entities whose names may repeat, listed by page: the entity, and a small row that holds its status. A page of one
// status, with its total, then costs a query of the small rows and the entities it shows.
import * as v from "valibot";
import { offsetOf, type PageQuery } from "../contract/paging.ts";
import { Timestamp } from "../contract/schemas.ts";
import { uuidPrefixOf } from "../kernel/ids.ts";
import { absent, all, type Condition, present } from "./conditions.ts";
import type { Store, StoreReader } from "./context.ts";
import {
  type AnyEntity,
  type AttributeOf,
  type ChangeOf,
  changeItem,
  type ItemWrite,
  item,
  type Kind,
  type NewRowOf,
  putItem,
  type RowOf,
  removeItem,
} from "./item.ts";
import { getEntities, MAX_ENTITIES, noRoom } from "./name-index.ts";
import { type ChangeResult, changed, failuresOf, oldRow, transacted } from "./refusals.ts";

export const Status = item({
  about: "The status of an entity that is listed by status, and its name where the list is searched by name.",
  pk: ({ kind }: { kind: Kind }) => `${kind}:ids`,
  sk: ({ id }: { id: string }) => id,
  row: {
    status: v.string(),
    name: v.optional(v.string()),
    /** Something is to be decided of it. */
    waits: v.optional(v.boolean()),
    /** When it ends by itself. */
    until: v.optional(Timestamp),
  },
  writers: [
    "api-campaigns",
    "api-schedules",
    "api-journeys",
    "api-experiences",
    "api-assets",
    "api-segments",
    "api-channels",
    "run-campaign",
    "run-schedule",
    "end-experience",
  ],
});

/** The write that notes the status of an entity: for the transaction that makes or moves the entity. */
export const statusWrite = (
  { kind }: AnyEntity,
  id: string,
  status: string | undefined,
  { name, waits, until }: { name?: string | undefined; waits?: boolean | undefined; until?: string | undefined } = {},
): ItemWrite<"workspace"> => changeItem(Status, { kind, id }, { set: { status, name, waits, until } });

interface ListedEntity {
  id: string;
  status: string;
  name?: string | undefined;
  waits?: boolean | undefined;
}

/** Every entity of a kind with its status, newest first: ids are UUIDv7, so their order is the order of creation. */
async function listStatuses(store: StoreReader, { kind }: AnyEntity): Promise<ListedEntity[]> {
  const rows = await store.queryAll(Status, { kind }, { newestFirst: true, eventual: true });
  return rows.map(({ sk, status, name, waits }) => ({ id: sk, status, name, waits }));
}

/** The id of the newest entity of this name. */
export const newestNamed = async (store: StoreReader, entity: AnyEntity, name: string): Promise<string | undefined> =>
  (await listStatuses(store, entity)).find((listed) => listed.name === name)?.id;

/** Requires room for another entity. @throws 429 QUOTA_EXCEEDED if the workspace has the most of its kind */
export async function requireRoom(store: StoreReader, entity: AnyEntity, noun: string): Promise<void> {
  const listed = await listStatuses(store, entity);
  if (listed.length >= MAX_ENTITIES) throw noRoom(noun);
}

type ListedRow = { id: string; name?: string | undefined };

/** Puts an entity and its status in one transaction, with `extraItems`. @throws 429 QUOTA_EXCEEDED beyond 10,000 of a kind. */
export async function createListed<D extends AnyEntity>(
  store: Store,
  entity: D,
  status: string,
  row: NewRowOf<D> & ListedRow,
  extraItems: readonly ItemWrite[] = [],
): Promise<void> {
  const { id, name } = row;
  await requireRoom(store, entity, "of these");
  await store.transact([
    putItem<AnyEntity>(entity, { id }, row, absent()),
    statusWrite(entity, id, status, { name }),
    ...extraItems,
  ]);
}

export interface ListedChange<D> {
  change: ChangeOf<D>;
  /** The status after the change, where the change is a move. */
  status?: string | undefined;
  waits?: boolean | undefined;
  when?: Condition<AttributeOf<D>> | undefined;
  extraItems?: readonly ItemWrite[];
}

/**
 * Changes an entity that exists and meets `when`, and its status where it moves, with `extraItems` in the same transaction,
 * whose own conditions must hold.
 */
export async function changeListed<D extends AnyEntity>(
  store: Store,
  listed: D,
  id: string,
  { change, status, waits, when, extraItems = [] }: ListedChange<D>,
): Promise<ChangeResult<RowOf<D>>> {
  const entity: AnyEntity = listed;
  const isAsWanted = when ? all<string>(present(), when) : present();
  const { name }: { name?: string | undefined } = change.set ?? {};
  const isMoved = status !== undefined || name !== undefined || waits !== undefined;
  const others = [...(isMoved ? [statusWrite(entity, id, status, { name, waits })] : []), ...extraItems];
  if (others.length === 0) return changed(entity, store.change(entity, { id }, change, isAsWanted));

  const failures = await failuresOf(store, [changeItem(entity, { id }, change, isAsWanted), ...others]);
  if (failures.length > 0) return { kind: "refused", current: oldRow(entity, failures[0]) };
  const row = await store.get<AnyEntity>(entity, { id });
  return row ? { kind: "changed", row } : { kind: "refused", current: undefined };
}

export const removeListed = async <D extends AnyEntity>(
  store: Store,
  entity: D,
  id: string,
  when?: Condition<AttributeOf<D>>,
): Promise<"removed" | "refused"> => {
  const isThere = when ? all<string>(present(), when) : present();
  const removal: ItemWrite = { item: entity, key: { id }, write: { kind: "remove", when: isThere } };
  const isRemoved = await transacted(store, [removal, removeItem(Status, { kind: entity.kind, id })]);
  return isRemoved ? "removed" : "refused";
};

/** Entities are read in one range if it has at most this many others for each one. */
const MAX_SPREAD = 2;

export interface ListFilter {
  status?: string | undefined;
  waits?: boolean | undefined;
  /** A part of the name. */
  q?: string | undefined;
  /** When it was created, RFC 3339, both ends included. */
  from?: string | undefined;
  to?: string | undefined;
}

function filtered(all: readonly ListedEntity[], { status, waits, q, from, to }: ListFilter) {
  const [first, last] = [from && uuidPrefixOf(Date.parse(from)), to && `${uuidPrefixOf(Date.parse(to))}~`];
  const part = q?.normalize("NFC").toLowerCase();
  return all
    .map((entry, place) => ({ ...entry, place }))
    .filter(
      (entry) =>
        (status === undefined || entry.status === status) &&
        (waits === undefined || (entry.waits ?? false) === waits) &&
        (!first || entry.id >= first) &&
        (!last || entry.id <= last) &&
        (part === undefined || (entry.name ?? "").toLowerCase().includes(part)),
    );
}

/** A page of entities, newest first, those of the filter; `total` counts all pages. */
export async function listPage<D extends AnyEntity>(
  store: StoreReader,
  entity: D,
  { page, size, ...filter }: PageQuery & ListFilter,
): Promise<{ rows: RowOf<D>[]; total: number }> {
  const wanted = filtered(await listStatuses(store, entity), filter);
  const { from, to } = offsetOf({ page, size });
  const chosen = wanted.slice(from, to);
  const [first, last] = [chosen[0], chosen.at(-1)];
  const span = first && last ? last.place - first.place + 1 : 0;
  const asRange = span <= MAX_SPREAD * chosen.length;
  const ids = chosen.map(({ id }) => id);
  return { rows: await getEntities(store, entity, ids, { asRange }), total: wanted.length };
}
