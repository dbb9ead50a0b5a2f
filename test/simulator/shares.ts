// Divides work over separate processes, one per core.
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";

const MARK = "SIMULATOR_SHARE";

type Message<T> = { step: { done: number; found: number } } | { answer: T };

export const isShare = (): boolean => process.send !== undefined && process.env[MARK] !== undefined;

/** How many processes are worth it. */
export const sharesOf = (wanted: number | undefined, work: number, minShare: number): number =>
  isShare() ? 1 : Math.max(1, Math.min(wanted ?? availableParallelism(), Math.floor(work / minShare)));

/**
 * Runs a script with these arguments in a process of its own.
 * @param stepped is called with each step that the process reports.
 * @returns its answer.
 */
export function inShare<T>(
  script: string,
  args: readonly string[],
  stepped: (done: number, found: number) => void,
): Promise<T> {
  const child = fork(script, args, { env: { ...process.env, [MARK]: "1" } });
  return new Promise((resolve, reject) => {
    child.on("message", (message: Message<T>) => {
      if ("answer" in message) resolve(message.answer);
      else stepped(message.step.done, message.step.found);
    });
    // After its exit, messages may still be on their way.
    child.once("disconnect", () => reject(new Error("A share of the work ended without an answer.")));
  });
}

/** Reports from within a share that so many more are done. */
export const reportStep = (done: number, found: number): void => void process.send?.({ step: { done, found } });

/** Answers from within a share. */
export const answerShare = (answer: object): void => void process.send?.({ answer });
