// The one table: every read and write of the product passes here, by declared items, bound to one workspace or to the
// platform. The types of rows are those of their declarations: rows are not validated at run time.
import type { Deps } from "../kernel/deps.ts";
import type { TenantId } from "../kernel/ids.ts";
import type { Change, QueryRange } from "./expressions.ts";
import {
  type AnyIndex,
  type AnyItem,
  type ChangeOf,
  type ConditionOf,
  fullKey,
  type ItemWrite,
  type KeyOf,
  type NewRowOf,
  type PartitionOf,
  prefixOf,
  type Ref,
  type RowOf,
  type RowsOf,
  type Scope,
} from "./item.ts";
import type { Item, Key } from "./model.ts";
import { type BatchWrite, openRows, type RawPage, type RawWrite, type ReadOptions, type Rows } from "./rows.ts";

interface Page<R> {
  items: R[];
  /** Where the next page begins; absent on the last one. */
  next?: Key;
}

/** Pages one after the other, each read when the one before it was used. */
export async function* pagesOf<N, P extends { next?: N | undefined }>(
  read: (after: N | undefined) => Promise<P>,
): AsyncGenerator<P, undefined> {
  let after: N | undefined;
  do {
    const page = await read(after);
    yield page;
    after = page.next;
  } while (after !== undefined);
}

/** Which rows of a partition, and how they are read. Default: all rows of the item, strongly consistent. */
export type Range = Omit<QueryRange, "pk" | "index">;

export interface Reader<W extends Scope = Scope> {
  /** One row, strongly consistent unless `eventual`. */
  get<D extends AnyItem<W>>(item: D, key: KeyOf<D>, options?: ReadOptions): Promise<RowOf<D> | undefined>;
  /** Rows of one item in the order of the keys (repeats allowed), 100 a request; nothing is left unprocessed. */
  getAll<D extends AnyItem<W>>(
    item: D,
    keys: readonly KeyOf<D>[],
    options?: ReadOptions,
  ): Promise<(RowOf<D> | undefined)[]>;
  /** Rows of several items in one request: see `ref`. */
  getEach<const T extends readonly Ref[]>(refs: T, options?: ReadOptions): Promise<RowsOf<T>>;
  /** A page of a partition, or of an index. */
  query<D extends AnyItem<W> | AnyIndex<W>>(item: D, partition: PartitionOf<D>, range?: Range): Promise<Page<RowOf<D>>>;
  /** Every row of a range, however many pages they are: for ranges that have an end. */
  queryAll<D extends AnyItem<W> | AnyIndex<W>>(item: D, partition: PartitionOf<D>, range?: Range): Promise<RowOf<D>[]>;
  /** A page of a partition that several items share, as they are stored: see `rowOf`. */
  queryRows<D extends AnyItem<W> | AnyIndex<W>>(item: D, partition: PartitionOf<D>, range?: Range): Promise<RawPage>;
  /** How many rows there are in a range, however many pages they are. */
  count<D extends AnyItem<W> | AnyIndex<W>>(item: D, partition: PartitionOf<D>, range?: Range): Promise<number>;
}

export interface Table<W extends Scope = Scope> extends Reader<W> {
  /** @throws what `onConditionFailed` catches, with the row as it was. */
  put<D extends AnyItem<W>>(item: D, key: KeyOf<D>, row: NewRowOf<D>, when?: ConditionOf<D>): Promise<void>;
  /** The row after the change. @throws what `onConditionFailed` catches, with the row as it was. */
  change<D extends AnyItem<W>>(item: D, key: KeyOf<D>, change: ChangeOf<D>, when?: ConditionOf<D>): Promise<RowOf<D>>;
  /** The row as it was. @throws what `onConditionFailed` catches, with the row as it was. */
  remove<D extends AnyItem<W>>(item: D, key: KeyOf<D>, when?: ConditionOf<D>): Promise<RowOf<D> | undefined>;
  /** Unconditional puts and removals, 25 a request; nothing is left unprocessed. */
  writeAll(writes: readonly ItemWrite<W>[]): Promise<void>;
  /**
   * Puts rows that are not there yet, each for itself. After an error some may be stored.
   * @returns for each the row that was there already; undefined where it was stored
   */
  insertAll<D extends AnyItem<W>>(
    item: D,
    rows: readonly { key: KeyOf<D>; row: NewRowOf<D> }[],
  ): Promise<(RowOf<D> | undefined)[]>;
  /** Removes rows by their keys, whatever they are, 25 a request. */
  removeRows(keys: readonly Key[]): Promise<void>;
  /** All or nothing; conflicts are tried again. See `failuresOf`. */
  transact(writes: readonly ItemWrite<W>[]): Promise<void>;
}

