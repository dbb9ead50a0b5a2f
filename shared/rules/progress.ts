// How far a chunk has got: which addresses were tried with what outcome, and what is still to do. It is stored with
// every claim, so that whoever goes on after a crash knows all but the outcomes of one group (reliability.md section 4).
import { classesOf } from "./arbitration.ts";
import { classOf, type Target } from "./reach.ts";

/** Recipients of a group: what a crash may leave unconfirmed. */
export const GROUP_SIZE = 10;
const MINUTE_MS = 60_000;
/** Decision 7: a transient failure is tried again so much later. */
export const RETRY_AFTER_MS: readonly number[] = [1 * MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS];
/** The reason of whatever may have been delivered and is not sent again. */
export const UNCONFIRMED = "delivery_unconfirmed";

/** `bounced`: taken by the provider, and told later that it came back. */
export type LedgerState = "sent" | "failed" | "retryable" | "unknown" | "bounced";

export type SendOutcome =
  | { status: "accepted"; providerId?: string }
  | { status: "rejected"; reason: string; addressDead?: boolean }
  | { status: "retryable"; reason: string; retryAfterSeconds?: number }
  | { status: "unknown"; reason: string };

/** One address of one recipient, by their places in the chunk. */
export interface Unit {
  recipient: number;
  target: number;
  /** When it was tried before, in milliseconds. */
  tries: number[];
  /** Not before. */
  due: number;
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
    settle(progress, unit, addressee, false, at);
    return { state: "sent", tries };
  }
  const reason = outcome.status === "unknown" ? UNCONFIRMED : outcome.reason;
  const wait = outcome.status === "retryable" ? RETRY_AFTER_MS[tries.length - 1] : undefined;
  if (outcome.status === "retryable" && wait !== undefined) {
    const due = at + Math.max(wait, 1_000 * (outcome.retryAfterSeconds ?? 0));
    progress.next.push({ ...unit, tries, due });
    openClass(progress, unit, addressee);
    return { state: "retryable", reason, tries };
  }
  progress.why[unit.recipient] = reason;
  settle(progress, unit, addressee, outcome.status === "rejected", at);
  return { state: outcome.status === "unknown" ? "unknown" : "failed", reason, tries };
}

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
function settle(progress: Progress, unit: Unit, addressee: Addressee, forGood: boolean, at: number): void {
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
  const order = (a: Unit, b: Unit) => a.recipient - b.recipient || a.target - b.target;
  progress.work = progress.next.filter(({ due }) => due <= until).sort(order);
  progress.next = progress.next.filter(({ due }) => due > until);
  Object.assign(progress, { from: 0, to: 0, noted: 0, pending: [] });
  return begins;
}

const bits = (set: bigint): number => set.toString(2).replaceAll("0", "").length;

/** Recipients reached, by channel type and in all, and why the others were not. */
export function resultOf({ reached, why }: Progress, recipients: number) {
  const all = Object.values(reached).reduce((sum, set) => sum | set, 0n);
  const fail_reasons: Record<string, number> = {};
  for (let i = 0; i < recipients; i++) {
    if ((all >> BigInt(i)) & 1n) continue;
    const reason = why[i] ?? UNCONFIRMED;
    fail_reasons[reason] = (fail_reasons[reason] ?? 0) + 1;
  }
  const delivered = all === 0n ? 0 : bits(all);
  return {
    delivered,
    failed: recipients - delivered,
    delivered_by_channel: Object.fromEntries(Object.entries(reached).map(([channel, set]) => [channel, bits(set)])),
    fail_reasons,
  };
}

const shortStates: Record<string, LedgerState> = { s: "sent", f: "failed", r: "retryable", u: "unknown" };

/** As text for the claim's row: a few hundred bytes as long as all goes well. */
export function progressText({ pending, reached, ...rest }: Progress): string {
  const plain = Object.entries(rest).filter(([, value]) => value !== undefined && !isEmpty(value));
  return JSON.stringify({
    ...Object.fromEntries(plain),
    ...(pending.length > 0 && { pending: pending.map(({ state, reason }) => state[0] + (reason ?? "")) }),
    ...(Object.keys(reached).length > 0 && {
      reached: Object.fromEntries(Object.entries(reached).map(([channel, set]) => [channel, set.toString(36)])),
    }),
  });
}

const isEmpty = (value: unknown): boolean =>
  value === 0 || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

export function progressOf(text: string): Progress {
  const { pending = [], reached = {}, ...rest } = JSON.parse(text);
  return {
    ...newProgress(),
    ...rest,
    pending: pending.map((entry: string): Verdict => {
      const reason = entry.slice(1);
      return { state: shortStates[entry[0]!]!, ...(reason && { reason }) };
    }),
    reached: Object.fromEntries(Object.entries(reached).map(([channel, set]) => [channel, fromBase36(String(set))])),
  };
}

const fromBase36 = (text: string): bigint =>
  [...text].reduce((sum, letter) => sum * 36n + BigInt(Number.parseInt(letter, 36)), 0n);
