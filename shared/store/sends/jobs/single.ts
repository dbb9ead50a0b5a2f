// Sends whose recipients are on the row of the job: the deliveries of a batch are closed together
// (docs/decisions/0027, docs/decisions/0046).

import type { Message } from "../../../contract/messages.ts";
import { timestamp } from "../../../kernel/clock.ts";
import { throwFailures } from "../../../kernel/failures.ts";
import { isPseudonym } from "../../../kernel/ids.ts";
import { jobMoves, outcomeOf } from "../../../rules/job-states.ts";
import { absent, all, is } from "../../conditions.ts";
import type { Store } from "../../context.ts";
import { hashOf } from "../../hash.ts";
import { countedOutcomes, dayWrites, outcomesOf } from "../../insights/hours.ts";
import type { ItemWrite, RowOf } from "../../item.ts";
import { endedWrites } from "../../journeys/totals.ts";
import { move, moveWrite } from "../../lifecycle.ts";
import { onConditionFailed, onTransactionCanceled } from "../../refusals.ts";
import { deliveredWrite } from "../../subscribers/engagement.ts";
import { settlement, type Use } from "../../workspaces/usage.ts";
import type { Lease } from "../chunks/leases.ts";
import { SINGLE_RANGE } from "../chunks/range-names.ts";
import { isInAppOnly, type Recipient, unpackRecipients } from "../chunks/recipients.ts";
import { addends, beyond, sumOf, type Tally } from "../chunks/tallies.ts";
import { CLAIM_ATTRIBUTES, isHeldBy } from "./job-claims.ts";
import { JobItem } from "./job-items.ts";
import { type JobRecord, NOTHING_DELIVERED, reservedSet, WORKSPACE_DELETED } from "./jobs.ts";

export const singleMessage = (tenant: string, job: string): Message<"deliver"> => ({
  tenant,
  job,
  range: SINGLE_RANGE,
  chunk: 0,
});

/** The message of a send whose row was read: it names what the worker reads with the row. */
export function namedSingle(tenant: string, { id, to = "", content }: RowOf<typeof JobItem>): Message<"deliver"> {
  const recipients = unpackRecipients(to);
  // A pack of a journey's runs has more than a request reads.
  const devices = recipients.length > 1 ? [] : recipients.flatMap(devicesOf);
  return { ...singleMessage(tenant, id), content, ...(devices.length > 0 && { devices }) };
}

const devicesOf = ({ subscriber, targets }: Recipient) =>
  isPseudonym(subscriber)
    ? []
    : targets.flatMap(({ device }) => (device === undefined ? [] : [{ subscriber, device }]));

export const isSingleMessage = ({ range }: Pick<Message<"deliver">, "range">): boolean => range === SINGLE_RANGE;

export interface Outcome {
  job: JobRecord;
  /** The round that it was delivered in, or the lease under which providers were called. */
  as: { round: number } | Lease;
  tally: Tally;
  /** Nothing more of it is sent, because its workspace was deleted. */
  isStopped?: true;
}

/** Whether a send is delivered by its row alone, without a claim. */
export const isToInboxes = (job: JobRecord): boolean =>
  job.direct !== undefined && areInboxes(job, job.direct.recipients);

/**
 * Whether nothing but inboxes is reached, which are their own ledger, and nothing is left to be asked of the recipients:
 * caps, choices of topics and the test group of a brake are looked at in groups, under a claim.
 */
export const areInboxes = (
  { deliverySettings, topic }: JobRecord,
  recipients: readonly Pick<Recipient, "targets">[],
): boolean =>
  !deliverySettings?.caps &&
  deliverySettings?.brake?.canary_percent === undefined &&
  topic === undefined &&
  recipients.every(({ targets }) => isInAppOnly(targets));

/**
 * Begins a new round of a job, now. Where one has begun since the former one was read, by another worker or by this very
 * write whose reply was lost, it is joined (docs/decisions/0028). @returns when it began; undefined if the job ended.
 */
export function beginRound(store: Store, job: string, former: number): Promise<number | undefined> {
  const round = store.clock.now();
  return store.change(JobItem, { job }, { set: { round } }, all(is("status", "queued"), is("round", former))).then(
    () => round,
    onConditionFailed(JobItem, (old) => (old?.status === "queued" ? old.round : undefined)),
  );
}

