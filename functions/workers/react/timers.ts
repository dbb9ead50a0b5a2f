// Due rows: a schedule for their minute, or the due queue at once when the time is near (docs/decisions/0021#timers).
import { type Clock, MINUTE } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { dueQueue } from "../../../shared/runtime/resources.ts";
import { minuteSchedules } from "../../../shared/runtime/schedules.ts";
import { DueItem } from "../../../shared/store/platform-items.ts";
import type { Changes } from "./change.ts";

/** Due rows nearer than this skip the minute's schedule. */
const SOON_MS = 2 * MINUTE;

/** Schedules that are created at a time. */
const AT_ONCE = 10;

export const timerUses = [dueQueue, minuteSchedules] as const;

export async function scheduleTimers(
  changes: Changes,
  { clock, dueQueue, schedules }: Context<typeof timerUses> & { clock: Clock },
): Promise<void> {
  const rows = changes.of(DueItem, "due").map(({ after }) => after);
  const soon = rows.filter(({ at }) => at - clock.now() < SOON_MS);
  const minutes = new Set(rows.filter((row) => !soon.includes(row)).map(({ at }) => Math.floor(at / MINUTE)));
  await dueQueue.send(soon.map(({ pk, sk }) => ({ row: { pk, sk } })));
  for (const some of chunksOf([...minutes], AT_ONCE)) await Promise.all(some.map((minute) => schedules.ensure(minute)));
}
