// At the end queues, streams and dead-letter queues are empty.
import type { Invariant } from "../invariant.ts";
import { HORIZON_MS } from "../kernel.ts";

export const queuesDrained: Invariant = {
  name: "queues-drained",
  watch: ({ queues, records, kernel, start }, broken) => ({
    end: () => {
      // A message that was due after the horizon may have become visible before the last one ended.
      if (kernel.now() > start + HORIZON_MS) return;
      // At rest only what is due after the horizon is still delayed.
      for (const { name, visible, inFlight } of queues.depths()) {
        const left = visible + inFlight;
        if (left > 0) broken(`${left} messages are left in ${name}`);
      }
      if (records.waiting() > 0) broken(`${records.waiting()} records are left in the stream`);
    },
  }),
};
