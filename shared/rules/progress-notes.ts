// What is noted of a recipient in the progress of its chunk: the channel by which it was reached, or why it was not.
import { countedReason } from "./reasons.ts";

/** What is known so far of the recipients of a chunk, by their places in it. */
export interface RecipientNotes {
  /** Recipients reached, by channel type, as bits. */
  reached: Record<string, bigint>;
  /** Why the others were not, so far. */
  why: Record<number, string>;
}

interface OfRecipient {
  recipient: number;
}

export function noteReached({ reached }: RecipientNotes, { recipient }: OfRecipient, channel: string): void {
  reached[channel] = (reached[channel] ?? 0n) | (1n << BigInt(recipient));
}

export function noteMailbox({ mailboxes }: { mailboxes: Record<string, number> }, mailbox: string | undefined): void {
  if (mailbox !== undefined) mailboxes[mailbox] = (mailboxes[mailbox] ?? 0) + 1;
}

/** Notes why an address was not reached. Of several reasons one counts for the recipient. */
export function noteReason({ why }: RecipientNotes, { recipient }: OfRecipient, reason: string): void {
  const before = why[recipient];
  why[recipient] = before === undefined ? reason : (countedReason([before, reason]) ?? reason);
}

/** Ends a chunk whose send was stopped: nobody who waits is tried any more. */
export function cancelRest(progress: RecipientNotes & { next: OfRecipient[] }): void {
  for (const unit of progress.next) noteReason(progress, unit, "canceled");
  progress.next = [];
}
