// LibreOffice Calc, where it is installed (Debian: libreoffice-calc-nogui).
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const hasCalc = spawnSync("soffice", ["--version"]).status === 0;

/** Name and number in LibreOffice. */
export const LOCALES: readonly [name: string, id: number][] = [
  ["English", 1_033],
  ["German", 1_031],
  ["French", 1_036],
  ["Japanese", 1_041],
];

/** Codes of the characters that split a line: comma, semicolon, tab, and each of these and the bar. */
export const SEPARATORS = ["44", "59", "9", "44/59/9/124"];

/** The formulas that Calc finds in each of these CSV texts, opened in one locale and split at some separators. */
export function formulasIn(texts: readonly string[], locale: number, separators: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "calc-"));
  const files = texts.map((text, n) => {
    const file = join(folder, `${n}.csv`);
    writeFileSync(file, text);
    return file;
  });
  // Text in quotes, UTF-8, from line 1; quoted fields are no text, numbers are detected, formulas are evaluated.
  const filter = `CSV:${separators},34,76,1,,${locale},false,true,false,true,false,-1,true`;
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, "profile"))}`;
  execFileSync(
    "soffice",
    [profile, "--headless", "--convert-to", "fods", "--outdir", folder, `--infilter=${filter}`, ...files],
    { stdio: "ignore" },
  );
  const found = files.flatMap((file) => {
    const sheet = readFileSync(file.replace(/csv$/, "fods"), "utf8");
    return [...sheet.matchAll(/table:formula="([^"]*)"/g)].map(([, formula = ""]) => formula);
  });
  rmSync(folder, { recursive: true, force: true });
  return found;
}