/** Opens the table once; the result binds it to the items of a workspace. */
export function openWorkspaceTable(deps: Deps): (tenant: TenantId) => Table<"workspace"> {
  const rows = openRows(deps);
  return (tenant) => bind(deps, rows(isOfWorkspace(tenant)), prefixOf(tenant));
}

/** The partition keys that a store bound to a workspace may touch. Without a workspace there are none. */
export function isOfWorkspace(tenant: TenantId): (pk: string) => boolean {
  const prefix = prefixOf(tenant);
  return (pk) => tenant !== "" && pk.startsWith(prefix);
}

/** Opens the table for items of the platform. @param beginning limits it to partition keys that begin so. */
export const openPlatformTable = (deps: Deps, beginning = ""): Table<"platform"> =>
  bind(
    deps,
    openRows(deps)((pk) => isOfPlatform(pk) && pk.startsWith(beginning)),
    "",
  );

/** Rows of a workspace and one of the platform, as they are stored, in one request: see `rowOf`. */
export type JointRead = (refs: readonly Ref[]) => Promise<(Item | undefined)[]>;

/** Opens such reads. @param alsoAllowed the only partition key of the platform that they may name */
export function openJointReads(deps: Deps, alsoAllowed: (tenant: TenantId) => string): (tenant: TenantId) => JointRead {
  const rows = openRows(deps);
  const read = seenBy(deps);
  return (tenant) => {
    const { bound, prefix } = jointRows(rows, tenant, alsoAllowed(tenant));
    return async (refs) => {
      const found = await bound.getAll(refs.map(({ item, key }) => fullKey(item, key, prefix[item.scope])));
      for (const [i, { item }] of refs.entries()) read(item, found[i]);
      return found;
    };
  };
}

/** Writes of rows of a workspace and of one of the platform, all or nothing. */
export type JointWrite = Pick<Table, "transact">;

/** Opens such writes. @param alsoAllowed the only partition key of the platform that they may name */
export function openJointWrites(
  deps: Deps,
  alsoAllowed: (tenant: TenantId) => string,
): (tenant: TenantId) => JointWrite {
  const rows = openRows(deps);
  return (tenant) => {
    const { bound, prefix } = jointRows(rows, tenant, alsoAllowed(tenant));
    return {
      transact: (writes) => bound.transact(writes.map((write) => rawWriteOf(write, prefix[write.item.scope]))),
    };
  };
}

function jointRows(rows: ReturnType<typeof openRows>, tenant: TenantId, alsoAllowed: string) {
  const isOwn = isOfWorkspace(tenant);
  const bound = rows((pk) => isOwn(pk) || pk === alsoAllowed);
  return { bound, prefix: { workspace: prefixOf(tenant), platform: "" } };
}

/** The partition keys of items that belong to no workspace. */
export const isOfPlatform = (pk: string): boolean => !pk.startsWith("T#");

/** The operations on declared items. @param prefix what stands before each partition key. */
function bind<W extends Scope>(deps: Deps, rows: Rows, prefix: string): Table<W> {
  const table = { ...readsOf(deps, rows, prefix), ...writesOf(deps, rows, prefix) };
  // The declarations of rows and keys are the type of the table; at run time they are plain items.
  return table as unknown as Table<W>;
}

type DeclaredItem = AnyItem | AnyIndex;

