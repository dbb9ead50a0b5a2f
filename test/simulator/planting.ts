// Loads the simulator over a copy of the product with a bug in it: the patched text exists only in memory.
import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import type { Bug } from "./planted/bug.ts";
import { planted } from "./planted/index.ts";

const ROOT = new URL("../../", import.meta.url).href;
const MARK = "planted";

/** The text of a file with the bug in it. @throws if what it replaces does not stand there exactly once. */
export function plant({ name, also = [], ...first }: Bug, file: string, text: string): string {
  return [first, ...also]
    .filter((patch) => patch.file === file)
    .reduce((patched, { find, replace }) => {
      const [before, after, ...more] = patched.split(find);
      if (after === undefined || more.length > 0)
        throw new Error(
          `The planted bug "${name}" must apply once to ${file}; its text occurs ${more.length + (after === undefined ? 0 : 1)} times.`,
        );
      return before + replace + after;
    }, text);
}

/** The files that a bug changes. */
export const filesOf = ({ file, also = [] }: Bug): string[] => [...new Set([file, ...also.map((patch) => patch.file)])];

/** A file of the project. */
export const sourceOf = (file: string): string => readFileSync(fileURLToPath(new URL(file, ROOT)), "utf8");

/** Plain JavaScript of files that every copy shares, so that their types are removed once. */
const stripped = new Map<string, string>();

function strippedSourceOf(file: string, bug: Bug): string {
  if (filesOf(bug).includes(file)) return stripTypeScriptTypes(plant(bug, file, sourceOf(file)));
  const found = stripped.get(file) ?? stripTypeScriptTypes(sourceOf(file));
  stripped.set(file, found);
  return found;
}

let hooked = false;

/** Whatever a marked module imports of the project is marked as well, so that each bug has a copy of its own. */
function hook(): void {
  if (hooked) return;
  hooked = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      const mark = context.parentURL && new URL(context.parentURL).searchParams.get(MARK);
      const isOurs = found.url.startsWith(ROOT) && !found.url.includes("/node_modules/");
      if (!mark || !isOurs || found.url.includes("?")) return found;
      return { ...found, url: `${found.url}?${MARK}=${mark}` };
    },
    load: (url, context, next) => {
      const bug = planted[Number(new URL(url, ROOT).searchParams.get(MARK) ?? -1)];
      const file = url.replace(/\?.*$/, "").slice(ROOT.length);
      if (!bug || !file.endsWith(".ts")) return next(url, context);
      return { format: "module", source: strippedSourceOf(file, bug), shortCircuit: true };
    },
  });
}

/** The simulator over a copy of the product that has the bug. */
export async function simulatorWith(bug: Bug) {
  hook();
  const mark = `?${MARK}=${planted.indexOf(bug)}`;
  const { simulate }: typeof import("./simulate.ts") = await import(`./simulate.ts${mark}`);
  const { scenarios }: typeof import("./scenarios/index.ts") = await import(`./scenarios/index.ts${mark}`);
  const { shrunkStory }: typeof import("./exploration.ts") = await import(`./exploration.ts${mark}`);
  return { simulate, scenarios, shrunkStory };
}
