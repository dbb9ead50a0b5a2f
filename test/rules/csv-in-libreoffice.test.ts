// Exported cells in LibreOffice Calc, where it is installed (Debian: libreoffice-calc-nogui).
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { cellOf, csvLine } from "../../shared/rules/csv.ts";

const hasCalc = spawnSync("soffice", ["--version"]).status === 0;
const folder = mkdtempSync(join(tmpdir(), "calc-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The formulas that Calc finds in a file of one locale, split at the separators, which are codes of characters. */
function formulasIn(text: string, locale: number, separators: string): string[] {
  const file = join(folder, "cells.csv");
  writeFileSync(file, text);
  // Text in quotes, UTF-8, from line 1; quoted fields are no text, numbers are detected, formulas are evaluated.
  const filter = `CSV:${separators},34,76,1,,${locale},false,true,false,true,false,-1,true`;
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, "profile"))}`;
  execFileSync(
    "soffice",
    [profile, "--headless", "--convert-to", "fods", "--outdir", folder, `--infilter=${filter}`, file],
    { stdio: "ignore" },
  );
  const sheet = readFileSync(join(folder, "cells.fods"), "utf8");
  return [...sheet.matchAll(/table:formula="([^"]*)"/g)].map(([, formula = ""]) => formula);
}

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
  '"\n',
  "'",
];
const hostile = before.flatMap((start) => signs.map((sign) => start + sign));
const cells = hostile.flatMap((text) => [text, { word: text }, [text], { [text]: 1 }]);
const file = (shown: (cell: unknown) => string) =>
  cells.map((cell, n) => csvLine([String(n), shown(cell), "end"])).join("");

describe.skipIf(!hasCalc)("in LibreOffice", () => {
  const locales: [name: string, id: number][] = [
    ["English", 1_033],
    ["German", 1_031],
    ["French", 1_036],
    ["Japanese", 1_041],
  ];

  it.each(locales)("no cell of an export opens as a formula, in %s (RDA-16, D14)", (_, locale) => {
    for (const separators of ["44", "59", "9", "44/59/9/124"])
      expect(formulasIn(file(cellOf), locale, separators)).toEqual([]);
  });

  it("a cell as it was sent would (D14)", () => {
    expect(formulasIn(file(String), 1_033, "44").length).toBeGreaterThan(signs.length);
  });
});
