// Tells what happened to an entity, in order, from the trace.
import { SECOND } from "../../shared/clock.ts";
import type { Kernel } from "./kernel.ts";

const MOST_LINES = 160;
const MOST_CHARACTERS = 260;

/** Lines of the trace that name one of the entities, with ids told by their names. */
export function storyOf(
  { trace }: Pick<Kernel, "trace">,
  start: number,
  entities: readonly string[],
  names: ReadonlyMap<string, string>,
): string {
  const wanted = entities.filter((id) => id !== "");
  const lines = trace.filter(({ text }) => wanted.length === 0 || wanted.some((id) => text.includes(id)));
  return lines
    .slice(-MOST_LINES)
    .map(({ at, text }) => `${((at - start) / SECOND).toFixed(3).padStart(9)}  ${named(text, names)}`)
    .map((line) => (line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)} …` : line))
    .join("\n");
}

function named(text: string, names: ReadonlyMap<string, string>): string {
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => names.get(id) ?? id);
}
