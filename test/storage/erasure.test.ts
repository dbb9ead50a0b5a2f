// An erasure visits every declared item with personal data (SUB-9, SUB-16).
import { describe, expect, it } from "vitest";
import { declaredItems, sampleKey } from "../../docs/generate/items.ts";
import type { AnyItem } from "../../shared/store/item.ts";
import { OWN_ROWS_FROM, places } from "../../shared/store/subscribers/erasure.ts";

const { items } = await declaredItems();
const covered = new Set<AnyItem>(places.flatMap(({ covers }) => covers));

const isOwnRow = (item: AnyItem): boolean => {
  const { pk, sk } = sampleKey(item);
  return pk === "T#tenant#U#subscriber" && sk >= OWN_ROWS_FROM;
};

describe("an item with personal data is erased", () => {
  const personal = items.filter(({ item }) => item.personal !== undefined);

  it.each(personal)("$name has personal data, and an erasure visits it (SUB-9, SUB-16)", ({ item }) => {
    expect(isOwnRow(item) || covered.has(item)).toBe(true);
  });
});

describe("an item that an erasure visits is declared to hold personal data", () => {
  const visited = items.filter(({ item }) => isOwnRow(item) || covered.has(item));

  it.each(visited)(
    "$name is visited by an erasure, and is declared to hold personal data (SUB-9, SUB-16)",
    ({ item }) => {
      expect(item.personal).toBeDefined();
    },
  );
});
