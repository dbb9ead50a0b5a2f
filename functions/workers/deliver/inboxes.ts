// The in-app messages of a group: written before the group is claimed, or with it where they count against caps.
import { prepareInApp } from "../../../shared/providers/in-app.ts";
import { rejected } from "../../../shared/providers/provider.ts";
import type { SendOutcome, Unit } from "../../../shared/rules/progress.ts";
import { ref } from "../../../shared/store/item.ts";
import type { Recipient } from "../../../shared/store/sends/chunks/recipients.ts";
import { messagesSince } from "../../../shared/store/sends/inbox/inbox.ts";
import { Message } from "../../../shared/store/sends/inbox/inbox-items.ts";
import { messageId } from "../../../shared/store/sends/inbox/inbox-writes.ts";
import { CLOCK_TOLERANCE_MS, type RoundTimes } from "../../../shared/store/sends/ledger/touches.ts";
import { confirmGate } from "./send-gates.ts";
import { recipientOf, type Work } from "./work.ts";

/** The outcome of the inbox message of a unit. */
export type Inbox = (subscriber: string, unit: Unit) => Promise<SendOutcome>;

const notWritten: Inbox = async () => ({ kind: "retryable", reason: "inbox_unavailable" });

const inboxOf =
  (delivered: ReadonlySet<string>): Inbox =>
  async (subscriber) =>
    delivered.has(subscriber) ? { kind: "accepted" } : rejected("template_error");

/** The messages of a group that are written before it is claimed. */
interface InboxWrites {
  inbox: Inbox;
  write(): Promise<void>;
}

/** Prepares the messages of these recipients: a repeat writes the same rows. */
export async function prepareInbox(
  { store, job, chunkRef, chunk: { plannedAt } }: Work,
  round: RoundTimes,
  recipients: readonly Recipient[],
): Promise<InboxWrites> {
  if (recipients.length === 0) return { inbox: inboxOf(new Set()), write: async () => undefined };
  const times = { ...round, repeats: true };
  const { delivered, write } = await prepareInApp(store, job, chunkRef, times, { recipients, plannedAt });
  return { inbox: inboxOf(delivered), write };
}

/**
 * The units whose message was written by a worker that stopped before it claimed the group. A later choice does not
 * apply to them.
 */
export async function reachedBefore(
  { store, job, chunkRef, chunk }: Work,
  { at }: RoundTimes,
  units: readonly Unit[],
): Promise<ReadonlySet<Unit>> {
  // Where caps count, messages are written after the claim.
  if (job.deliverySettings?.caps || units.length === 0) return new Set();
  const found = await store.getEach(
    units.map((unit) => {
      const { subscriber } = recipientOf(chunk, unit);
      return ref(Message, { subscriber, message: messageId(at, chunkRef.job, subscriber) });
    }),
  );
  return new Set(units.filter((_, i) => found[i] !== undefined));
}

/** Writes messages when they are sent. The messages of a group, sent at the same moment, are written together. */
export function deferredInbox(work: Work, times: RoundTimes): InboxWrites {
  const sent = new Map<string, Unit>();
  let written: Promise<Inbox> | undefined;
  const write = async () => {
    // Each recipient of a claimed group must have an outcome.
    const writeNow = async () => {
      const reached = await reachedInEarlierRound(work, times, sent);
      const recipients = work.chunk.recipients.filter(({ subscriber: id }) => sent.has(id) && !reached.has(id));
      const { inbox, write: writeRows } = await prepareInbox(work, times, recipients);
      // The send may have been stopped while the rows were read. The messages are tried again when it goes on.
      const sendState = await confirmGate(work);
      if (sendState !== "open") return notWritten;
      await writeRows();
      const outcome: Inbox = async (id, unit) => (reached.has(id) ? { kind: "accepted" } : inbox(id, unit));
      return outcome;
    };
    return writeNow().catch(() => notWritten);
  };
  const inbox: Inbox = async (subscriber, unit) => {
    sent.set(subscriber, unit);
    written ??= Promise.resolve().then(write);
    return (await written)(subscriber, unit);
  };
  return { inbox, write: async () => undefined };
}

/** The units of a repeated round whose message exists: the failed write was carried out for some or all of its rows. */
export async function reachedInEarlierRound(
  { store, job }: Work,
  { assignedAt }: RoundTimes,
  sent: ReadonlyMap<string, Unit>,
): Promise<ReadonlySet<string>> {
  const repeated = [...sent].filter(([, { tries }]) => tries.length > 0).map(([subscriber]) => subscriber);
  const found = await Promise.all(
    repeated.map(async (subscriber) => {
      const rows = await messagesSince(store, subscriber, assignedAt - CLOCK_TOLERANCE_MS);
      return rows.some((row) => row.job === job.id) ? [subscriber] : [];
    }),
  );
  return new Set(found.flat());
}
