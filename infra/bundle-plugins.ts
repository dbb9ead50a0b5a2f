// What esbuild needs to make the bundles: entries that exist only in memory, the console's files, lean declarations of
// stored items, and built-in modules that load late.
import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import { buildConsole } from "../console/build.ts";
import { packConsole } from "../console/packed.ts";
import { lookUp } from "./names.ts";

/** The entries of the bundles by name, whose imports begin at a folder. */
export function virtual(entries: ReadonlyMap<string, string>, folder: string): Plugin {
  return {
    name: "function-entries",
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^function:/ }, ({ path }) => ({ path: path.slice("function:".length), namespace: "entry" }));
      onLoad({ filter: /.*/, namespace: "entry" }, ({ path }) => ({
        contents: lookUp(entries, path),
        loader: "ts",
        resolveDir: folder,
      }));
    },
  };
}

/** The built console, as one module of the function that serves it. */
export const consoleFiles: Plugin = {
  name: "console-files",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^console:files$/ }, ({ path }) => ({ path, namespace: "console" }));
    onLoad({ filter: /.*/, namespace: "console" }, async () => ({
      contents: `export const packed = ${JSON.stringify(packConsole(await buildConsole()))};`,
    }));
  },
};

/**
 * Built-in modules that few calls need, loaded on first use: `node:http2`, and `node:http`. An import of `node:http`
 * reads all its exports. One of them is a browser's WebSocket, which loads all of undici: a third of a bundle's load time.
 */
const LATE = /^(?:node:)?(http2?)$/;
export const loadedLate: Plugin = {
  name: "loaded-late",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: LATE }, ({ path, namespace }) =>
      namespace === "late" ? { path, external: true } : { path: path.replace(LATE, "node:$1"), namespace: "late" },
    );
    onLoad({ filter: /.*/, namespace: "late" }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== "default");
      const late = `Object.defineProperty(exports,name,{enumerable:true,get:()=>require("${path}")[name]})`;
      return { contents: `for(const name of ${JSON.stringify(names)})${late}` };
    });
  },
};

/** The files that declare items. Their statements have no effect but their value. */
const ITEM_FILES = /shared\/store\/(?:[\w-]+\/)*(?:[\w-]+-)?(?:items|index)\.ts$/;

/**
 * A statement `export const name = …;` that calls a declaration or a schema, or lists them, as the formatter writes it:
 * its last line begins where it begins. Functions have no effect as they are.
 */
const STATEMENT =
  /^export const (\w+)(: [^=]+)? = ((?:(?:item|platformItem|entity|indexOf|keyIndexOf|v\.\w+)\(|[{[])(?:.*;$|[\s\S]*?^[\])}].*;$))/gm;

/** Members of a declaration that no function reads. */
const METADATA =
  /^ {2}(?:about|writers|lifetime|personal|purge|row):(?: .*,$|(?:\n {4}.*)+$|(?: .*$[\s\S]*?^ {2}[\])}].*,$))\n?/gm;

const DECLARATION = /^(?:item|platformItem|entity|indexOf|keyIndexOf)\(/;

/** Each statement as an expression without side effects, which esbuild leaves out where it is not used. */
function leanItems(source: string): string {
  return source.replaceAll(STATEMENT, (_, name: string, type: string | undefined, value: string) => {
    const expression = value.replace(/;$/, "");
    const lean = DECLARATION.test(expression) ? expression.replaceAll(METADATA, "") : expression;
    return `export const ${name}${type ?? ""} = /* @__PURE__ */ (() => (${lean}))();`;
  });
}

/**
 * Declarations of stored items: only those that are used, and of each only what a function needs at run time. The rest
 * (what an item is for, its writers, the schema of its row) is read by the compiler, the docs and the tests.
 */
export const items: Plugin = {
  name: "items",
  setup: ({ onLoad }) => {
    onLoad({ filter: ITEM_FILES }, async ({ path }) => ({
      contents: leanItems(await readFile(path, "utf8")),
      loader: "ts",
    }));
  },
};
