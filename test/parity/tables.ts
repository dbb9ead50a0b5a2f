// The tables of a parity run: every kind of key, with global and local indexes of every projection.
import type { Wire } from "../../local/aws/stand-in.ts";

export interface ParityTable {
  name: string;
  hash: [name: string, type: string];
  range?: [name: string, type: string];
  indexes: { name: string; local?: boolean; hash: [string, string]; range?: [string, string]; projection: Wire }[];
}

const ALL = { ProjectionType: "ALL" };
const KEYS_ONLY = { ProjectionType: "KEYS_ONLY" };
const INCLUDE = { ProjectionType: "INCLUDE", NonKeyAttributes: ["a", "m"] };

/** `local` indexes are in the table that only some runs can use. */
export const parityTables: ParityTable[] = [
  {
    name: "things",
    hash: ["pk", "S"],
    range: ["sk", "S"],
    indexes: [
      { name: "by-g", hash: ["g", "S"], range: ["n", "N"], projection: ALL },
      { name: "by-h", hash: ["h", "N"], projection: KEYS_ONLY },
      { name: "by-a", hash: ["sk", "S"], range: ["h", "N"], projection: INCLUDE },
    ],
  },
  { name: "counts", hash: ["id", "N"], indexes: [] },
  { name: "events", hash: ["pk", "S"], range: ["moment", "N"], indexes: [] },
  { name: "bytes", hash: ["pk", "B"], range: ["sk", "B"], indexes: [] },
  {
    name: "local",
    hash: ["pk", "S"],
    range: ["sk", "S"],
    indexes: [
      { name: "at-n", local: true, hash: ["pk", "S"], range: ["n", "N"], projection: INCLUDE },
      { name: "at-t", local: true, hash: ["pk", "S"], range: ["g", "S"], projection: ALL },
    ],
  },
];

const element = ([AttributeName]: [string, string], KeyType: string) => ({ AttributeName, KeyType });
const schema = (hash: [string, string], range?: [string, string]) => [
  element(hash, "HASH"),
  ...(range ? [element(range, "RANGE")] : []),
];

export function createInput({ name, hash, range, indexes }: ParityTable): Wire {
  const types = new Map([
    hash,
    ...(range ? [range] : []),
    ...indexes.flatMap((index) => [index.hash, ...(index.range ? [index.range] : [])]),
  ]);
  const definitions = (local: boolean) =>
    indexes
      .filter((index) => (index.local ?? false) === local)
      .map((index) => ({
        IndexName: index.name,
        KeySchema: schema(index.hash, index.range),
        Projection: index.projection,
      }));
  const [globals, locals] = [definitions(false), definitions(true)];
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: schema(hash, range),
    ...(globals.length > 0 && { GlobalSecondaryIndexes: globals }),
    ...(locals.length > 0 && { LocalSecondaryIndexes: locals }),
  };
}
