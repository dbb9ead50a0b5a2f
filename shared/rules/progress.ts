// The progress of a chunk: the outcomes of tried addresses, and the remaining work. It is stored with every claim, so
// that a worker that continues after a crash knows all but the outcomes of one group (docs/decisions/0013).
import { DAY, MINUTE } from "../kernel/clock.ts";
import { classesOf } from "./arbitration.ts";
import type { CountedCap } from "./caps.ts";
import { classOf } from "./channel-types.ts";
import { elementAt } from "./element-at.ts";
import type { KnownProvider } from "./mailbox-providers.ts";
import { noteFailed, noteMailbox, noteReached, noteReason, type RecipientNotes } from "./progress-notes.ts";
import type { Target } from "./reach.ts";
import { EXPIRED, type LateSkip, RATE_LIMITED, UNCONFIRMED } from "./reasons.ts";

/** The delay before a transient failure is tried again, by attempt (docs/decisions/0013). */
export const RETRY_AFTER_MS: readonly number[] = [MINUTE, 5 * MINUTE, 30 * MINUTE];
/** A throttled message waits as long as it has waited, within these bounds, or as long as its provider says. */
const THROTTLE_WAIT_MS = { min: 2_000, max: MINUTE };

/**
 * `bounced`: accepted by the provider, which later reported a bounce. `skipped`: a rule of the workspace forbids it.
 */
export const ledgerStates = ["sent", "failed", "retryable", "unknown", "bounced", "skipped"] as const;
export type LedgerState = (typeof ledgerStates)[number];

/** The known outcome of one message (docs/decisions/0010). */
export type SendOutcome =
  /** `isShortened`: its text was too long for the provider, and was cut. */
  | { kind: "accepted"; providerId?: string; isShortened?: true }
  /** Final. `addressDead`: the device or address must not be used again. */
  | { kind: "rejected"; reason: string; addressDead?: boolean }
  /**
   * Certainly not accepted: it may be sent again. `isThrottled`: the provider gets too many messages, so this was not
   * an attempt (AMB-111). `isHeld`: the provider was not called, because the channel may not send now.
   */
  | { kind: "retryable"; reason: string; retryAfterSeconds?: number; isThrottled?: true; isHeld?: true }
  /** Possibly accepted: it is never sent again. */
  | { kind: "unknown"; reason: string }
  /** `seen`: the cap that was reached. */
  | { kind: "skipped"; reason: LateSkip; seen?: CountedCap };

/** One address of one recipient, by their places in the chunk. */
export interface Unit {
  recipient: number;
  target: number;
  /** The times of earlier attempts, in milliseconds. */
  tries: number[];
  /** The earliest time of the next attempt. */
  due: number;
  /** Since when its provider throttles it, or its channel is held, in milliseconds. */
  throttledSince?: number | undefined;
  /** The provider was not called: the new credentials of its channel are being verified. */
  isHeld?: true | undefined;
  /** The end of the quiet hours that deferred it. */
  quiet?: number | undefined;
}

/** The result for one address after an attempt. */
export interface Verdict {
  state: LedgerState;
  reason?: string | undefined;
  /** The mailbox provider of a mail that is not tried again. */
  mailbox?: KnownProvider | undefined;
}

