// External ids in files (AMB-133).
import { expect, it } from "vitest";
import { readRow } from "../../shared/rules/import-rows.ts";
import { columnsOf, READING, rowOf } from "../support/rows.ts";

it.each([
  ["1001.0", "1001", []],
  ["1001,0", "1001", []],
  ["1.5", "1.5", []],
  ["#NAME?", "a@example.com", []],
  ["#BEZUG!", "a@example.com", []],
  ["#12", "#12", []],
  ["1.23457E+12", "a@example.com", ["has an external_id of which a spreadsheet lost digits"]],
  ["1,23457E+12", "a@example.com", ["has an external_id of which a spreadsheet lost digits"]],
])(
  "the external id %s, as spreadsheets and data frames write it, is %s (AMB-133)",
  (written, external_id, warnings) => {
    expect(rowOf({ "Customer ID": written, email: "a@example.com" })).toMatchObject({ external_id, warnings });
  },
);

it.each(["cio_id", "cio_subscription_preferences", "moe_unsubscribe", "Mobile Number (Standard)"])(
  "beside %s the column ID is the sender's own id (AMB-133)",
  (other) => {
    expect(rowOf({ ID: "17", email: "a@example.com", [other]: "" }).external_id).toBe("17");
    expect(rowOf({ ID: "17", email: "a@example.com", other: "" }).external_id).toBe("a@example.com");
  },
);

it("a line of several words and nothing else is a note below the table, and no person (AMB-133)", () => {
  const { columns, read } = readOne(["Generated on 2026-03-01 by Ada", "", ""]);
  expect(read).toEqual({ kind: "problem", problem: "is a note of several words and names no person" });
  expect(readRow(columns, ["Ada Lovelace", "ada@example.com", ""], READING).kind).toBe("row");
  expect(readRow(columns, ["ada", "", ""], READING).kind).toBe("row");
});

function readOne(row: readonly string[]) {
  const columns = columnsOf(["Customer ID", "Email", "Opted out"]);
  return { columns, read: readRow(columns, row, READING) };
}
