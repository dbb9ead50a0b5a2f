// When a workspace is looked over: every night after something changed in it, or should have.
import { DAY, HOUR, MINUTE } from "../kernel/clock.ts";
import { hashOf } from "./hash.ts";
import type { Timer } from "./timers.ts";

/** The workspaces of a night are spread over this time. */
const NIGHT = { begins: 2 * HOUR, minutes: 120 };

/** The timer of the first recount that begins after a time. @param now service time in milliseconds. */
export function recountTimer(now: number, tenant: string): Timer {
  const ofNight = NIGHT.begins + (Number.parseInt(hashOf(tenant).slice(0, 8), 16) % NIGHT.minutes) * MINUTE;
  const today = Math.floor(now / DAY) * DAY + ofNight;
  const at = today > now ? today : today + DAY;
  return { kind: "recount", id: String(Math.floor(at / DAY)), at };
}
