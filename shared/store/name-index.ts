// Entities with a name that is unique in their workspace: the entity, and a row whose key is the name. Both change in
// one transaction. Pages of a list are made of the names, so that they cost one query and the entities they show.

import * as v from "valibot";
import { ApiError, beingChanged } from "../kernel/errors.ts";
import { timeOfUuid } from "../kernel/ids.ts";
import { absent, all, type Condition, is, present } from "./conditions.ts";
import type { Store, StoreReader } from "./context.ts";
import {
  type AnyEntity,
  type AttributeOf,
  type ChangeOf,
  changeItem,
  type Entity,
  type ItemWrite,
  idKeys,
  item,
  type Kind,
  type NewRowOf,
  putItem,
  type RowOf,
  removeItem,
} from "./item.ts";
import { contended, done, failuresOf, transacted, untilUncontended } from "./refusals.ts";

/** The most entities of one kind in a workspace. */
export const MAX_ENTITIES = 10_000;

/** @param noun such as `lists` */
export const noRoom = (noun: string): ApiError =>
  new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MAX_ENTITIES} ${noun}.`);

/** @param noun such as `lists` @throws 429 QUOTA_EXCEEDED where a workspace can hold no more of a kind */
export async function requireRoomForName(store: StoreReader, entity: AnyEntity, noun: string): Promise<void> {
  const names = await listNames(store, entity);
  if (names.length >= MAX_ENTITIES) throw noRoom(noun);
}

export const Name = item({
  about: "The name of an entity, unique among those of its kind.",
  pk: ({ kind }: { kind: Kind }) => `${kind}:names`,
  sk: ({ name }: { name: string }) => name,
  row: { id: v.string() },
  writers: ["api-templates", "api-lists", "api-channels", "api-segments", "import-rows"],
});

// biome-ignore lint/suspicious/noExplicitAny: any entity that has a name
type NamedEntity = Entity<any> & { readonly types?: { row: { id: string; name: string } } };
type NamedRow = { id: string; name: string };

export function createNamed<D extends NamedEntity>(
  store: Store,
  entity: D,
  row: NewRowOf<D> & NamedRow,
): Promise<"created" | "name taken">;
export async function createNamed(store: Store, entity: AnyEntity, row: NamedRow): Promise<"created" | "name taken"> {
  const { id, name } = row;
  const nameWrite = putItem(Name, { kind: entity.kind, name }, { id }, absent());
  const [taken] = await failuresOf(store, [nameWrite, putItem(entity, { id }, row)]);
  // The reply to this very write may have been lost: then the name is its own.
  return !taken || taken.old?.id === id ? "created" : "name taken";
}

/** `taken`: another entity has the name. `refused`: the entity does not meet `when`. */
type NamedChange<Row> = { kind: "changed"; row: Row } | { kind: "missing" | "taken" | "refused" };

interface NamedChangeOptions<D> {
  change: ChangeOf<D>;
  /** The new name, where it is given. */
  name?: string | undefined;
  when?: Condition<AttributeOf<D>> | undefined;
}

/**
 * Changes an entity and, where a new name is given, moves its name in the same transaction. A rename that came between
 * is accepted, and the change continues from there.
 */
export function changeNamed<D extends NamedEntity>(
  store: Store,
  entity: D,
  id: string,
  options: NamedChangeOptions<D>,
): Promise<NamedChange<RowOf<D>>>;
export async function changeNamed(
  store: Store,
  entity: AnyEntity,
  id: string,
  // biome-ignore lint/suspicious/noExplicitAny: the signature above says what it takes
  { change, name, when }: any,
): Promise<NamedChange<object>> {
  const { kind } = entity;
  const isThere: Condition<string> = when ? all<string>(present(), when) : present();
  const whole = name === undefined ? change : { ...change, set: { ...change.set, name } };
  const read = async (): Promise<NamedChange<object>> => {
    const row = await store.get(entity, { id });
    return row ? { kind: "changed", row } : { kind: "missing" };
  };
  const changeAlone = async (): Promise<NamedChange<object>> => {
    const [own] = await failuresOf(store, [changeItem(entity, { id }, whole, isThere)]);
    return own ? { kind: own.old ? "refused" : "missing" } : read();
  };
  if (name === undefined) return changeAlone();
  return untilUncontended<NamedChange<object>>(beingChanged, async () => {
    const found = await store.get(entity, { id });
    if (!found) return done({ kind: "missing" });
    if (name === found.name) return done(await changeAlone());

    const [moved, taken, own] = await failuresOf(store, [
      removeItem(Name, { kind, name: found.name }, is("id", id)),
      putItem(Name, { kind, name }, { id }, absent()),
      changeItem(entity, { id }, whole, isThere),
    ]);
    if (moved) return contended;
    if (taken) return done({ kind: "taken" });
    if (own) return own.old ? done({ kind: "refused" }) : contended;
    return done(await read());
  });
}

/**
 * Removes an entity and its name, also after a rename that came between, with `extraItems` in the same transaction.
 * `permit` looks at the entity and throws, or returns what must still be true when it is removed.
 */
export function removeNamed<D extends NamedEntity>(
  store: Store,
  entity: D,
  id: string,
  options?: { permit?: (row: RowOf<D>) => Condition<AttributeOf<D>>; extraItems?: readonly ItemWrite[] },
): Promise<"removed" | "missing">;
export async function removeNamed(
  store: Store,
  entity: AnyEntity,
  id: string,
  // biome-ignore lint/suspicious/noExplicitAny: the signature above says what it takes
  { permit, extraItems = [] }: any = {},
): Promise<"removed" | "missing"> {
  return untilUncontended<"removed" | "missing">(beingChanged, async () => {
    const found = await store.get(entity, { id });
    if (!found) return done("missing");
    const when = permit ? all(present(), permit(found)) : present();
    const isRemoved = await transacted(store, [
      removeItem(entity, { id }, when),
      removeItem(Name, { kind: entity.kind, name: found.name }, is("id", id)),
      ...extraItems,
    ]);
    return isRemoved ? done("removed") : contended;
  });
}

/** Every name of a kind with its id, newest first: ids are UUIDv7, so their order is the order of creation. */
export async function listNames(store: StoreReader, { kind }: AnyEntity): Promise<NamedRow[]> {
  const rows = await store.queryAll(Name, { kind }, { eventual: true });
  const names = rows.map(({ id, sk }) => ({ id, name: sk }));
  return names.sort((a, b) => timeOfUuid(b.id) - timeOfUuid(a.id) || (a.id < b.id ? 1 : -1));
}

/**
 * A page of entities by their ids, newest first; one that was deleted meanwhile is left out. `asRange` reads ids that
 * have no or few other entities between them by one query, at a fraction of the price.
 */
export function getEntities<D extends AnyEntity>(
  store: StoreReader,
  entity: D,
  ids: readonly string[],
  options: { asRange: boolean },
): Promise<RowOf<D>[]>;
export async function getEntities(
  store: StoreReader,
  entity: AnyEntity,
  ids: readonly string[],
  { asRange }: { asRange: boolean },
): Promise<unknown[]> {
  const [newest, oldest] = [ids[0], ids.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  if (!asRange) {
    const keys = idKeys(ids);
    return (await store.getAll(entity, keys, { eventual: true })).filter((row) => row !== undefined);
  }
  const wanted = new Set(ids);
  const rows = await store.queryAll(entity, {}, { from: oldest, to: newest, newestFirst: true });
  return rows.filter(({ sk }) => wanted.has(sk));
}
