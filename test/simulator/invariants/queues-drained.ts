// At the end queues, streams and dead-letter queues are empty.
import type { Invariant } from "../invariant.ts";

export const queuesDrained: Invariant = {
  name: "queues-drained",
  watch: ({ queues, records }, broken) => ({
    end: () => {
      // At rest only what is due after the horizon is still delayed.
      for (const { name, visible, inFlight } of queues.depths()) {
        const left = visible + inFlight;
        if (left > 0) broken(`${left} messages are left in ${name}`);
      }
      if (records.waiting() > 0) broken(`${records.waiting()} records are left in the stream`);
    },
  }),
};
