// What a send cost so far, computed from the totals that it has anyway, and what one would cost (F10, docs/decisions/0053).
import { costOfSend, type Prices, pricesOf, providerCost, type SendCost, WIDE_FROM } from "../../rules/cost.ts";
import type { JobRecord } from "./jobs.ts";
import type { Tally } from "./tallies.ts";

type Sent = Pick<JobRecord, "direct" | "ranges" | "subscriber_ids_count" | "deliverySettings">;

/** @param totals of the send until now */
export function costOfJob(
  { direct, ranges = [], subscriber_ids_count, deliverySettings }: Sent,
  { delivered_by_channel, counts }: Pick<Tally, "delivered_by_channel" | "counts">,
): SendCost {
  const via = deliverySettings?.via ?? [];
  // Of a failed message the channel is not counted: it costs the service as much as one that was accepted.
  const failedBy = via.length === 1 && via[0] ? via[0].type : "other";
  const reached = {
    ...delivered_by_channel,
    [failedBy]: (delivered_by_channel[failedBy] ?? 0) + counts.failed,
  };
  return costOfSend(
    {
      reached,
      isWide: ranges.length > 1,
      isGiven: direct === undefined && subscriber_ids_count !== null,
      isDirect: direct !== undefined,
    },
    providerCost(delivered_by_channel, pricesOf(via)),
  );
}

/** What the cost of a send that is not made yet depends on beside its audience. */
export interface Rating {
  prices: Prices;
  /** The caller named the recipients by their ids. */
  isGiven: boolean;
}

/** @param byClass recipients by the class of channels that would reach them */
export const costOfAudience = (
  byClass: Readonly<Record<string, number>>,
  { total, sent }: Pick<Tally["counts"], "total" | "sent">,
  { prices, isGiven }: Rating,
): SendCost =>
  costOfSend(
    {
      reached: byClass,
      isWide: total >= WIDE_FROM,
      isGiven: isGiven && total > 1,
      isDirect: total === 1 && sent === 1,
    },
    providerCost(byClass, prices),
  );
