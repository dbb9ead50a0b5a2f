// While a workspace is suspended, its jobs are not fired and its endpoints are closed; others are not affected.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { isJob, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/** Who looked before it was suspended may still be at work: a worker's minute, its clock, and the rest of a request. */
const UNDER_WAY_MS = 75 * SECOND;

export const suspension: Invariant = {
  name: "suspension",
  watch: ({ ledger, kernel, onAnswer }, broken) => {
    onAnswer((route, { status, body }, tenant) => {
      const isRefused = status === 403 && body?.error?.code === "TENANT_SUSPENDED";
      if (isRefused && !ledger.everSuspended.has(tenant.id))
        broken(`${route} was refused to a workspace in good standing`, tenant.id);
      const since = ledger.suspended.get(tenant.id);
      if (since !== undefined && kernel.now() - since > UNDER_WAY_MS && status >= 200 && status < 300)
        broken(`${route} was answered with ${status} while the workspace was suspended`, tenant.id);
    });
    return {
      commit: ({ pk, before, after }) => {
        if (!isJob(pk) || before?.status !== "scheduled" || after?.status !== "queued") return;
        const since = ledger.suspended.get(placeOf(pk)!.tenant);
        if (since !== undefined && kernel.now() - since > UNDER_WAY_MS)
          broken(`job ${after.id} was fired while its workspace was suspended`, String(after.id));
      },
    };
  },
};
