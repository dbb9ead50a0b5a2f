// How the time of a computation grows with its input: a ratio within one run, which says nothing of the machine.

/** Shorter than this nothing is told apart. */
const SHORTEST_MS = 0.5;
const ROUNDS = 20;

/** Grows a computation that reads each part of its input once: 8 where nothing disturbs it, and less than 64. */
export const LINEAR = 24;
/** Grows one that reads its input from each of its parts on: 64, and less than 512. */
export const QUADRATIC = 200;

async function timeOf(work: () => unknown): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/**
 * How many times as long an input of eight times the length takes. The shortest times count: what else the machine does
 * makes a time longer, and never shorter.
 * @param read reads a text of this length, or of this many parts
 * @param most the greater length
 * @param enough ends the measurement once the ratio is less than this
 */
export async function growth(read: (length: number) => unknown, most = 60_000, enough = LINEAR): Promise<number> {
  let short = Number.POSITIVE_INFINITY;
  let long = Number.POSITIVE_INFINITY;
  for (let n = 0; n < ROUNDS; n++) {
    short = Math.max(SHORTEST_MS, Math.min(short, await timeOf(() => read(Math.ceil(most / 8)))));
    long = Math.min(long, await timeOf(() => read(most)));
    if (long / short < enough) break;
  }
  return long / short;
}
