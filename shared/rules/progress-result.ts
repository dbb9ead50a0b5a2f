// What a chunk has come to: how many recipients were reached, and why the others were not.
import type { Progress } from "./progress.ts";
import { isLateSkip, UNCONFIRMED } from "./reasons.ts";

const bits = (set: bigint): number => set.toString(2).replaceAll("0", "").length;

/** How many recipients were reached, by channel type and in all, and why the others were not. */
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
