// Continues after a crash: outcomes that the claim does not know are read from the ledger, and an address without a row
// is unconfirmed (docs/decisions/0013).
import { prepareInApp } from "../../../shared/providers/in-app.ts";
import { elementAt } from "../../../shared/rules/element-at.ts";
import {
  note,
  RETRY_AFTER_MS,
  type SendOutcome,
  type Unit,
  unitsOf,
  type Verdict,
} from "../../../shared/rules/progress.ts";
import { lateSkips } from "../../../shared/rules/reasons.ts";
import { type ItemWrite, type RowOf, ref } from "../../../shared/store/item.ts";
import { messageId } from "../../../shared/store/sends/inbox/inbox.ts";
import { Message } from "../../../shared/store/sends/inbox/inbox-items.ts";
import { TouchItem } from "../../../shared/store/sends/ledger/ledger-items.ts";
import { type RoundTimes, recorded, touchKey, touchWrite } from "../../../shared/store/sends/ledger/touches.ts";
import { namesNow } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { leftTopic } from "./topic-choices.ts";
import { type Held, recipientOf, targetOf, timesOf, type Work } from "./work.ts";

type LedgerRow = RowOf<typeof Message> | RowOf<typeof TouchItem> | undefined;

/**
 * Completes the progress of a lease whose worker stopped, and writes the ledger rows that it left out.
 * @param isStopped the send itself was stopped: no inbox message is written any more
 */
export async function recover(work: Work, held: Held, { isStopped = false } = {}): Promise<void> {
  const { store, clock, chunkRef, chunk, addressees } = work;
  const { progress } = held;
  const times = timesOf(held);
  const units = unitsOf(progress, addressees).slice(progress.noted, progress.to);
  const isCapped = (i: number) => progress.capped.includes(progress.noted + i);
  const rows = await ledgerRows(work, units, times.at);
  const unwritten = units.filter((unit, i) => {
    const isInProgress = progress.noted + i >= progress.from;
    return isInProgress && targetOf(chunk, unit).channel === "in_app" && !rows[i] && !isCapped(i);
  });
  const { left, late, inbox } = await completeInboxes(work, times, unwritten, { isStopped });

  const ids = units.map((unit) => recipientOf(chunk, unit).subscriber);
  const names = await namesNow(store, chunkRef, chunk.plannedAt, [...new Set(ids)]);
  const missing: ItemWrite<"workspace">[] = [];
  for (const [i, unit] of units.entries()) {
    const { subscriber, arm } = recipientOf(chunk, unit);
    const target = targetOf(chunk, unit);
    const isInbox = target.channel === "in_app";
    const isWritten = rows[i] !== undefined || inbox.has(subscriber);
    const found = isInbox
      ? inboxVerdict(isWritten, left.has(subscriber), isStopped && late.includes(unit))
      : recorded(touchIn(rows[i]), unit.tries.length);
    // The inbox is its own ledger.
    const isNoted = ({ state }: Verdict) => (isInbox ? state === "sent" : found !== undefined);
    const touch = { subscriber: names.get(subscriber) ?? subscriber, target, arm };

    if (progress.noted + i < progress.from) {
      const verdict = elementAt(progress.pending, i);
      const tries = verdict.state === "skipped" ? unit.tries : [...unit.tries, times.at];
      if (!isNoted(verdict)) missing.push(touchWrite(times, chunkRef, { ...touch, verdict, tries }));
      continue;
    }

    const reported = found ? outcomeOf(found, unit) : UNKNOWN;
    const outcome = isCapped(i) ? CAPPED : reported;
    const addressee = elementAt(addressees, unit.recipient);
    const isFallback = addressee.isSmart && unit.due > 0 && unit.tries.length === 0;
    if (outcome.status === "unknown" && isFallback) progress.fallbackConflicts++;
    const { tries, ...verdict } = note(progress, unit, addressee, { outcome, at: clock.now() });
    if (!isNoted(verdict) || isCapped(i)) missing.push(touchWrite(times, chunkRef, { ...touch, verdict, tries }));
  }
  await store.writeAll(missing);
  Object.assign(progress, { from: progress.to, noted: progress.to, pending: [], capped: [] });
}

/** The rows of these addresses, in their order: the message of an inbox is its own entry of the ledger. */
const ledgerRows = ({ store, chunkRef, chunk }: Work, units: readonly Unit[], at: number): Promise<LedgerRow[]> =>
  store.getEach(
    units.map((unit) => {
      const { subscriber } = recipientOf(chunk, unit);
      const target = targetOf(chunk, unit);
      return target.channel === "in_app"
        ? ref(Message, { subscriber, message: messageId(at, chunkRef.job, subscriber) })
        : ref(TouchItem, touchKey(subscriber, at, chunkRef.job, target));
    }),
  );

interface CompletedInboxes {
  /** Those who left the topic of the send meanwhile. */
  left: ReadonlySet<string>;
  /** Whose message follows its claim. */
  late: readonly Unit[];
  /** Whose inbox has the message by now. */
  inbox: ReadonlySet<string>;
}

/** Where caps count, inbox rows follow the claim: a recipient that was counted gets its row now. */
async function completeInboxes(
  work: Work,
  times: RoundTimes,
  unwritten: readonly Unit[],
  { isStopped }: { isStopped: boolean },
): Promise<CompletedInboxes> {
  const subscriberOf = (unit: Unit) => recipientOf(work.chunk, unit).subscriber;
  const left = await leftTopic(work, unwritten.map(subscriberOf));
  const late = work.job.deliverySettings?.caps ? unwritten.filter((unit) => !left.has(subscriberOf(unit))) : [];
  const isWriting = late.length > 0 && !isStopped;
  const inbox = isWriting ? await writeLateInbox(work, times, late) : new Set<string>();
  return { left, late, inbox };
}

/** @returns the subscribers whose inbox has the message. */
async function writeLateInbox(
  { store, job, chunkRef, chunk }: Work,
  round: RoundTimes,
  units: readonly Unit[],
): Promise<Set<string>> {
  const recipients = units.map((unit) => recipientOf(chunk, unit));
  const { plannedAt } = chunk;
  const times = { ...round, repeats: true };
  const { delivered, write } = await prepareInApp(store, job, chunkRef, times, { recipients, plannedAt });
  await write();
  return delivered;
}

const touchIn = (row: LedgerRow): RowOf<typeof TouchItem> | undefined => (row && "state" in row ? row : undefined);

/** A message that no worker wrote before the claim was refused, or could not be rendered. */
const inboxVerdict = (isWritten: boolean, hasLeft: boolean, isCanceled: boolean): Verdict => {
  if (isWritten) return { state: "sent" };
  if (isCanceled) return { state: "skipped", reason: "canceled" };
  return hasLeft ? { state: "skipped", reason: "topic_opt_out" } : { state: "failed", reason: "template_error" };
};

const CAPPED: SendOutcome = { status: "skipped", reason: "capped" };

/** It may have been sent, so it is never sent again. */
const UNKNOWN: SendOutcome = { status: "unknown", reason: "the worker stopped" };

function outcomeOf({ state, reason = "" }: Verdict, unit: Unit): SendOutcome {
  if (state === "sent") return { status: "accepted" };
  if (state === "unknown") return { status: "unknown", reason };
  if (state === "skipped")
    return { status: "skipped", reason: lateSkips.find((skip) => skip === reason) ?? "canceled" };
  const isLastTry = unit.tries.length >= RETRY_AFTER_MS.length;
  return state === "retryable" || isLastTry ? { status: "retryable", reason } : { status: "rejected", reason };
}
