// Sandbox workspaces: their time can be moved, and what they send is recorded instead of sent (docs/decisions/0072).
import type { Clock } from "../../kernel/clock.ts";
import type { Capability, Deps } from "../../kernel/deps.ts";
import { type Ids, type TenantId, uuidV8 } from "../../kernel/ids.ts";
import { openPlatformTable } from "../table.ts";
import { WorkspaceItem } from "../workspaces/items.ts";

/** The id of a sandbox is a UUID of version 8, that of another workspace of 4 or 7: to tell them costs no read. */
const SANDBOX_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TAIL_BYTES = 10;

export const isSandbox = (tenant: string): tenant is TenantId => SANDBOX_ID.test(tenant);
/** In the order of `at`, as the ids of other clients of an agency are. */
export const sandboxId = (ids: Ids, at: number): string => uuidV8(at, ids.bytes(TAIL_BYTES));

/** Where the time of a sandbox is, by the row of its workspace. */
export interface SandboxTime {
  clock_offset?: number;
  clock_still?: number;
  clock_least?: number;
}

/** Clocks of processes differ: none of them sees a time from before the end of the latest move. */
export const timeIn = ({ clock_offset = 0, clock_still, clock_least = 0 }: SandboxTime, now: number): number =>
  clock_still ?? Math.max(clock_least, now + clock_offset);

/** The deps of one message or request of a sandbox. Its time goes on from where it is now. */
export function insideSandbox(deps: Deps, tenant: TenantId, time: SandboxTime): Deps {
  const wall = deps.clock;
  const ahead = timeIn(time, wall.now()) - wall.now();
  const clock: Clock = { now: () => wall.now() + ahead, sleep: wall.sleep };
  return { ...deps, clock, sandbox: { tenant, wall } };
}

/** The deps for work of a workspace: those of the function, or if it is a sandbox those of its time. */
export async function depsFor(deps: Deps, tenant: string): Promise<Deps> {
  if (!isSandbox(tenant)) return deps;
  const row = await openPlatformTable(deps, "TENANT#").get(WorkspaceItem, { tenant });
  return insideSandbox(deps, tenant, row ?? {});
}

/** Binds a capability to a workspace that the request itself names: a sandbox gets it in its own time. */
export function bindAnywhere<V>(deps: Deps, { open }: Capability<string, V>): (tenant: TenantId) => Promise<V> {
  const bind = open(deps);
  return async (tenant) => {
    const inside = await depsFor(deps, tenant);
    return inside === deps ? bind(tenant) : open(inside)(tenant);
  };
}
