// Secondary indexes: their entries, their updates when an item changes, and reads of an earlier state.
import type { Database } from "../database.ts";
import { writeUnits } from "./capacity.ts";
import { fitsIndex, indexKey, type StoredKey } from "./keys.ts";
import { INDEX_COLUMNS, type RowKey, type Rows } from "./rows.ts";
import { freeze, itemOf, type Stored } from "./stored.ts";
import type { Index, Table } from "./tables.ts";
import { attributeOf, equalItems, type Item, sizeOfItem } from "./values.ts";

export interface IndexUnits {
  index: string;
  units: number;
}

interface Entry {
  key: StoredKey;
  stored: Stored;
}

interface Undo {
  at: number;
  index: Index;
  key: RowKey;
  before: Stored | undefined;
}

export interface Indexing {
  create(index: Index): void;
  /** Fills a new index from the existing items. */
  fill(table: Table, index: Index): void;
  drop(index: Index): void;
  update(table: Table, key: StoredKey, before: Stored | undefined, after: Stored | undefined): IndexUnits[];
  /** Records what `asOf` needs from now on. */
  remember(): void;
  /** Runs `work` on the indexes as they were at that time. */
  asOf<T>(time: number, work: () => T): T;
}

const UNDO_LIMIT = 100_000;
const ROLLED_BACK = Symbol("rolled back");

/** The part of an item that an index holds. */
function projectOnto(item: Item, index: Index): Item {
  if (!index.projected) return item;
  const projected: Item = {};
  for (const name of index.projected) {
    const value = attributeOf(item, name);
    if (value) projected[name] = value;
  }
  return projected;
}

export function openIndexing(database: Database, rows: Rows, now: () => number): Indexing {
  let undo: Undo[] | undefined;

  const entryOf = (index: Index, stored: Stored | undefined): Entry | undefined => {
    if (!stored) return undefined;
    const whole = itemOf(stored);
    const key = indexKey(whole, index.keys);
    if (!key) return undefined;
    if (!index.projected) return { key, stored };
    const item = projectOnto(whole, index);
    return { key, stored: freeze(item, sizeOfItem(item)) };
  };

  const note = (index: Index, key: RowKey) => {
    if (!undo) return;
    undo.push({ at: now(), index, key, before: rows.find(index.storage, key) });
    if (undo.length > UNDO_LIMIT) undo.splice(0, UNDO_LIMIT / 2);
  };

  const put = (index: Index, { key, stored }: Entry, base: StoredKey) => {
    const whole = [key.pk, key.sk, base.pk, base.sk];
    note(index, whole);
    rows.put(index.storage, whole, stored);
  };

  const remove = (index: Index, { key }: Entry, base: StoredKey) => {
    const whole = [key.pk, key.sk, base.pk, base.sk];
    note(index, whole);
    rows.remove(index.storage, whole);
  };

  const updateOne = (index: Index, base: StoredKey, old: Entry | undefined, fresh: Entry | undefined): number => {
    if (!old && !fresh) return 0;
    if (old && fresh && sameKey(old.key, fresh.key)) {
      if (equalItems(itemOf(old.stored), itemOf(fresh.stored))) return 0;
      put(index, fresh, base);
      return writeUnits(old.stored.size, fresh.stored.size);
    }
    if (old) remove(index, old, base);
    if (fresh) put(index, fresh, base);
    return (old ? writeUnits(old.stored.size) : 0) + (fresh ? writeUnits(fresh.stored.size) : 0);
  };

  const restore = ({ index, key, before }: Undo) => {
    rows.remove(index.storage, key);
    if (before) rows.put(index.storage, key, before);
  };

  return {
    create: ({ storage }) => rows.create(storage, INDEX_COLUMNS),
    fill: (table, index) => {
      for (const { key, stored } of rows.all(table.storage)) {
        const entry = fitsIndex(itemOf(stored), index) && entryOf(index, stored);
        if (entry) put(index, entry, { pk: key[0]!, sk: key[1]! });
      }
    },
    drop: (index) => {
      undo = undo?.filter((step) => step.index.storage !== index.storage);
      rows.drop(index.storage);
    },
    update: (table, key, before, after) => {
      const spent: IndexUnits[] = [];
      for (const index of table.indexes) {
        const units = updateOne(index, key, entryOf(index, before), entryOf(index, after));
        if (units > 0) spent.push({ index: index.name, units });
      }
      return spent;
    },
    remember: () => {
      undo ??= [];
    },
    asOf: (time, work) => {
      const newer = undo?.slice(undo.findLastIndex(({ at }) => at <= time) + 1) ?? [];
      if (newer.length === 0) return work();
      let answer: { value: ReturnType<typeof work> } | undefined;
      try {
        return database.transaction(() => {
          for (const step of newer.reverse()) restore(step);
          answer = { value: work() };
          throw ROLLED_BACK;
        });
      } catch (error) {
        if (error === ROLLED_BACK && answer) return answer.value;
        throw error;
      }
    },
  };
}

const sameKey = (a: StoredKey, b: StoredKey): boolean => same(a.pk, b.pk) && same(a.sk, b.sk);

const same = (a: StoredKey["pk"], b: StoredKey["pk"]): boolean =>
  a === b || (typeof a !== "string" && typeof b !== "string" && Buffer.compare(a, b) === 0);
