// Workspaces that were deleted 30 days ago: their data is removed, in steps of under a minute.
import { assetRemoval } from "../../../shared/asset-files.ts";
import { SECOND } from "../../../shared/clock.ts";
import { importRemoval } from "../../../shared/import-files.ts";
import { platformWrite, purgeQueue, storeWrite, timers } from "../../../shared/resources.ts";
import { purgeStep } from "../../../shared/store/workspaces/purge.ts";
import { queueWorker } from "../../../shared/worker.ts";
import { workspaceRows } from "../../../shared/workspace-rows.ts";

/** After this the work continues in another message. */
const WORKING_MS = 40 * SECOND;

export const purge = queueWorker(
  "purge",
  "Removes everything of a workspace 30 days after its deletion.",
  [storeWrite, platformWrite, workspaceRows, assetRemoval, importRemoval, timers, purgeQueue],
  async (message, { purgeQueue: queue, clock, ...context }) => {
    const until = clock.now() + WORKING_MS;
    const step = await purgeStep(context, () => clock.now() >= until);
    if (step !== "done") await queue.send([message], { delaySeconds: step.retryInMs / SECOND });
  },
);
