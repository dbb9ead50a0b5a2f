// Continues after a crash: outcomes that the claim does not have are read from the ledger, and an address without a row
// is unconfirmed (docs/decisions/0013).
import { prepareInApp } from "../../../shared/providers/in-app.ts";
import { elementAt } from "../../../shared/rules/element-at.ts";
import {
  note,
  type Progress,
  RETRY_AFTER_MS,
  type SendOutcome,
  type Unit,
  type Verdict,
} from "../../../shared/rules/progress.ts";
import { unitsOf } from "../../../shared/rules/progress-rounds.ts";
import type { Target } from "../../../shared/rules/reach.ts";
import { lateSkips } from "../../../shared/rules/reasons.ts";
import { type ItemWrite, type RowOf, ref, rowOf } from "../../../shared/store/item.ts";
import type { Item } from "../../../shared/store/model.ts";
import type { Recipient } from "../../../shared/store/sends/chunks/recipients.ts";
import { Message } from "../../../shared/store/sends/inbox/inbox-items.ts";
import { messageId } from "../../../shared/store/sends/inbox/inbox-writes.ts";
import { TouchItem } from "../../../shared/store/sends/ledger/ledger-items.ts";
import { type RoundTimes, recorded, touchKey, touchWrite } from "../../../shared/store/sends/ledger/touches.ts";
import { namesNow } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { reachedInEarlierRound } from "./inboxes.ts";
import { leftTopic } from "./topic-choices.ts";
import { type LeasedChunk, recipientOf, targetOf, timesOf, type Work } from "./work.ts";

/** The entry of the ledger for one address. */
type LedgerEntry =
  | { kind: "touch"; row: RowOf<typeof TouchItem> }
  /** The message in an inbox is its own ledger entry. */
  | { kind: "message" }
  | { kind: "none" };

/** A claimed unit whose worker stopped before its ledger row was known to be written. */
interface ClaimedUnit {
  unit: Unit;
  recipient: Recipient;
  target: Target;
  entry: LedgerEntry;
  /** The verdict in the claim; undefined for the group that was in progress. */
  claimed: Verdict | undefined;
  /** A cap skips the unit. */
  isCapped: boolean;
}

/**
 * Completes the progress of a lease whose worker stopped, and writes the missing ledger rows.
 * @param isStopped the send itself was stopped: no more inbox messages are written
 */
export async function recover(work: Work, leased: LeasedChunk, { isStopped }: { isStopped: boolean }): Promise<void> {
  const { store, clock, chunkRef, chunk } = work;
  const { progress } = leased;
  const times = timesOf(leased);
  const units = await readClaimed(work, leased);
  const inboxes = await completeInboxes(work, times, units.filter(isUnwritten), { isStopped });

  const ids = units.map(({ recipient }) => recipient.subscriber);
  const names = await namesNow(store, chunkRef, chunk.plannedAt, [...new Set(ids)]);
  const missing: ItemWrite<"workspace">[] = [];
  for (const claimedUnit of units) {
    const { unit, recipient, target, claimed } = claimedUnit;
    const found = isInbox(claimedUnit) ? inboxVerdict(claimedUnit, inboxes) : touchVerdict(claimedUnit);
    const { tries, ...verdict } = claimed
      ? { ...claimed, tries: triesOf(unit, claimed, times) }
      : noteFound(work, progress, claimedUnit, found, clock.now());
    if (isInLedger(claimedUnit, found, verdict)) continue;
    const { subscriber, arm } = recipient;
    const touch = { subscriber: names.get(subscriber) ?? subscriber, target, arm, verdict, tries };
    missing.push(touchWrite(times, chunkRef, touch));
  }
  await store.writeAll(missing);
  Object.assign(progress, { from: progress.to, noted: progress.to, pending: [], capped: [] });
}

/** The claimed units of a round that may have no ledger row yet, with their entries in the ledger. */
async function readClaimed(work: Work, leased: LeasedChunk): Promise<ClaimedUnit[]> {
  const { store, chunkRef, chunk, addressees } = work;
  const { noted, from, to, pending, capped } = leased.progress;
  const { at } = timesOf(leased);
  const units = unitsOf(leased.progress, addressees).slice(noted, to);
  const rows = await store.getEach(
    units.map((unit) => {
      const { subscriber } = recipientOf(chunk, unit);
      const target = targetOf(chunk, unit);
      return target.channel === "in_app"
        ? ref(Message, { subscriber, message: messageId(at, chunkRef.job, subscriber) })
        : ref(TouchItem, touchKey(subscriber, at, chunkRef.job, target));
    }),
  );
  return units.map((unit, i) => {
    const target = targetOf(chunk, unit);
    const isInProgress = noted + i >= from;
    return {
      unit,
      recipient: recipientOf(chunk, unit),
      target,
      entry: entryOf(target, rows[i]),
      claimed: isInProgress ? undefined : elementAt(pending, i),
      isCapped: isInProgress && capped.includes(noted + i),
    };
  });
}

function entryOf({ channel }: Target, row: Item | undefined): LedgerEntry {
  if (!row) return { kind: "none" };
  return channel === "in_app" ? { kind: "message" } : { kind: "touch", row: rowOf(TouchItem, row) };
}

