// The one table: every read and write of the product passes here, by declared items, bound to one workspace or to the
// platform.
import type { Deps } from "../deps.ts";
import type { Condition } from "./conditions.ts";
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
import type { Item, Key, TenantId } from "./model.ts";
import { openRows, type RawWrite, type Rows } from "./rows.ts";

export interface Page<R = Item> {
  items: R[];
  /** Where the next page begins; absent on the last one. */
  next?: Key;
}

/** Which rows of a partition, and how they are read. Default: all rows of the item, strongly consistent. */
export type Range = Omit<QueryRange, "pk" | "index">;

interface ReadOptions {
  eventual?: boolean;
}

/** One write of a transaction. */
export type TransactItem =
  | ItemWrite
  | { put: Item; when?: Condition }
  | { update: Key; change: Change; when?: Condition }
  | { remove: Key; when?: Condition }
  | { check: Key; when: Condition };

export interface Reader<W extends Scope = Scope> {
  /** One row, strongly consistent unless `eventual`. */
  get<D extends AnyItem<W>>(item: D, key: KeyOf<D>, options?: ReadOptions): Promise<RowOf<D> | undefined>;
  get(key: Key, options?: ReadOptions): Promise<Item | undefined>;
  /** Rows of one item in the order of the keys (repeats allowed), 100 a request; nothing is left unprocessed. */
  getAll<D extends AnyItem<W>>(
    item: D,
    keys: readonly KeyOf<D>[],
    options?: ReadOptions,
  ): Promise<(RowOf<D> | undefined)[]>;
  getAll(keys: readonly Key[], options?: ReadOptions): Promise<(Item | undefined)[]>;
  /** Rows of several items, in one request: see `ref`. */
  getEach<const T extends readonly Ref[]>(refs: T, options?: ReadOptions): Promise<RowsOf<T>>;
  /** A page of a partition, or of an index. */
  query<D extends AnyItem<W> | AnyIndex<W>>(item: D, partition: PartitionOf<D>, range?: Range): Promise<Page<RowOf<D>>>;
  query(range: QueryRange): Promise<Page>;
  /** Every row of a range, however many pages they are: for ranges that have an end. */
  queryAll<D extends AnyItem<W> | AnyIndex<W>>(item: D, partition: PartitionOf<D>, range?: Range): Promise<RowOf<D>[]>;
  /** A page of a partition that several items share, as they are stored: see `rowOf`. */
  queryRows<D extends AnyItem<W> | AnyIndex<W>>(item: D, partition: PartitionOf<D>, range?: Range): Promise<Page>;
  /** How many rows there are in a range, however many pages they are. */
  count<D extends AnyItem<W> | AnyIndex<W>>(item: D, partition: PartitionOf<D>, range?: Range): Promise<number>;
  count(range: QueryRange): Promise<number>;
}

export interface Table<W extends Scope = Scope> extends Reader<W> {
  /** @throws what `onConditionFailed` catches, with the row as it was. */
  put<D extends AnyItem<W>>(item: D, key: KeyOf<D>, row: NewRowOf<D>, when?: ConditionOf<D>): Promise<void>;
  put(item: Item, when?: Condition): Promise<void>;
  /** The row after the change. @throws what `onConditionFailed` catches, with the row as it was. */
  change<D extends AnyItem<W>>(item: D, key: KeyOf<D>, change: ChangeOf<D>, when?: ConditionOf<D>): Promise<RowOf<D>>;
  update(key: Key, change: Change, when?: Condition): Promise<Item>;
  /** The row as it was. @throws what `onConditionFailed` catches, with the row as it was. */
  remove<D extends AnyItem<W>>(item: D, key: KeyOf<D>, when?: ConditionOf<D>): Promise<RowOf<D> | undefined>;
  remove(key: Key, when?: Condition): Promise<Item | undefined>;
  /** Removes rows by their keys, whatever they are, 25 a request. */
  removeRows(keys: readonly Key[]): Promise<void>;
  /** Unconditional puts and removals, 25 a request; nothing is left unprocessed. */
  writeAll(writes: readonly (ItemWrite<W> | { put: Item } | { remove: Key })[]): Promise<void>;
  /** All or nothing; conflicts are tried again. @throws what `onTransactionCanceled` catches. */
  transact(items: readonly TransactItem[]): Promise<void>;
}

/** Opens the table once; the result binds it to the items of a workspace. */
export function openWorkspaceTable(deps: Deps): (tenant: TenantId) => Table<"workspace"> {
  const rows = openRows(deps);
  return (tenant) => {
    const prefix = prefixOf(tenant);
    return bind(
      deps,
      rows((pk) => tenant !== "" && pk.startsWith(prefix)),
      prefix,
    );
  };
}

/** Opens the table for items of the platform. @param beginning limits it to partition keys that begin so. */
export function openPlatformTable(deps: Deps, beginning = ""): Table<"platform"> {
  const rows = openRows(deps)((pk) => !pk.startsWith("T#") && pk.startsWith(beginning));
  return bind(deps, rows, "");
}

