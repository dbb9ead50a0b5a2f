// Finds the table that an operation names.
import type { Wire } from "../stand-in.ts";
import type { Engine, Operation } from "./engine.ts";
import { noSuchTable } from "./errors.ts";
import type { Shape } from "./parameters.ts";
import { checkTableName, TABLE_NAME } from "./table-definitions.ts";
import type { Table } from "./tables.ts";

/** The table that an operation on tables names. */
export function findTable({ tables }: Engine, name: unknown): Table {
  const table = tables.find(String(name));
  if (!table) throw noSuchTable(String(name));
  return table;
}

/** An operation on the table called `TableName`, its name checked first. */
export function onTable(shape: Shape, writes: boolean, run: (input: Wire) => Wire): Operation {
  return {
    shape: { ...shape, TableName: TABLE_NAME },
    writes,
    before: ({ TableName }) => checkTableName(TableName),
    run,
  };
}
