// Why somebody is in a segment or not (F2): the membership as it is, and each clause of the rule as it stands now.
import type { StoreReader } from "../../resources.ts";
import { compileRule, type Reason } from "../../rules/segment-evaluation.ts";
import { keys } from "../keys.ts";
import { attributesForRules, isLiving } from "../subscribers/subscribers.ts";
import { readHistory, readSubscriberFacts } from "./facts.ts";

/** @returns undefined if there is no such segment or no such subscriber. */
export async function explainMembership(
  store: StoreReader,
  segment: string,
  subscriber: string,
): Promise<{ member: boolean; reasons: Reason[] } | undefined> {
  const [item, profile] = await store.getAll([
    keys.entity(store.tenant, "segment", segment),
    keys.subscriber(store.tenant, subscriber),
  ]);
  if (!item || !profile || !isLiving(profile)) return undefined;
  const rule = compileRule(JSON.parse(String(item.rule)));
  const subscriberFacts = await readSubscriberFacts(store, subscriber);
  const { times } = await readHistory(store, subscriberFacts.actors, rule.events);
  const facts = { attributes: attributesForRules(profile), times, now: store.clock.now() };
  return { member: subscriberFacts.memberOf.has(segment), reasons: rule.explain(facts) };
}