const isItem = (value: object): value is AnyItem | AnyIndex => "pk" in value && typeof value.pk === "function";

/** The operations on declared items, made of those on rows. @param prefix what stands before each partition key. */
function bind<W extends Scope>(deps: Deps, rows: Rows, prefix: string): Table<W> {
  const { onRead } = deps;
  const seen = <R extends Item | undefined>(item: AnyItem | AnyIndex, row: R): R => {
    if (row) onRead?.(item, row);
    return row;
  };
  const rangeOf = (item: AnyItem | AnyIndex, partition: unknown, range: Range = {}): QueryRange => {
    const isBounded = range.prefix !== undefined || range.from !== undefined || range.to !== undefined;
    return {
      pk: prefix + item.pk(partition as object),
      ...("index" in item && { index: item.index }),
      ...(!isBounded && item.prefix !== undefined && { prefix: item.prefix }),
      ...range,
    };
  };
  const itemOf = (item: AnyItem, key: unknown, row: object): Item => ({ ...fullKey(item, key, prefix), ...row });
  const writeOf = ({ item, key, write, when }: ItemWrite): RawWrite => {
    if (write === "remove") return { remove: fullKey(item, key, prefix), when };
    if (write === "check") return { check: fullKey(item, key, prefix), when: when! };
    if ("put" in write) return { put: itemOf(item, key, write.put), when };
    return { update: fullKey(item, key, prefix), change: write.change, when };
  };
  const table = {
    get: async (item: AnyItem | Key, key?: unknown, options?: ReadOptions) =>
      isItem(item)
        ? seen(item, await rows.get(fullKey(item, key, prefix), options))
        : rows.get(item, key as ReadOptions),
    getAll: async (item: AnyItem | readonly Key[], keys?: unknown, options?: ReadOptions) => {
      if (!isItem(item)) return rows.getAll(item, keys as ReadOptions);
      const found = await rows.getAll(
        (keys as unknown[]).map((key) => fullKey(item, key, prefix)),
        options,
      );
      for (const row of found) seen(item, row);
      return found;
    },
    getEach: async (refs: readonly Ref[], options?: ReadOptions) => {
      const found = await rows.getAll(
        refs.map(({ item, key }) => fullKey(item, key, prefix)),
        options,
      );
      for (const [i, row] of found.entries()) seen(refs[i]!.item, row);
      return found;
    },
    query: async (item: AnyItem | AnyIndex | QueryRange, partition?: unknown, range?: Range) => {
      if (!isItem(item)) return rows.query(item);
      const page = await rows.query(rangeOf(item, partition, range));
      for (const row of page.items) seen(item, row);
      return page;
    },
    queryRows: (item: AnyItem | AnyIndex, partition: unknown, range: Range = {}) =>
      rows.query({
        pk: prefix + item.pk(partition as object),
        ...("index" in item && { index: item.index }),
        ...range,
      }),
    queryAll: async (item: AnyItem | AnyIndex, partition: unknown, range: Range = {}) => {
      const all: Item[] = [];
      let { after } = range;
      do {
        const page = await rows.query(rangeOf(item, partition, { ...range, after }));
        for (const row of page.items) all.push(seen(item, row));
        after = page.next;
      } while (after);
      return all;
    },
    count: async (item: AnyItem | AnyIndex | QueryRange, partition?: unknown, range?: Range) =>
      rows.count(isItem(item) ? rangeOf(item, partition, range) : item),
    put: async (item: AnyItem | Item, key?: unknown, row?: object, when?: Condition) =>
      isItem(item) ? rows.put(itemOf(item, key, row!), when) : rows.put(item, key as Condition),
    change: async (item: AnyItem, key: unknown, change: Change, when?: Condition) =>
      seen(item, await rows.update(fullKey(item, key, prefix), change, when)),
    update: rows.update,
    remove: async (item: AnyItem | Key, key?: unknown, when?: Condition) =>
      isItem(item)
        ? seen(item, await rows.remove(fullKey(item, key, prefix), when))
        : rows.remove(item, key as Condition),
    removeRows: (keys: readonly Key[]) => rows.writeAll(keys.map(({ pk, sk }) => ({ remove: { pk, sk } }))),
    writeAll: (writes: readonly TransactItem[]) =>
      rows.writeAll(
        writes.map((write) => ("write" in write ? writeOf(write) : write) as { put: Item } | { remove: Key }),
      ),
    transact: (writes: readonly TransactItem[]) =>
      rows.transact(writes.map((write) => ("write" in write ? writeOf(write) : write))),
  };
  // The types of what is read and written are those of the declared items: rows are not looked at on the way.
  return table as unknown as Table<W>;
}

export function chunksOf<T>(list: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < list.length; start += size) chunks.push(list.slice(start, start + size));
  return chunks;
}
