// Exported cells in LibreOffice Calc, where it is installed.
import { beforeAll, describe, expect, it } from "vitest";
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
const hostile = before.flatMap((start) => signs.flatMap((sign) => [start + sign, `${start + sign};b`]));
const cells = hostile.flatMap((text) => [text, { word: text }, [text], { [text]: 1 }]);
const file = cells.map((cell, n) => csvLine([String(n), cellOf(cell), "end"])).join("");

const quotedAtNeed = (cell: string): string => (/[",;|\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const asSent = cells.map((cell, n) => `${n},${quotedAtNeed(cellOf(cell))},end\r\n`).join("");

describe.skipIf(!hasCalc)("in LibreOffice", () => {
  const exported = LOCALES.flatMap(([name, locale]) =>
    SEPARATORS.map((separators) => ({ name, text: file, locale, separators })),
  );
  let found: string[][] = [];
  let foundAsSent: string[] = [];
  beforeAll(() => {
    const all = formulasIn([...exported, { text: asSent, locale: 1_033, separators: "44" }]);
    found = all.slice(0, exported.length);
    foundAsSent = all.at(-1)!;
  });

  it.each(LOCALES)("no cell of an export opens as a formula, in %s (RDA-16, D14)", (locale) => {
    const inLocale = found.filter((_, n) => exported[n]!.name === locale);
    expect(inLocale).toEqual(SEPARATORS.map(() => []));
  });

  it("a cell as it was sent would (D14)", () => {
    expect(foundAsSent).toContain("of:=1+1");
  });
});
