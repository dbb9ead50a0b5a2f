// A program as one module, which is made when one of its files has changed, and the code that V8 made of it
// (docs/decisions/0143).
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { constants, Script } from "node:vm";
import type { Plugin } from "esbuild";

interface Program {
  /** Its first file, without an `await` outside of functions. */
  entry: string;
  /** All files of the program are below it, and `node_modules`. */
  root: string;
  /** The folder in which the module and its code are kept. */
  folder: string;
  /** The name of a use of the program. Each use calls other functions, so its code is kept on its own. */
  use: string;
}

interface OneModule {
  /** @returns what the first file exports */
  run(): Promise<unknown>;
  /** Keeps the code of the functions that were called until now for later runs, if they have none. */
  keepCode(): void;
}

interface BuiltModule {
  /** The name of the module. It depends on the text, because V8 recognizes its code only by the length of the text. */
  name: string;
  /** The sources: the path of each file below the root, and a mark that changes with the file. */
  sources: Record<string, string>;
}

/** Files that say how the others are read, and which packages there are. */
const SETTINGS = ["package.json", "tsconfig.json", "node_modules/.package-lock.json", "local/one-module.ts"];

const MADE = "made.json";

/** A folder of packages that the user may not write to. */
const UNWRITABLE = new Set(["EACCES", "EPERM", "EROFS"]);
const isUnwritable = (error: unknown) => UNWRITABLE.has((error as NodeJS.ErrnoException).code ?? "");

/**
 * The program as one module, made anew if one of its files has changed; the files themselves if no module can be kept.
 * Files of packages count as unchanged until npm changes one.
 */
export async function openOneModule({ entry, root, folder, use }: Program): Promise<OneModule> {
  let made = madeIn(folder);
  if (!made || !isCurrent(made, root)) {
    try {
      made = await make({ entry, root, folder });
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      return { run: () => import(pathToFileURL(entry).href), keepCode: () => undefined };
    }
  }
  return openMade(join(folder, `${made.name}.cjs`), join(folder, `${made.name}.${use}`));
}

async function make({ entry, root, folder }: Omit<Program, "use">): Promise<BuiltModule> {
  mkdirSync(folder, { recursive: true });
  const { contents, files } = await bundle(entry, root);
  const sources = Object.fromEntries([...SETTINGS, ...files].map((file) => [file, markOf(root, file)]));
  const name = createHash("sha256").update(contents).digest("hex").slice(0, 16);
  const earlier = readdirSync(folder).filter((one) => !one.startsWith(name) && !one.startsWith(MADE));
  for (const one of earlier) rmSync(join(folder, one), { force: true });
  // Another start may do the same: the module is there before its name, and each of them as a whole.
  replace(join(folder, `${name}.cjs`), contents);
  replace(join(folder, MADE), JSON.stringify({ name, sources }));
  return { name, sources };
}

/** V8 refuses code of another Node and of other settings. */
function openMade(made: string, code: string): OneModule {
  const cachedData = statSync(code, { throwIfNoEntry: false }) && readFileSync(code);
  const script = new Script(`(function (exports, require, module) {${readFileSync(made, "utf8")}\n})`, {
    filename: made,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData && { cachedData }),
  });
  const hasCode = script.cachedDataRejected === false;
  return {
    run: async () => {
      const module = { exports: {} };
      script.runInThisContext()(module.exports, createRequire(made), module);
      return module.exports;
    },
    keepCode: () => {
      if (hasCode) return;
      try {
        replace(code, script.createCachedData());
      } catch (error) {
        if (!isUnwritable(error)) throw error;
      }
    },
  };
}

function madeIn(folder: string): BuiltModule | undefined {
  const file = join(folder, MADE);
  return statSync(file, { throwIfNoEntry: false }) && (JSON.parse(readFileSync(file, "utf8")) as BuiltModule);
}

const isCurrent = ({ sources }: BuiltModule, root: string): boolean =>
  Object.entries(sources).every(([file, mark]) => markOf(root, file) === mark);

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
    format: "cjs",
    target: "node22",
    // Clients and commands are known by the names of their classes.
    keepNames: true,
    // esbuild starts a program that is beside its own files.
    external: ["esbuild"],
    plugins: [ownPlaces],
    logLevel: "error",
  });
  // The process of esbuild would otherwise run as long as this one.
  await stop();
  const files = Object.keys(metafile.inputs).filter((file) => !file.startsWith("node_modules/"));
  return { contents: outputFiles[0]!.text, files };
}

/** Files look up their neighbours by their own place, not by that of the module. */
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

function replace(file: string, contents: string | Buffer): void {
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, contents);
  renameSync(beside, file);
}
