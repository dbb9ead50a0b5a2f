// Consents that follow from mails: an unsubscribe link, a dead mailbox, a complaint. A repeat changes nothing.
import { timestamp } from "../../kernel/clock.ts";
import { absent, all, any, is, oneOf } from "../conditions.ts";
import type { Store } from "../context.ts";
import { type AttributeOf, type ConditionOf, changeItem, type ItemWrite } from "../item.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { type ConsentAssertion, consentWrite, foldedConsent } from "./consents.ts";
import { isAlive, Profile } from "./items.ts";

type Condition = ConditionOf<typeof Profile>;
type Assertion = Pick<ConsentAssertion, "status" | "source">;

/**
 * No marketing mail from now on. A suppressed address stays suppressed, which is the stricter status. Nothing changes
 * for a subscriber who has opted out already or was erased. `counted` is written with the change, once.
 */
export const unsubscribe = (
  store: Store,
  subscriber: string,
  counted: readonly ItemWrite<"workspace">[] = [],
): Promise<void> =>
  assertNow(
    store,
    subscriber,
    { status: "opted_out", source: "unsubscribe" },
    [statusIs("opted_in", "unknown")],
    counted,
  );

/**
 * D-CONSENT: no mail at all to an address that bounces permanently, that the provider rejects as dead, or whose owner
 * complained. Another address of the subscriber is not affected.
 */
export const suppress = (
  store: Store,
  subscriber: string,
  { email, source }: { email: string; source: "bounce" | "complaint" | "provider" },
): Promise<void> => {
  const conditions = [statusIs("opted_in", "opted_out", "unknown"), is("email", email)];
  return assertNow(store, subscriber, { status: "suppressed", source }, conditions);
};

const statusIs = (...statuses: string[]): Condition => any(absent("c:email"), oneOf("c:email", statuses));

async function assertNow(
  store: Store,
  subscriber: string,
  { status, source }: Assertion,
  conditions: readonly Condition[],
  counted: readonly ItemWrite<"workspace">[] = [],
): Promise<void> {
  const now = store.clock.now();
  const consent: ConsentAssertion = { channel: "email", status, consented_at: timestamp(now), source };
  const isAllowed = all<AttributeOf<typeof Profile>>(isAlive(), ...conditions);
  await store
    .transact([
      changeItem(Profile, { id: subscriber }, { set: foldedConsent(consent) }, isAllowed),
      consentWrite(store, subscriber, store.ids.uuidAt(now), consent, absent()),
      ...counted,
    ])
    .catch(onTransactionCanceled(() => undefined));
}
