// No double delivery: one inbox row per job and subscriber, and what was delivered does not change.
import { isDeepStrictEqual } from "node:util";
import type { Item } from "../../../shared/store/model.ts";
import { inboxRow } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/** All but the time at which a late message was written: two workers that write it at once differ in that. */
const lasting = ({ late_at, ...message }: Item): Item => message;

export const deliveredOnce: Invariant = {
  name: "delivered-once",
  watch: ({ ledger, kernel }, broken) => ({
    commit: ({ pk, sk, before, after }) => {
      const row = inboxRow(pk, sk);
      if (!row || !after) return;
      const job = String(after.job);
      const reached = ledger.delivered.get(job) ?? new Map<string, string>();
      ledger.delivered.set(job, reached);
      const known = reached.get(row.subscriber);
      if (known !== undefined && known !== row.message)
        broken(`subscriber ${row.subscriber} got job ${job} twice: ${known} and ${row.message}`, job);
      reached.set(row.subscriber, row.message);
      if (!before) ledger.writtenAt.set(row.message, kernel.now());
      if (before && !isDeepStrictEqual(lasting(before), lasting(after)))
        broken(`message ${row.message} of job ${job} changed after it was delivered`, job, row.subscriber);
    },
  }),
};
