// Bugs of sandboxes and of the moves of their clocks.
import type { Bug } from "./bug.ts";

const mover = "functions/workers/move-clock/index.ts";
const moves = "shared/store/sandbox/moves.ts";

export const sandboxesBugs: readonly Bug[] = [
  {
    name: "timers of a sandbox are removed before they are forwarded",
    area: "sandboxes",
    file: mover,
    find: "async function forward({ store, tenant, sandboxTargets }: WorkerContext, rows: readonly TimerRow[]): Promise<void> {\n",
    replace:
      "async function forward({ store, tenant, sandboxTargets }: WorkerContext, rows: readonly TimerRow[]): Promise<void> {\n  await store.removeRows(rows);\n",
  },
  {
    name: "a step of a clock is written without looking at who moves it",
    area: "sandboxes",
    file: moves,
    find: "changeItem(ClockMove, { tenant: move.tenant }, counted, isOurs(move)),",
    replace: "changeItem(ClockMove, { tenant: move.tenant }, counted),",
  },
  {
    name: "a clock goes on while work of its moment is open",
    area: "sandboxes",
    file: "functions/workers/move-clock/index.ts",
    find: 'if (!isOpen && left <= 0) return "done";',
    replace: 'if (left <= 0) return "done";',
  },
  {
    name: "the time of a sandbox may be earlier than the end of its move",
    area: "sandboxes",
    file: "shared/store/sandbox/sandbox.ts",
    find: "clock_still ?? Math.max(clock_least, now + clock_offset);",
    replace: "clock_still ?? Math.max(0 * clock_least, now + clock_offset);",
  },
  {
    name: "a second move takes the place of one that is under way",
    area: "sandboxes",
    file: moves,
    find: 'any(absent(), oneOf("status", ["completed", "stopped"]), below("progress_at", now - GIVEN_UP_MS));',
    replace: "undefined;",
  },
  {
    name: "after its end a move does not look for the first timer that is left",
    area: "sandboxes",
    file: mover,
    find: 'if (part === "ended") return forwardDue(context);',
    replace: 'if (part === "ended") return;',
  },
  {
    name: "messages of a sandbox go to its providers",
    area: "sandboxes",
    file: "shared/providers/providers.ts",
    find: "(deps.sandbox ? undefined : deps.providers) ?? openProviders(deps);",
    replace: "deps.providers ?? openProviders(deps);",
  },
];
