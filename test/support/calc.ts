// LibreOffice Calc, where it is installed (Debian: libreoffice-calc-nogui).
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const hasCalc = spawnSync("soffice", ["--version"]).status === 0;

/** Name and number in LibreOffice. */
export const LOCALES: readonly [name: string, id: number][] = [
  ["English", 1_033],
  ["German", 1_031],
  ["French", 1_036],
  ["Spanish", 1_034],
  ["Japanese", 1_041],
];

/** Codes of the characters that split a line: comma, semicolon, tab, and each of these and the bar. */
export const SEPARATORS = ["44", "59", "9", "44/59/9/124"];

/** A CSV text as Calc opens it: the number of a locale, and what splits a line. */
interface CalcOptions {
  text: string;
  locale: number;
  separators: string;
}

const START_LIMIT_MS = 120_000;
const MODULE = "Openings";

/** Opens each file of the list and stores it as flat XML: a start of LibreOffice takes longer than all of them. */
const program = (steps: readonly string[]) => `
Sub OpenAndStore(source As String, options As String, target As String)
  Dim reading(2) As New com.sun.star.beans.PropertyValue
  reading(0).Name = "Hidden"
  reading(0).Value = True
  reading(1).Name = "FilterName"
  reading(1).Value = "Text - txt - csv (StarCalc)"
  reading(2).Name = "FilterOptions"
  reading(2).Value = options
  Dim writing(0) As New com.sun.star.beans.PropertyValue
  writing(0).Name = "FilterName"
  writing(0).Value = "OpenDocument Spreadsheet Flat XML"
  sheet = StarDesktop.loadComponentFromURL(source, "_blank", 0, reading())
  sheet.storeToURL(target, writing())
  sheet.close(True)
End Sub

Sub Main
${steps.join("\n")}
  StarDesktop.terminate()
End Sub
`;

const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const LIBRARY = 'xmlns:library="http://openoffice.org/2000/library"';

/** A profile that is set up, so that LibreOffice keeps the program that it finds there. */
function writeProfile(profile: string, steps: readonly string[]): void {
  const basic = join(profile, "user", "basic");
  mkdirSync(join(basic, "Standard"), { recursive: true });
  const registry = 'xmlns:oor="http://openoffice.org/2001/registry"';
  const isSetUp = '<prop oor:name="ooSetupInstCompleted" oor:op="fuse"><value>true</value></prop>';
  writeFileSync(
    join(profile, "user", "registrymodifications.xcu"),
    `${XML}<oor:items ${registry}><item oor:path="/org.openoffice.Setup/Office">${isSetUp}</item></oor:items>`,
  );
  writeFileSync(
    join(basic, "script.xlc"),
    `${XML}<library:libraries ${LIBRARY}><library:library library:name="Standard" library:link="false"/></library:libraries>`,
  );
  writeFileSync(
    join(basic, "Standard", "script.xlb"),
    `${XML}<library:library ${LIBRARY} library:name="Standard"><library:element library:name="${MODULE}"/></library:library>`,
  );
  const text = program(steps).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const script = 'xmlns:script="http://openoffice.org/2000/script"';
  writeFileSync(
    join(basic, "Standard", `${MODULE}.xba`),
    `${XML}<script:module ${script} script:name="${MODULE}" script:language="StarBasic">${text}</script:module>`,
  );
}

/** The formulas that Calc finds in each of these, in one start of LibreOffice. */
export function formulasIn(openings: readonly CalcOptions[]): string[][] {
  const folder = mkdtempSync(join(tmpdir(), "calc-"));
  const steps = openings.map(({ text, locale, separators }, n) => {
    writeFileSync(join(folder, `${n}.csv`), text);
    // Text in quotes, UTF-8, from line 1; quoted fields are no text, numbers are detected, formulas are evaluated.
    const options = `${separators},34,76,1,,${locale},false,true,false,true,false,-1,true`;
    const [source, target] = [`${n}.csv`, `${n}.fods`].map((name) => pathToFileURL(join(folder, name)).href);
    return `  OpenAndStore("${source}", "${options}", "${target}")`;
  });
  const profile = join(folder, "profile");
  writeProfile(profile, steps);
  execFileSync(
    "soffice",
    [
      `-env:UserInstallation=${pathToFileURL(profile)}`,
      "--headless",
      "--norestore",
      `macro:///Standard.${MODULE}.Main`,
    ],
    { stdio: "ignore", timeout: START_LIMIT_MS },
  );
  const found = openings.map((_, n) => {
    const sheet = readFileSync(join(folder, `${n}.fods`), "utf8");
    return [...sheet.matchAll(/table:formula="([^"]*)"/g)].map(([, formula = ""]) => formula);
  });
  rmSync(folder, { recursive: true, force: true });
  return found;
}
