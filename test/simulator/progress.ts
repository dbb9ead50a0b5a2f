// Prints how far a long run has come, on stderr, with or without a terminal.
import { SECOND } from "../../shared/kernel/clock.ts";

/** At least this often while something is done. */
const EVERY_MS = 3 * SECOND;

export interface Progress {
  /** So many more are done. Prints at most once in three seconds. */
  add(done: number, violations?: number): void;
  end(): void;
}

/** @param what is counted: "seeds". Prints also while nothing is added, unless the thread is busy. */
export function openProgress(what: string, total: number): Progress {
  const start = performance.now();
  let printed = start;
  let done = 0;
  let violations = 0;
  const print = () => {
    const now = performance.now();
    if (now - printed < EVERY_MS) return;
    printed = now;
    const rate = done / ((now - start) / SECOND);
    console.error(`${done} of ${total} ${what}, ${rate.toFixed(1)} a second, ${violations} found`);
  };
  const timer = setInterval(print, EVERY_MS).unref();
  return {
    add: (more, found = 0) => {
      done += more;
      violations += found;
      print();
    },
    end: () => clearInterval(timer),
  };
}
