// Every row that a test reads is checked against the declaration of its item: the product itself trusts its rows.
import * as v from "valibot";
import type { AnyIndex, AnyItem } from "../../shared/store/item.ts";

const KEY = new Set(["pk", "sk"]);

interface Declaration {
  /** The schemas of the attributes that were asked for, which are few though their rows are many. */
  schemas: Map<string, v.GenericSchema | undefined>;
  required: string[];
}

const known = new WeakMap<AnyItem, Declaration>();

function declarationOf(item: AnyItem): Declaration {
  const found = known.get(item);
  if (found) return found;
  const required = Object.entries(item.row)
    .filter(([name, { type }]) => !name.endsWith("*") && type !== "optional")
    .map(([name]) => name);
  const made = { schemas: new Map(), required };
  known.set(item, made);
  return made;
}

/** The schema of an attribute: its own, or that of its family (`a:*`). */
function schemaOf({ row }: AnyItem, attribute: string): v.GenericSchema | undefined {
  const family = Object.keys(row).find((name) => name.endsWith("*") && attribute.startsWith(name.slice(0, -1)));
  return row[attribute] ?? (family === undefined ? undefined : row[family]);
}

/** What in a row is not as its item is declared. */
export function faultsOfRow(item: AnyItem | AnyIndex, row: object): string[] {
  if ("index" in item) return [];
  const { schemas, required } = declarationOf(item);
  const unknown = Object.entries(row).flatMap(([name, value]) => {
    if (KEY.has(name)) return [];
    if (!schemas.has(name)) schemas.set(name, schemaOf(item, name));
    const schema = schemas.get(name);
    if (!schema) return [`${name} is not declared`];
    const { issues } = v.safeParse(schema, value);
    return issues ? [`${name}: ${issues[0].message}`] : [];
  });
  return [...unknown, ...required.filter((name) => !(name in row)).map((name) => `${name} is missing`)];
}

/** @throws if the row is not as its item is declared. */
export function checkRow(item: AnyItem | AnyIndex, row: object): void {
  const faults = faultsOfRow(item, row);
  if (faults.length > 0)
    throw new Error(`Not as declared (${item.about}): ${faults.join("; ")}: ${JSON.stringify(row)}`);
}
