// What the command line says: how far a long run has come, on stderr, and its report on seeds and on planted bugs.
import { SECOND } from "../../shared/kernel/clock.ts";
import type { Findings } from "./exploration.ts";

export function reportOf(findings: Findings, seconds: number): string {
  const { seeds, calls, crashes, faults, sweep, watchdog, violations, reached, trace } = findings;
  const perThousand = (n: number) => Math.round((n / seeds) * 1_000);
  return [
    ...Object.entries(violations).map(
      ([kind, broken]) => `${broken.length} × ${kind}, first at seed ${broken[0]} (${broken.slice(0, 8)})`,
    ),
    `${seeds} seeds in ${seconds.toFixed(1)} s: ${(seeds / seconds).toFixed(1)} a second, ${Object.values(violations).flat().length} violations`,
    `a seed: ${Math.round(calls / seeds)} AWS calls, ${(faults / seeds).toFixed(1)} faults, ${(crashes / seeds).toFixed(1)} crashes`,
    `per 1,000 seeds: ${perThousand(sweep)} rows rescued by the sweep, ${perThousand(watchdog)} looks of the watchdog`,
    `${reached.length} different answers, moves, writes and messages were reached`,
    `trace ${trace.slice(0, 16)}`,
  ].join("\n");
}

export interface FoundRow {
  name: string;
  area: string;
  tried: number;
  /** Those that executed the changed code. */
  reached: number;
  /** Absent if no seed found it. */
  seed?: number | undefined;
  where?: string | undefined;
  invariant?: string | undefined;
}

export function tableOf(rows: readonly FoundRow[]): string {
  const found = rows.filter(({ seed }) => seed !== undefined);
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map(({ name, area, tried, reached, seed, where, invariant }) =>
    [
      name.padEnd(width),
      area.padEnd(11),
      seed === undefined ? `NOT FOUND in ${tried} seeds, of which ${reached} executed it` : `seed ${seed}`.padEnd(10),
      ...(seed === undefined ? [] : [`${tried} tried`.padEnd(11), String(where).padEnd(20), String(invariant)]),
    ].join("  "),
  );
  const tries = found.map(({ tried }) => tried).sort((a, b) => a - b);
  const median = tries[Math.floor(tries.length / 2)] ?? 0;
  return [...lines, `${found.length} of ${rows.length} planted bugs found; median ${median} seeds`].join("\n");
}

/** At least this often while something is done. */
const EVERY_MS = 3 * SECOND;

interface Progress {
  /** So many more are done. Prints at most once in three seconds. */
  add(done: number, violations?: number): void;
  end(): void;
}

/** On stderr, with or without a terminal. @param what is counted: "seeds". Prints also while nothing is added, unless the thread is busy. */
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
