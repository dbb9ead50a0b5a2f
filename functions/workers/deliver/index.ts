// Hands one chunk of recipients to the providers: claimed first, called at once, closed with its totals (decision 7).
import { SECOND } from "../../../shared/clock.ts";
import { deliverInApp } from "../../../shared/providers/in-app.ts";
import { deliverQueue, storeWrite } from "../../../shared/resources.ts";
import { claimChunk, closeChunk, closeRange, getChunk, tallyOfChunk } from "../../../shared/store/chunks.ts";
import { finishJob } from "../../../shared/store/jobs.ts";
import { queueWorker } from "../../../shared/worker.ts";

export const deliver = queueWorker(
  "deliver",
  "Delivers one chunk of recipients.",
  [storeWrite, deliverQueue],
  async (message, { store, ids, clock, deliverQueue: queue }) => {
    const found = await getChunk(store, message.job, message.range, message.chunk);
    if (found?.job.status !== "processing") return;
    const { job, chunk } = found;
    const place = [job.id, message.range, message.chunk] as const;
    const claiming = await claimChunk(store, ...place, ids.uuid());
    if ("busyUntil" in claiming) {
      const seconds = Math.ceil((claiming.busyUntil - clock.now()) / SECOND);
      return queue.send([message], { delaySeconds: Math.max(1, seconds) });
    }
    if ("claim" in claiming) {
      const { delivered, failed } = await deliverInApp(store, job, claiming.claim, chunk);
      const tally = tallyOfChunk(chunk);
      const mayBeLast = await closeChunk(
        store,
        ...place,
        { owner: claiming.claim.owner, isFinal: chunk.next === undefined },
        {
          ...tally,
          counts: { ...tally.counts, delivered, failed },
          delivered_by_channel: { in_app: delivered },
        },
      );
      if (!mayBeLast) return;
    }
    if (await closeRange(store, job.id, message.range)) await finishJob(store, job.id);
  },
);
