// docs/requirements.md is written by hand, but for its column of tests: `npm run docs` fills it from their titles.
import { readdirSync, readFileSync } from "node:fs";

const PAGE = readFileSync(new URL("../requirements.md", import.meta.url), "utf8");
const TESTS = new URL("../../test/", import.meta.url);
/** Its citations are not counted, because they are planted. */
export const PLANTING_TEST = "references.test.ts";

/** `| id | what holds | tests |` */
const ROW = /^\| ([A-Z][\w-]*\d|D-[A-Z-]+) \| (.+) \|[^|]*\|$/gm;

export const requirements = [...PAGE.matchAll(ROW)].map(([, id = "", sentence = ""]) => ({ id, sentence }));
export const requirementIds: ReadonlySet<string> = new Set(requirements.map(({ id }) => id));

const numbered = [...requirementIds]
  .map((id) => /^([A-Z]+)-R?\d/.exec(id)?.[1])
  .filter((prefix) => prefix !== undefined);
const prefixes = [...new Set(numbered)].join("|");
/** E1 to E22 are the lines of docs/edge.md. `UTF-8`, `SHA-256` and `T10:30` are not ids. */
const ID = new RegExp(`\\b(?:(?:${prefixes})-R?\\d+|D-[A-Z]+(?:-[A-Z]+)*|[EFT][1-9]\\d?(?!:))\\b`, "g");
const RANGE = new RegExp(`\\b((?:${prefixes})-R?)(\\d+) to \\1(\\d+)\\b`, "g");

/** The ids that a text names, known or not. `RUL-5 to RUL-8` names four. */
export function idsIn(text: string): Set<string> {
  const ranges = text.includes(" to ") ? [...text.matchAll(RANGE)] : [];
  const between = ranges.flatMap(([, prefix = "", first, last]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, n) => `${prefix}${Number(first) + n}`),
  );
  return new Set([...text.matchAll(ID)].map(([id]) => id).concat(between));
}

/** The texts of a test file, titles among them, without its comments. */
function textsOf(source: string): string {
  const code = source.split("\n").filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
  return code.flatMap((line) => line.match(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? []).join("\n");
}

/** Id → the test files that name it, `api/templates` for `test/api/templates.test.ts`. */
function testsById(): Map<string, string[]> {
  const files = readdirSync(TESTS, { recursive: true, encoding: "utf8" }).map((file) => file.replaceAll("\\", "/"));
  const found = new Map<string, string[]>();
  const isOurs = (file: string) =>
    file.endsWith(".test.ts") && !file.includes("node_modules/") && file !== PLANTING_TEST;
  for (const file of files.filter(isOurs).sort())
    for (const id of idsIn(textsOf(readFileSync(new URL(file, TESTS), "utf8"))))
      found.set(id, [...(found.get(id) ?? []), file.replace(/\.test\.ts$/, "")]);
  return found;
}

/** docs/requirements.md with the tests that name each id. */
export function requirementsPage(): string {
  const tests = testsById();
  return PAGE.replaceAll(ROW, (_, id: string, sentence: string) => {
    const files = (tests.get(id) ?? []).map((file) => `\`${file}\``);
    return `| ${id} | ${sentence} | ${files.join(", ")} |`;
  });
}
