// The declaration of a stored item: its key, its row, its writers, its lifetime. The types of reads and writes,
// `docs/data-model.md`, the places that an erasure visits and the golden file of the table are derived from it.
import * as v from "valibot";
import type { TenantId } from "../kernel/ids.ts";
import type { Condition } from "./conditions.ts";
import type { tableDefinition } from "./definition.ts";
import type { Item, Key } from "./model.ts";

/** Attributes by name. A name that ends in `*` stands for all attributes with that prefix (`a:*`). */
type Attributes = Readonly<Record<string, v.GenericSchema>>;

/** What an erasure does with an item that concerns one subscriber. */
type Personal = "removed" | "anonymized" | "scrubbed";

/** How the purge of a workspace finds its rows of a platform item. `with-members`: with its members. */
type Purge = "by-key" | "by-tenant-attribute" | "with-members" | "kept";

/** Partition keys of a workspace's items begin `T#<tenant>#`; items of the platform belong to no workspace. */
export type Scope = "workspace" | "platform";

interface Metadata {
  /** The content of the item, in one sentence. */
  about: string;
  /** The functions that write it, by their names in `functions/index.ts`. */
  writers: readonly string[];
  /** How long it stays. Default: until it is deleted or its workspace is purged. */
  lifetime?: string;
  /** What an erasure does with it. Absent: it names no subscriber. */
  personal?: Personal;
}

interface Spec<P, S, A> extends Metadata {
  /** The partition key, without the prefix of the workspace. */
  pk(parts: P): string;
  /** The sort key. Default: the whole partition key. */
  sk?(parts: S): string;
  /** The prefix of all its sort keys, if other items share the partition: a query is limited to it. */
  prefix?: string;
  /** Required for a platform item. Absent: the item is purged with its workspace. */
  purge?: Purge;
  row: A;
}

type Flat<T> = { [N in keyof T]: T[N] };
type Family<A> = Extract<keyof A, `${string}*`>;
type FamilyName<N> = N extends `${infer Prefix}*` ? `${Prefix}${string}` : never;
type OptionalName<A> = { [N in keyof A]: A[N] extends { readonly type: "optional" } ? N : never }[keyof A];
type OutputOf<S> = S extends v.GenericSchema ? Exclude<v.InferOutput<S>, undefined> : never;

/** A row in reads: its key and its attributes. */
type RowType<A> = Flat<
  Key & { [N in Exclude<keyof A, OptionalName<A> | Family<A>>]: OutputOf<A[N]> } & {
    [N in Exclude<OptionalName<A>, Family<A>>]?: OutputOf<A[N]>;
  } & { [N in Family<A> as FamilyName<N>]?: OutputOf<A[N]> }
>;

/** A declared item: `P` are the parts of its partition key, `S` those of its sort key, `R` is its row. */
export interface Declaration<P, S, R, W extends Scope = Scope> {
  readonly scope: W;
  readonly about: string;
  readonly writers: readonly string[];
  readonly lifetime: string | undefined;
  readonly personal: Personal | undefined;
  readonly purge: Purge | undefined;
  readonly row: Attributes;
  readonly prefix: string | undefined;
  pk(parts: P): string;
  readonly sk: ((parts: S) => string) | undefined;
  /** For the compiler only. */
  readonly types?: { partition: P; key: Flat<P & S>; row: R };
}

type IndexName = keyof typeof tableDefinition.indexes;

/** A view of some items by another key: `R` is what a query of it returns. */
interface IndexDeclaration<P, S, R, W extends Scope = Scope, I extends IndexName = IndexName> {
  readonly scope: W;
  readonly about: string;
  readonly index: I;
  readonly prefix?: undefined;
  pk(parts: P): string;
  sk(parts: S): string;
  /** For the compiler only. */
  readonly types?: { partition: P; key: Flat<P & S>; row: R };
}

// biome-ignore lint/suspicious/noExplicitAny: any item at all; what is read and written follows from its types
export type AnyItem<W extends Scope = Scope> = Declaration<any, any, any, W>;
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyIndex<W extends Scope = Scope> = IndexDeclaration<any, any, any, W>;

type TypesOf<D> = D extends { readonly types?: infer T } ? NonNullable<T> : never;
export type RowOf<D> = TypesOf<D> extends { row: infer R } ? R : never;
export type KeyOf<D> = TypesOf<D> extends { key: infer K } ? K : never;
/** The parts of its partition key. */
export type PartitionOf<D> = TypesOf<D> extends { partition: infer P } ? P : never;
/** The names of its attributes and of its key. */
export type AttributeOf<D> = Extract<keyof RowOf<D>, string>;

