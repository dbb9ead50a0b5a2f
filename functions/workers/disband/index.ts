// Members of a deleted list or segment go in the background: at once, and again when late writers are done.
import { SECOND } from "../../../shared/clock.ts";
import { disbandQueue, storeWrite } from "../../../shared/resources.ts";
import { disbandStep } from "../../../shared/store/lists/disbanding.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** Work stops here and goes on in another message. */
const WORKING_MS = 40 * SECOND;

export const disband = queueWorker(
  "disband",
  "Removes the members of a deleted list or segment.",
  [storeWrite, disbandQueue],
  async (message, { store, disbandQueue: queue, clock }) => {
    const until = clock.now() + WORKING_MS;
    const isDone = await disbandStep(store, message.kind, message.id, () => clock.now() >= until);
    if (!isDone) await queue.send([message]);
  },
);
