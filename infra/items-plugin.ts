// Declarations of stored items in bundles: only those that are used, and of each only what a function needs at run time.
// The rest (what an item is for, its writers, the schema of its row) is read by the compiler, the docs and the tests.
import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/** The files that declare items. Their statements have no effect but their value. */
export const ITEM_FILES = /shared\/store\/(?:[\w-]+\/)?(?:[\w-]+-)?(?:items|index)\.ts$/;

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
export function leanItems(source: string): string {
  return source.replaceAll(STATEMENT, (_, name: string, type: string | undefined, value: string) => {
    const expression = value.replace(/;$/, "");
    const lean = DECLARATION.test(expression) ? expression.replaceAll(METADATA, "") : expression;
    return `export const ${name}${type ?? ""} = /* @__PURE__ */ (() => (${lean}))();`;
  });
}

export const items: Plugin = {
  name: "items",
  setup: ({ onLoad }) => {
    onLoad({ filter: ITEM_FILES }, async ({ path }) => ({
      contents: leanItems(await readFile(path, "utf8")),
      loader: "ts",
    }));
  },
};
