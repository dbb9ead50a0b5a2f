// Moves of the clocks of sandboxes that were asked for.
import type { Context } from "../../../shared/kernel/deps.ts";
import { moveClockQueue } from "../../../shared/runtime/resources.ts";
import { ClockMove } from "../../../shared/store/sandbox/items.ts";
import type { Changes } from "./change.ts";

export const clockUses = [moveClockQueue] as const;

export async function queueClockMoves(
  changes: Changes,
  { moveClockQueue: queue }: Context<typeof clockUses>,
): Promise<void> {
  const asked = changes.of(ClockMove, "clock-move").filter(({ before, after }) => before?.id !== after.id);
  await queue.send(asked.map(({ after: { tenant, id: move } }) => ({ tenant, move })));
}
