// Loads the simulator over a copy of the product with a bug in it: the patched text exists only in memory.
import { registerHooks } from "node:module";
import type { Exploration } from "./exploration.ts";
import type { Bug } from "./planted/bug.ts";
import { planted } from "./planted/index.ts";
import type { Run } from "./simulate.ts";

const ROOT = new URL("../../", import.meta.url).href;
const MARK = "planted";

/** The text with the bug in it. @throws if what it replaces does not stand there exactly once. */
export function plant({ name, file, find, replace }: Bug, text: string): string {
  const [before, after, ...more] = text.split(find);
  if (after === undefined || more.length > 0)
    throw new Error(
      `The planted bug "${name}" must apply once to ${file}; its text occurs ${more.length + (after === undefined ? 0 : 1)} times.`,
    );
  return before + replace + after;
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
      const loaded = next(url, context);
      const { pathname, searchParams } = new URL(url, ROOT);
      const bug = planted[Number(searchParams.get(MARK) ?? -1)];
      if (!bug || pathname !== new URL(bug.file, ROOT).pathname) return loaded;
      return { ...loaded, source: plant(bug, String(loaded.source)) };
    },
  });
}

async function simulatorWith(bug: Bug) {
  hook();
  const mark = `?${MARK}=${planted.indexOf(bug)}`;
  const { simulate }: typeof import("./simulate.ts") = await import(`./simulate.ts${mark}`);
  const { scenarios }: typeof import("./scenarios/index.ts") = await import(`./scenarios/index.ts${mark}`);
  const { shrunkStory }: typeof import("./exploration.ts") = await import(`./exploration.ts${mark}`);
  return { simulate, scenarios, shrunkStory };
}

export interface Found {
  bug: Bug;
  /** Absent if no seed found it. */
  run: Run | undefined;
  seeds: number;
}

/** The first seed that finds a bug, of `most` from `from`. */
export async function findBug(bug: Bug, { from, seeds }: Pick<Exploration, "from" | "seeds">): Promise<Found> {
  const { simulate, scenarios } = await simulatorWith(bug);
  const chosen = scenarios.filter(({ name }) => bug.scenario === undefined || bug.scenario === name);
  for (let n = 0; n < seeds; n++) {
    const seed = from + n;
    const run = await simulate({ seed, scenario: chosen[seed % chosen.length]!, profile: bug.profile });
    if (run.violation) return { bug, run, seeds: n + 1 };
  }
  return { bug, run: undefined, seeds };
}

/** The shrunk story of a run that found a bug. */
export async function storyOfBug(bug: Bug, run: Run): Promise<string> {
  const { scenarios, shrunkStory } = await simulatorWith(bug);
  const scenario = scenarios.find(({ name }) => name === run.scenario)!;
  return shrunkStory({ seed: run.seed, scenario, profile: run.profile }, run);
}
