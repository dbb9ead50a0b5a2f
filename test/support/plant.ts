// Loaded before a program: changes sources as they are read. PLANT: `[[path, text that is there once, text in its place], …]`; a
// text in the place of none is a file that there is not yet.
import { registerHooks } from "node:module";

type Plant = readonly [path: string, before: string, after: string];

const plants: Plant[] = JSON.parse(process.env.PLANT ?? "[]");
const urlOf = (path: string) => new URL(`../../${path}`, import.meta.url).href;
const added = new Map(plants.flatMap(([path, before, after]) => (before === "" ? [[urlOf(path), after]] : [])));

registerHooks({
  resolve(specifier, context, next) {
    const url = specifier.startsWith(".") ? new URL(specifier, context.parentURL).href : specifier;
    return added.has(url) ? { url, shortCircuit: true } : next(specifier, context);
  },
  load(url, context, next) {
    const text = added.get(url);
    if (text !== undefined) return { format: "module-typescript", source: text, shortCircuit: true };
    const loaded = next(url, context);
    const own = plants.filter(([path]) => url === urlOf(path));
    if (own.length === 0) return loaded;
    const source = own.reduce((all, [path, before, after]) => {
      const [head, tail, ...more] = all.split(before);
      if (tail === undefined || more.length > 0) throw new Error(`It is not in ${path} once: ${before}`);
      return head + after + tail;
    }, String(loaded.source));
    return { ...loaded, source };
  },
});
