// What a journey's sends came to. Each is a job of its own (docs/decisions/0014), so they are summed as they go, by the
// day on which they were dispatched, in the rows that hold the day's conversions.
import type { Store } from "../../resources.ts";
import type { Stage } from "../../rules/interactions.ts";
import { dayOf } from "../events/events.ts";
import { CONVERSION_SHARDS, keys } from "../keys.ts";
import type { Item } from "../model.ts";
import type { JobItem } from "../sends/jobs.ts";
import type { TransactItem } from "../table.ts";

const stages = ["sent", "delivered", "opened", "opened_human", "clicked"] as const;
export type JourneyTotals = Record<(typeof stages)[number], number>;

type Sent = Pick<JobItem, "id" | "source" | "dispatched_at">;

/** Goes along with the end of a job; nothing for one that is no journey's. */
export const endedWrites = (store: Pick<Store, "tenant">, job: JobItem): TransactItem[] =>
  addWrites(store, job, { sent: job.counts.sent, delivered: job.counts.delivered });

/** Goes along with a report by which its recipient came to these stages for the first time. */
export const reachedWrites = (store: Pick<Store, "tenant">, job: Sent, reached: readonly Stage[]): TransactItem[] =>
  addWrites(store, job, {
    opened: reached.includes("opened") ? 1 : 0,
    opened_human: reached.includes("opened_human") ? 1 : 0,
    clicked: reached.includes("clicked") ? 1 : 0,
  });

function addWrites(
  { tenant }: Pick<Store, "tenant">,
  { id, source, dispatched_at }: Sent,
  counted: Partial<JourneyTotals>,
): TransactItem[] {
  const add = Object.fromEntries(Object.entries(counted).filter(([, n]) => n > 0));
  if (source.type !== "journey" || source.id === null || dispatched_at === null || Object.keys(add).length === 0)
    return [];
  const shard = CONVERSION_SHARDS[Number.parseInt(id.at(-1)!, 16) % CONVERSION_SHARDS.length]!;
  return [{ update: keys.conversionDay(tenant, "journey", dayOf(dispatched_at), source.id, shard), change: { add } }];
}

/** The sums of one journey over the rows of some days. */
export function journeyTotals(rows: readonly Item[], journey: string): JourneyTotals {
  const totals: JourneyTotals = { sent: 0, delivered: 0, opened: 0, opened_human: 0, clicked: 0 };
  for (const row of rows)
    if (row.sk.split("#")[1] === journey) for (const stage of stages) totals[stage] += Number(row[stage] ?? 0);
  return totals;
}
