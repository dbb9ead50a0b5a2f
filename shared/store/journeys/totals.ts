// The totals of a journey's sends, in the row that has the conversions of the day on which they were dispatched.
import type { Stage } from "../../rules/interactions.ts";
import { dayOf } from "../events/events.ts";
import { conversionShard, DayTotals } from "../insights/items.ts";
import { changeItem, type ItemWrite, type RowOf } from "../item.ts";
import type { JobRecord } from "../sends/jobs.ts";

const stages = ["sent", "delivered", "opened", "opened_human", "clicked", "clicked_human"] as const;
export type JourneyTotals = Record<(typeof stages)[number], number>;

type Sent = Pick<JobRecord, "id" | "source" | "dispatched_at">;

/** The writes for the end of jobs, one for each journey and day; none for jobs of other sources. */
export function endedWrites(jobs: readonly JobRecord[]): ItemWrite<"workspace">[] {
  const groups = Map.groupBy(
    jobs,
    ({ source, dispatched_at }) => `${source.type} ${source.id} ${dayOf(dispatched_at ?? "")}`,
  );
  return [...groups.values()].flatMap((group) => {
    const sum = (stage: "sent" | "delivered") => group.reduce((n, { counts }) => n + counts[stage], 0);
    return group[0] ? addWrites(group[0], { sent: sum("sent"), delivered: sum("delivered") }) : [];
  });
}

/**
 * The writes for a report by which a recipient reached these stages for the first time.
 * @param n -1 takes them back
 */
export const reachedWrites = (job: Sent, reached: readonly Stage[], n: 1 | -1 = 1): ItemWrite<"workspace">[] =>
  addWrites(
    job,
    Object.fromEntries(
      reached.filter((stage) => stage !== "reached").map((stage) => [stage, n]),
    ) as Partial<JourneyTotals>,
  );

function addWrites({ id, source, dispatched_at }: Sent, counted: Partial<JourneyTotals>): ItemWrite<"workspace">[] {
  const add = Object.fromEntries(Object.entries(counted).filter(([, n]) => n !== 0));
  if (source.type !== "journey" || source.id === null || !dispatched_at || Object.keys(add).length === 0) return [];
  const shard = conversionShard(id.slice(-1));
  return [changeItem(DayTotals, { group: "journey", day: dayOf(dispatched_at), id: source.id, shard }, { add })];
}

/** The sums of one journey in the rows of some days. */
export function journeyTotals(rows: readonly RowOf<typeof DayTotals>[], journey: string): JourneyTotals {
  const totals: JourneyTotals = { sent: 0, delivered: 0, opened: 0, opened_human: 0, clicked: 0, clicked_human: 0 };
  for (const row of rows)
    if (row.sk.split("#")[1] === journey) for (const stage of stages) totals[stage] += row[stage] ?? 0;
  return totals;
}
