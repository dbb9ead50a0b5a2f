// What a send cost so far, computed from the totals that it has anyway, and what one would cost (F10, docs/decisions/0053).
import {
  costOf,
  costOfSend,
  type Prices,
  type ProviderCost,
  pricesOf,
  providerCost,
  type Rate,
  type SendCost,
  takenBy,
  WIDE_FROM,
} from "../../../rules/cost.ts";
import type { Tally } from "../chunks/tallies.ts";
import type { JobRecord } from "./job-record.ts";

export type Sent = Pick<JobRecord, "direct" | "ranges" | "subscriber_ids_count" | "deliverySettings">;

type Totals = Pick<Tally, "delivered_by_channel" | "counts">;

/** @param totals of the send until now */
export function costOfJob(job: Sent, totals: Totals): SendCost {
  const { taken, provider } = expensesOf(job, totals);
  return costOf(taken, provider);
}

/** What a send took of the service, and what its providers charge. @param totals of the send until now */
export function expensesOf(
  { direct, ranges = [], subscriber_ids_count, deliverySettings }: Sent,
  { delivered_by_channel, counts }: Totals,
): { taken: Rate; provider: ProviderCost } {
  const via = deliverySettings?.via ?? [];
  // Of a failed message the channel is not counted: it costs the service as much as one that was accepted.
  const failedBy = via.length === 1 && via[0] ? via[0].type : "other";
  const reached = {
    ...delivered_by_channel,
    [failedBy]: (delivered_by_channel[failedBy] ?? 0) + counts.failed,
  };
  const taken = takenBy({
    reached,
    isWide: ranges.length > 1,
    isGiven: direct === undefined && subscriber_ids_count !== null,
    isDirect: direct !== undefined,
  });
  return { taken, provider: providerCost(delivered_by_channel, pricesOf(via)) };
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
