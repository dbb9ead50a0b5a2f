// `npm run storage:release -- 2026-11-22`: records what this version writes and reads. Run only for a release.
import { writeFile } from "node:fs/promises";
import { dayOf, readArguments } from "../../tools/arguments.ts";
import { readsOf, requiredOf, writtenNow } from "./corpus.ts";

const USAGE =
  "npm run storage:release -- <day>: records the rows and messages of this version. Run only for a release.";
const [day = ""] = readArguments(USAGE, { allowPositionals: true }).positionals;
const recorded = dayOf(day);

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
