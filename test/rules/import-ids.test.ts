// External ids in files (AMB-133).
import { expect, it } from "vitest";
import { rowOf } from "../support/rows.ts";

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