type Body<R> = { [N in keyof R as N extends keyof Key ? never : N]: R[N] };
type OptionalKeys<R> = { [N in keyof R]-?: Record<never, never> extends Pick<R, N> ? N : never }[keyof R];
type NewRow<R> = Flat<
  { [N in Exclude<keyof R, OptionalKeys<R>>]: R[N] } & { [N in OptionalKeys<R>]?: R[N] | undefined }
>;
/** A row in writes: without its key. An optional attribute that is undefined is left out. */
export type NewRowOf<D> = NewRow<Body<RowOf<D>>>;

interface RowChange<R> {
  set?: { [N in keyof R]?: R[N] | undefined };
  /** Set only if the attribute is absent. */
  initial?: { [N in keyof R]?: R[N] };
  add?: { [N in keyof R as NonNullable<R[N]> extends number ? N : never]?: number };
  remove?: readonly Extract<OptionalKeys<R>, string>[];
}
/** The change of a row by an update. An undefined member is left alone; only an optional attribute can be removed. */
export type ChangeOf<D> = RowChange<Body<RowOf<D>>>;
export type ConditionOf<D> = Condition<AttributeOf<D>>;

function declared<P, S, A extends Attributes, W extends Scope>(
  scope: W,
  { about, writers, lifetime, personal, purge, row, prefix, pk, sk }: Spec<P, S, A>,
): Declaration<P, S, RowType<A>, W> {
  return { scope, about, writers, lifetime, personal, purge, row, prefix, pk, sk };
}

// With the annotations a bundle leaves out the declarations that its function does not use.

/** Declares an item of a workspace. */
/* @__NO_SIDE_EFFECTS__ */
export function item<P extends object, S extends object, const A extends Attributes>(
  spec: Spec<P, S, A> & { purge?: never },
): Declaration<P, S, RowType<A>, "workspace"> {
  return declared("workspace", spec);
}

/** Declares an item that belongs to no workspace. */
/* @__NO_SIDE_EFFECTS__ */
export function platformItem<P extends object, S extends object, const A extends Attributes>(
  spec: Spec<P, S, A> & { purge: Purge },
): Declaration<P, S, RowType<A>, "platform"> {
  return declared("platform", spec);
}

export type Kind =
  | "template"
  | "channel"
  | "list"
  | "segment"
  | "campaign"
  | "schedule"
  | "journey"
  | "experience"
  | "asset"
  | "webhook"
  | "import"
  | "export"
  | "simulation"
  | "annotation"
  | "conversion"
  | "server-key"
  | "agent-key";

/** An item that a workspace creates, with an id: all of one kind are in one partition, in the order of their ids. */
export interface Entity<R, K extends Kind = Kind> extends Declaration<object, { id: string }, R, "workspace"> {
  readonly kind: K;
}
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyEntity = Entity<any>;

/* @__NO_SIDE_EFFECTS__ */
export function entity<const K extends Kind, const A extends Attributes>(
  kind: K,
  spec: Metadata & { row: A },
): Entity<RowType<A>, K> {
  return { ...declared("workspace", { ...spec, pk: () => kind, sk: ({ id }: { id: string }) => id }), kind };
}

type KeysOnly<I extends IndexName> = Key & Record<`${I}pk` | `${I}sk`, string>;

interface IndexSpec<I, P, S> {
  index: I;
  about: string;
  pk(parts: P): string;
  sk(parts: S): string;
}

/** Declares an index whose rows are whole items. */
/* @__NO_SIDE_EFFECTS__ */
export function indexOf<D extends AnyItem, I extends "i1", P extends object, S extends object>(
  { scope }: D,
  spec: IndexSpec<I, P, S>,
): IndexDeclaration<P, S, RowOf<D>, D["scope"], I> {
  return { scope, ...spec };
}

/** Declares an index that holds keys only. */
/* @__NO_SIDE_EFFECTS__ */
export function keyIndexOf<D extends AnyItem, I extends "i2" | "i3", P extends object, S extends object>(
  { scope }: D,
  spec: IndexSpec<I, P, S>,
): IndexDeclaration<P, S, KeysOnly<I>, D["scope"], I> {
  return { scope, ...spec };
}

