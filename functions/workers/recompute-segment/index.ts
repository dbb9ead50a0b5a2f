// Computes segments over all subscribers, in parts and pages. A watchdog sends the messages of unfinished parts again.
import { WORKING_MS } from "../../../shared/contract/messages.ts";
import { recomputeQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { fillPart, openParts } from "../../../shared/store/segments/fill.ts";
import { findSegment, noteLate, WATCH_RUN_MS } from "../../../shared/store/segments/segments.ts";

export const recomputeSegment = queueWorker(
  "recompute-segment",
  "Computes the members of a segment.",
  [storeWrite, timers, recomputeQueue],
  async (message, { store, timers, recomputeQueue: queue, clock, log }) => {
    const { tenant, segment, run, part } = message;
    if (message.watch) {
      const row = await findSegment(store, segment);
      if (!row) return log({ level: "info", message: "a segment was deleted", tenant, segment });
      const open = await openParts(store, row);
      if (open.length === 0) return;
      await noteLate(store, row, open.length);
      await timers.set([{ kind: "segment-run", id: segment, at: clock.now() + WATCH_RUN_MS }]);
      await queue.send(open.map((one) => ({ tenant, segment, run: row.run, part: one })));
      return;
    }
    if (run === undefined || part === undefined) return;
    const until = clock.now() + WORKING_MS;
    const filled = await fillPart(store, timers, { segment, run, part }, () => clock.now() >= until);
    if (filled === "unfinished") await queue.send([message]);
  },
);
