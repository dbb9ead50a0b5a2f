// Secondary indexes: their entries, what a change of an item does to them, and a look at them as they were a while ago.
import type { Database, Row } from "../database.ts";
import { writeUnits } from "./capacity.ts";
import { indexKey, type StoredKey } from "./keys.ts";
import { itemOf, type Stored } from "./stored.ts";
import type { Index, Table } from "./tables.ts";
import { attributeOf, equalItems, type Item, sizeOfItem } from "./values.ts";

export interface IndexUnits {
  index: string;
  units: number;
}

interface Entry {
  key: StoredKey;
  text: string;
  item: Item;
  size: number;
}

interface Undo {
  at: number;
  index: Index;
  /** Column values of the entry. */
  key: [unknown, unknown, unknown, unknown];
  before: Row | undefined;
}

export interface Indexing {
  create(index: Index): void;
  /** Fills a new index from the items there are. */
  fill(table: Table, index: Index): void;
  drop(index: Index): void;
  update(table: Table, key: StoredKey, before: Stored | undefined, after: Stored | undefined): IndexUnits[];
  /** Keeps what is needed to answer `asOf` from now on. */
  remember(): void;
  /** Runs `work` on the indexes as they were at that time. */
  asOf<T>(time: number, work: () => T): T;
}

const UNDO_LIMIT = 100_000;
const ROLLED_BACK = Symbol("rolled back");
const WHERE_ENTRY = "pk = ? AND sk = ? AND item_pk = ? AND item_sk = ?";

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

export function openIndexing(database: Database, now: () => number): Indexing {
  let undo: Undo[] | undefined;
  const known = new Map<string, { put: string; remove: string }>();
  const sqlOf = ({ storage }: Index) => {
    let sql = known.get(storage);
    if (!sql) {
      sql = {
        put: `INSERT OR REPLACE INTO ${storage} (pk, sk, item_pk, item_sk, item, size) VALUES (?, ?, ?, ?, ?, ?)`,
        remove: `DELETE FROM ${storage} WHERE ${WHERE_ENTRY}`,
      };
      known.set(storage, sql);
    }
    return sql;
  };

  const entryOf = (index: Index, stored: Stored | undefined): Entry | undefined => {
    if (!stored) return undefined;
    const whole = itemOf(stored);
    const key = indexKey(whole, index.keys);
    if (!key) return undefined;
    if (!index.projected) return { key, text: stored.text, item: whole, size: stored.size };
    const item = projectOnto(whole, index);
    return { key, text: JSON.stringify(item), item, size: sizeOfItem(item) };
  };

  const note = (index: Index, key: Undo["key"]) => {
    if (!undo) return;
    const before = database.first(
      `SELECT * FROM ${index.storage} WHERE ${WHERE_ENTRY}`,
      ...(key as [string, string, string, string]),
    );
    undo.push({ at: now(), index, key, before });
    if (undo.length > UNDO_LIMIT) undo.splice(0, UNDO_LIMIT / 2);
  };

  const put = (index: Index, { key, text, size }: Entry, base: StoredKey) => {
    note(index, [key.pk, key.sk, base.pk, base.sk]);
    database.run(sqlOf(index).put, key.pk, key.sk, base.pk, base.sk, text, size);
  };

  const remove = (index: Index, { key }: Entry, base: StoredKey) => {
    note(index, [key.pk, key.sk, base.pk, base.sk]);
    database.run(sqlOf(index).remove, key.pk, key.sk, base.pk, base.sk);
  };

  const updateOne = (index: Index, base: StoredKey, old: Entry | undefined, fresh: Entry | undefined): number => {
    if (!old && !fresh) return 0;
    if (old && fresh && sameKey(old.key, fresh.key)) {
      if (old.text === fresh.text || equalItems(old.item, fresh.item)) return 0;
      put(index, fresh, base);
      return writeUnits(old.size, fresh.size);
    }
    if (old) remove(index, old, base);
    if (fresh) put(index, fresh, base);
    return (old ? writeUnits(old.size) : 0) + (fresh ? writeUnits(fresh.size) : 0);
  };

  const restore = ({ index, key, before }: Undo) => {
    const values = key as [string, string, string, string];
    database.run(sqlOf(index).remove, ...values);
    if (before) database.run(sqlOf(index).put, ...values, before.item!, before.size!);
  };

  return {
    create: ({ storage }) =>
      database.exec(
        `CREATE TABLE ${storage} (pk, sk, item_pk, item_sk, item TEXT, size INTEGER, PRIMARY KEY (pk, sk, item_pk, item_sk)) WITHOUT ROWID`,
      ),
    fill: (table, index) => {
      for (const row of database.all(`SELECT pk, sk, item, size FROM ${table.storage}`)) {
        const entry = entryOf(index, { text: row.item as string, size: row.size as number });
        if (entry) put(index, entry, { pk: row.pk as string, sk: row.sk as string });
      }
    },
    drop: (index) => {
      undo = undo?.filter((step) => step.index.storage !== index.storage);
      known.delete(index.storage);
      database.exec(`DROP TABLE ${index.storage}`);
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
      const newer = undo?.filter(({ at }) => at > time) ?? [];
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
