// Sends to few inboxes: the recipients are on the job's row, and the deliveries of a batch are closed together
// (docs/decisions/0027).
import { timestamp } from "../../clock.ts";
import type { Message } from "../../messages.ts";
import type { Store } from "../../resources.ts";
import { jobMoves } from "../../rules/job-states.ts";
import { all, is } from "../conditions.ts";
import { hashOf } from "../hash.ts";
import { countedOutcomes, dayWrites, outcomesOf } from "../insights/hours.ts";
import type { ItemWrite } from "../item.ts";
import { endedWrites } from "../journeys/totals.ts";
import { moveWrite } from "../lifecycle.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import { deliveredWrite } from "../subscribers/engagement.ts";
import { JobItem } from "./job-items.ts";
import { type JobRecord, NOTHING_DELIVERED } from "./jobs.ts";
import { SINGLE_RANGE } from "./range-names.ts";
import { addends, type Tally } from "./tallies.ts";

export const singleMessage = (tenant: string, job: string): Message<"deliver"> => ({
  tenant,
  job,
  range: SINGLE_RANGE,
  chunk: 0,
});

export const isSingleMessage = ({ range }: Pick<Message<"deliver">, "range">): boolean => range === SINGLE_RANGE;

export interface Outcome {
  job: JobRecord;
  /** The round that it was delivered in. */
  round: number;
  tally: Tally;
}

/** Begins a new round of a job, now. @returns when it began; undefined if the job ended, or another worker was faster. */
export function beginRound(store: Store, job: string, former: number): Promise<number | undefined> {
  const round = store.clock.now();
  return store.change(JobItem, { job }, { set: { round } }, all(is("status", "queued"), is("round", former))).then(
    () => round,
    onConditionFailed(() => undefined),
  );
}

/** Closes jobs in one transaction with the counters of their deliveries. One that has ended is left out. */
export async function closeSingles(store: Store, outcomes: readonly Outcome[]): Promise<void> {
  let open = outcomes;
  while (open.length > 0) {
    const ends = open.map((one) => endOf(store, one));
    const failures = await store.transact([...ends, ...counted(store, open)]).then(
      () => undefined,
      onTransactionCanceled((all) => all),
    );
    if (!failures) return;
    open = open.filter((_, i) => !failures[i]);
  }
}

function endOf({ clock }: Store, { job, round, tally }: Outcome): ItemWrite<"workspace"> {
  const isReached = tally.counts.delivered > 0;
  const set = {
    completed_at: timestamp(clock.now()),
    ...(!isReached && { error: NOTHING_DELIVERED.message }),
  };
  return moveWrite(JobItem, { job: job.id }, jobMoves, isReached ? "deliver" : "fail", {
    change: { set, add: addends(tally) },
    when: is("round", round),
  });
}

/** Deliveries by the hour, by week and class of channels, and of journeys. The first job decides the shard. */
function counted(store: Store, outcomes: readonly Outcome[]): ItemWrite<"workspace">[] {
  const [first] = outcomes;
  const n = outcomes.reduce((sum, { tally }) => sum + tally.counts.delivered, 0);
  if (!first) return [];
  const byClass = n > 0 && deliveredWrite(store, { in_app: n }, first.job.id);
  return [
    ...dayWrites(
      hashOf(first.job.id).slice(0, 1),
      outcomes.map(({ job, tally }) => countedOutcomes(store, job.category, outcomesOf(addends(tally)))),
    ),
    ...(byClass ? [byClass] : []),
    ...endedWrites(outcomes.map(({ job, tally }) => ({ ...job, counts: tally.counts }))),
  ];
}