function readsOf(deps: Deps, rows: Rows, prefix: string) {
  const read = seenBy(deps);
  const query = async (item: DeclaredItem, partition: unknown, range?: Range) => {
    const page = await rows.query(rangeOf(item, partition, prefix, range));
    for (const row of page.items) read(item, row);
    return page;
  };
  const getEach = async (refs: readonly Ref[], options?: ReadOptions) => {
    const found = await rows.getAll(
      refs.map(({ item, key }) => fullKey(item, key, prefix)),
      options,
    );
    for (const [i, { item }] of refs.entries()) read(item, found[i]);
    return found;
  };
  return {
    query,
    get: async (item: AnyItem, key: unknown, options?: ReadOptions) =>
      read(item, await rows.get(fullKey(item, key, prefix), options)),
    getEach,
    getAll: (item: AnyItem, keys: readonly Ref["key"][], options?: ReadOptions) =>
      getEach(
        keys.map((key) => ({ item, key })),
        options,
      ),
    queryAll: async (item: DeclaredItem, partition: unknown, range: Range = {}) => {
      const all: Item[] = [];
      const read = (after = range.after) => query(item, partition, { ...range, after });
      for await (const { items } of pagesOf(read)) all.push(...items);
      return all;
    },
    queryRows: (item: DeclaredItem, partition: unknown, range?: Range) =>
      rows.query(rangeOf({ ...item, prefix: undefined } as DeclaredItem, partition, prefix, range)),
    count: (item: DeclaredItem, partition: unknown, range?: Range) =>
      rows.count(rangeOf(item, partition, prefix, range)),
  };
}

function writesOf(deps: Deps, rows: Rows, prefix: string) {
  const read = seenBy(deps);
  return {
    put: (item: AnyItem, key: unknown, row: object, when?: ConditionOf<AnyItem>) =>
      rows.put({ ...fullKey(item, key, prefix), ...row }, when),
    change: async (item: AnyItem, key: unknown, change: Change, when?: ConditionOf<AnyItem>) =>
      read(item, await rows.update(fullKey(item, key, prefix), change, when)),
    remove: async (item: AnyItem, key: unknown, when?: ConditionOf<AnyItem>) =>
      read(item, await rows.remove(fullKey(item, key, prefix), when)),
    writeAll: (writes: readonly ItemWrite<Scope>[]) =>
      rows.writeAll(writes.map((write) => batchWriteOf(write, prefix))),
    insertAll: async (item: AnyItem, inserts: readonly { key: unknown; row: object }[]) => {
      const found = await rows.insertAll(inserts.map(({ key, row }) => ({ ...fullKey(item, key, prefix), ...row })));
      for (const row of found) read(item, row);
      return found;
    },
    removeRows: (keys: readonly Key[]) => rows.writeAll(keys.map((key) => ({ kind: "remove", key }))),
    transact: (writes: readonly ItemWrite<Scope>[]) => rows.transact(writes.map((write) => rawWriteOf(write, prefix))),
  };
}

/** In tests, every row that is read is looked at. */
const seenBy =
  ({ onRead }: Deps) =>
  <R extends Item | undefined>(item: DeclaredItem, row: R): R => {
    if (row) onRead?.(item, row);
    return row;
  };

function rangeOf(item: DeclaredItem, partition: unknown, prefix: string, range: Range = {}): QueryRange {
  const isBounded = range.prefix !== undefined || range.from !== undefined || range.to !== undefined;
  return {
    pk: prefix + item.pk(partition),
    ...("index" in item && { index: item.index }),
    ...(!isBounded && item.prefix !== undefined && { prefix: item.prefix }),
    ...range,
  };
}

function rawWriteOf({ item, key, write }: ItemWrite<Scope>, prefix: string): RawWrite {
  const full = fullKey(item, key, prefix);
  if (write.kind !== "put") return { ...write, key: full };
  return { kind: "put", item: { ...full, ...write.row }, when: write.when };
}

function batchWriteOf({ item, key, write }: ItemWrite<Scope>, prefix: string): BatchWrite {
  const full = fullKey(item, key, prefix);
  if (write.kind === "remove") return { kind: "remove", key: full };
  if (write.kind === "put") return { kind: "put", item: { ...full, ...write.row } };
  throw new Error("A batch holds puts and removals only.");
}
