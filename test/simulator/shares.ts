// Divides work over separate processes, one per core.
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";

const MARK = "SIMULATOR_SHARE";

export const isShare = (): boolean => process.send !== undefined && process.env[MARK] !== undefined;

/** How many processes are worth it. */
export const sharesOf = (wanted: string | undefined, work: number, minShare: number): number =>
  isShare() ? 1 : Math.max(1, Math.min(Number(wanted ?? availableParallelism()), Math.floor(work / minShare)));

/** Runs a script with these arguments in a process of its own. @returns what it answers. */
export function inShare<T>(script: string, args: readonly string[]): Promise<T> {
  const child = fork(script, args, { env: { ...process.env, [MARK]: "1" } });
  return new Promise((resolve, reject) => {
    child.once("message", (answer) => resolve(answer as T));
    child.once("exit", (code) => reject(new Error(`A share of the work ended with ${code}.`)));
  });
}

/** Answers from within a share. */
export const answerShare = (answer: object): void => void process.send?.(answer);
