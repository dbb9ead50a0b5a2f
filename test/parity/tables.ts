// The tables of a parity run: every kind of key, with indexes of every projection.
import type { Wire } from "../../local/aws/index.ts";

export interface ParityTable {
  name: string;
  hash: [name: string, type: string];
  range?: [name: string, type: string];
  indexes: { name: string; hash: [string, string]; range?: [string, string]; projection: Wire }[];
}

const ALL = { ProjectionType: "ALL" };
const KEYS_ONLY = { ProjectionType: "KEYS_ONLY" };
const INCLUDE = { ProjectionType: "INCLUDE", NonKeyAttributes: ["a", "m"] };

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
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: schema(hash, range),
    ...(indexes.length > 0 && {
      GlobalSecondaryIndexes: indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: schema(index.hash, index.range),
        Projection: index.projection,
      })),
    }),
  };
}
