// Entities with a name that is unique in their workspace: the entity, and a row whose key is the name. Both change in
// one transaction. Pages of a list are made of the names, so that they cost one query and the entities they show.
import * as v from "valibot";
import { numberedRoom } from "../contract/paging.ts";
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
import type { Key } from "./model.ts";
import { contended, done, failuresOf, transacted, untilUncontended } from "./refusals.ts";
import { pagesOf } from "./table.ts";

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

export async function createNamed<D extends NamedEntity>(
  store: Store,
  entity: D,
  row: NewRowOf<D> & NamedRow,
): Promise<"created" | "name taken"> {
  const { id, name } = row;
  const nameWrite = putItem(Name, { kind: entity.kind, name }, { id }, absent());
  const [taken] = await failuresOf(store, [nameWrite, putItem<AnyEntity>(entity, { id }, row)]);
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
export async function changeNamed<D extends NamedEntity>(
  store: Store,
  named: D,
  id: string,
  { change, name, when }: NamedChangeOptions<D>,
): Promise<NamedChange<RowOf<D>>> {
  const entity: AnyEntity = named;
  const { kind } = entity;
  const isThere: Condition<string> = when ? all<string>(present(), when) : present();
  const whole = name === undefined ? change : { ...change, set: { ...change.set, name } };
  const read = async (): Promise<NamedChange<RowOf<D>>> => {
    const row = await store.get<AnyEntity>(entity, { id });
    return row ? { kind: "changed", row } : { kind: "missing" };
  };
  const changeAlone = async (): Promise<NamedChange<RowOf<D>>> => {
    const [failures] = await failuresOf(store, [changeItem<AnyEntity>(entity, { id }, whole, isThere)]);
    return failures ? { kind: failures.old ? "refused" : "missing" } : read();
  };
  if (name === undefined) return changeAlone();
  return untilUncontended<NamedChange<RowOf<D>>>(beingChanged, async () => {
    const found = await store.get<AnyEntity>(entity, { id });
    if (!found) return done({ kind: "missing" });
    if (name === found.name) return done(await changeAlone());

    const [moved, taken, entityFailures] = await failuresOf(store, [
      removeItem(Name, { kind, name: found.name }, is("id", id)),
      putItem(Name, { kind, name }, { id }, absent()),
      changeItem<AnyEntity>(entity, { id }, whole, isThere),
    ]);
    if (moved) return contended;
    if (taken) return done({ kind: "taken" });
    if (entityFailures) return entityFailures.old ? done({ kind: "refused" }) : contended;
    return done(await read());
  });
}

interface RemovalOptions<D> {
  /** Looks at the entity, and throws or returns what must still be true when it is removed. */
  permit?: (row: RowOf<D>) => Condition<AttributeOf<D>>;
  /** Written in the same transaction. */
  extraItems?: readonly ItemWrite[];
}

/** Removes an entity and its name, also after a rename that came between. */
export async function removeNamed<D extends NamedEntity>(
  store: Store,
  named: D,
  id: string,
  { permit, extraItems = [] }: RemovalOptions<D> = {},
): Promise<"removed" | "missing"> {
  const entity: AnyEntity = named;
  return untilUncontended<"removed" | "missing">(beingChanged, async () => {
    const found = await store.get<AnyEntity>(entity, { id });
    if (!found) return done("missing");
    const when = permit ? all<string>(present(), permit(found)) : present();
    const isRemoved = await transacted(store, [
      removeItem(entity, { id }, when),
      removeItem(Name, { kind: entity.kind, name: found.name }, is("id", id)),
      ...extraItems,
    ]);
    return isRemoved ? done("removed") : contended;
  });
}

/**
 * Every name of a kind with its id, newest first: ids are UUIDv7, so their order is the order of creation.
 * @param part only names that contain it, in any case
 */
export async function listNames(store: StoreReader, { kind }: AnyEntity, part = ""): Promise<NamedRow[]> {
  const rows = await store.queryAll(Name, { kind }, { eventual: true });
  const wanted = part.normalize("NFC").toLowerCase();
  const names = rows.map(({ id, sk }) => ({ id, name: sk })).filter(({ name }) => name.toLowerCase().includes(wanted));
  return names.sort((a, b) => timeOfUuid(b.id) - timeOfUuid(a.id) || (a.id < b.id ? 1 : -1));
}

/** Entities that are read together: they may have 400 KB each. */
const AT_ONCE = 25;

/**
 * Entities of a numbered page by their ids, newest first; one that was deleted in the meantime is left out. `asRange` reads ids
 * with no or few other entities between them by one query, at a fraction of the price. @throws 422 if the page is too large
 */
export async function getEntities<D extends AnyEntity>(
  store: StoreReader,
  listed: D,
  ids: readonly string[],
  { asRange }: { asRange: boolean },
): Promise<RowOf<D>[]> {
  const entity: AnyEntity = listed;
  const [newest, oldest] = [ids[0], ids.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  const found: RowOf<D>[] = [];
  const requireFit = numberedRoom();
  const take = (rows: readonly RowOf<D>[]) => {
    found.push(...rows);
    requireFit(rows);
  };
  if (!asRange) {
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const rows = await store.getAll(entity, idKeys(ids.slice(from, from + AT_ONCE)), { eventual: true });
      take(rows.filter((row) => row !== undefined));
    }
    return found;
  }
  const wanted = new Set(ids);
  const range = { from: oldest, to: newest, newestFirst: true } as const;
  for await (const { items } of pagesOf((after: Key | undefined) => store.query(entity, {}, { ...range, after })))
    take(items.filter(({ sk }) => wanted.has(sk)));
  return found;
}
