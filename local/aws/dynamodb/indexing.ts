// Secondary indexes: their entries, their updates when an item changes, and reads of an earlier state.
import type { Database } from "../database.ts";
import { type IndexUnits, writeUnits } from "./capacity.ts";
import { indexKey, type RowKey, type StoredKey } from "./keys.ts";
import { INDEX_COLUMNS, type Rows } from "./rows.ts";
import { freeze, itemOf, type StoredItem } from "./stored.ts";
import type { Index, Table } from "./tables.ts";
import { attributeOf, equalItems, type Item, sizeOfItem } from "./values.ts";

/** Units on one entry of an index. */
interface EntryUnits {
  key: StoredKey;
  units: number;
}

/** The effect of an item's change on one index. */
export interface IndexChange extends IndexUnits {
  entries: EntryUnits[];
  apply(base: StoredKey): void;
}

interface Entry {
  key: StoredKey;
  stored: StoredItem;
}

interface Undo {
  at: number;
  index: Index;
  key: RowKey;
  before: StoredItem | undefined;
}

export interface Indexing {
  create(index: Index): void;
  drop(index: Index): void;
  /** Plans the effects of an item's change on the indexes that it concerns. */
  plan(table: Table, before: StoredItem | undefined, after: StoredItem | undefined): IndexChange[];
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

  const entryOf = (index: Index, stored: StoredItem | undefined): Entry | undefined => {
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

  const planOne = (index: Index, old: Entry | undefined, fresh: Entry | undefined): IndexChange | undefined => {
    if (!old && !fresh) return undefined;
    if (old && fresh && sameKey(old.key, fresh.key)) {
      if (equalItems(itemOf(old.stored), itemOf(fresh.stored))) return undefined;
      const units = writeUnits(old.stored.size, fresh.stored.size);
      const entries = [{ key: fresh.key, units }];
      return { index: index.name, units, entries, apply: (base) => put(index, fresh, base) };
    }
    const entries = [old, fresh].flatMap((entry) =>
      entry ? { key: entry.key, units: writeUnits(entry.stored.size) } : [],
    );
    return {
      index: index.name,
      units: entries.reduce((sum, { units }) => sum + units, 0),
      entries,
      apply: (base) => {
        if (old) remove(index, old, base);
        if (fresh) put(index, fresh, base);
      },
    };
  };

  const restore = ({ index, key, before }: Undo) => {
    rows.remove(index.storage, key);
    if (before) rows.put(index.storage, key, before);
  };

  return {
    create: ({ storage }) => rows.create(storage, INDEX_COLUMNS),
    drop: (index) => {
      undo = undo?.filter((step) => step.index.storage !== index.storage);
      rows.drop(index.storage);
    },
    plan: (table, before, after) => {
      const changes: IndexChange[] = [];
      for (const index of table.indexes) {
        const change = planOne(index, entryOf(index, before), entryOf(index, after));
        if (change) changes.push(change);
      }
      return changes;
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