/** The two attributes that put a row into an index, for the `row` of its item. */
/* @__NO_SIDE_EFFECTS__ */
export function indexAttributes<I extends IndexName>(index: I) {
  return { [`${index}pk`]: v.optional(v.string()), [`${index}sk`]: v.optional(v.string()) } as Record<
    `${I}pk` | `${I}sk`,
    v.OptionalSchema<v.StringSchema<undefined>, undefined>
  >;
}

/** One write of a transaction or a batch, made by `putItem`, `changeItem`, `removeItem` or `checkItem`. */
export interface ItemWrite<W extends Scope = "workspace"> {
  item: AnyItem<W>;
  key: unknown;
  write:
    | { kind: "put"; row: object; when: Condition | undefined }
    | { kind: "change"; change: object; when: Condition | undefined }
    | { kind: "remove"; when?: Condition | undefined }
    | { kind: "check"; when: Condition };
}

export const putItem = <D extends AnyItem>(
  item: D,
  key: KeyOf<D>,
  row: NewRowOf<D>,
  when?: ConditionOf<D>,
): ItemWrite<D["scope"]> => ({ item, key, write: { kind: "put", row, when } });

export const changeItem = <D extends AnyItem>(
  item: D,
  key: KeyOf<D>,
  change: ChangeOf<D>,
  when?: ConditionOf<D>,
): ItemWrite<D["scope"]> => ({ item, key, write: { kind: "change", change, when } });

export const removeItem = <D extends AnyItem>(
  item: D,
  key: KeyOf<D>,
  when?: ConditionOf<D>,
): ItemWrite<D["scope"]> => ({ item, key, write: { kind: "remove", when } });

/** Only in a transaction: nothing is written, but the condition must hold. */
export const checkItem = <D extends AnyItem>(item: D, key: KeyOf<D>, when: ConditionOf<D>): ItemWrite<D["scope"]> => ({
  item,
  key,
  write: { kind: "check", when },
});

/** Names an item to be read together with others. */
export type Ref<D extends AnyItem = AnyItem> = { item: D; key: KeyOf<D> };
export const ref = <D extends AnyItem>(item: D, key: KeyOf<D>): Ref<D> => ({ item, key });
export type RowsOf<T extends readonly Ref[]> = {
  -readonly [N in keyof T]: T[N] extends Ref<infer D> ? RowOf<D> | undefined : never;
};

/** The prefix of a workspace's partition keys. */
export const prefixOf = (tenant: TenantId): string => `T#${tenant}#`;

/** The whole key of an item. @param prefix that of the workspace; empty for a platform item */
export function fullKey({ pk, sk }: Pick<AnyItem, "pk" | "sk">, key: unknown, prefix: string): Key {
  const parts = key as object;
  const partition = prefix + pk(parts);
  return { pk: partition, sk: sk ? sk(parts) : partition };
}

/** The key of a workspace's item, for code that compares or stores keys. */
export const keyOf = <D extends AnyItem<"workspace">>(item: D, tenant: TenantId, key: KeyOf<D>): Key =>
  fullKey(item, key, prefixOf(tenant));

export const idKeys = (ids: readonly string[]): { id: string }[] => ids.map((id) => ({ id }));

/** The attributes that put a row of a workspace into an index. */
export const indexKey = <P, S, R, I extends IndexName>(
  { index, pk, sk }: IndexDeclaration<P, S, R, "workspace", I>,
  tenant: TenantId,
  key: P & S,
) => ({ [`${index}pk`]: prefixOf(tenant) + pk(key), [`${index}sk`]: sk(key) }) as Record<`${I}pk` | `${I}sk`, string>;

/** A row typed as a declared item. The caller knows from its key, or its `react`, that it is one. */
export const rowOf = <D extends AnyItem>(_: D, row: Item): RowOf<D> => row as RowOf<D>;

/** The attributes of a row that `entries` names, if the API returns a part of the stored row. */
export function fieldsOf<E extends v.ObjectEntries, R extends { [N in keyof E]?: unknown }>(
  entries: E,
  row: R,
): Pick<R, keyof E & keyof R> {
  const fields = Object.keys(entries).flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]]));
  return Object.fromEntries(fields);
}

/** The same, with `null` for attributes that are not stored. */
export const fieldsOrNull = <E extends v.ObjectEntries, R extends { [N in keyof E]?: unknown }>(entries: E, row: R) =>
  Object.fromEntries(Object.keys(entries).map((name) => [name, row[name] ?? null])) as {
    [N in keyof E & keyof R]: Exclude<R[N], undefined> | (undefined extends R[N] ? null : never);
  };
