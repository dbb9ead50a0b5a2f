// Makes a failing program short: leaves out commands, then fields of bodies, then waits, while the same answer differs.
import { isRecord } from "../model/kit.ts";
import type { Command, Program } from "./program.ts";
import { type Run, type RunOptions, run } from "./run.ts";
import type { Failure } from "./sides.ts";

const MAX_ATTEMPTS = 300;

/** The same failure: the same route and the same field, wherever in a list. */
export const kindOf = ({ route, path }: Failure) =>
  `${route.replace(/@\w+(\(.*?\))?/g, ":id")} ${path.replace(/\[[^\]]*\]/g, "[]")}`;

export async function shrink(program: Program, seen: Run, given: RunOptions): Promise<{ program: Program; run: Run }> {
  const options = { ...given, readsAll: true };
  const whole = await run(program, options);
  const failing = whole.failure ? whole : seen;
  const kind = kindOf(failing.failure!);
  let best = {
    program: { ...program, commands: program.commands.slice(0, failing.failure!.command + 1) },
    run: failing,
  };
  let attempts = 0;

  const stillFails = async (commands: Command[]): Promise<boolean> => {
    if (attempts >= MAX_ATTEMPTS) return false;
    attempts++;
    const candidate = { ...program, commands };
    // A body that has lost a field may be one that the reference does not know how to refuse.
    const result = await run(candidate, options).catch(() => undefined);
    if (!result?.failure || kindOf(result.failure) !== kind) return false;
    best = { program: candidate, run: result };
    return true;
  };

  for (let size = Math.ceil(best.program.commands.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < best.program.commands.length; ) {
      const fewer = best.program.commands.toSpliced(from, size);
      if (!(await stillFails(fewer))) from += size;
    }
  await simplify(() => best.program.commands, stillFails);
  return best;
}

async function simplify(
  commands: () => Command[],
  stillFails: (commands: Command[]) => Promise<boolean>,
): Promise<void> {
  for (let number = 0; number < commands().length; number++) {
    const command = commands()[number]!;
    if (command.wait > 1000) await stillFails(commands().with(number, { ...command, wait: 1000 }));
    if (command.kind !== "call" || !isRecord(command.body)) continue;
    for (const key of Object.keys(command.body)) {
      const current = commands()[number]!;
      if (current.kind !== "call") continue;
      const { [key]: _, ...body } = current.body;
      await stillFails(commands().with(number, { ...current, body }));
    }
  }
}
