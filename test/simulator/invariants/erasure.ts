// An erased subscriber leaves no trace: no row of its own, and its texts nowhere in the table.
import { itemsOf, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

export const erasure: Invariant = {
  name: "erasure",
  watch: ({ ledger, mirror }, broken) => ({
    end: () => {
      const erased = [...ledger.people.values()].filter(({ erasedAt }) => erasedAt !== undefined);
      if (erased.length === 0) return;
      const byCanary = new Map(erased.map((person) => [person.canary, person]));
      const byId = new Map(erased.map((person) => [person.id, person]));
      for (const { item } of itemsOf(mirror, "U")) {
        const person = byId.get(placeOf(item.pk)!.id);
        if (person) broken(`the erased ${person.id} still has ${item.sk}`, person.id, String(item.job ?? ""));
      }
      for (const pk of mirror.partitions())
        for (const item of mirror.under(pk).values()) {
          const canary = /canary-\w+/.exec(JSON.stringify(item))?.[0];
          const person = canary === undefined ? undefined : byCanary.get(canary);
          if (person) broken(`${canary} of the erased ${person.id} stands in ${item.pk} ${item.sk}`, person.id);
        }
      for (const person of erased) {
        const row = mirror.get(`T#${person.tenant}#S${person.id[0]}`, person.id);
        if (row && (!row.erased_at || row.external_id !== undefined))
          broken(`the erased ${person.id} is back`, person.id);
      }
    },
  }),
};
