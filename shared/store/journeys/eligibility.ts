// Whether a person meets the entry rules of a journey, now and at the time of a trigger (JND-11).
import { unmetText } from "../../rules/clause-words.ts";
import { parseDuration } from "../../rules/durations.ts";
import type { EntryRules } from "../../rules/journey-graph.ts";
import { isRule, type Reason } from "../../rules/segment-evaluation.ts";
import { withTriggerValues } from "../../rules/trigger-values.ts";
import type { StoreReader } from "../context.ts";
import { actorsOf } from "../events/actors.ts";
import { readHistory, readSubscriberFacts } from "../segments/facts.ts";
import { compiledRule } from "../segments/rules.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { attributesForRules, type LivingProfile } from "../subscribers/subscribers.ts";
import type { Journey } from "./journeys.ts";
import { type Entry, type Outcome, outcomeOf, type PersonalCause } from "./triggers-of-person.ts";

/** A person's entries into a journey. */
interface KnownEntries extends Pick<Entry, "runs" | "beyondQuota" | "now"> {
  /** By journey. */
  times: ReadonlyMap<string, Entry["times"]>;
}

/** The facts about one person's entries into a journey, and the outcome of each trigger. */
export async function entriesOf(store: StoreReader, journey: Journey, profile: LivingProfile, known: KnownEntries) {
  const rules = journey.entry_rules as EntryRules | null;
  const eligibility = await eligibilityOf(store, rules, profile);
  const entry: Entry = {
    ...known,
    journey,
    times: known.times.get(journey.id) ?? [],
    isEligible: eligibility.matches,
    changedAt: Date.parse(profile.updated_at),
    reentryAfter: rules?.allow_reentry ? (parseDuration(rules.reentry_window ?? "") ?? 0) : undefined,
  };
  return {
    ...eligibility,
    entry,
    outcomeOf: (cause: PersonalCause) => outcomeThen(store, { entry, rules, profile }, cause),
  };
}

/** Whether a person meets the entry rules, clause by clause. */
async function eligibilityOf(
  store: StoreReader,
  rules: EntryRules | null,
  profile: LivingProfile,
): Promise<{ matches: boolean; clauses: Reason[]; unmet?: string | undefined }> {
  if (!rules?.eligibility) return { matches: true, clauses: [] };
  const rule = await compiledRule(store, withTriggerValues(rules.eligibility, {}));
  const { times } = await readSubscriberFacts(store, profile.id, rule.events);
  const facts = { attributes: attributesForRules(profile), times, now: store.clock.now() };
  const clauses = rule.explain(facts);
  return { matches: rule.judge(facts).matches, clauses, unmet: unmetText(rule.root, clauses) };
}

interface JudgedEntry {
  entry: Entry;
  rules: EntryRules | null;
  profile: LivingProfile;
}

/**
 * The outcome of a trigger. Entry rules count events up to it: a person who meets them only since then did not enter,
 * and does not wait for a worker.
 */
async function outcomeThen(
  store: StoreReader,
  { entry, rules, profile }: JudgedEntry,
  cause: PersonalCause,
): Promise<Outcome> {
  const found = outcomeOf(entry, cause);
  if (found.outcome !== "not_handled" || !rules?.eligibility) return found;

  const at = Math.min(Date.parse(cause.occurred_at), Date.parse(cause.at));
  const eligibility = withTriggerValues(rules.eligibility, cause.event?.properties ?? {});
  if (isRule(eligibility)) {
    const rule = await compiledRule(store, eligibility);
    const actors = actorsOf(profile.id, await aliasesOf(store, profile.id));
    const { times } = await readHistory(store, actors, rule.events, at);
    if (rule.judge({ attributes: attributesForRules(profile), times, now: at }).matches) return found;
  }
  return { outcome: "not_eligible", isOfToday: true };
}
