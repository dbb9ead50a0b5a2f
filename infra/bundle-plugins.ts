// What esbuild needs to make the bundles: entries that exist only in memory, files that are built, declarations
// without what only the compiler, the docs and the tests read, and built-in modules that load late.
import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import { lookUp } from "./names.ts";
import { packSite, siteFiles } from "./site-files.ts";

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

/** The files at the edge, as one module of the function that writes them. */
export const builtFiles: Plugin = {
  name: "built-files",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^built:site$/ }, ({ path }) => ({ path, namespace: "built" }));
    onLoad({ filter: /.*/, namespace: "built" }, async () => ({
      contents: `export const packed = ${JSON.stringify(packSite(await siteFiles()))};`,
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

/**
 * The serializer of html-to-text: only formats that we do not use write HTML (shared/rules/mail-text.ts). It
 * has 75 KB, most of it names of characters.
 */
export const unwritten: Plugin = {
  name: "unwritten",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^dom-serializer$/ }, ({ path }) => ({ path, namespace: "unwritten" }));
    onLoad({ filter: /.*/, namespace: "unwritten" }, ({ path }) => ({
      contents: `export const render = () => { throw new Error("${path} is not in the bundle"); };\nexport default render;`,
    }));
  },
};

/** The files that declare items. Their statements have no effect but their value. */
const ITEM_FILES = /shared\/store\/(?:[\w-]+\/)*(?:[\w-]+-)?(?:items|index)\.ts$/;

/** Rules and contracts are pure, their grammars, schemas and tables too. */
const PURE = /shared\/(?:rules|contract)\/[\w-]+\.ts$/;

/**
 * A statement `const name = …;` that calls a function or lists values, as the formatter writes it: its last line begins
 * where it begins. Functions have no effect as they are.
 */
const STATEMENT = /^((?:export )?const \w+(?:: [^=]+)? = )((?:(?:new )?[\w.]+\(|[{[])(?:.*;$|[\s\S]*?^[\])}`].*;$))/gm;

/** Members of a declaration that no function reads. */
const METADATA =
  /^ {2}(?:about|writers|lifetime|personal|purge|row):(?: .*,$|(?:\n {4}.*)+$|(?: .*$[\s\S]*?^ {2}[\])}].*,$))\n?/gm;

const DECLARATION = /^(?:item|platformItem|entity|indexOf|keyIndexOf)\(/;

/** Each statement as an expression without side effects, which esbuild leaves out where it is not used. */
const pureStatements = (source: string): string =>
  source.replaceAll(STATEMENT, (_, before: string, value: string) => {
    const expression = value.replace(/;$/, "");
    const lean = DECLARATION.test(expression) ? expression.replaceAll(METADATA, "") : expression;
    return `${before}/* @__PURE__ */ (() => (${lean}))();`;
  });

const TEXT = /"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/.source;
const TEXTS = `\\s*(?:${TEXT})(?:\\s*\\+\\s*(?:${TEXT}))*,?`;
/** Descriptions of a field, of a part of a grammar or of a channel: only the reference and the console show them. */
const DESCRIPTION = new RegExp(`,\\s*v\\.description\\(${TEXTS}\\s*\\)`, "g");
const SAID = new RegExp(`\\b(said)\\(\\s*(?:${TEXT})(?:\\s*\\+\\s*(?:${TEXT}))*,`, "g");
const WORDING = new RegExp(`\\b(?:about|label|hint|example|(setting)):${TEXTS}`, "g");

/** The replacements of left-out texts: a field of credentials stays marked as a setting. */
const REST: Readonly<Record<string, string>> = { setting: 'setting: "",', said: 'said("",' };

/** The source without such texts, on the same lines. */
const without = (texts: RegExp, source: string): string =>
  source.replaceAll(texts, (text, kind: string | number | undefined) => {
    const lines = "\n".repeat(text.split("\n").length - 1);
    return (REST[kind ?? ""] ?? "") + lines;
  });

export const declarations: Plugin = {
  name: "declarations",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/(?:functions|shared)\/.*\.ts$/ }, async ({ path }) => {
      const source = without(SAID, without(DESCRIPTION, await readFile(path, "utf8")));
      if (PURE.test(path)) return { contents: pureStatements(without(WORDING, source)), loader: "ts" };
      return { contents: ITEM_FILES.test(path) ? pureStatements(source) : source, loader: "ts" };
    });
  },
};
