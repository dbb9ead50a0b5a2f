// One person in one journey (AMB-147): what would have started a run and what came of it, its runs, and what would
// happen if it were triggered now.
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import { DAY, timestamp } from "../../kernel/clock.ts";
import { parseDuration } from "../../rules/durations.ts";
import { type RefusalReason, refusalReasons } from "../../rules/entry-refusals.ts";
import type { EntryRules } from "../../rules/journey-graph.ts";
import { isTooOld } from "../../rules/journey-paths.ts";
import { withTriggerValues } from "../../rules/journey-run.ts";
import type { Reason } from "../../rules/segment-evaluation.ts";
import { journeyInWords } from "../../rules/why-words.ts";
import type { StoreReader } from "../context.ts";
import type { StoredEvent } from "../events/events.ts";
import { eventsOf } from "../events/history.ts";
import { listAnnotations } from "../insights/annotations.ts";
import { ClauseResult } from "../segments/explain.ts";
import { readSubscriberFacts } from "../segments/facts.ts";
import { compiledRule } from "../segments/rules.ts";
import { attributesForRules, type LivingProfile } from "../subscribers/subscribers.ts";
import type { Journey } from "./journeys.ts";
import { listRuns } from "./run-list.ts";
import { Run, type RunState } from "./runs.ts";

const LOOK_BACK_MS = 90 * DAY;
const MAX_TRIGGERS = 100;
const MAX_RUNS = 100;

const refusal = v.picklist(refusalReasons);

export const JourneyOfPerson = v.pipe(
  v.object({
    journey_id: v.string(),
    subscriber_id: v.string(),
    in_words: v.pipe(v.string(), v.description("The answer in a few sentences")),
    triggers: v.pipe(
      v.array(
        v.object({
          at: v.pipe(Timestamp, v.description("When it was received")),
          event_id: v.string(),
          event_name: v.string(),
          occurred_at: Timestamp,
          outcome: v.pipe(
            v.picklist(["entered", ...refusalReasons, "not_active"]),
            v.description("`entered`, or why not. `not_active`: the journey was not active yet, or is archived"),
          ),
          run_id: v.pipe(v.nullable(v.string()), v.description("The run that it started, or that stood in the way")),
        }),
      ),
      v.description(`Events of the last 90 days that could start a run, newest first, at most ${MAX_TRIGGERS}`),
    ),
    runs: v.pipe(v.array(Run), v.description(`Newest first, at most ${MAX_RUNS}`)),
    now: v.pipe(
      v.object({
        would_enter: v.pipe(v.boolean(), v.description("Whether a trigger would start a run now")),
        reason: v.pipe(v.nullable(v.union([refusal, v.literal("not_active")])), v.description("Why not")),
        clauses: v.pipe(v.array(ClauseResult), v.description("The rules of entry, clause by clause, as of now")),
      }),
      v.description("What a trigger would do now"),
    ),
    assumes: v.pipe(
      v.array(v.string()),
      v.description("Where something of today stands in for what was then: said in words, empty if nothing does"),
    ),
  }),
  v.title("JourneyOfPerson"),
);
export type JourneyOfPerson = v.InferOutput<typeof JourneyOfPerson>;

export async function journeyOfPerson(
  store: StoreReader,
  journey: Journey,
  profile: LivingProfile,
): Promise<JourneyOfPerson> {
  const now = store.clock.now();
  const { event_name, type } = journey.trigger;
  const from = timestamp(now - LOOK_BACK_MS);
  const [events, { runs }, times] = await Promise.all([
    type === "event" && event_name ? eventsOf(store, profile.id, { event_name, from, limit: MAX_TRIGGERS }) : [],
    listRuns(store, { journey: journey.id, subscriber: profile.id, after: undefined, limit: MAX_RUNS }),
    activeTimes(store, journey, from),
  ]);
  const rules = journey.entry_rules as EntryRules | null;
  const reentryAfter = rules?.allow_reentry ? (parseDuration(rules.reentry_window ?? "") ?? 0) : undefined;
  const entry: Entry = { journey, runs, reentryAfter, times };
  const judged = events.toReversed().map((event) => ({ event, ...outcomeOf(entry, event) }));
  const { matches, clauses } = await eligibilityOf(store, rules, profile);
  const closed = journey.status === "active" ? undefined : journey.status === "paused" ? "paused" : "not_active";
  const standing = closed ?? standingAt(entry, now)?.reason ?? (matches ? null : "not_eligible");
  const usesToday = judged.some(({ isOfToday }) => isOfToday);
  const triggers = judged.map(({ event, outcome, run }) => ({
    at: event.received_at,
    event_id: event.id,
    event_name: event.event_name,
    occurred_at: event.occurred_at,
    outcome,
    run_id: run ?? null,
  }));
  const said = { triggers, runs, now: { would_enter: standing === null, reason: standing, clauses } };
  return {
    journey_id: journey.id,
    subscriber_id: profile.id,
    in_words: journeyInWords(said),
    ...said,
    assumes: usesToday ? ["Attributes and rules of entry are those of today, not of the time of the trigger."] : [],
  };
}

