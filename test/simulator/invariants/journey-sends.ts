// At rest, each run that was counted as sent to is one recipient of a job of its journey: no send is lost or doubled.
import { itemsOf, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

export const journeySends: Invariant = {
  name: "journey-sends",
  watch: ({ mirror }, broken) => ({
    end: () => {
      const counted = new Map<string, number>();
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
        }
      }
      const sent = new Map<string, number>();
      for (const { item } of itemsOf(mirror, "JOB")) {
        const journey = String(item.source_id);
        if (item.source_type === "journey")
          sent.set(journey, (sent.get(journey) ?? 0) + Number(item.subscriber_ids_count));
      }
      for (const journey of living)
        if ((counted.get(journey) ?? 0) !== (sent.get(journey) ?? 0))
          broken(
            `${journey} counts ${counted.get(journey) ?? 0} sends, its jobs have ${sent.get(journey) ?? 0}`,
            journey,
          );
    },
  }),
};