const isInbox = ({ target }: ClaimedUnit): boolean => target.channel === "in_app";

/** Whether a unit of the group in progress has an inbox message that no worker wrote before its claim. */
const isUnwritten = (unit: ClaimedUnit): boolean =>
  isInbox(unit) && unit.claimed === undefined && unit.entry.kind === "none" && !unit.isCapped;

const triesOf = (unit: Unit, { state }: Verdict, { at }: RoundTimes): number[] =>
  state === "skipped" ? unit.tries : [...unit.tries, at];

/** Notes the outcome of a unit of the group in progress: the entry in the ledger, or unknown. */
function noteFound(
  { addressees }: Work,
  progress: Progress,
  { unit, isCapped }: ClaimedUnit,
  found: Verdict | undefined,
  at: number,
): Verdict & { tries: number[] } {
  const reported = found ? outcomeOf(found, unit) : UNKNOWN;
  const outcome = isCapped ? CAPPED : reported;
  const addressee = elementAt(addressees, unit.recipient);
  const isFallback = addressee.isSmart && unit.due > 0 && unit.tries.length === 0;
  if (outcome.kind === "unknown" && isFallback) progress.fallbackConflicts++;
  return note(progress, unit, addressee, { outcome, at, mailbox: found?.mailbox });
}

/** An inbox message that was sent is its own ledger row. */
function isInLedger(unit: ClaimedUnit, found: Verdict | undefined, { state }: Verdict): boolean {
  if (unit.isCapped) return false;
  return isInbox(unit) ? state === "sent" : found !== undefined;
}

const touchVerdict = ({ entry, unit }: ClaimedUnit): Verdict | undefined =>
  entry.kind === "touch" ? recorded(entry.row, unit.tries.length) : undefined;

interface CompletedInboxes {
  /** Subscribers who left the topic of the send in the meantime. */
  left: ReadonlySet<string>;
  /** Units whose message follows its claim, and is not written because the send was stopped. */
  canceled: readonly ClaimedUnit[];
  /** Subscribers whose inbox has the message now. */
  written: ReadonlySet<string>;
}

/**
 * Writes the inbox rows that are missing. If caps count, inbox rows follow the claim: a recipient that was counted gets
 * its row now.
 */
async function completeInboxes(
  work: Work,
  times: RoundTimes,
  unwritten: readonly ClaimedUnit[],
  { isStopped }: { isStopped: boolean },
): Promise<CompletedInboxes> {
  const left = await leftTopic(
    work,
    unwritten.map(({ recipient }) => recipient.subscriber),
  );
  const late = work.job.deliverySettings?.caps
    ? unwritten.filter(({ recipient }) => !left.has(recipient.subscriber))
    : [];
  const units = late.map(({ recipient, unit }) => [recipient.subscriber, unit] as const);
  const reached = await reachedInEarlierRound(work, times, new Map(units));
  const missing = late.filter(({ recipient }) => !reached.has(recipient.subscriber));
  const isWriting = missing.length > 0 && !isStopped;
  const written = isWriting ? await writeLateInbox(work, times, missing) : [];
  return { left, canceled: isStopped ? missing : [], written: new Set([...reached, ...written]) };
}

/** Writes inbox messages after the claim. @returns the subscribers whose inbox has the message */
async function writeLateInbox(
  { store, job, chunkRef, chunk }: Work,
  round: RoundTimes,
  units: readonly ClaimedUnit[],
): Promise<Set<string>> {
  const recipients = units.map(({ recipient }) => recipient);
  const { plannedAt } = chunk;
  const times = { ...round, repeats: true };
  const { delivered, write } = await prepareInApp(store, job, chunkRef, times, { recipients, plannedAt });
  await write();
  return delivered;
}

/** A message that no worker wrote before the claim was refused, or could not be rendered. */
function inboxVerdict(unit: ClaimedUnit, { left, canceled, written }: CompletedInboxes): Verdict {
  const { subscriber } = unit.recipient;
  if (unit.entry.kind === "message" || written.has(subscriber)) return { state: "sent" };
  if (canceled.includes(unit)) return { state: "skipped", reason: "canceled" };
  if (left.has(subscriber)) return { state: "skipped", reason: "topic_opt_out" };
  return { state: "failed", reason: "template_error" };
}

const CAPPED: SendOutcome = { kind: "skipped", reason: "capped" };

/** The message may have been sent, so it is never sent again. */
const UNKNOWN: SendOutcome = { kind: "unknown", reason: "the worker stopped" };

function outcomeOf({ state, reason = "" }: Verdict, unit: Unit): SendOutcome {
  if (state === "sent") return { kind: "accepted" };
  if (state === "unknown") return { kind: "unknown", reason };
  if (state === "skipped") return { kind: "skipped", reason: lateSkips.find((skip) => skip === reason) ?? "canceled" };
  const isLastTry = unit.tries.length >= RETRY_AFTER_MS.length;
  return state === "retryable" || isLastTry ? { kind: "retryable", reason } : { kind: "rejected", reason };
}
