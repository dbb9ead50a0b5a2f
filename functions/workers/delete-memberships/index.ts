// Deletes the members of a deleted list or segment: at once, and again after late writers have ended.
import { WORKING_MS } from "../../../shared/contract/messages.ts";
import { deleteMembershipsQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { deleteSomeMemberships } from "../../../shared/store/lists/membership-deletion.ts";

export const deleteMemberships = queueWorker(
  "delete-memberships",
  "Removes the members of a deleted list or segment.",
  [storeWrite, deleteMembershipsQueue],
  async (message, { store, deleteMembershipsQueue: queue, clock }) => {
    const { kind, id } = message;
    const until = clock.now() + WORKING_MS;
    const part = await deleteSomeMemberships(store, { kind, id }, () => clock.now() >= until);
    if (part === "unfinished") await queue.send([message]);
  },
);
