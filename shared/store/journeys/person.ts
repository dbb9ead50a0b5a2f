// One person in one journey (AMB-147): its triggers and their outcomes, its runs, and what would happen if it were
// triggered now.
import * as v from "valibot";
import { Named, NamedPerson } from "../../contract/named.ts";
import { said, Timestamp, titled } from "../../contract/schemas.ts";
import { DAY, timestamp } from "../../kernel/clock.ts";
import { refusalReasons } from "../../rules/entry-refusals.ts";
import { edgesFrom } from "../../rules/journey-edges.ts";
import { exitsOf, type Graph } from "../../rules/journey-graph.ts";
import { stepTypes } from "../../rules/journey-steps.ts";
import { detailOf } from "../../rules/why-details.ts";
import { journeyInWords, type KnownFailure, type StartedBy } from "../../rules/why-journey-words.ts";
import type { StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { ClauseResult, explainMembership } from "../segments/explain.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";
import { findJobs } from "../sends/jobs/jobs.ts";
import { lostReason } from "../sends/ledger/recipient-outcome.ts";
import { CLOCK_TOLERANCE_MS, touchesSince } from "../sends/ledger/touches.ts";
import { displayName, type LivingProfile } from "../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import { entriesOf } from "./eligibility.ts";
import { beyondQuotaNow } from "./entry-quota.ts";
import type { Journey } from "./journeys.ts";
import { NamedRun, withNames } from "./named-runs.ts";
import { RunItem, runPrefix } from "./run-items.ts";
import { listRuns } from "./run-list.ts";
import type { Run } from "./runs.ts";
import { canaryWaitOf } from "./step-brakes.ts";
import { askedBySteps, skipDetails, stepNames } from "./step-words.ts";
import {
  activeTimes,
  beyondQuotaOf,
  causesOf,
  type Outcome,
  type PersonalCause,
  standingAt,
  triggerOutcomes,
} from "./triggers-of-person.ts";
import { getVersion } from "./versions.ts";

const LOOK_BACK_MS = 90 * DAY;
const MAX_TRIGGERS = 100;
const MAX_RUNS = 100;

const refusal = v.picklist(refusalReasons);

export const JourneyOfPerson = titled("JourneyOfPerson", {
  journey_id: v.string(),
  subscriber_id: v.string(),
  journey: said("The journey that is asked about", Named),
  subscriber: said("The person who is asked about", NamedPerson),
  in_words: said("The answer in a few sentences", v.string()),
  triggers: said(
    `Events of the last 90 days that could start a run, newest first, at most ${MAX_TRIGGERS}; of a segment only its newest ` +
      "entry, or exit, is known",
    v.array(
      v.object({
        at: said("When it was received", Timestamp),
        event_id: said("Empty for a segment", v.string()),
        event_name: said("Empty for a segment", v.string()),
        segment: said(
          "The segment that was entered, or left, where that starts runs",
          v.optional(v.object({ ...Named.entries, entered: v.boolean() })),
        ),
        occurred_at: Timestamp,
        outcome: said(
          "`entered`, or why not. `not_active`: the journey was not active yet, or archived. `not_handled`: it came a " +
            "moment ago, or is held while the workspace is suspended. `not_identified`: it came from a visitor who was " +
            "identified as this person later",
          v.picklist(triggerOutcomes),
        ),
        run_id: said("The run that it started, or that stood in the way", v.nullable(v.string())),
      }),
    ),
  ),
  runs: said(`Newest first, at most ${MAX_RUNS}`, v.array(NamedRun)),
  waiting: said(
    "What the active run waits for, and what would happen next; `null` without one",
    v.nullable(
      v.object({
        run_id: v.string(),
        step: v.string(),
        type: v.picklist(stepTypes),
        event_name: said("The event that it waits for", v.nullable(v.string())),
        until: v.nullable(Timestamp),
        next: said(
          "Where it would go on, by what comes",
          v.array(
            v.object({
              by: said("`next`, `wait:event` or `wait:timeout`", v.string()),
              to: said("A step; `null` where the run completes", v.nullable(v.string())),
            }),
          ),
        ),
      }),
    ),
  ),
  now: said(
    "What a trigger would do now",
    v.object({
      would_enter: said("Whether a trigger would start a run now", v.boolean()),
      reason: said("Why not", v.nullable(v.union([refusal, v.literal("not_active")]))),
      clauses: said("The rules of entry, clause by clause, as of now", v.array(ClauseResult)),
    }),
  ),
  assumes: said(
    "Where something of today stands in for what was then: said in words, empty if nothing does",
    v.array(v.string()),
  ),
});
export type JourneyOfPerson = v.InferOutput<typeof JourneyOfPerson>;

function closedBy(status: Journey["status"]): "paused" | "not_active" | undefined {
  if (status === "active") return undefined;
  return status === "paused" ? "paused" : "not_active";
}

/**
 * Why a subscriber is in a journey or not (AMB-147): every trigger of the last 90 days with its outcome, and the
 * journey's rules as they are now.
 */
export async function journeyOfPerson(
  store: StoreReader,
  journey: Journey,
  profile: LivingProfile,
  workspace: () => Promise<WorkspaceRecord | undefined>,
): Promise<JourneyOfPerson> {
  const now = store.clock.now();
  const from = timestamp(now - LOOK_BACK_MS);
  const [causes, listed, times, beyondQuota] = await Promise.all([
    causesOf(store, journey, profile.id, { from, limit: MAX_TRIGGERS }),
    listRuns(store, { journey: journey.id, subscriber: profile.id, after: undefined, limit: MAX_RUNS }),
    activeTimes(store, [journey], from),
    beyondQuotaOf(store, profile.id, journey.id),
  ]);
  const { entry, matches, clauses, unmet, outcomeOf } = await entriesOf(store, journey, profile, {
    runs: listed.runs,
    times,
    beyondQuota,
    now,
  });
  const judged = await Promise.all(causes.map(async (cause) => ({ cause, ...(await outcomeOf(cause)) })));
  const standing =
    closedBy(journey.status) ??
    standingAt(entry, now)?.reason ??
    (matches ? await beyondQuotaNow(store, journey, profile.id, workspace) : "not_eligible");
  const usesToday = judged.some(({ isOfToday }) => isOfToday);
  const [newest] = listed.runs;
  const { graph, ...more } = await saidOfNewest(store, journey, newest, { profile, workspace });
  const runs = graph ? listed.runs.map((run) => ({ ...run, steps: inOrder(run.steps, graph) })) : listed.runs;
  const said = {
    triggers: judged.map(toldTrigger),
    waiting: waitingOf(newest, graph, more.othersAt),
    now: { would_enter: standing === null, reason: standing, clauses },
  };
  return {
    journey_id: journey.id,
    subscriber_id: profile.id,
    journey: { id: journey.id, name: journey.name },
    subscriber: { id: profile.id, name: displayName(profile) },
    runs: await withNames(store, journey, runs),
    in_words: journeyInWords({ ...said, ...more, runs, now: { ...said.now, unmet: unmet ?? null } }),
    ...said,
    assumes: usesToday ? ["Attributes and rules of entry are those of today, not of the time of the trigger."] : [],
  };
}

interface PersonContext {
  profile: LivingProfile;
  workspace: () => Promise<WorkspaceRecord | undefined>;
}

/** Details of the newest run beside its row, by the version of the journey that it entered. */
async function saidOfNewest(store: StoreReader, journey: Journey, newest: Run | undefined, asking: PersonContext) {
  const [version, failures, startedBy] = await Promise.all([
    newest && getVersion(store, newest.journey_id, newest.version),
    newest && failuresOfRun(store, newest),
    startedByOf(store, journey, asking.profile.id),
  ]);
  const graph = version?.graph;
  const [skips, asked, nameOf, othersAt = null] = await Promise.all([
    newest && skipDetails(store, newest, { graph, ...asking }),
    newest && askedBySteps(store, newest, graph),
    stepNames(store, graph),
    newest && othersAtOf(store, newest, { graph, ...asking }),
  ]);
  const exits = graph ? exitsOf(graph) : [];
  return { graph, status: journey.status, failures, startedBy, skips, asked, nameOf, exits, othersAt };
}

/** When a run goes on that waits for the canary of a step, RFC 3339; null for any other. */
async function othersAtOf(
  store: StoreReader,
  run: Run,
  { graph, profile, workspace }: PersonContext & { graph: Graph | undefined },
) {
  const { journey_id: journey, version, current_step: step, status } = run;
  const node = status === "active" ? graph?.steps[step] : undefined;
  if (node?.type !== "send" || !node.send.safety) return null;
  const asked = { subscriber: profile.id, safety: node.send.safety, workspace: await workspace() };
  return canaryWaitOf(store, { journey, version, step }, asked);
}

const toldTrigger = ({
  cause: { at, occurred_at, event, segment },
  outcome,
  run,
}: Outcome & { cause: PersonalCause }) => ({
  at,
  event_id: event?.id ?? "",
  event_name: event?.event_name ?? "",
  ...(segment && { segment }),
  occurred_at,
  outcome,
  run_id: run ?? null,
});

/** What a run waits for, by the version that it entered. */
function waitingOf(
  run: Run | undefined,
  graph: Graph | undefined,
  othersAt: string | null,
): JourneyOfPerson["waiting"] {
  const node = run?.status === "active" ? graph?.steps[run.current_step] : undefined;
  if (!run || !node) return null;
  return {
    run_id: run.id,
    step: node.id,
    type: node.type,
    event_name: node.type === "wait_for_event" ? node.wait_for_event.event_name : null,
    until: run.waiting_until ?? othersAt,
    next: edgesFrom(node).map(({ by, to }) => ({ by, to })),
  };
}

/** What starts the runs of a journey, with the unmet part of the rule of a segment that is to be entered. */
async function startedByOf(store: StoreReader, { trigger }: Journey, subscriber: string): Promise<StartedBy> {
  const { type, event_name, segment_id } = trigger;
  if (type === "event") return event_name ? { kind: "event", name: event_name } : { kind: "nothing" };
  const found = segment_id ? await explainMembership(store, segment_id, subscriber) : undefined;
  if (!found) return { kind: "nothing" };
  const entered = type === "segment_entered";
  return { kind: "segment", name: found.segment.name, entered, unmet: (entered && found.unmet) || null };
}

/** Steps in the order of the graph, unknown ones last. */
function inOrder<One extends { step: string }>(steps: readonly One[], graph: Graph): One[] {
  const order = [graph.start];
  for (const id of order) {
    const node = graph.steps[id];
    const next = node ? edgesFrom(node).flatMap(({ to }) => to ?? []) : [];
    order.push(...new Set(next.filter((to) => !order.includes(to))));
  }
  const placeOf = ({ step }: One) => (order.includes(step) ? order.indexOf(step) : order.length);
  return steps.toSorted((a, b) => placeOf(a) - placeOf(b));
}

const MAX_SENDS_READ = 20;
const isFailure = (outcome: string): boolean => outcome === "failed" || outcome === "bounced";

/** The reasons of its steps that failed or bounced, by step; `not_planned` if no message of it could be sent at all. */
async function failuresOfRun(store: StoreReader, run: Run): Promise<ReadonlyMap<string, KnownFailure>> {
  const steps = run.steps.filter(({ outcome }) => isFailure(outcome)).map(({ step }) => step);
  if (steps.length === 0) return new Map();
  const { journey_id, subscriber_id: subscriber } = run;
  const prefix = runPrefix(journey_id);
  const rows = await store.queryAll(RunItem, { subscriber }, { from: prefix, to: `${prefix}~` });
  const row = rows.find(({ id }) => id === run.id);
  const followed = row ? familyOf(row, "f:").filter(([_, outcome]) => isFailure(outcome)) : [];
  const ids = followed.map(([job]) => job).slice(-MAX_SENDS_READ);
  const [jobs, touches] = await Promise.all([
    findJobs(store, ids),
    ids.length > 0 ? touchesSince(store, subscriber, Date.parse(run.entered_at) - CLOCK_TOLERANCE_MS) : [],
  ]);
  const reasons = new Map<string, KnownFailure>();
  const sent = new Set<string>();
  for (const job of jobs) {
    const step = job?.step?.id;
    if (!job || step === undefined) continue;
    sent.add(step);
    const touch = touches.findLast((candidate) => candidate.job === job.id && candidate.reason !== undefined);
    const failure = failureOf(job, subscriber, touch?.reason);
    if (failure) reasons.set(step, failure);
  }
  const isWhole = followed.length === ids.length && jobs.every((job) => job !== undefined);
  for (const step of isWhole ? steps : []) if (!sent.has(step)) reasons.set(step, { reason: "not_planned", words: "" });
  return reasons;
}

/** The failure of an address, else that of the whole send. */
function failureOf(job: JobRecord, subscriber: string, reason?: string): KnownFailure | undefined {
  const known = reason ?? lostReason(job, subscriber);
  if (known !== undefined) return { reason: known, words: "" };
  if (job.error === null) return undefined;

  const whole = { reason: "send_failed", error: job.error, attempts: [], now: null };
  return { reason: whole.reason, words: detailOf(whole) };
}
