// The numbers of a chunk from its progress.
import type { Progress } from "../../../shared/rules/progress.ts";
import { include } from "../../../shared/rules/progress-notes.ts";
import { isLateSkip, UNCONFIRMED } from "../../../shared/rules/reasons.ts";
import { byArm, type Chunk, tallyOfChunk } from "../../../shared/store/sends/chunks/chunks.ts";
import { NO_TALLY, sumOf, type Tally } from "../../../shared/store/sends/chunks/tallies.ts";
import { targetOf } from "./work.ts";

/** The tally of the chunk so far. A recipient that still waits is neither delivered nor failed. */
export function talliedBy(chunk: Chunk, progress: Progress): Tally {
  const plain = tallyOfChunk(chunk);
  const { delivered, failed, skipped, skip_reasons, ...reached } = resultOf(progress, chunk.recipients.length);
  const { counts } = plain;
  return {
    ...plain,
    ...reached,
    ...missedByChannel(chunk, progress),
    mailboxes: progress.mailboxes,
    delivered_by_arm: byArm(chunk, (_, n) => isAmong(reachedIn(progress), n)),
    // A recipient that is skipped only now was not accepted into delivery after all.
    counts: { ...counts, delivered, failed, sent: counts.sent - skipped, skipped: counts.skipped + skipped },
    skip_reasons: sumOf([plain, { ...NO_TALLY, skip_reasons }]).skip_reasons,
    arbitration: {
      ...plain.arbitration,
      fallback_steps: progress.fallbackSteps,
      fallback_dedup_errors: progress.fallbackConflicts,
    },
    attempts: { tried: progress.tried ?? {}, errors: progress.errors, passed: progress.passed ? 1 : 0 },
    late_skips: skipped,
  };
}

/** The recipients who were reached by at least one channel, as bits. */
const reachedIn = ({ reached }: Pick<Progress, "reached">): bigint =>
  Object.values(reached).reduce((sum, set) => sum | set, 0n);
export const isAmong = (set: bigint, recipient: number): boolean => ((set >> BigInt(recipient)) & 1n) === 1n;

const bits = (set: bigint): number => set.toString(2).replaceAll("0", "").length;

/**
 * How many recipients each channel did not reach: all their addresses of that channel have ended, and none was reached
 * (AMB-139).
 */
function missedByChannel(chunk: Chunk, { reached, missed, unsure, work = [], to, next }: Progress) {
  const waiting: Record<string, bigint> = {};
  for (const unit of [...work.slice(to), ...next]) include(waiting, unit, targetOf(chunk, unit).channel);
  const open = (channel: string) => (reached[channel] ?? 0n) | (waiting[channel] ?? 0n);
  const countIn = (sets: Record<string, bigint>) =>
    Object.fromEntries(Object.entries(sets).map(([channel, set]) => [channel, bits(set & ~open(channel))]));
  return { failed_by_channel: countIn(missed), uncertain_by_channel: countIn(unsure) };
}

/** How many recipients were reached, by channel type and in all, and why the others were not. */
export function resultOf({ reached, why, work = [], to, next }: Progress, recipients: number) {
  const pending = new Set([...work.slice(to), ...next].map(({ recipient }) => recipient));
  const all = reachedIn({ reached });
  const fail_reasons: Record<string, number> = {};
  const skip_reasons: Record<string, number> = {};
  let skipped = 0;
  let failed = 0;
  for (let i = 0; i < recipients; i++) {
    if (isAmong(all, i) || pending.has(i)) continue;
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
