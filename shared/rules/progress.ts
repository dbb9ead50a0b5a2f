// How far a chunk has got: which addresses were tried with what outcome, and what is still to do. It is stored with
// every claim, so that whoever goes on after a crash knows all but the outcomes of one group (docs/decisions/0013).
import { classesOf } from "./arbitration.ts";
import { classOf, type Target } from "./reach.ts";

/** Recipients of a group: what a crash may leave unconfirmed. */
export const GROUP_SIZE = 10;
const MINUTE_MS = 60_000;
/** A transient failure is tried again so much later (docs/decisions/0013). */
export const RETRY_AFTER_MS: readonly number[] = [1 * MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS];
/** The reason of whatever may have been delivered and is not sent again. */
export const UNCONFIRMED = "delivery_unconfirmed";
/** It was put off and could not go out within a day of its time (AMB-86). */
export const EXPIRED = "expired";

/** `bounced`: taken by the provider, and told later that it came back. `skipped`: not tried, by a rule of the workspace. */
export type LedgerState = "sent" | "failed" | "retryable" | "unknown" | "bounced" | "skipped";

/** Why an address is not tried although it could be reached. */
export const lateSkips = ["capped", "template_not_approved", "canceled"] as const;
export type LateSkip = (typeof lateSkips)[number];

export type SendOutcome =
  | { status: "accepted"; providerId?: string }
  | { status: "rejected"; reason: string; addressDead?: boolean }
  | { status: "retryable"; reason: string; retryAfterSeconds?: number }
  | { status: "unknown"; reason: string }
  /** `seen`: the values that decided it. */
  | { status: "skipped"; reason: LateSkip; seen?: object };

/** One address of one recipient, by their places in the chunk. */
export interface Unit {
  recipient: number;
  target: number;
  /** When it was tried before, in milliseconds. */
  tries: number[];
  /** Not before. */
  due: number;
  /** Put off by quiet hours: when they end. */
  quiet?: number | undefined;
}

/** What is known of one address after an attempt. */
export interface Verdict {
  state: LedgerState;
  reason?: string | undefined;
}

export interface Progress {
  /** What this round tries; in the first one, the first targets of everybody. */
  work: Unit[] | undefined;
  /** Units of the round that are claimed: the last group of them may be under way. */
  from: number;
  to: number;
  /** Units of the round whose ledger rows are written; the verdicts up to `from` that are not. */
  noted: number;
  pending: Verdict[];
  /** Units of the group under way that are skipped by a cap: where the claim is, their outcome is known. */
  capped: number[];
  /** Recipients who were counted against caps of all channels, as bits. */
  counted: bigint;
  /** For the rounds to come. */
  next: Unit[];
  /** Recipients reached, by channel type, as bits. */
  reached: Record<string, bigint>;
  /** Why the others were not, so far. */
  why: Record<number, string>;
  /** Smart sends: classes with attempts under way, and whether all that failed failed for good. */
  open: Record<number, { left: number; mayFallBack: boolean }>;
  fallbackSteps: number;
  fallbackConflicts: number;
}

/** Who gets it where: a smart send tries one class after the other, any other one everything at once. */
export interface Addressee {
  targets: readonly Target[];
  isSmart: boolean;
}

export const newProgress = (): Progress => ({
  work: undefined,
  from: 0,
  to: 0,
  noted: 0,
  pending: [],
  capped: [],
  counted: 0n,
  next: [],
  reached: {},
  why: {},
  open: {},
  fallbackSteps: 0,
  fallbackConflicts: 0,
});

/** The units of the round. */
export const unitsOf = ({ work }: Progress, addressees: readonly Addressee[]): Unit[] =>
  work ??
  addressees.flatMap(({ targets, isSmart }, recipient) => {
    const first = isSmart ? classesOf(targets)[0]! : targets;
    return first.map((target) => ({ recipient, target: targets.indexOf(target), tries: [], due: 0 }));
  });

/** Where the group that begins at `from` ends: at most ten recipients. */
export function groupEnd(units: readonly Unit[], from: number): number {
  const recipients = new Set<number>();
  for (let i = from; i < units.length; i++) {
    recipients.add(units[i]!.recipient);
    if (recipients.size > GROUP_SIZE) return i;
  }
  return units.length;
}

/** Takes note of an outcome; what must be tried again, or by the next class, joins the rounds to come. */
export function note(
  progress: Progress,
  unit: Unit,
  addressee: Addressee,
  outcome: SendOutcome,
  at: number,
): Verdict & { tries: number[] } {
  const tries = [...unit.tries, at];
  const target = addressee.targets[unit.target]!;
  if (outcome.status === "accepted") {
    progress.reached[target.channel] = (progress.reached[target.channel] ?? 0n) | (1n << BigInt(unit.recipient));
    completeUnit(progress, unit, addressee, false, at);
    return { state: "sent", tries };
  }
  if (outcome.status === "skipped") {
    progress.why[unit.recipient] ??= outcome.reason;
    completeUnit(progress, unit, addressee, !isOver(outcome.reason), at);
    return { state: "skipped", reason: outcome.reason, tries: unit.tries };
  }
  const reason = outcome.status === "unknown" ? UNCONFIRMED : outcome.reason;
  const wait = outcome.status === "retryable" ? RETRY_AFTER_MS[tries.length - 1] : undefined;
  if (outcome.status === "retryable" && wait !== undefined) {
    const due = at + Math.max(wait, 1_000 * (outcome.retryAfterSeconds ?? 0));
    progress.next.push({ recipient: unit.recipient, target: unit.target, tries, due });
    openClass(progress, unit, addressee);
    return { state: "retryable", reason, tries };
  }
  progress.why[unit.recipient] = reason;
  completeUnit(progress, unit, addressee, outcome.status === "rejected" && !isOver(reason), at);
  return { state: outcome.status === "unknown" ? "unknown" : "failed", reason, tries };
}