interface Entry {
  journey: Journey;
  runs: readonly RunState[];
  /** In milliseconds; undefined: nobody enters twice. */
  reentryAfter: number | undefined;
  /** When it became active or paused, oldest first. */
  times: readonly { at: number; isActive: boolean }[];
}

interface Outcome {
  outcome: "entered" | RefusalReason | "not_active";
  run?: string | undefined;
  /** It was decided by what the person has now. */
  isOfToday: boolean;
}

function outcomeOf(entry: Entry, event: StoredEvent): Outcome {
  const { journey, runs } = entry;
  const own = runs.find(({ context }) => context.event_id === event.id);
  if (own) return { outcome: "entered", run: own.id, isOfToday: false };
  if (event.historical) return { outcome: "historical", isOfToday: false };
  if (isTooOld(journey.trigger as Parameters<typeof isTooOld>[0], event))
    return { outcome: "too_old", isOfToday: false };

  const standing = standingAt(entry, Date.parse(event.received_at));
  if (standing) return { outcome: standing.reason, run: standing.run, isOfToday: false };
  // Nothing else is left that refuses: what the person had then is not known any more.
  return { outcome: "not_eligible", isOfToday: true };
}

/** What stood in the way at a moment: the state of the journey, then the person's last run. */
function standingAt(
  { journey, runs, reentryAfter, times }: Entry,
  at: number,
): { reason: RefusalReason | "not_active"; run?: string } | undefined {
  const state = times.findLast((one) => one.at <= at);
  if (!state) return { reason: journey.status === "paused" ? "paused" : "not_active" };
  if (!state.isActive) return { reason: journey.status === "archived" ? "not_active" : "paused" };
  const last = runs.find(({ entered_at }) => Date.parse(entered_at) <= at);
  if (!last) return undefined;
  const isActive = last.ended_at === null || Date.parse(last.ended_at) > at;
  if (isActive) return { reason: "already_active", run: last.id };
  const mayReenter = reentryAfter !== undefined && Date.parse(last.entered_at) <= at - reentryAfter;
  return mayReenter ? undefined : { reason: "reentry_window", run: last.id };
}

/** When the journey was activated and paused, by its annotations. */
async function activeTimes(store: StoreReader, { id, created_at }: Journey, from: string): Promise<Entry["times"]> {
  const kinds = ["journey_activated", "journey_paused"];
  const since = created_at < from ? created_at : from;
  const to = timestamp(store.clock.now());
  const notes = await listAnnotations(store, { from: since, to, kinds, isAgency: false });
  return notes
    .filter(({ ref_id }) => ref_id === id)
    .map(({ occurred_at, kind }) => ({ at: Date.parse(occurred_at), isActive: kind === "journey_activated" }));
}

/** Whether it meets the rules of entry, clause by clause. */
async function eligibilityOf(
  store: StoreReader,
  rules: EntryRules | null,
  profile: LivingProfile,
): Promise<{ matches: boolean; clauses: Reason[] }> {
  if (!rules?.eligibility) return { matches: true, clauses: [] };
  const rule = await compiledRule(store, withTriggerValues(rules.eligibility, {}));
  const { times } = await readSubscriberFacts(store, profile.id, rule.events);
  const facts = { attributes: attributesForRules(profile), times, now: store.clock.now() };
  return { matches: rule.judge(facts).matches, clauses: rule.explain(facts) };
}
