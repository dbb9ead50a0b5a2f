// The time and the randomness of the machine: the only source of both.
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../kernel/clock.ts";
import { type Ids, idsFrom } from "../kernel/ids.ts";

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined),
};

/** One call of the generator takes as long as some hundred bytes of it, so bytes are drawn ahead. */
const DRAWN_BYTES = 4_096;

/** Draws from `source` in portions. No byte is given out twice. */
export function drawnAhead(source: (length: number) => Buffer): (length: number) => Buffer {
  let drawn: Buffer = Buffer.alloc(0);
  return (length) => {
    if (length > DRAWN_BYTES) return source(length);
    if (length > drawn.length) drawn = source(DRAWN_BYTES);
    const taken = drawn.subarray(0, length);
    drawn = drawn.subarray(length);
    return taken;
  };
}

export const systemIds: Ids = idsFrom(drawnAhead(randomBytes));
