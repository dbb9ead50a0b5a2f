// A run that is moved to another version keeps its times and is counted once; every migration sees all shards.
import { SHARDS } from "../../../shared/store/shards.ts";
import { placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

export const migrations: Invariant = {
  name: "migrations",
  watch: ({ mirror }, broken) => {
    const moved = new Map<string, number>();
    const add = (journey: string, n: number) => moved.set(journey, (moved.get(journey) ?? 0) + n);
    return {
      commit: ({ pk, sk, before, after }) => {
        if (placeOf(pk)?.kind !== "U" || !sk.startsWith("J#") || !before || !after) return;
        // The row of the newest run is that of the next one once it begins.
        if (before.id !== after.id || before.version === after.version) return;
        add(String(after.journey_id), 1);
        for (const time of ["since", "until"] as const)
          if (before[time] !== after[time])
            broken(
              `run ${after.id} was moved, and ${time} is ${after[time]} instead of ${before[time]}`,
              String(after.id),
            );
      },
      end: () => {
        for (const pk of mirror.partitions()) {
          const place = placeOf(pk);
          if (place?.kind !== "journey" || place.id === "") continue;
          for (const [sk, { id }] of mirror.under(pk)) {
            if (!sk.startsWith("MIG#")) continue;
            const parts = [...mirror.under(`T#${place.tenant}#migration#${id}`).values()];
            const seen = parts.filter(({ done }) => done === true).length;
            if (seen !== SHARDS.length) broken(`migration ${id} has seen ${seen} shards`, String(id), place.id);
            add(place.id, -parts.reduce((sum, part) => sum + Number(part.moved ?? 0), 0));
          }
        }
        for (const [journey, n] of moved)
          if (n !== 0) broken(`${n} more runs of ${journey} were moved than its migrations count`, journey);
      },
    };
  },
};
