// The first attempts of deliveries that share a queue message are claimed by one row (docs/decisions/0026).
import { DAY, ttl } from "../../kernel/clock.ts";
import { absent } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { onConditionFailed } from "../refusals.ts";
import { ATTEMPT_LEASE_MS, type DeliveryRecord } from "./deliveries.ts";
import { GroupClaim } from "./delivery-items.ts";
import { acceptedAt, groupsOf } from "./sequences.ts";

const KEPT_MS = 2 * DAY;

type GroupClaimed =
  | { kind: "claimed" }
  /** Each delivery is claimed alone: this worker, or the one that was here before, makes no attempt. */
  | { kind: "apart" }
  /** Another worker makes the attempts. `until`: milliseconds. */
  | { kind: "held"; until: number };

/** Claims the first attempts of a group. @param options.isApart none is made: each delivery is queued alone */
export function claimGroup(
  store: Store,
  key: { webhook: string; first: number },
  { owner, isApart }: { owner: string; isApart: boolean },
): Promise<GroupClaimed> {
  const now = store.clock.now();
  const expires = ttl(now + KEPT_MS);
  const row = { owner, lease: now + ATTEMPT_LEASE_MS, apart: isApart || undefined, expires };
  const claimed: GroupClaimed = { kind: isApart ? "apart" : "claimed" };
  return store.put(GroupClaim, key, row, absent()).then(
    () => claimed,
    onConditionFailed(GroupClaim, (old): GroupClaimed => {
      if (old?.owner === owner) return claimed;
      return old?.apart ? { kind: "apart" } : { kind: "held", until: old?.lease ?? now };
    }),
  );
}

/**
 * A delivery with the attempt that was claimed with its group, which its row does not know of. Its worker may have posted
 * it and stopped.
 */
export async function withGroupClaim(
  store: StoreReader,
  webhook: string,
  delivery: DeliveryRecord,
): Promise<DeliveryRecord> {
  const { id, outcome, attempt_count, isReopened, lease } = delivery;
  // One that has ended without an attempt was dropped when its group was claimed.
  if (outcome !== "pending" || attempt_count > 0 || isReopened) return delivery;
  const since = acceptedAt({ id, lease: lease > 0 ? lease : undefined });
  const [group] = await groupsOf(store, webhook, [{ id, acceptedAt: since }]);
  const claim = group && (await store.get(GroupClaim, { webhook, first: group.first }));
  if (!claim || claim.apart) return delivery;
  return { ...delivery, sequence: group.first + group.ids.indexOf(id), attempt_count: 1, lease: claim.lease };
}
