// At the end queues, streams and dead-letter queues are empty.
import type { Invariant } from "../invariant.ts";

export const queuesDrained: Invariant = {
  name: "queues-drained",
  watch: ({ queues, records }, broken) => ({
    end: () => {
      for (const { name, visible, delayed, inFlight } of queues.depths()) {
        const left = visible + delayed + inFlight;
        if (left > 0) broken(`${left} messages are left in ${name}`);
      }
      if (records.waiting() > 0) broken(`${records.waiting()} records are left in the stream`);
    },
  }),
};
