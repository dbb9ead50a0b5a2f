// Exported cells in LibreOffice Calc, where it is installed.
import { describe, expect, it } from "vitest";
import { cellOf, csvLine } from "../../shared/rules/csv.ts";
import { formulasIn, hasCalc, LOCALES, SEPARATORS } from "../support/calc.ts";

const signs = ["=1+1", "+1+1", "-1+1", "@SUM(1;1)", "＝1+1", '=HYPERLINK("https://shop.example";"x")'];
const before = [
  "",
  " ",
  "\0",
  "\u00a0",
  "\u200b",
  "\ufeff",
  "a,",
  "a;",
  "a\t",
  "a|",
  "a\n",
  "a\r",
  'a";',
  'a",',
  'a;"',
  'a,"',
  'a;""',
  "a;'",
  '"\n',
  "'",
];
const hostile = before.flatMap((start) => signs.map((sign) => start + sign));
const cells = hostile.flatMap((text) => [text, { word: text }, [text], { [text]: 1 }]);
const file = cells.map((cell, n) => csvLine([String(n), cellOf(cell), "end"])).join("");

describe.skipIf(!hasCalc)("in LibreOffice", () => {
  it.each(LOCALES)("no cell of an export opens as a formula, in %s (RDA-16, D14)", (_, locale) => {
    for (const separators of SEPARATORS) expect(formulasIn([file], locale, separators)).toEqual([]);
  });

  it("a cell as it was sent would (D14)", () => {
    const asSent = cells.map((cell, n) => `${n},${quotedAtNeed(cellOf(cell))},end\r\n`).join("");
    expect(formulasIn([asSent], 1_033, "44")).toContain("of:=1+1");
  });
});

const quotedAtNeed = (cell: string): string => (/[",;|\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
