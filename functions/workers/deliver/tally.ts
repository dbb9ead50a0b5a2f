// The numbers of a chunk from its progress.
import type { Progress } from "../../../shared/rules/progress.ts";
import { resultOf } from "../../../shared/rules/progress-result.ts";
import { type Chunk, tallyOfChunk } from "../../../shared/store/sends/chunks/chunks.ts";
import { NO_TALLY, sumOf, type Tally } from "../../../shared/store/sends/chunks/tallies.ts";

/** The tally of the chunk so far: a recipient that still waits is neither delivered nor failed. */
export function talliedBy(chunk: Chunk, progress: Progress): Tally {
  const plain = tallyOfChunk(chunk);
  const { delivered, failed, skipped, skip_reasons, ...reached } = resultOf(progress, chunk.recipients.length);
  const { counts } = plain;
  return {
    ...plain,
    ...reached,
    // A recipient that is skipped only now was not accepted into delivery after all.
    counts: { ...counts, delivered, failed, sent: counts.sent - skipped, skipped: counts.skipped + skipped },
    skip_reasons: sumOf([plain, { ...NO_TALLY, skip_reasons }]).skip_reasons,
    arbitration: {
      ...plain.arbitration,
      fallback_steps: progress.fallbackSteps,
      fallback_dedup_errors: progress.fallbackConflicts,
    },
    attempts: { tried: progress.tried ?? {}, errors: progress.errors, passed: progress.passed ? 1 : 0 },
  };
}
