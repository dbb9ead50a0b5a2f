// A journey's step with a brake halts when its provider refuses everything, and begins no send while it is halted (F21).
import { SECOND } from "../../../shared/kernel/clock.ts";
import { isJob, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/** What a worker decided before it could read that the step halted. */
const DECIDED_MS = 30 * SECOND;
/** Ten failures are enough to be sure, and what comes together begins together. */
const MAX_REFUSED = 60;

export const stepBrakes: Invariant = {
  name: "step-brakes",
  watch: ({ ledger, kernel }, broken) => {
    const haltedAt = new Map<string, number>();
    /** Recipients of sends that began one after the other while everything was refused. */
    const refused = new Map<string, number>();
    return {
      commit: ({ pk, before, after, sentAt = kernel.now() }) => {
        const place = placeOf(pk);
        if (place?.kind === "journey" && after?.react === "journey-step") {
          if (after.halted !== undefined) haltedAt.set(place.id, haltedAt.get(place.id) ?? kernel.now());
          else if (haltedAt.delete(place.id)) refused.delete(place.id);
        }
        const journey = String(after?.source_id);
        if (!isJob(pk) || before || !after || !ledger.braked.has(journey)) return;
        const since = haltedAt.get(journey);
        if (since !== undefined && sentAt > since + DECIDED_MS)
          broken(`a step of ${journey} sent ${sentAt - since} ms after it halted`, journey);
        const tenant = pk.split("#")[1] ?? "";
        const begun = (refused.get(journey) ?? 0) + Number(after.subscriber_ids_count);
        refused.set(journey, ledger.refusing.has(tenant) ? begun : 0);
        if (ledger.refusing.has(tenant) && begun > MAX_REFUSED)
          broken(`a step of ${journey} went on after ${begun} messages that were all refused`, journey);
      },
    };
  },
};
