// Why a subscriber is in a segment or not (F2): the membership as stored, and each clause of the rule as of now.
import * as v from "valibot";
import { grammar } from "../../contract/grammar.ts";
import { unmetText } from "../../rules/clause-words.ts";
import type { Reason } from "../../rules/segment-evaluation.ts";
import type { StoreReader } from "../context.ts";
import { ref } from "../item.ts";
import { fromJson } from "../json-text.ts";
import { enteredLeaf } from "../lists/leaves.ts";
import { Profile } from "../subscribers/items.ts";
import { attributesForRules, isLiving } from "../subscribers/subscribers.ts";
import { readSubscriberFacts } from "./facts.ts";
import { SegmentItem, type SegmentRow } from "./items.ts";
import { compiledRule } from "./rules.ts";

/** The result of one clause of a rule, as the API shows it. */
export const ClauseResult = v.object({
  path: v.string(),
  matched: v.boolean(),
  expected: v.pipe(v.record(v.string(), v.any()), grammar("Expectation")),
  actual: v.optional(v.any()),
});

/**
 * Explains a membership. @returns `unmet`: the unmet part of the rule in words; undefined if there is no such segment
 * or subscriber
 */
export async function explainMembership(
  store: StoreReader,
  segment: string,
  subscriber: string,
): Promise<{ member: boolean; reasons: Reason[]; segment: SegmentRow; unmet: string | undefined } | undefined> {
  const [row, profile] = await store.getEach([ref(SegmentItem, { id: segment }), ref(Profile, { id: subscriber })]);
  if (!row || !profile || !isLiving(profile)) return undefined;
  const rule = await compiledRule(store, fromJson(row.rule));
  const [{ memberOf, times }, enteredAt] = await Promise.all([
    readSubscriberFacts(store, subscriber, rule.events),
    row.is_dynamic ? undefined : enteredLeaf(store, segment, subscriber),
  ]);
  const facts = { attributes: attributesForRules(profile), times, now: store.clock.now() };
  const reasons = rule.explain(facts);
  const member = memberOf.has(segment) || enteredAt !== undefined;
  return { member, reasons, segment: row, unmet: unmetText(rule.root, reasons) };
}
