// Lets the event loop turn while workers run. Their calls to the embedded services need no turn of it, so a long import
// would keep every request waiting until it ends.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Hooks } from "./aws/protocol.ts";
import type { ServiceClock } from "./clock.ts";

/** How many calls workers make, together, in one turn. */
const CALLS_PER_TURN = 8;

/** Wraps the hooks of workers. While time stands still nothing else is served, and workers run through. */
export function createTurns(clock: Pick<ServiceClock, "isHeld">): (hooks: Hooks | undefined) => Hooks {
  let calls = 0;
  let turn: Promise<void> | undefined;
  const startTurn = async () => {
    await nextTurn();
    calls = 0;
    turn = undefined;
  };
  const wait = async () => {
    while (!clock.isHeld() && calls >= CALLS_PER_TURN) {
      turn ??= startTurn();
      await turn;
    }
    calls++;
  };
  return (hooks = {}) => ({
    ...hooks,
    before: async (service, operation, input) => {
      if (!clock.isHeld()) await wait();
      await hooks.before?.(service, operation, input);
    },
  });
}
