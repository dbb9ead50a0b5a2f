// Tells a failure: what was called, what came back, what should have.
import type { Program } from "./program.ts";
import type { Run } from "./run.ts";

const pretty = (value: unknown) => JSON.stringify(value, null, 2)?.slice(0, 3000);

/** Commands of the program in one line each. */
export function storyOf({ seed, commands }: Program, { failure, story }: Run): string {
  const lines = story.map(({ at, text }) => `  ${at.slice(5, 23)} ${text}`);
  return [
    `Seed ${seed}, ${commands.length} commands:`,
    ...lines,
    "",
    `At ${failure?.route} the answer differs in ${failure?.path}:`,
    `expected ${pretty(failure?.expected)}`,
    `got      ${pretty(failure?.got)}`,
  ].join("\n");
}
