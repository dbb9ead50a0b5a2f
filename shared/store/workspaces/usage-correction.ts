// The operator's correction of the usage in the current billing period.
import type { Store } from "../context.ts";
import { familyOf } from "../families.ts";
import { putItem } from "../item.ts";
import { usedAhead } from "../sends/chunks/quarters.ts";
import { EventUsage, Usage } from "./items.ts";
import { eventUsageKeys, type MeteredKind, periodAt, shareOf } from "./usage.ts";

/**
 * Sends that were taken ahead and not used are part of the number: only those that are used later add to it. What began
 * before does not change it when it ends.
 */
export async function setUsage(
  store: Store,
  { sends, events }: { [M in MeteredKind]?: number | undefined },
): Promise<void> {
  if (sends === undefined && events === undefined) return;
  const key = { period: periodAt(store.clock.now()).name };
  const row = sends === undefined ? undefined : await store.get(Usage, key);
  const ahead: { [name: `ahead:${string}`]: number } = {};
  for (const [quarter] of familyOf(row ?? {}, "ahead:"))
    ahead[`ahead:${quarter}`] = await usedAhead(store, Number(quarter));
  const ofSends = sends !== undefined && { sends, set_at: store.clock.now(), warned_sends: 0, warned_cap: 0 };
  const ofEvents = events !== undefined && { warned_events: 0 };
  await store.change(Usage, key, { set: { ...ahead, ...ofSends, ...ofEvents } });
  if (events === undefined) return;
  const rows = eventUsageKeys(store).map((shard) =>
    putItem(EventUsage, shard, { events: shareOf(events, shard.shard) }),
  );
  await store.writeAll(rows);
}
