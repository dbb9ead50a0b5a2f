// What became of a mail after its provider accepted it: recorded in its row of the ledger, and dead or unwilling
// addresses are suppressed (D-EMAIL).
import type { MailEvent } from "../../../contract/mail-events.ts";
import { normalizedAddress } from "../../../rules/addresses.ts";
import { absent, all, is, oneOf } from "../../conditions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { type ChangeOf, type ConditionOf, changeItem, type RowOf } from "../../item.ts";
import { followOne, stepSendOf } from "../../journeys/late-outcomes.ts";
import { oldRow, onConditionFailed, onTransactionCanceled } from "../../refusals.ts";
import { suppressAddress } from "../../subscribers/addresses.ts";
import { Profile } from "../../subscribers/items.ts";
import { getSubscriber, isLiving } from "../../subscribers/subscribers.ts";
import { messagesSince } from "../inbox/inbox.ts";
import { isOfJourney, isTestId } from "../jobs/job-ids.ts";
import { findJob } from "../jobs/jobs.ts";
import { lateWrites } from "../jobs/late.ts";
import { TouchItem } from "./ledger-items.ts";
import { CLOCK_TOLERANCE_MS, touchesSince, touchKey } from "./touches.ts";

interface FateChange {
  when: ConditionOf<typeof TouchItem>;
  change(reason: string): ChangeOf<typeof TouchItem>;
  /** It is counted by the day, for the health of the channel (RDA-15), and for the brake of the send (F21). */
  counted?: "bounced" | "complained";
}

const sent = oneOf("state", ["sent", "unknown"]);

/** The rows that an event may change, and how. A complaint changes no state: it is about the subscriber. */
const changes: Partial<Record<MailEvent["fate"], FateChange>> = {
  delivered: { when: is("state", "unknown"), change: () => ({ set: { state: "sent" }, remove: ["reason"] }) },
  bounced: {
    when: sent,
    change: (reason) => ({ set: { state: "bounced", reason, react: "fate" } }),
    counted: "bounced",
  },
  deferred: { when: sent, change: (reason) => ({ set: { bounce: reason } }) },
  complained: {
    when: all(sent, absent("complained")),
    change: () => ({ set: { complained: true, react: "fate" } }),
    counted: "complained",
  },
};

type OfMail = Pick<MailEvent, "job" | "subscriber" | "at">;

const rowKey = ({ job, subscriber, at }: OfMail) => touchKey(subscriber, at, job, { channel: "email" });

/**
 * Of mails that were delivered, those whose rows do not say so: nearly all do. One request reads a hundred rows, and
 * nothing is written.
 */
export async function unconfirmed<E extends OfMail>(store: StoreReader, events: readonly E[]): Promise<E[]> {
  const own = events.filter(({ job }) => !isTestId(job));
  const rows = await store.getAll(TouchItem, own.map(rowKey));
  return own.filter((_, i) => {
    const state = rows[i]?.state;
    return state === undefined || state === "retryable" || state === "unknown";
  });
}

/** A test send has no row. @returns false if the row is missing: the event came before the sender had written it. */
export async function recordFate(
  store: Store,
  { job, subscriber, at, fate, reason }: Pick<MailEvent, "job" | "subscriber" | "at" | "fate" | "reason">,
): Promise<boolean> {
  const isRecorded = await recordInLedger(store, { job, subscriber, at, fate, reason });
  if (fate === "bounced" && isOfJourney(job)) {
    const send = await findJob(store, job);
    const step = send && stepSendOf(send);
    if (step && !(await isReached(store, { job, subscriber, at }))) await followOne(store, step, subscriber, "bounced");
  }
  return isRecorded;
}

/** Whether another channel reached the recipient of a mail. */
async function isReached(store: StoreReader, { job, subscriber, at }: OfMail): Promise<boolean> {
  const [touches, messages] = await Promise.all([
    touchesSince(store, subscriber, at - CLOCK_TOLERANCE_MS),
    messagesSince(store, subscriber, at - CLOCK_TOLERANCE_MS),
  ]);
  const isOther = (row: RowOf<typeof TouchItem>) => row.job === job && row.channel !== "email" && row.state === "sent";
  return touches.some(isOther) || messages.some((row) => row.job === job);
}

async function recordInLedger(
  store: Store,
  { job, subscriber, at, fate, reason }: Pick<MailEvent, "job" | "subscriber" | "at" | "fate" | "reason">,
): Promise<boolean> {
  const transition = changes[fate];
  if (!transition || isTestId(job)) return true;
  const key = rowKey({ job, subscriber, at });
  const change = transition.change(reason);
  let isRefused = false;
  let row: RowOf<typeof TouchItem> | undefined;
  // The failed condition returns the row. A later read could find a row that was written after the condition failed.
  const refuse = (old: typeof row) => {
    isRefused = true;
    row = old;
  };
  const isLost = fate === "bounced" && !(await isReached(store, { job, subscriber, at }));
  if (transition.counted)
    await store
      .transact([
        changeItem(TouchItem, key, change, transition.when),
        ...(await lateWrites(store, job, subscriber, { kind: transition.counted, at, isLost })),
      ])
      .catch(onTransactionCanceled(([touch]) => refuse(oldRow(TouchItem, touch))));
  else await store.change(TouchItem, key, change, transition.when).catch(onConditionFailed(TouchItem, refuse));
  if (!isRefused || (row !== undefined && row.state !== "retryable")) return true;
  const profile = await store.get(Profile, { id: subscriber });
  return !profile || !isLiving(profile);
}

/**
 * Suppresses the addresses that bounced permanently or complained, whoever has them now. Nothing is stored of a
 * subscriber that was erased. A repeat changes nothing.
 */
export async function applyFate(
  store: Store,
  { subscriber, fate, emails }: Pick<MailEvent, "subscriber" | "fate" | "emails">,
): Promise<void> {
  if (fate !== "bounced" && fate !== "complained") return;
  if (!(await getSubscriber(store, subscriber))) return;
  const reason = fate === "bounced" ? "bounce" : "complaint";
  for (const address of new Set(emails.map((email) => normalizedAddress("email", email))))
    if (address !== undefined) await suppressAddress(store, { kind: "email", address, reason, source: "provider" });
}
