// Late outcomes of journey messages: if a message ends after its run went on, the outcome of its step is corrected
// (AMB-142).
import { timeOfUuid } from "../../kernel/ids.ts";
import { above, absent, all, is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { busy, contended, done, transacted, untilUncontended } from "../refusals.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";
import { listPlanned } from "../sends/ledger/recipient-list.ts";
import { CLOCK_TOLERANCE_MS } from "../sends/ledger/touches.ts";
import { pagesOf } from "../table.ts";
import { countWrites, type OutcomeAddends } from "./counts.ts";
import { RunItem, type RunRow, rowKeyOf, runPrefix } from "./run-items.ts";

/** The send of a step, from its job. */
interface StepSend {
  job: string;
  journey: string;
  step: string;
}

const PAGE = 100;

/** The send of a step; undefined for a job of another source. */
export const stepSendOf = ({ id, source, step }: Pick<JobRecord, "id" | "source" | "step">): StepSend | undefined =>
  source.id && step ? { job: id, journey: source.id, step: step.id } : undefined;

/**
 * Applies the outcomes of a send that has ended, for all recipients whose message did not arrive. A repeat changes
 * nothing.
 */
export async function followSend(store: Store, job: JobRecord): Promise<void> {
  const send = stepSendOf(job);
  if (!send) return;
  type ListPosition = Parameters<typeof listPlanned>[3]["from"];
  for await (const { items } of pagesOf((from: ListPosition) => listPlanned(store, job, {}, { from, limit: PAGE })))
    for (const { subscriber_id, state, reason } of items) {
      // If a send failed before its first message, its audience was empty.
      const isWhole = job.error !== null && state === "skipped" && reason === null;
      const outcome = isWhole ? "failed" : outcomeOf(state, reason);
      if (subscriber_id && outcome) await followOne(store, send, subscriber_id, { outcome });
    }
}

function outcomeOf(state: string, reason: string | null): string | undefined {
  if (state === "failed" || state === "uncertain") return "failed";
  if (state === "bounced") return state;
  return state === "skipped" ? `skipped:${reason ?? "unknown"}` : undefined;
}

/**
 * Corrects the outcome of one run: `sent` becomes the new one, once for a job. An erased subscriber has no run. @param
 * after provisional outcomes that are replaced as well
 */
export async function followOne(
  store: Store,
  send: StepSend,
  subscriber: string,
  later: { outcome: string; after?: "failed" | "bounced" },
): Promise<void> {
  await untilUncontended(busy.transient("The outcome of a step is changed by others."), async () => {
    const move = await moveOf(store, send, subscriber, later);
    if (!move) return done(undefined);
    return (await transacted(store, move)) ? done(undefined) : contended;
  });
}

/** The writes that move the outcome of a run; undefined if there is nothing to move. */
async function moveOf(
  store: Store,
  { job, journey, step }: StepSend,
  subscriber: string,
  { outcome, after }: { outcome: string; after?: "failed" | "bounced" },
): Promise<ItemWrite<"workspace">[] | undefined> {
  const prefix = runPrefix(journey);
  const rows = await store.queryAll(RunItem, { subscriber }, { from: prefix, to: `${prefix}~` });
  const followed = `f:${job}` as const;
  const known = rows.find((candidate) => candidate[followed] !== undefined);
  const row = known ?? runOf(rows, step, timeOfUuid(job));
  const before = known?.[followed] ?? "sent";
  if (!row || before === outcome || (known && before !== after)) return undefined;

  const left = `o:${step}|${before}` as const;
  const add: OutcomeAddends = { [left]: -1, [`o:${step}|${outcome}`]: 1 };
  const set: Partial<RunRow> = {};
  set[followed] = outcome;
  const isAsRead = known ? is(followed, before) : absent(followed);
  return [
    changeItem(RunItem, rowKeyOf(row), { set, add }, all(is("id", row.id), above(left, 0), isAsRead)),
    ...countWrites(journey, row.id, add),
  ];
}

/**
 * The run of a step's send: of the runs that sent there and are not known to have failed, the one that began last. A
 * run may have ended long before it sent: it ends at the time of its event, however late the worker is (AMB-136).
 */
function runOf(rows: readonly RunRow[], step: string, at: number): RunRow | undefined {
  const begunBy = (time: number) =>
    rows.filter((row) => (row[`o:${step}|sent`] ?? 0) > 0 && Date.parse(row.entered_at) <= time);
  return begunBy(at).at(-1) ?? begunBy(at + CLOCK_TOLERANCE_MS)[0];
}
