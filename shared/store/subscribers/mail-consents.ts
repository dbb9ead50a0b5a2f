// What mails bring about consent: a click that unsubscribes, a mailbox that is dead, a complaint. Told again, nothing.
import { timestamp } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { absent, all, any, type Condition, is, oneOf, present } from "../conditions.ts";
import { keys } from "../keys.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { type ConsentAssertion, consentRow, foldedConsent } from "./consents.ts";

const STATUS = "c:email";

/**
 * No marketing mail from now on, whatever was agreed. A suppressed address stays suppressed: that is the stronger one.
 * Nothing changes for somebody who is out already, or is not there any more.
 */
export const unsubscribe = (store: Store, subscriber: string): Promise<void> =>
  assertNow(store, subscriber, { status: "opted_out", source: "unsubscribe" }, [statusIs("opted_in", "unknown")]);

/** D-CONSENT: no mail at all to an address that bounces for good, or whose owner complained. Another address is free. */
export const suppress = (
  store: Store,
  subscriber: string,
  { email, source }: { email: string; source: "bounce" | "complaint" },
): Promise<void> =>
  assertNow(store, subscriber, { status: "suppressed", source }, [
    statusIs("opted_in", "opted_out", "unknown"),
    is("email", email),
  ]);

const statusIs = (...statuses: string[]): Condition => any(absent(STATUS), oneOf(STATUS, statuses));

async function assertNow(
  store: Store,
  subscriber: string,
  { status, source }: Pick<ConsentAssertion, "status" | "source">,
  conditions: readonly Condition[],
): Promise<void> {
  const now = store.clock.now();
  const consent: ConsentAssertion = { channel: "email", status, consented_at: timestamp(now), source };
  const folding = {
    update: keys.subscriber(store.tenant, subscriber),
    change: { set: foldedConsent(consent) },
    when: all(present("external_id"), absent("erased_at"), ...conditions),
  };
  const row = { put: consentRow(store, subscriber, store.ids.uuidAt(now), consent), when: absent() };
  await store.transact([folding, row]).catch(onTransactionCanceled(() => undefined));
}