export interface Progress extends RecipientNotes {
  /** When this round began, in milliseconds: the time of its ledger rows and inbox messages. Undefined until it begins. */
  at: number | undefined;
  /** The ledger has the control group, and the recipients that wait since the first round. */
  recorded: boolean;
  /** The units that this round tries. Undefined in the first round, which tries the first targets of each recipient. */
  work: Unit[] | undefined;
  /** Claimed units of the round: the last group of them may be in progress. */
  from: number;
  to: number;
  /** How many units of the round have their ledger row. */
  noted: number;
  /** The verdicts of the units up to `from` without a ledger row. */
  pending: Verdict[];
  /** Units of the group in progress that a cap skips: their outcome is known from the claim on. */
  capped: number[];
  /** Recipients that were counted against caps of all channels, as bits. */
  counted: bigint;
  /** The same by the class of channels of a cap. */
  countedBy: Record<string, bigint>;
  /** Units of later rounds. */
  next: Unit[];
  /** Mails handed over, by the provider of their mailboxes. */
  mailboxes: Record<string, number>;
  /** Smart sends: classes with attempts in progress, and whether all failures in them are permanent. */
  open: Record<number, { left: number; mayFallBack: boolean }>;
  fallbackSteps: number;
  fallbackConflicts: number;
  /**
   * If a brake counts: addresses that were tried once, without throttled ones, by channel type, and how many of them
   * failed.
   */
  tried: Record<string, number> | undefined;
  errors: Record<string, number>;
  /** A round was worked through, so the figures of the chunk count. */
  passed: boolean;
  /**
   * By channel type with a rate: from when on the next group may be sent, the rate per second, and when the slot was
   * given. A round uses it up.
   */
  slots: Record<string, { at: number; rate: number; given?: number; isUsed?: true }>;
}

/** The targets of a recipient. A smart send tries one class after the other, any other send all at once. */
export interface Addressee {
  targets: readonly Target[];
  isSmart: boolean;
}

export const newProgress = (): Progress => ({
  at: undefined,
  recorded: false,
  work: undefined,
  from: 0,
  to: 0,
  noted: 0,
  pending: [],
  capped: [],
  counted: 0n,
  countedBy: {},
  next: [],
  reached: {},
  missed: {},
  unsure: {},
  mailboxes: {},
  why: {},
  open: {},
  fallbackSteps: 0,
  fallbackConflicts: 0,
  tried: undefined,
  errors: {},
  passed: false,
  slots: {},
});

/** Records an outcome. A retry, or the next class of a smart send, joins a later round. */
export function note(
  progress: Progress,
  unit: Unit,
  addressee: Addressee,
  { outcome, at, mailbox }: { outcome: SendOutcome; at: number; mailbox?: KnownProvider | undefined },
): Verdict & { tries: number[] } {
  const tries = [...unit.tries, at];
  const target = elementAt(addressee.targets, unit.target);
  noteFirstTry(progress, unit, target.channel, outcome);
  if (outcome.kind === "accepted") {
    noteReached(progress, unit, target.channel);
    noteMailbox(progress, mailbox);
    completeUnit(progress, unit, addressee, { isPermanent: false, at });
    return { state: "sent", mailbox, tries };
  }
  if (outcome.kind === "skipped") {
    noteReason(progress, unit, outcome.reason);
    completeUnit(progress, unit, addressee, { isPermanent: !isOver(outcome.reason), at });
    return { state: "skipped", reason: outcome.reason, tries: unit.tries };
  }
  if (outcome.kind === "retryable" && outcome.isThrottled)
    return noteThrottle(progress, unit, addressee, { outcome, at });
  const reason = outcome.kind === "unknown" ? UNCONFIRMED : outcome.reason;
  const wait = outcome.kind === "retryable" ? RETRY_AFTER_MS[tries.length - 1] : undefined;
  if (outcome.kind === "retryable" && wait !== undefined) {
    const due = at + Math.max(wait, 1_000 * (outcome.retryAfterSeconds ?? 0));
    progress.next.push({ recipient: unit.recipient, target: unit.target, tries, due });
    openClass(progress, unit, addressee);
    return { state: "retryable", reason, tries };
  }
  noteFailed(progress, unit, target.channel, reason);
  const isPermanent = outcome.kind === "rejected" && !isOver(reason);
  completeUnit(progress, unit, addressee, { isPermanent, at });
  return { state: outcome.kind === "unknown" ? "unknown" : "failed", reason, mailbox, tries };
}

/** Counts for the brake (F21). Retries do not count, or an address that fails would count several times. */
function noteFirstTry({ tried, errors }: Progress, unit: Unit, channel: string, outcome: SendOutcome): void {
  if (tried && isFirstTry(unit, outcome)) countFirstTry({ tried, errors }, channel, outcome);
}

