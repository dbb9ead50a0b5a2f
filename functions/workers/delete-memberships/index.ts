// Members of a deleted list or segment go in the background: at once, and again when late writers are done.
import { SECOND } from "../../../shared/clock.ts";
import { deleteMembershipsQueue, storeWrite } from "../../../shared/resources.ts";
import { deleteSomeMemberships } from "../../../shared/store/lists/membership-deletion.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** Work stops here and goes on in another message. */
const WORKING_MS = 40 * SECOND;

export const deleteMemberships = queueWorker(
  "delete-memberships",
  "Removes the members of a deleted list or segment.",
  [storeWrite, deleteMembershipsQueue],
  async (message, { store, deleteMembershipsQueue: queue, clock }) => {
    const until = clock.now() + WORKING_MS;
    const isDone = await deleteSomeMemberships(store, message.kind, message.id, () => clock.now() >= until);
    if (!isDone) await queue.send([message]);
  },
);
