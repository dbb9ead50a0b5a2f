// Every night: compares the counters of a workspace with the rows they count, and removes schedules that were left
// behind.
import { WORKING_MS } from "../../../shared/contract/messages.ts";
import { recountQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { sealing } from "../../../shared/store/audit/trail.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { recountPart } from "../../../shared/store/recount.ts";

export const recountWorkspace = queueWorker(
  "recount",
  "Compares the counters of a workspace with the rows they count, and repairs them.",
  [storeWrite, timers, recountQueue, ...sealing],
  async (
    { place, after, partial },
    { store, timers, tenant, recountQueue: queue, auditTrail, secrets, clock, log },
  ) => {
    const until = clock.now() + WORKING_MS;
    let repaired = 0;
    const deps = { timers, auditTrail, secrets };
    let part = await recountPart(store, deps, { place, after, partial });
    for (; part.next && clock.now() < until; part = await recountPart(store, deps, part.next))
      repaired += part.repaired;
    repaired += part.repaired;
    log({ level: repaired > 0 ? "warn" : "info", message: "counters were recounted", tenant, repaired });
    if (part.next) await queue.send([{ tenant, ...part.next }]);
  },
);
