// An item as stored in the database: its attributes, its JSON text if needed, and its size.
import type { Row } from "../database.ts";
import type { Item } from "./values.ts";

/** Has its text or its item, and makes the other on first use. Immutable, because readers share it. */
export interface StoredItem {
  text?: string;
  size: number;
  item?: Item;
}

export const itemOf = (stored: StoredItem): Item => {
  stored.item ??= JSON.parse(stored.text!) as Item;
  return stored.item;
};

export const textOf = (stored: StoredItem): string => {
  stored.text ??= JSON.stringify(stored.item);
  return stored.text;
};

export const storedOf = (row: Row): StoredItem => ({ text: row.item as string, size: row.size as number });

export const freeze = (item: Item, size: number): StoredItem => ({ size, item });
