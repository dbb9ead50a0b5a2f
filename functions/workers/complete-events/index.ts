// Completes batches of events whose request ended early: it crashed, or was refused after the events were stored.
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { unsealed } from "../../../shared/store/events/blocks.ts";
import { completeBlocks } from "../../../shared/store/events/completion.ts";
import { watchedNow } from "../../../shared/store/events/watchers.ts";

export const completeEvents = queueWorker(
  "complete-events",
  "Completes events that a request stored only in part.",
  [storeWrite],
  async (message, { store, tenant, log }) => {
    const open = await unsealed(store, message.blocks);
    if (open.length === 0) return;
    await completeBlocks(store, open, await watchedNow(store));
    log({ level: "info", message: "blocks of events were completed", tenant, blocks: open.length });
  },
);
