// At rest, the number of subscribers that a workspace counts is that of its profiles, and nothing had to be repaired.
import { rowOf } from "../../../shared/store/item.ts";
import { Profile, SubscriberCount } from "../../../shared/store/subscribers/items.ts";
import { isLiving } from "../../../shared/store/subscribers/subscribers.ts";
import { placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

export const subscribersCounted: Invariant = {
  name: "subscribers-counted",
  watch: ({ mirror, ledger, onLog }, broken) => {
    onLog((_, { message, tenant, counter, ...fields }) => {
      if (message !== "a counter was repaired" || ledger.pretended.has(String(tenant))) return;
      broken(`${counter} of ${tenant} was wrong: ${JSON.stringify(fields)}`, String(tenant));
    });
    return {
      end: () => {
        const counted = new Map<string, number>();
        const living = new Map<string, number>();
        const add = (to: Map<string, number>, tenant: string, n: number) => to.set(tenant, (to.get(tenant) ?? 0) + n);
        for (const pk of mirror.partitions()) {
          const place = placeOf(pk);
          if (!place || ledger.pretended.has(place.tenant) || ledger.deleted.has(place.tenant)) continue;
          if (pk === `T#${place.tenant}#${SubscriberCount.pk({ shard: "" })}`)
            for (const item of mirror.under(pk).values()) add(counted, place.tenant, rowOf(SubscriberCount, item).n);
          else if (/^S[0-9a-f]$/.test(place.kind))
            for (const [sk, item] of mirror.under(pk))
              if (sk.length === 36 && isLiving(rowOf(Profile, item))) add(living, place.tenant, 1);
        }
        for (const tenant of new Set([...counted.keys(), ...living.keys()]))
          if ((counted.get(tenant) ?? 0) !== (living.get(tenant) ?? 0))
            broken(`${tenant} counts ${counted.get(tenant)} subscribers and has ${living.get(tenant)}`, tenant);
      },
    };
  },
};