/** Reasons that hold for every address of a send. */
const isOver = (reason: string): boolean => reason === "canceled" || reason === EXPIRED;

/** Takes units that no claim holds yet out of the round: they come again when `until` says, if it does. */
export function putOff(
  progress: Progress,
  addressees: readonly Addressee[],
  until: (unit: Unit) => Pick<Unit, "due" | "quiet"> | undefined,
): void {
  const units = unitsOf(progress, addressees);
  const waits = units.map((unit, i) => (i < progress.to ? undefined : until(unit)));
  if (!waits.some(Boolean)) return;
  progress.work = units.filter((_, i) => !waits[i]);
  for (const [i, unit] of units.entries()) if (waits[i]) progress.next.push({ ...unit, ...waits[i] });
}

/** Recipients who wait for the end of quiet hours. */
export const waitingFor = ({ work = [], to, next }: Progress): Set<number> =>
  new Set([...work.slice(to), ...next].flatMap(({ quiet, recipient }) => (quiet === undefined ? [] : [recipient])));

const sizeOfClass = (unit: Unit, { targets }: Addressee): number => {
  const one = classOf(targets[unit.target]!.channel);
  return targets.filter(({ channel }) => classOf(channel) === one).length;
};

function openClass(progress: Progress, unit: Unit, addressee: Addressee) {
  if (!addressee.isSmart) return undefined;
  progress.open[unit.recipient] ??= { left: sizeOfClass(unit, addressee), mayFallBack: true };
  return progress.open[unit.recipient]!;
}

/** An address is done with; after the last one of a class that failed for good comes the next class (SMA-6). */
function completeUnit(progress: Progress, unit: Unit, addressee: Addressee, forGood: boolean, at: number): void {
  const open = openClass(progress, unit, addressee);
  if (!open) return;
  open.left--;
  open.mayFallBack &&= forGood;
  if (open.left > 0) return;
  delete progress.open[unit.recipient];
  if (!open.mayFallBack) return;
  const { targets } = addressee;
  const classes = classesOf(targets);
  const tried = classOf(targets[unit.target]!.channel);
  const following = classes[classes.findIndex(([first]) => classOf(first!.channel) === tried) + 1];
  if (!following) return;
  progress.fallbackSteps++;
  for (const target of following)
    progress.next.push({ recipient: unit.recipient, target: targets.indexOf(target), tries: [], due: at });
}

/** Begins the next round with what is due. @returns when it may begin; undefined when there is nothing left to do. */
export function nextRound(progress: Progress, now: number): number | undefined {
  if (progress.next.length === 0) return undefined;
  const begins = Math.min(...progress.next.map(({ due }) => due));
  const until = Math.max(now, begins);
  progress.work = progress.next.filter(({ due }) => due <= until).sort(byPlace);
  progress.next = progress.next.filter(({ due }) => due > until);
  Object.assign(progress, { from: 0, to: 0, noted: 0, pending: [] });
  return begins;
}

export const byPlace = (a: Unit, b: Unit): number => a.recipient - b.recipient || a.target - b.target;

const bits = (set: bigint): number => set.toString(2).replaceAll("0", "").length;

const isLateSkip = (reason: string): boolean => lateSkips.some((skip) => skip === reason);

/** Recipients reached, by channel type and in all, and why the others were not; whoever nothing was tried for is skipped. */
export function resultOf({ reached, why, work = [], to, next }: Progress, recipients: number) {
  const pending = new Set([...work.slice(to), ...next].map(({ recipient }) => recipient));
  const all = Object.values(reached).reduce((sum, set) => sum | set, 0n);
  const fail_reasons: Record<string, number> = {};
  const skip_reasons: Record<string, number> = {};
  let [skipped, failed] = [0, 0];
  for (let i = 0; i < recipients; i++) {
    if ((all >> BigInt(i)) & 1n || pending.has(i)) continue;
    const reason = why[i] ?? UNCONFIRMED;
    const reasons = isLateSkip(reason) ? skip_reasons : fail_reasons;
    reasons[reason] = (reasons[reason] ?? 0) + 1;
    if (isLateSkip(reason)) skipped++;
    else failed++;
  }
  const delivered = all === 0n ? 0 : bits(all);
  return {
    delivered,
    skipped,
    failed,
    skip_reasons,
    delivered_by_channel: Object.fromEntries(Object.entries(reached).map(([channel, set]) => [channel, bits(set)])),
    fail_reasons,
  };
}
