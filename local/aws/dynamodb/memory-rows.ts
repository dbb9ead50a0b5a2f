// Rows of a database in memory: sorted lists in JavaScript, with an undo step for each change.
import type { Undo } from "../database.ts";
import { firstWhere } from "../first-where.ts";
import type { RowKey, Sortable } from "./keys.ts";
import type { Bounds, KeyedRow, Reach, Rows } from "./rows.ts";
import type { StoredItem } from "./stored.ts";

interface Entry extends KeyedRow {
  /** The columns behind the partition key, as text that sorts as the storage does. */
  place: readonly string[];
  due: number | null;
}

interface Shelf {
  /** Lists by partition key, each sorted. Empty lists are removed. */
  partitions: Map<string, Entry[]>;
  /** The partition keys in order; cached until one is added or removed. */
  order: string[] | undefined;
}

export function memoryRows(undo: Undo): Rows {
  const shelves = new Map<string, Shelf>();
  const shelfOf = (storage: string): Shelf => shelves.get(storage)!;

  const set = (shelf: Shelf, entry: Entry) => {
    const pk = sortText(entry.key[0]!);
    let list = shelf.partitions.get(pk);
    if (!list) {
      list = [];
      shelf.partitions.set(pk, list);
      shelf.order = undefined;
    }
    const at = firstFrom(list, entry.place);
    const before = list[at];
    if (before && compare(before.place, entry.place) === 0) {
      list[at] = entry;
      return before;
    }
    list.splice(at, 0, entry);
    return undefined;
  };

  const take = (shelf: Shelf, key: RowKey) => {
    const pk = sortText(key[0]!);
    const list = shelf.partitions.get(pk);
    const place = placeOf(key);
    const at = list ? firstFrom(list, place) : 0;
    const before = list?.[at];
    if (!list || !before || compare(before.place, place) !== 0) return undefined;
    list.splice(at, 1);
    if (list.length === 0) {
      shelf.partitions.delete(pk);
      shelf.order = undefined;
    }
    return before;
  };

  const orderOf = (shelf: Shelf): string[] => {
    shelf.order ??= [...shelf.partitions.keys()].sort((a, b) => (a < b ? -1 : 1));
    return shelf.order;
  };

  function* entries(shelf: Shelf): Iterable<Entry> {
    for (const pk of orderOf(shelf)) yield* shelf.partitions.get(pk)!;
  }

  return {
    create: (storage) => {
      shelves.set(storage, { partitions: new Map(), order: undefined });
      undo(() => shelves.delete(storage));
    },
    drop: (storage) => {
      const shelf = shelfOf(storage);
      shelves.delete(storage);
      undo(() => shelves.set(storage, shelf));
    },
    find: (storage, key) => {
      const list = shelfOf(storage).partitions.get(sortText(key[0]!));
      if (!list) return undefined;
      const place = placeOf(key);
      const found = list[firstFrom(list, place)];
      return found && compare(found.place, place) === 0 ? found.stored : undefined;
    },
    put: (storage, key, stored, due = null) => {
      const shelf = shelfOf(storage);
      const before = set(shelf, { key, place: placeOf(key), stored, due });
      undo(() => (before ? set(shelf, before) : take(shelf, key)));
    },
    remove: (storage, key) => {
      const shelf = shelfOf(storage);
      const before = take(shelf, key);
      if (before) undo(() => set(shelf, before));
    },
    *read(storage, reach) {
      const shelf = shelfOf(storage);
      if (reach.pk !== undefined) {
        yield* stretch(shelf.partitions.get(sortText(reach.pk)) ?? [], reach, reach.beyond?.map(sortText));
        return;
      }
      const [from, ...rest] = reach.beyond?.map(sortText) ?? [];
      for (const pk of orderOf(shelf))
        if (from === undefined || pk >= from)
          yield* stretch(shelf.partitions.get(pk)!, reach, pk === from ? rest : undefined);
    },
    all: (storage) => entries(shelfOf(storage)),
    measure: (storage) => {
      const sum = { items: 0, bytes: 0 };
      for (const { stored } of entries(shelfOf(storage))) {
        sum.items++;
        sum.bytes += stored.size;
      }
      return sum;
    },
    watchDue: () => undefined,
    due: (storage, from, until) => {
      const found: Entry[] = [];
      for (const list of shelfOf(storage).partitions.values())
        for (const entry of list) if (entry.due !== null && entry.due > from && entry.due <= until) found.push(entry);
      return found.sort((a, b) => a.due! - b.due! || compare(wholeKey(a), wholeKey(b)));
    },
  };
}

/** The rows of one partition within the bounds and beyond a place. */
function* stretch(
  list: readonly Entry[],
  { bounds = {}, forward }: Reach,
  beyond: readonly string[] | undefined,
): Iterable<StoredItem> {
  let [from, until] = withinBounds(list, bounds);
  if (beyond && forward) from = Math.max(from, firstAfter(list, beyond));
  if (beyond && !forward) until = Math.min(until, firstFrom(list, beyond));
  if (forward) for (let at = from; at < until; at++) yield list[at]!.stored;
  else for (let at = until - 1; at >= from; at--) yield list[at]!.stored;
}

function withinBounds(list: readonly Entry[], { min, above, max, below }: Bounds): [number, number] {
  let from = 0;
  let until = list.length;
  if (min !== undefined) from = Math.max(from, firstFrom(list, [sortText(min)]));
  if (above !== undefined) from = Math.max(from, firstAfter(list, [sortText(above)]));
  if (max !== undefined) until = Math.min(until, firstAfter(list, [sortText(max)]));
  if (below !== undefined) until = Math.min(until, firstFrom(list, [sortText(below)]));
  return [from, until];
}

const firstFrom = (list: readonly Entry[], place: readonly string[]) =>
  firstWhere(list, (entry) => compare(entry.place, place) >= 0);
const firstAfter = (list: readonly Entry[], place: readonly string[]) =>
  firstWhere(list, (entry) => compare(entry.place, place) > 0);

/** Column by column, as far as the place goes. */
function compare(whole: readonly string[], place: readonly string[]): number {
  for (let at = 0; at < place.length; at++) {
    const [a, b] = [whole[at]!, place[at]!];
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}

const wholeKey = ({ key, place }: Entry): string[] => [sortText(key[0]!), ...place];

const placeOf = (key: RowKey): string[] => (key.length === 2 ? [sortText(key[1]!)] : key.slice(1).map(sortText));

const BEYOND_BMP = /[\ud800-\uffff]/;

/** Text whose units sort as the bytes of UTF-8 do, which put what UTF-16 writes in pairs behind all else. */
function sortText(value: Sortable): string {
  if (typeof value !== "string")
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1");
  if (!BEYOND_BMP.test(value)) return value;
  let text = "";
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at);
    const isSurrogate = unit >= 0xd800 && unit < 0xe000;
    const last = isSurrogate ? unit + 0x2000 : unit - 0x800;
    text += String.fromCharCode(unit < 0xd800 ? unit : last);
  }
  return text;
}
