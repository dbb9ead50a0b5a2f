// What became of a mail after its provider accepted it: recorded in its row of the ledger, and dead or unwilling
// addresses are suppressed (D-EMAIL).
import type { MailEvent } from "../../mail-events.ts";
import type { Store } from "../../resources.ts";
import type { LedgerState } from "../../rules/progress.ts";
import { oneOf } from "../conditions.ts";
import { type ChangeOf, ref } from "../item.ts";
import { onConditionFailed } from "../refusals.ts";
import { Profile } from "../subscribers/items.ts";
import { suppress } from "../subscribers/mail-consents.ts";
import { getSubscriber, isLiving } from "../subscribers/subscribers.ts";
import { TouchItem } from "./ledger-items.ts";
import { touchKey } from "./touches.ts";

interface FateChange {
  from: readonly LedgerState[];
  change(reason: string): ChangeOf<typeof TouchItem>;
}

/** The states that an event may change, and how. A complaint changes none: it is about the subscriber. */
const changes: Partial<Record<MailEvent["fate"], FateChange>> = {
  delivered: { from: ["unknown"], change: () => ({ set: { state: "sent" }, remove: ["reason"] }) },
  bounced: { from: ["sent", "unknown"], change: (reason) => ({ set: { state: "bounced", reason } }) },
  deferred: { from: ["sent", "unknown"], change: (reason) => ({ set: { bounce: reason } }) },
};

/** @returns false if the row is missing: the event came before the sender had written it. */
export async function recordFate(
  store: Store,
  { job, subscriber, at, fate, reason }: Pick<MailEvent, "job" | "subscriber" | "at" | "fate" | "reason">,
): Promise<boolean> {
  const transition = changes[fate];
  if (!transition) return true;
  const key = touchKey(subscriber, at, job, { channel: "email" });
  const isRecorded = await store
    .change(TouchItem, key, transition.change(reason), oneOf("state", transition.from))
    .then(
      () => true,
      onConditionFailed(() => false),
    );
  if (isRecorded) return true;
  const [row, profile] = await store.getEach([ref(TouchItem, key), ref(Profile, { id: subscriber })]);
  const isErased = !profile || !isLiving(profile);
  return isErased || (row !== undefined && row.state !== "retryable");
}

/** Suppresses a subscriber whose present address bounced permanently or complained. A repeat changes nothing. */
export async function applyFate(
  store: Store,
  { subscriber, fate, emails }: Pick<MailEvent, "subscriber" | "fate" | "emails">,
): Promise<void> {
  if (fate !== "bounced" && fate !== "complained") return;
  const email = (await getSubscriber(store, subscriber))?.email;
  if (email === undefined || !emails.some((one) => one.toLowerCase() === email.toLowerCase())) return;
  await suppress(store, subscriber, { email, source: fate === "bounced" ? "bounce" : "complaint" });
}
