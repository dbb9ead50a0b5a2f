// The messages to a subscriber before an event: the touches that it may count for (D-ATTRIB).
import { timeOfUuid } from "../../kernel/ids.ts";
import type { Touch } from "../../rules/attribution.ts";
import { progressOf } from "../../rules/progress-text.ts";
import type { StoreReader } from "../context.ts";
import { findClaims } from "../sends/chunks/claims.ts";
import { messageIdOf, messagesSince } from "../sends/inbox/inbox.ts";
import { MESSAGE_KEPT_MS } from "../sends/inbox/inbox-items.ts";
import { isTestId } from "../sends/jobs/job-ids.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";
import { type ChunkRef, chunkRefOf, touchesSince } from "../sends/ledger/touches.ts";

/** The touches of all sends that a subscriber was assigned in, from one time to another, and those without an outcome. */
export async function touchesOf(
  store: StoreReader,
  subscriber: string,
  from: number,
  to: number,
): Promise<{ touches: Touch[]; open: ChunkRef[] }> {
  const [rows, messages] = await Promise.all([
    touchesSince(store, subscriber, from),
    messagesSince(store, subscriber, from),
  ]);
  const sent = rows.map(({ sk, job, state, channel, assigned_at }): Touch => {
    const [, at = ""] = sk.split("#");
    return {
      job,
      at: Date.parse(at),
      assignedAt: assigned_at,
      group: state === "held_out" ? "held_out" : "treated",
      isDelivered: state === "sent",
      channel,
    };
  });
  const shown = messages
    .filter((row) => !isTestId(row.job) && isKept(store, timeOfUuid(messageIdOf(row))))
    .map(
      (row): Touch => ({
        job: row.job,
        at: timeOfUuid(messageIdOf(row)),
        assignedAt: row.assigned_at,
        group: "treated",
        isDelivered: true,
        channel: "in_app",
      }),
    );
  const open = rows.filter(({ state }) => state === "assigned" || state === "retryable").map(chunkRefOf);
  return { touches: [...sent, ...shown].filter(({ at }) => at >= from && at <= to), open };
}

/** Whether one of these chunks is in a round that began before a time: its outcomes may still be earlier touches. */
export async function isBeingDelivered(
  store: StoreReader,
  chunkRefs: readonly ChunkRef[],
  time: number,
): Promise<boolean> {
  const distinct = new Map(chunkRefs.map((chunkRef) => [JSON.stringify(chunkRef), chunkRef]));
  const claims = await findClaims(store, [...distinct.values()]);
  return claims.some(
    (claim) => claim && !claim.closed && (progressOf(claim.progress).at ?? Number.POSITIVE_INFINITY) <= time,
  );
}

/** A message of an inbox is a touch as long as its row is kept, whenever the table removes it. */
const isKept = ({ clock }: Pick<StoreReader, "clock">, at: number): boolean => clock.now() - at < MESSAGE_KEPT_MS;

/**
 * Whether a send still has the touches of all recipients: after that time, a send to inboxes has more of the control
 * group.
 */
export function isCompared(store: Pick<StoreReader, "clock">, job: JobRecord | undefined): boolean {
  const isToInboxes = job?.deliverySettings?.via.some(({ type }) => type === "in_app") === true;
  return !isToInboxes || isKept(store, Date.parse(job.dispatched_at ?? job.created_at));
}
