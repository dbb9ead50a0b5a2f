// The time and the randomness of the machine: the only source of both.
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../kernel/clock.ts";
import { type Ids, idsFrom } from "../kernel/ids.ts";

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined),
};

export const systemIds: Ids = idsFrom(randomBytes);
