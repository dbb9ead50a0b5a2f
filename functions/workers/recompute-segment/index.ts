// Computes segments over all subscribers, in parts and pages. A watchdog sends the messages of unfinished parts again.
import { type Message, WORKING_MS } from "../../../shared/contract/messages.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { recomputeQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker, type RuntimeContext } from "../../../shared/runtime/worker.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { fillPart, openParts } from "../../../shared/store/segments/fill.ts";
import { findSegment, noteLate, recomputeDated, WATCH_RUN_MS } from "../../../shared/store/segments/segments.ts";

const uses = [storeWrite, timers, recomputeQueue] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext;

export const recomputeSegment = queueWorker(
  "recompute-segment",
  "Computes the members of a segment.",
  uses,
  async (message, context) => {
    switch (message.kind) {
      case "part":
        return computePart(context, message);
      case "watch":
        return watch(context, message.segment);
      case "zone":
        return recomputeDated(context.store, context.timers);
    }
  },
);

async function computePart(
  { store, timers, recomputeQueue: queue, clock }: WorkerContext,
  message: Extract<Message<"recompute-segment">, { kind: "part" }>,
): Promise<void> {
  const until = clock.now() + WORKING_MS;
  const filled = await fillPart(store, timers, message, () => clock.now() >= until);
  if (filled === "unfinished") await queue.send([message]);
}

/** Queues the unfinished parts again, and checks again as long as there are any. */
async function watch(
  { store, timers, recomputeQueue: queue, clock, log }: WorkerContext,
  segment: string,
): Promise<void> {
  const { tenant } = store;
  const row = await findSegment(store, segment);
  if (!row) return log({ level: "info", message: "a segment was deleted", tenant, segment });
  const open = await openParts(store, row);
  if (open.length === 0) return;
  await noteLate(store, row, open.length);
  await timers.set([{ kind: "segment-run", id: segment, at: clock.now() + WATCH_RUN_MS }]);
  await queue.send(open.map((part) => ({ kind: "part", tenant, segment, run: row.run, part })));
}
