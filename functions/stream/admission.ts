// The limit of open streams: each stream counts itself once in every slot of 30 seconds (docs/decisions/0021#live-streams).
import { SECOND } from "../../shared/clock.ts";
import type { Deps } from "../../shared/deps.ts";
import { ApiError } from "../../shared/http/errors.ts";
import type { Platform } from "../../shared/resources.ts";
import { OpenStreams, STREAM_COUNTERS, STREAM_SLOT_MS } from "../../shared/store/sends/stream-items.ts";

const KEPT_MS = 300 * SECOND;

/**
 * Counts a stream in the present slot.
 * @param max of a stream that is to be opened: the most that may be open. Streams that ended in the last minute may count.
 * @throws 503 where so many are open.
 */
export async function countStream(
  { platform, clock, ids }: Pick<Deps, "clock" | "ids"> & { platform: Platform },
  max?: number,
): Promise<void> {
  const now = clock.now();
  const slot = Math.floor(now / STREAM_SLOT_MS);
  if (max !== undefined) {
    const [previous, current] = await Promise.all([countOf(platform, slot - 1), countOf(platform, slot)]);
    if (Math.max(previous, current) >= max)
      throw new ApiError("SERVICE_UNAVAILABLE", "Too many live streams are open. The inbox still works.", {
        headers: { "retry-after": "30" },
      });
  }
  const counter = ids.bytes(1).readUInt8() % STREAM_COUNTERS;
  const expires = Math.ceil((now + KEPT_MS) / SECOND);
  await platform.change(OpenStreams, { slot, counter }, { initial: { expires }, add: { n: 1 } });
}

async function countOf(platform: Platform, slot: number): Promise<number> {
  const keys = Array.from({ length: STREAM_COUNTERS }, (_, counter) => ({ slot, counter }));
  const rows = await platform.getAll(OpenStreams, keys, { eventual: true });
  return rows.reduce((sum, row) => sum + (row?.n ?? 0), 0);
}
