// Extracts what happened to an entity from the trace, in order.
import { SECOND } from "../../shared/kernel/clock.ts";
import type { Line } from "./kernel.ts";

const MAX_LINES = 160;
const MAX_CHARACTERS = 260;
/** What befell a process: belongs to whatever it was at just then. */
const MISHAP = /^(\S+\/\d+) (died|got|lost)/;
const OF_PROCESS = /^(\S+\/\d+) /;

/** Lines of the trace that concern one of the entities, with names in place of ids. */
export function storyOf(
  trace: readonly Line[],
  start: number,
  entities: readonly string[],
  names: ReadonlyMap<string, string>,
): string {
  const wanted = entities.filter((id) => id !== "");
  const concerned = new Set<string>();
  const lines = trace.filter(({ text }) => {
    const isNamed = wanted.length === 0 || wanted.some((id) => text.includes(id));
    const mishap = MISHAP.exec(text);
    if (mishap) return isNamed || concerned.has(mishap[1]!);
    const process = OF_PROCESS.exec(text)?.[1];
    if (process && isNamed) concerned.add(process);
    else if (process) concerned.delete(process);
    return isNamed;
  });
  return lines
    .slice(-MAX_LINES)
    .map(({ at, text }) => `${((at - start) / SECOND).toFixed(3).padStart(9)}  ${named(text, names)}`)
    .map((line) => (line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)} …` : line))
    .join("\n");
}

function named(text: string, names: ReadonlyMap<string, string>): string {
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => names.get(id) ?? id);
}
