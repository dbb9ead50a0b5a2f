// Workspaces that were deleted 30 days ago: their data is removed, in steps of under a minute.
import { WORKING_MS } from "../../../shared/contract/messages.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { purgeQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { platformWrite, storeWrite } from "../../../shared/store/context.ts";
import { assetRemoval } from "../../../shared/store/files/assets.ts";
import { importRemoval } from "../../../shared/store/files/imports.ts";
import { mailRemoval } from "../../../shared/store/files/mails.ts";
import { purgeStep } from "../../../shared/store/workspaces/purge.ts";
import { workspaceRows } from "../../../shared/store/workspaces/rows.ts";

export const purgeWorkspace = queueWorker(
  "purge",
  "Removes everything of a workspace 30 days after its deletion.",
  [storeWrite, platformWrite, workspaceRows, assetRemoval, importRemoval, mailRemoval, timers, purgeQueue],
  async (message, { purgeQueue: queue, clock, ...context }) => {
    const until = clock.now() + WORKING_MS;
    const step = await purgeStep(context, () => clock.now() >= until);
    if (step.kind === "unfinished") await queue.send([message], { delaySeconds: step.retryInMs / SECOND });
  },
);
