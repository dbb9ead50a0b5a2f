// What is noted of a recipient in the progress of its chunk: the channel by which it was reached, or why it was not.
import type { Progress, Unit } from "./progress.ts";
import { countedReason } from "./reasons.ts";

/** Counts the recipient of an address as reached. */
export function noteReached({ reached }: Progress, { recipient }: Unit, channel: string): void {
  reached[channel] = (reached[channel] ?? 0n) | (1n << BigInt(recipient));
}

/** Notes why an address was not reached. Of several reasons one counts for the recipient. */
export function noteReason({ why }: Progress, { recipient }: Unit, reason: string): void {
  const before = why[recipient];
  why[recipient] = before === undefined ? reason : (countedReason([before, reason]) ?? reason);
}

/** Ends a chunk whose send was stopped: nobody who waits is tried any more. */
export function cancelRest(progress: Progress): void {
  for (const unit of progress.next) noteReason(progress, unit, "canceled");
  progress.next = [];
}