export const isFirstTry = ({ tries }: Pick<Unit, "tries">, outcome: SendOutcome): boolean =>
  tries.length === 0 &&
  outcome.kind !== "skipped" &&
  !(outcome.kind === "retryable" && outcome.isThrottled) &&
  !(outcome.kind === "rejected" && isOver(outcome.reason));

export function countFirstTry(
  { tried, errors }: Record<"tried" | "errors", Record<string, number>>,
  channel: string,
  outcome: SendOutcome,
): void {
  tried[channel] = (tried[channel] ?? 0) + 1;
  if (outcome.kind !== "accepted") errors[channel] = (errors[channel] ?? 0) + 1;
}

/** Whether a chunk was worked through once: something was tried, or no unit that may be sent now waits. */
export const isPassed = ({ tried = {}, work = [], to, next }: Progress): boolean =>
  Object.keys(tried).length > 0 ||
  [...work.slice(to), ...next].every(
    ({ quiet, throttledSince }) => quiet === undefined && throttledSince === undefined,
  );

/** A throttled message joins a later round with its tries unchanged, for a day (AMB-111). */
function noteThrottle(
  progress: Progress,
  unit: Unit,
  addressee: Addressee,
  { outcome, at }: { outcome: Extract<SendOutcome, { kind: "retryable" }>; at: number },
): Verdict & { tries: number[] } {
  const { reason, retryAfterSeconds = 0 } = outcome;
  const { tries, throttledSince = at } = unit;
  const waited = at - throttledSince;
  if (waited >= DAY) {
    noteFailed(progress, unit, elementAt(addressee.targets, unit.target).channel, RATE_LIMITED);
    completeUnit(progress, unit, addressee, { isPermanent: false, at });
    return { state: "failed", reason: RATE_LIMITED, tries };
  }
  const { min, max } = THROTTLE_WAIT_MS;
  const wait = Math.max(Math.min(max, Math.max(min, waited)), 1_000 * retryAfterSeconds);
  progress.next.push({
    ...unit,
    throttledSince,
    isHeld: outcome.isHeld,
    due: Math.min(at + wait, throttledSince + DAY),
  });
  openClass(progress, unit, addressee);
  return { state: "retryable", reason, tries };
}

/** Reasons that apply to every address of a send. */
const isOver = (reason: string): boolean => reason === "canceled" || reason === "topic_opt_out" || reason === EXPIRED;

const sizeOfClass = (unit: Unit, { targets }: Addressee): number => {
  const channelClass = classOf(elementAt(targets, unit.target).channel);
  return targets.filter(({ channel }) => classOf(channel) === channelClass).length;
};

function openClass(progress: Progress, unit: Unit, addressee: Addressee) {
  if (!addressee.isSmart) return undefined;
  progress.open[unit.recipient] ??= { left: sizeOfClass(unit, addressee), mayFallBack: true };
  return progress.open[unit.recipient];
}

/**
 * Notes that an address gets no further attempt. If a whole class has failed permanently, the next class is tried
 * (SMA-6).
 */
function completeUnit(
  progress: Progress,
  unit: Unit,
  addressee: Addressee,
  { isPermanent, at }: { isPermanent: boolean; at: number },
): void {
  const open = openClass(progress, unit, addressee);
  if (!open) return;
  open.left--;
  open.mayFallBack &&= isPermanent;
  if (open.left > 0) return;
  delete progress.open[unit.recipient];
  if (!open.mayFallBack) return;
  const { targets } = addressee;
  const classes = classesOf(targets);
  const tried = elementAt(targets, unit.target);
  const following = classes[classes.findIndex((group) => group.includes(tried)) + 1];
  if (!following) return;
  progress.fallbackSteps++;
  for (const target of following)
    progress.next.push({ recipient: unit.recipient, target: targets.indexOf(target), tries: [], due: at });
}
