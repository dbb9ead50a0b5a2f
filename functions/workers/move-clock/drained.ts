// Whether the work of a moment is done. Messages in the work of a sandbox are noted; changes on their way through the
// table's stream are not, so that a deployment waits until nothing has been seen for a while.
import { SECOND } from "../../../shared/kernel/clock.ts";
import type { Capability } from "../../../shared/kernel/deps.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import type { RuntimeContext } from "../../../shared/runtime/worker.ts";
import { openWork } from "../../../shared/store/sandbox/work.ts";

/** Longer than a change of the table usually takes to reach its worker, with the start of an environment. */
const QUIET_MS = 4 * SECOND;
/** Work that ends between two looks is still followed by the rest of the quiet time. */
const LOOK_MS = QUIET_MS / 2;

export interface SandboxRest {
  work(): ReturnType<typeof openWork>;
  /** Resolves when nothing works any more, where that can be known. @returns false where it cannot */
  rest(): Promise<boolean>;
}

export const sandboxRest: Capability<"rest", SandboxRest> = {
  as: "rest",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:GetItem", "dynamodb:UpdateItem"], on: "table" }],
  open: (deps) => (tenant: TenantId) => ({
    work: () => openWork(deps, tenant),
    rest: async () => {
      await deps.rest?.();
      return deps.rest !== undefined;
    },
  }),
};

interface Waiting {
  /** Since when no timer was forwarded, in real time. */
  since: number;
  until: number;
  /** Called at each look. */
  keep(): Promise<void>;
}

/** Waits until the work of a sandbox is done. @returns false if it was not by `until` */
export async function drained(
  { rest, clock }: { rest: SandboxRest } & Pick<RuntimeContext, "clock">,
  { since, until, keep }: Waiting,
): Promise<boolean> {
  for (;;) {
    const isKnown = await rest.rest();
    const { isOpen, workedAt } = await rest.work();
    const now = clock.now();
    const left = isKnown ? 0 : Math.max(since, workedAt) + QUIET_MS - now;
    if (!isOpen && left <= 0) return true;
    if (now >= until) return false;
    await clock.sleep(isOpen ? LOOK_MS : Math.min(left, QUIET_MS));
    await keep();
  }
}
