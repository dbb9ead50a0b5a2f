// `npm run docs`: writes all generated files, or those under the named folders. Deletes stale sample events.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments, refuse } from "../../tools/arguments.ts";
import { contents } from "./contents.ts";
import { generatedFiles } from "./files.ts";

const ROOT = new URL("../../", import.meta.url);
const at = (path: string) => fileURLToPath(new URL(path, ROOT));

const USAGE = `npm run docs -- [FOLDER …]: writes the generated files that changed, or only those under the named folders.

Folders are console, docs, events and sdk. The name of each written file is printed.

Example: npm run docs -- sdk docs. npm run events is npm run docs -- events.`;
const { positionals: folders } = readArguments(USAGE, { allowPositionals: true });

const files = await generatedFiles(contents);
for (const folder of folders)
  if (![...files.keys()].some((path) => path.startsWith(`${folder}/`))) refuse(`No generated file is under ${folder}.`);
for (const [path, text] of files) {
  if (folders.length > 0 && !folders.some((folder) => path.startsWith(`${folder}/`))) continue;
  if ((await readFile(at(path), "utf8").catch(() => "")) === text) continue;
  await mkdir(dirname(at(path)), { recursive: true });
  await writeFile(at(path), text);
  console.log(path);
}
for (const file of await readdir(at("events")))
  if (file.endsWith(".json") && !files.has(`events/${file}`)) await rm(at(`events/${file}`));
