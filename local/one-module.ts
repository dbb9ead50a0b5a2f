// A program as one module, which is made when one of its files has changed (docs/decisions/0143).
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";

interface Program {
  /** Its first file. */
  entry: string;
  /** All files of the program are below it, and `node_modules`. */
  root: string;
  /** What is made is kept here. */
  folder: string;
}

/** What a module was made from: the path of each file below the root, and a mark that changes with the file. */
type Sources = Record<string, string>;

/** Files that say how the others are read, and which packages there are. */
const SETTINGS = ["package.json", "tsconfig.json", "node_modules/.package-lock.json", "local/one-module.ts"];

/** A folder of packages that the user may not write to. */
const UNWRITABLE = new Set(["EACCES", "EPERM", "EROFS"]);

/**
 * The program as one module, made anew unless all its files are as they were. Files of packages are as they were as long
 * as npm changed none.
 * @returns the URL of the module; of the program's first file where nothing can be kept
 */
export async function oneModule({ entry, root, folder }: Program): Promise<string> {
  const made = join(folder, "module.mjs");
  if (isMadeFrom(root, sourcesIn(folder))) return pathToFileURL(made).href;
  try {
    mkdirSync(folder, { recursive: true });
    const { contents, files } = await bundle(entry, root);
    const sources = Object.fromEntries([...SETTINGS, ...files].map((file) => [file, markOf(root, file)]));
    // Another start may do the same: the module is there before what it was made from, and each of them as a whole.
    replace(made, contents);
    replace(join(folder, "sources.json"), JSON.stringify(sources));
  } catch (error) {
    if (UNWRITABLE.has((error as NodeJS.ErrnoException).code ?? "")) return pathToFileURL(entry).href;
    throw error;
  }
  return pathToFileURL(made).href;
}

function sourcesIn(folder: string): Sources | undefined {
  const file = join(folder, "sources.json");
  return statSync(file, { throwIfNoEntry: false }) && (JSON.parse(readFileSync(file, "utf8")) as Sources);
}

const isMadeFrom = (root: string, sources: Sources | undefined): boolean =>
  sources !== undefined && Object.entries(sources).every(([file, mark]) => markOf(root, file) === mark);

function markOf(root: string, file: string): string {
  const found = statSync(join(root, file), { throwIfNoEntry: false });
  return found ? `${found.size} ${found.mtimeMs}` : "none";
}

/** The text of the module, and the files of the program in it, relative to the root. */
async function bundle(entry: string, root: string) {
  const { build, stop } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    target: "node22",
    // Clients and commands are known by the names of their classes.
    keepNames: true,
    // It starts a program of its own, which lies beside it.
    external: ["esbuild"],
    plugins: [ownPlaces],
    banner: { js: REQUIRE },
    logLevel: "error",
  });
  // Its process would stay as long as this one.
  await stop();
  const files = Object.keys(metafile.inputs).filter((file) => !file.startsWith("node_modules/"));
  return { contents: outputFiles[0]!.text, files };
}

/** Packages in the form of CommonJS ask for built-in modules. */
const REQUIRE = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

/** Files find what lies beside them from where they are, not from where the module is. */
const ownPlaces: Plugin = {
  name: "own-places",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      if (!text.includes("import.meta.url")) return undefined;
      return { contents: text.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)), loader: "ts" };
    });
  },
};

function replace(file: string, contents: string): void {
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, contents);
  renameSync(beside, file);
}
