// `npm run template:release -- 2026-11-22`: records the resources of this template. Run for a release, or for a deliberate
// change before the first one.
import { writeFile } from "node:fs/promises";
import { dayOf, readArguments } from "../../tools/arguments.ts";
import { RECORD, resourcesOf } from "./support/recorded.ts";
import { whole } from "./support/template.ts";

const USAGE = "npm run template:release -- <day>: records the resources of this template. Run only for a release.";
const [day = ""] = readArguments(USAGE, { allowPositionals: true }).positionals;

const lines = Object.entries(resourcesOf(whole()))
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([id, resource]) => `    ${JSON.stringify(id)}: ${JSON.stringify(resource)}`);
await writeFile(
  RECORD,
  `{\n  "recorded": ${JSON.stringify(dayOf(day))},\n  "resources": {\n${lines.join(",\n")}\n  }\n}\n`,
);
