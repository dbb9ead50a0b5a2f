// `npm run storage:release -- 2026-11-22`: records what this version writes and reads. Run only for a release.
import { writeFile } from "node:fs/promises";
import { readArguments, refuse } from "../../tools/arguments.ts";
import { readsOf, requiredOf, writtenNow } from "./corpus.ts";

const USAGE =
  "npm run storage:release -- <day>: records the rows and messages of this version. Run only for a release.";
const [recorded = ""] = readArguments(USAGE, { allowPositionals: true }).positionals;
if (!/^\d{4}-\d{2}-\d{2}$/.test(recorded)) refuse("Name the day of the release, as in 2026-11-21.");

const { messages, rows } = await writtenNow();
const required = await requiredOf();
/** A line for each row and message, so that a diff is readable. */
const section = (name: string, parts: Record<string, unknown>) => {
  const lines = Object.entries(parts).map(([part, value]) => {
    const text = Array.isArray(value)
      ? `[${value.map((one) => `\n      ${JSON.stringify(one)}`).join(",")}\n    ]`
      : JSON.stringify(value);
    return `\n    ${JSON.stringify(part)}: ${text}`;
  });
  return `  ${JSON.stringify(name)}: {${lines.join(",")}\n  }`;
};
const sections = [section("reads", readsOf()), section("required", required)];
sections.push(section("messages", messages), section("rows", rows));
const text = `{\n  "recorded": ${JSON.stringify(recorded)},\n${sections.join(",\n")}\n}\n`;
await writeFile(new URL("released.json", import.meta.url), text);
