// Timers of a sandbox, in the order of its own time. Each has a due row as well, so that time that nobody moves passes.
import type { Deps, Sandbox } from "../../deps.ts";
import { toJson } from "../json-text.ts";
import { DueItem, dueKey } from "../platform-items.ts";
import { openPlatformTable, openWorkspaceTable } from "../table.ts";
import { SandboxTimer, type TimerWork } from "./items.ts";

export interface SandboxTimerInput {
  /** Service time of the sandbox in milliseconds. */
  at: number;
  /** Timers of one time and name are one. */
  name: string;
  work: TimerWork;
}

const KEPT_SECONDS = 7 * 86_400;

/** The due row by which a sandbox looks at its timers at a real time. */
export const wakeRow = (tenant: Sandbox["tenant"], at: number, since: number) =>
  [
    dueKey(at, `sandbox-wake#${tenant}#`),
    {
      react: "due" as const,
      tenant,
      kind: "sandbox-wake" as const,
      id: "",
      at,
      since,
      expires: Math.ceil(at / 1_000) + KEPT_SECONDS,
    },
  ] as const;

/** Sets timers of the sandbox that the deps are of; setting the same one again changes nothing. */
export async function setSandboxTimers(
  deps: Deps,
  { tenant, wall }: Sandbox,
  timers: readonly SandboxTimerInput[],
): Promise<void> {
  const due = openPlatformTable(deps, "DUE#");
  const own = openWorkspaceTable(deps)(tenant);
  const since = deps.clock.now();
  const ahead = since - wall.now();
  const wakes = new Map(
    timers
      .map(({ at }) => wakeRow(tenant, Math.max(at - ahead, wall.now()), wall.now()))
      .map((row) => [row[0].at, row]),
  );
  await Promise.all([...wakes.values()].map((row) => due.put(DueItem, ...row)));
  await Promise.all(
    timers.map(({ at, name, work }) => own.put(SandboxTimer, { at, timer: name }, { at, since, work: toJson(work) })),
  );
}
