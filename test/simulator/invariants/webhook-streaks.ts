// The failures in a row that an endpoint shows are those since its last delivery (WHK-11).
import { SECOND } from "../../../shared/kernel/clock.ts";
import { itemsOf, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/** An attempt that ends now may have read its endpoint so long ago. */
const ATTEMPT_MS = 75 * SECOND;

export const webhookStreaks: Invariant = {
  name: "webhook-streaks",
  watch: ({ mirror, kernel }, broken) => {
    /** By endpoint: when deliveries failed, and when the last one succeeded. */
    const failures = new Map<string, number[]>();
    const delivered = new Map<string, number>();
    return {
      commit: ({ pk, sk, before, after }) => {
        const place = placeOf(pk);
        if (place?.kind !== "webhook" || !sk.startsWith("D#") || before?.outcome === after?.outcome) return;
        if (after?.outcome === "delivered") delivered.set(place.id, kernel.now());
        if (after?.outcome === "failed") failures.set(place.id, [...(failures.get(place.id) ?? []), kernel.now()]);
      },
      end: () => {
        for (const { item } of itemsOf(mirror, "webhook")) {
          if (item.target_url === undefined) continue;
          const id = String(item.id);
          const since = (delivered.get(id) ?? Number.NEGATIVE_INFINITY) - ATTEMPT_MS;
          const max = (failures.get(id) ?? []).filter((at) => at > since).length;
          if (Number(item.consecutive_failures) > max)
            broken(`endpoint ${id} shows ${item.consecutive_failures} failures in a row, of at most ${max}`, id);
        }
      },
    };
  },
};
