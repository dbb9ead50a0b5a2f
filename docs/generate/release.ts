// `npm run docs:release -- 2026-11-21`: records what the API promises from that day on. Run only for a release.
import { writeFile } from "node:fs/promises";
import { dayOf, readArguments } from "../../tools/arguments.ts";
import type { Release } from "./compatibility.ts";
import { contents } from "./contents.ts";
import { openApiOf, VERSION } from "./openapi.ts";
import { signatureOf } from "./signature.ts";

/** A line per route and per field, so that a diff is readable. */
function releaseText({ routes, ...about }: Release): string {
  const line = (value: object) => (name: string) => `${JSON.stringify(name)}: ${JSON.stringify(value[name as never])}`;
  const lines = (indent: string, names: string[], text: (name: string) => string) =>
    names.map((name) => `\n${indent}${text(name)}`).join(",");
  const route = (name: string) => {
    const { in: given, out, ...rest } = routes[name]!;
    const sides = Object.entries({ in: given, out }).map(
      ([side, fields]) => `"${side}": {${lines("      ", Object.keys(fields), line(fields))}}`,
    );
    return `${JSON.stringify(name)}: {${lines("    ", [...Object.keys(rest).map(line(rest)), ...sides], (text) => text)}}`;
  };
  const head = lines("  ", Object.keys(about), line(about));
  return `{${head},\n  "routes": {${lines("  ", Object.keys(routes), route)}}\n}\n`;
}

const USAGE = "npm run docs:release -- <day>: records what the API promises from that day on. Run only for a release.";
const [day = ""] = readArguments(USAGE, { allowPositionals: true }).positionals;
const released = dayOf(day);
const routes = signatureOf(await openApiOf(contents));
await writeFile(new URL("../released-api.json", import.meta.url), releaseText({ version: VERSION, released, routes }));
