// A job ends by its counts only when every range is planned and every chunk is closed: checked at the very commit.
import { jobRowsOf, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

const COUNTED = new Set([undefined, "no delivery succeeded"]);

export const closedBeforeComplete: Invariant = {
  name: "closed-before-complete",
  watch: ({ mirror }, broken) => ({
    commit: ({ pk, before, after }) => {
      const place = placeOf(pk);
      if (place?.kind !== "JOB" || before?.status !== "processing" || !after || after.status === "processing") return;
      if (!COUNTED.has(after.error as string | undefined)) return;
      const job = String(after.id);
      const { chunks, claims, ranges } = jobRowsOf(mirror, place.tenant, job);
      const open = chunks.length - claims.filter(({ closed }) => closed).length;
      if (open !== 0) broken(`job ${job} became ${after.status} with ${open} open chunks`, job);
      // A send to one recipient has no ranges.
      const expected = ((after.ranges ?? []) as string[]).length;
      const closed = ranges.filter((range) => range.closed && range.planned).length;
      if (closed !== expected) broken(`job ${job} became ${after.status} with ${closed} of ${expected} ranges`, job);
    },
  }),
};
