// What a provider throttles, and what would go to it next, waits for a later round: it was no attempt (AMB-111).
import { SECOND } from "../../../shared/kernel/clock.ts";
import { type Progress, putOff, type SendOutcome, type Unit } from "../../../shared/rules/progress.ts";
import { targetOf } from "./addresses.ts";
import type { Prepared } from "./prepare.ts";
import type { Work } from "./rounds.ts";

/** What goes by a channel that was throttled waits with the message that waits longest (AMB-111). */
export function holdBack(
  { found, addressees, clock }: Work,
  progress: Progress,
  sent: readonly { message: Prepared; outcome: SendOutcome }[],
): void {
  const channels = new Set(sent.filter(({ outcome }) => isThrottle(outcome)).map(({ message }) => message.channel));
  if (channels.size === 0) return;
  const isBehind = (unit: Unit) => channels.has(targetOf(found.chunk, unit).channel);
  const waits = progress.next.filter((unit) => isBehind(unit) && unit.throttledSince !== undefined);
  const now = clock.now();
  const due = Math.max(now + SECOND, ...waits.map((unit) => unit.due));
  putOff(progress, addressees, (unit) => {
    const { quiet, throttledSince = now } = unit;
    return isBehind(unit) ? { due, quiet, throttledSince } : undefined;
  });
}

export const isThrottle = (outcome: SendOutcome): boolean =>
  outcome.status === "retryable" && outcome.isThrottled === true;
