// A clock that only tests move, and ids for what they make.
import { randomBytes, randomUUID } from "node:crypto";
import type { Ids } from "../../stand-in.ts";
import type { Clock } from "../../time.ts";

export interface FrozenClock extends Clock {
  /** Moves time forward and ends the sleeps that are due by then, earliest first. */
  jumpTo(at: number): void;
  /** When the next sleep ends; undefined if nobody sleeps. */
  nextTimer(): number | undefined;
}

interface Sleeper {
  at: number;
  wake(): void;
}

export function frozenClock(start: number): FrozenClock {
  const sleepers = new Set<Sleeper>();
  let now = start;
  const inOrder = () => [...sleepers].sort((a, b) => a.at - b.at);
  return {
    now: () => now,
    nextTimer: () => inOrder()[0]?.at,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper: Sleeper = {
          at: now + Math.max(0, Math.ceil(ms)),
          wake: () => {
            sleepers.delete(sleeper);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", sleeper.wake, { once: true });
      }),
    jumpTo: (at) => {
      now = Math.max(now, at);
      for (const sleeper of inOrder()) if (sleeper.at <= now) sleeper.wake();
    },
  };
}

export const ids: Ids = { uuid: () => randomUUID(), bytes: randomBytes };
