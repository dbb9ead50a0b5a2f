// Notes about a recipient in the progress of its chunk: the channel by which it was reached, or why it was not.
import { countedReason, isLateSkip, UNCONFIRMED } from "./reasons.ts";

/** The notes about the recipients of a chunk, by their places in it. */
export interface RecipientNotes {
  /** Recipients reached, by channel type, as bits. */
  reached: Sets;
  /**
   * By channel type: recipients with an address on the channel that failed permanently; another address may still wait,
   * or be reached.
   */
  missed: Sets;
  /** Those in `missed` with an address whose provider did not answer. */
  unsure: Sets;
  /** Why the others were not reached, so far. */
  why: Record<number, string>;
}

type Sets = Record<string, bigint>;

interface OfRecipient {
  recipient: number;
}

export function include(sets: Sets, { recipient }: OfRecipient, channel: string): void {
  sets[channel] = (sets[channel] ?? 0n) | (1n << BigInt(recipient));
}

export const noteReached = ({ reached }: RecipientNotes, one: OfRecipient, channel: string): void =>
  include(reached, one, channel);

/** Notes why an address failed permanently, for its recipient and for its channel. */
export function noteFailed(notes: RecipientNotes, one: OfRecipient, channel: string, reason: string): void {
  noteReason(notes, one, reason);
  if (isLateSkip(reason)) return;
  include(notes.missed, one, channel);
  if (reason === UNCONFIRMED) include(notes.unsure, one, channel);
}

export function noteMailbox({ mailboxes }: { mailboxes: Record<string, number> }, mailbox: string | undefined): void {
  if (mailbox !== undefined) mailboxes[mailbox] = (mailboxes[mailbox] ?? 0) + 1;
}

/** Notes why an address was not reached. One of several reasons counts for the recipient. */
export function noteReason({ why }: RecipientNotes, { recipient }: OfRecipient, reason: string): void {
  const before = why[recipient];
  why[recipient] = before === undefined ? reason : (countedReason([before, reason]) ?? reason);
}

/** Ends a chunk whose send was stopped: waiting recipients are no longer tried. */
export function cancelRest(progress: RecipientNotes & { next: OfRecipient[] }): void {
  for (const unit of progress.next) noteReason(progress, unit, "canceled");
  progress.next = [];
}
