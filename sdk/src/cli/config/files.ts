// The folder of configuration: a folder for each kind, a JSON file for each thing.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { CommandError } from "../command.ts";
import { makeFolder } from "../folders.ts";
import { seenName } from "../names.ts";
import { isObject, objectIn, type Resource } from "../resource.ts";
import { type Kind, kinds } from "./kinds.ts";

export interface FileDocument {
  /** The path of the file, relative to the folder. */
  file: string;
  key: string;
  renamedFrom: string | undefined;
  document: Resource;
  /** Fields that no workspace has: an earlier name, and an address that takes a value of the environment. */
  own: Resource;
}

/** Kind → name → the document of its file. */
export type Folder = Map<string, Map<string, FileDocument>>;

type Environment = Readonly<Record<string, string | undefined>>;

const MAX_SLUG_CHARACTERS = 60;

/** A readable file name such as `spring-sale.json`, a different one for each name. */
export function fileNameOf(key: string, taken: ReadonlySet<string>): string {
  const plain = key.normalize("NFKD").toLowerCase();
  const slug = plain
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, MAX_SLUG_CHARACTERS);
  const name = `${slug || "unnamed"}.json`;
  if (!taken.has(name)) return name;
  return `${slug || "unnamed"}-${createHash("sha256").update(key).digest("hex").slice(0, 8)}.json`;
}

/** Addresses of webhooks differ between workspaces: `${HOOKS_URL}/in` takes a value of the environment. */
function withEnvironment(document: Resource, env: Environment, missing: (name: string) => void): Resource {
  const { target_url } = document;
  if (typeof target_url !== "string") return document;
  const filled = target_url.replaceAll(/\$\{([A-Z][A-Z0-9_]*)\}/g, (text, name: string) => {
    const value = env[name];
    if (value === undefined) missing(name);
    return value ?? text;
  });
  return { ...document, target_url: filled };
}

/** @throws CommandError that names all faults of the files. */
export function readFolder(folder: string, env: Environment): Folder {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new CommandError(`There is no folder ${folder}.`);
  const problems: string[] = [];
  const known: ReadonlySet<string> = new Set(kinds.map(({ name }) => name));
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory() && !known.has(entry.name) && readdirSync(join(folder, entry.name)).some(isJson))
      problems.push(`${entry.name}/: is no kind of configuration; kinds are ${[...known].join(", ")}`);
  const found: Folder = new Map(kinds.map((kind) => [kind.name, readKind(folder, kind, { env, problems })]));
  if (problems.length > 0) throw new CommandError(`The configuration has problems.\n  ${problems.join("\n  ")}`);
  return found;
}

const isJson = (file: string) => file.endsWith(".json");

function readKind(
  folder: string,
  { name: kind, keyField }: Kind,
  { env, problems }: { env: Environment; problems: string[] },
) {
  const found = new Map<string, FileDocument>();
  const home = join(folder, kind);
  for (const name of existsSync(home) ? readdirSync(home).filter(isJson).sort() : []) {
    const file = relative(folder, join(home, name));
    const document = parsed(readFileSync(join(home, name), "utf8"));
    if (document instanceof SyntaxError) {
      problems.push(`${file}: is not JSON: ${document.message}`);
      continue;
    }
    const writtenKey = objectIn(document)[keyField];
    if (!isObject(document) || typeof writtenKey !== "string" || seenName(writtenKey) === "") {
      problems.push(`${file}: must be a JSON object with a ${keyField}`);
      continue;
    }
    const { renamed_from, ...rest } = document;
    if (renamed_from !== undefined && typeof renamed_from !== "string")
      problems.push(`${file}: renamed_from must be a text`);
    const key = seenName(writtenKey);
    const other = found.get(key);
    if (other) problems.push(`${file}: ${other.file} has the name ${key} too`);
    const filled = withEnvironment({ ...rest, [keyField]: key }, env, (variable) =>
      problems.push(`${file}: the environment has no ${variable}`),
    );
    const renamedFrom = typeof renamed_from === "string" ? seenName(renamed_from) : undefined;
    const isFilled = filled.target_url !== document.target_url;
    const settings = { ...(renamedFrom && { renamed_from }), ...(isFilled && { target_url: document.target_url }) };
    found.set(key, { file, key, renamedFrom, document: filled, own: settings });
  }
  return found;
}

/** @returns the parsed value, or the SyntaxError */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}

/** Writes a document. A reader finds the old file or the new one, never a part of it. */
export function writeDocument(folder: string, file: string, document: Resource): void {
  const path = join(folder, file);
  makeFolder(join(path, ".."));
  writeFileSync(`${path}.new`, `${JSON.stringify(document, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}
