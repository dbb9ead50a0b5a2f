// What became of a mail after its provider took it: noted in its row of the ledger, and heeded (D-EMAIL).
import type { MailEvent } from "../../mail-events.ts";
import type { Store } from "../../resources.ts";
import { oneOf } from "../conditions.ts";
import type { Change } from "../expressions.ts";
import { keys } from "../keys.ts";
import { onConditionFailed } from "../refusals.ts";
import { suppress } from "../subscribers/mail-consents.ts";
import { getSubscriber, isLiving } from "../subscribers/subscribers.ts";
import { touchKey } from "./touches.ts";

type Noted = Pick<MailEvent, "job" | "subscriber" | "at" | "fate" | "reason">;

/** States of a row that an event may change, and how; a complaint is about the person, not about the row. */
const changes: Partial<Record<MailEvent["fate"], { from: string[]; change(reason: string): Change }>> = {
  delivered: { from: ["unknown"], change: () => ({ set: { state: "sent" }, remove: ["reason"] }) },
  bounced: { from: ["sent", "unknown"], change: (reason) => ({ set: { state: "bounced", reason } }) },
  deferred: { from: ["sent", "unknown"], change: (reason) => ({ set: { bounce: reason } }) },
};

/** @returns false where the row is not there yet: the event came before the sender had noted what it sent. */
export async function noteFate(store: Store, { job, subscriber, at, fate, reason }: Noted): Promise<boolean> {
  const found = changes[fate];
  if (!found) return true;
  const key = touchKey(store.tenant, subscriber, at, job, { channel: "email" });
  const isNoted = await store.update(key, found.change(reason), oneOf("state", found.from)).then(
    () => true,
    onConditionFailed(() => false),
  );
  if (isNoted) return true;
  const [row, profile] = await store.getAll([key, keys.subscriber(store.tenant, subscriber)]);
  const isGone = !(profile && isLiving(profile));
  return isGone || (row !== undefined && row.state !== "retryable");
}

/** Suppresses whoever still has the address that bounced for good or complained. Told again, it changes nothing. */
export async function applyFate(
  store: Store,
  { subscriber, fate, emails }: Pick<MailEvent, "subscriber" | "fate" | "emails">,
): Promise<void> {
  if (fate !== "bounced" && fate !== "complained") return;
  const email = (await getSubscriber(store, subscriber))?.email;
  if (email === undefined || !emails.some((one) => one.toLowerCase() === email.toLowerCase())) return;
  await suppress(store, subscriber, { email, source: fate === "bounced" ? "bounce" : "complaint" });
}