/**
 * Closes jobs. The outcomes of a one-off send are counted when its quarter-hour is settled (docs/decisions/0056), those of
 * a journey in the transaction that closes its jobs. One that has ended is left out.
 */
export async function closeSingles(store: Store, outcomes: readonly Outcome[]): Promise<void> {
  const ofJourneys = outcomes.filter(({ job }) => !isCountedLater(job));
  const ended = await Promise.allSettled([
    closeTogether(store, ofJourneys),
    ...outcomes.filter(({ job }) => isCountedLater(job)).map((one) => closeAlone(store, one)),
  ]);
  throwFailures(ended);
}

/** The sends that a quarter-hour's watch looks at. */
const isCountedLater = ({ source }: JobRecord): boolean => source.type === "api";

async function closeAlone(store: Store, outcome: Outcome): Promise<void> {
  const { action, change, when } = endOf(store, outcome);
  const options = { change: { ...change, set: { ...change.set, counted: "quarter" as const } }, when };
  const key = { job: outcome.job.id };
  for (;;) {
    const settled = await settlement(store, [useOf(outcome)]);
    if (settled.length === 0) {
      await move(store, JobItem, key, jobMoves, action, options);
      return;
    }
    const hasEnded = await store.transact([moveWrite(JobItem, key, jobMoves, action, options), ...settled]).then(
      () => true,
      onTransactionCanceled(([ended]) => ended !== undefined),
    );
    if (hasEnded) return;
  }
}

const useOf = ({ job, tally }: Outcome): Use => ({ ...job, sent: tally.counts.sent });

async function closeTogether(store: Store, outcomes: readonly Outcome[]): Promise<void> {
  let open = outcomes;
  while (open.length > 0) {
    const ends = open.map((one) => {
      const { action, ...options } = endOf(store, one);
      return moveWrite(JobItem, { job: one.job.id }, jobMoves, action, options);
    });
    const settled = await settlement(store, open.map(useOf));
    const failures = await store.transact([...ends, ...settled, ...counted(store, open)]).then(
      () => undefined,
      onTransactionCanceled((all) => all),
    );
    if (!failures) return;
    open = open.filter((_, i) => !failures[i]);
  }
}

/** What the job does not count yet. */
const newOf = ({ as, tally }: Outcome): Record<string, number> =>
  beyond(addends(tally), "owner" in as ? as.reported : {});

function endOf({ clock }: Store, outcome: Outcome) {
  const { job, as, tally, isStopped } = outcome;
  const hasFailed = outcomeOf(tally.counts) === "failed";
  const error = isStopped ? WORKSPACE_DELETED : hasFailed ? NOTHING_DELIVERED.message : undefined;
  const set = {
    completed_at: timestamp(clock.now()),
    ...(error !== undefined && { error }),
    ...reservedSet(job, tally.counts.sent),
  };
  const add = newOf(outcome);
  const bad = isStopped ? ("abandon" as const) : hasFailed ? ("fail" as const) : undefined;
  return "owner" in as
    ? { action: bad ?? ("complete" as const), change: { set, add, remove: CLAIM_ATTRIBUTES }, when: isHeldBy(as) }
    : { action: bad ?? ("deliver" as const), change: { set, add }, when: all(is("round", as.round), absent("owner")) };
}

/** Deliveries by the hour, by week and class of channels, and of journeys. The first job decides the shard. */
function counted(store: Store, outcomes: readonly Outcome[]): ItemWrite<"workspace">[] {
  const [first] = outcomes;
  if (!first) return [];
  const byClass = deliveredWrite(store, sumOf(outcomes.map(({ tally }) => tally)).delivered_by_channel, first.job.id);
  return [
    ...dayWrites(
      hashOf(first.job.id).slice(0, 1),
      outcomes.map((one) => countedOutcomes(store, one.job.category, outcomesOf(newOf(one)))),
    ),
    ...(byClass ? [byClass] : []),
    ...endedWrites(
      outcomes.map(({ job, tally: { counts, delivered_by_channel } }) => ({ ...job, counts, delivered_by_channel })),
    ),
  ];
}
