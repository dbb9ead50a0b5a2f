// Every item that is declared under `shared/store`, found by its declaration: what the data model, the golden file of the
// table and the checks of erasure and purge derive from.
import { readdirSync } from "node:fs";
import { byText } from "../../shared/kernel/order.ts";
import type { AnyIndex, AnyItem } from "../../shared/store/item.ts";

const STORE = new URL("../../shared/store/", import.meta.url);

interface DeclaredItem<D> {
  name: string;
  /** `shared/store/sends/items.ts` */
  file: string;
  item: D;
}

export interface DeclaredItems {
  items: DeclaredItem<AnyItem>[];
  indexes: DeclaredItem<AnyIndex>[];
}

const isDeclared = (value: unknown): value is AnyItem | AnyIndex =>
  typeof value === "object" && value !== null && "about" in value && "scope" in value && "pk" in value;

/** All declared items and indexes, in the order of their files and names. */
export async function declaredItems(): Promise<DeclaredItems> {
  const files = readdirSync(STORE, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("items.ts") || file.endsWith("-index.ts"))
    .sort();
  const found: DeclaredItems = { items: [], indexes: [] };
  for (const path of files) {
    const exported = (await import(new URL(path, STORE).href)) as Record<string, unknown>;
    const file = `shared/store/${path}`;
    for (const name of Object.keys(exported).sort()) {
      const item = exported[name];
      if (!isDeclared(item)) continue;
      if ("index" in item) found.indexes.push({ name, file, item });
      else found.items.push({ name, file, item });
    }
  }
  return found;
}

/** Stands for the parts of any key: each part is its own name. */
const named: object = new Proxy({}, { get: (_, part) => String(part) });

/** The key of an item whose parts are their own names: a change of the key changes it. */
export function sampleKey({ pk, sk, scope }: AnyItem | AnyIndex): { pk: string; sk: string } {
  const partition = (scope === "workspace" ? "T#tenant#" : "") + pk(named);
  return { pk: partition, sk: sk ? sk(named) : partition };
}

/** What must not change without a migration: keys and attribute names of every item. */
export async function tableGolden(): Promise<string> {
  const { items, indexes } = await declaredItems();
  const rows = items.map(({ name, item }) => {
    const { pk, sk } = sampleKey(item);
    return [name, { pk, sk, attributes: Object.keys(item.row).sort() }] as const;
  });
  const views = indexes.map(({ name, item }) => [name, { index: item.index, ...sampleKey(item) }] as const);
  const sorted = [...rows, ...views].sort(byText(([name]) => name));
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`;
}
