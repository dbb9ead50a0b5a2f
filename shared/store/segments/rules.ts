// Rules as the workspace reads them: a bare date is a day in its time zone (AMB-137).
import { mentionsTime } from "../../rules/bare-dates.ts";
import { compileRule, type Rule } from "../../rules/segment-evaluation.ts";
import type { StoreReader } from "../context.ts";

/** Where the days of bare dates in a rule or predicate begin; undefined, and nothing is read, where it has none. */
export const zoneFor = async (store: StoreReader, rule: unknown): Promise<string | undefined> =>
  mentionsTime(rule) ? store.zone() : undefined;

export const compiledRule = async (store: StoreReader, rule: unknown): Promise<Rule> =>
  compileRule(rule, await zoneFor(store, rule));
