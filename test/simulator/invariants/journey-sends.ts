// At rest, each run that was counted as sent to is one recipient of a job of its journey: no send is lost or doubled.
import { itemsOf, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/** What a send may become later (AMB-142), or may have been before it was in a job. */
const ENDED = /^o:.*\|(failed|bounced|skipped:[a-z_]+)$/;

export const journeySends: Invariant = {
  name: "journey-sends",
  watch: ({ mirror }, broken) => ({
    end: () => {
      const counted = new Map<string, number>();
      const ended = new Map<string, number>();
      const living = new Set<string>();
      for (const pk of mirror.partitions()) {
        const place = placeOf(pk);
        if (place?.kind !== "journey") continue;
        const isCount = pk.split("#")[4]?.startsWith("n");
        for (const [sk, item] of mirror.under(pk)) {
          if (place.id === "") living.add(sk);
          if (!isCount) continue;
          for (const [name, n] of Object.entries(item))
            if (name.startsWith("o:") && name.endsWith("|sent"))
              counted.set(place.id, (counted.get(place.id) ?? 0) + Number(n));
            else if (ENDED.test(name)) ended.set(place.id, (ended.get(place.id) ?? 0) + Number(n));
        }
      }
      const sent = new Map<string, number>();
      for (const { item } of itemsOf(mirror, "JOB")) {
        const journey = String(item.source_id);
        if (item.source_type === "journey")
          sent.set(journey, (sent.get(journey) ?? 0) + Number(item.subscriber_ids_count));
      }
      for (const journey of living) {
        const [least = 0, others = 0, inJobs = 0] = [counted, ended, sent].map((numbers) => numbers.get(journey) ?? 0);
        if (inJobs < least || inJobs > least + others)
          broken(`${journey} counts ${least} to ${least + others} sends, its jobs have ${inJobs}`, journey);
      }
    },
  }),
};
