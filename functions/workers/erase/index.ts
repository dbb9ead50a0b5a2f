// Erases the traces of a subscriber that is a tombstone already. A second pass, two minutes later, finds rows that were
// being written at the time of the tombstone; it is repeated while an import that began before is in progress.
import { WORKING_MS } from "../../../shared/contract/messages.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { eraseQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { exportErasing } from "../../../shared/store/files/exports.ts";
import { importErasing } from "../../../shared/store/files/imports.ts";
import { eraseTraces, SECOND_PASS_MS } from "../../../shared/store/subscribers/erasure.ts";
import { beginPass, endPass } from "../../../shared/store/subscribers/erasure-receipts.ts";

export const eraseSubscriber = queueWorker(
  "erase",
  "Erases the traces of a deleted subscriber.",
  [storeWrite, importErasing, exportErasing, eraseQueue],
  async ({ tenant, subscriber, pass }, { store, files, exportFiles, eraseQueue: queue, clock, log }) => {
    const startedAt = clock.now();
    const isTimeUp = () => clock.now() >= startedAt + WORKING_MS;
    await beginPass(store, subscriber);
    const erased = await eraseTraces(store, { ...files, ...exportFiles }, subscriber, { pass, isTimeUp });
    const { removed, isImporting, isUnfinished } = erased;
    const isLast = pass === 2 && !isImporting && !isUnfinished;
    await endPass(store, subscriber, removed, isLast);
    if (isUnfinished) await queue.send([{ tenant, subscriber, pass }]);
    else if (!isLast) await queue.send([{ tenant, subscriber, pass: 2 }], { delaySeconds: SECOND_PASS_MS / SECOND });
    const seconds = (clock.now() - startedAt) / SECOND;
    log({ level: "info", message: "erased", tenant, pass, removed, seconds });
  },
);
