// An item as it lies in the database: its JSON text and its size.
import type { Row } from "../database.ts";
import type { Item } from "./values.ts";

export interface Stored {
  text: string;
  size: number;
  item?: Item;
}

export const itemOf = (stored: Stored): Item => {
  stored.item ??= JSON.parse(stored.text) as Item;
  return stored.item;
};

export const storedOf = (row: Row): Stored => ({ text: row.item as string, size: row.size as number });

export const freeze = (item: Item, size: number): Stored => ({ text: JSON.stringify(item), size, item });
