// The outcome of a recipient's messages before anything is sent (F8): sent now, deferred, or skipped.
import { classesOf } from "./arbitration.ts";
import { disturbs } from "./quiet-hours.ts";
import type { Target } from "./reach.ts";
import { countedReason, type LateSkip } from "./reasons.ts";

interface Circumstances {
  /** A smart send tries the classes one after the other. */
  isSmart: boolean;
  /** The end of the quiet hours that the recipient is in; undefined outside quiet hours. */
  quietUntil: number | undefined;
  /** Why a channel may not send, if it may not. */
  refusal(target: Target): LateSkip | undefined;
  /** The same at the end of the quiet hours. Default: no refusal is known. */
  laterRefusal?: ((target: Target) => LateSkip | undefined) | undefined;
}

/** Addresses by their outcome; `reason` if none of them gets a message. */
export interface ExpectedOutcome {
  now: Target[];
  later: Target[];
  reason?: LateSkip;
}

/** The expected outcome of a recipient's messages now: which are sent, which wait, and why none is. */
export function expectedOutcome(
  targets: readonly Target[],
  { isSmart, quietUntil, refusal, laterRefusal = () => undefined }: Circumstances,
): ExpectedOutcome {
  const reasons: LateSkip[] = [];
  const open = (candidates: readonly Target[], refusalOf: Circumstances["refusal"]) =>
    candidates.filter((target) => {
      const reason = refusalOf(target);
      if (reason) reasons.push(reason);
      return reason === undefined;
    });
  for (const group of isSmart ? classesOf(targets) : [targets]) {
    const waiting = group.filter(({ channel }) => quietUntil !== undefined && disturbs(channel));
    const asked = group.filter((target) => !waiting.includes(target));
    const now = open(asked, refusal);
    const later = open(waiting, laterRefusal);
    if (now.length > 0 || later.length > 0) return { now, later };
  }
  const reason = countedReason(reasons);
  return { now: [], later: [], ...(reason && { reason }) };
}
