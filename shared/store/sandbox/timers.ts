// Timers of a sandbox, in the order of its own time. Each has a due row as well, because the clock also runs by itself.
import { ttl } from "../../kernel/clock.ts";
import type { Deps, Sandbox } from "../../kernel/deps.ts";
import { toJson } from "../json-text.ts";
import { DueItem, dueKey } from "../platform-items.ts";
import { openPlatformTable, openWorkspaceTable } from "../table.ts";
import { WorkspaceItem } from "../workspaces/items.ts";
import { SandboxTimer, type TimerWork } from "./items.ts";
import { timeIn } from "./sandbox.ts";

export interface SandboxTimerInput {
  /** Service time of the sandbox in milliseconds. */
  at: number;
  /** Timers of one time and name are one. */
  name: string;
  work: TimerWork;
}

const KEPT_SECONDS = 7 * 86_400;

/** The due row by which a sandbox looks at its timers at a real time. */
export const clockTimerRow = (tenant: Sandbox["tenant"], at: number, since: number) =>
  [
    dueKey(at, `sandbox-wake#${tenant}#`),
    {
      react: "due" as const,
      tenant,
      kind: "sandbox-wake" as const,
      id: "",
      at,
      since,
      expires: ttl(at) + KEPT_SECONDS,
    },
  ] as const;

/**
 * Sets timers of the sandbox that the deps are of; setting the same one again changes nothing. A due row comes after its
 * timer, so that its reader finds the timer. It is computed from the time as it is then: a move may have ended in between.
 */
export async function setSandboxTimers(
  deps: Deps,
  { tenant, wall }: Sandbox,
  timers: readonly SandboxTimerInput[],
): Promise<void> {
  const platform = openPlatformTable(deps);
  const table = openWorkspaceTable(deps)(tenant);
  const since = deps.clock.now();
  await Promise.all(
    timers.map(({ at, name, work }) => table.put(SandboxTimer, { at, timer: name }, { at, since, work: toJson(work) })),
  );
  const workspace = await platform.get(WorkspaceItem, { tenant });
  const now = wall.now();
  const ahead = timeIn(workspace ?? {}, now) - now;
  const rows = new Map(
    timers.map(({ at }) => clockTimerRow(tenant, Math.max(at - ahead, now), now)).map((row) => [row[0].at, row]),
  );
  await Promise.all([...rows.values()].map((row) => platform.put(DueItem, ...row)));
}
