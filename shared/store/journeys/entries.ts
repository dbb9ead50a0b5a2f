// Who may enter a journey: by its entry rules, the last run of the subscriber and eligibility (JND-10, JND-11).
import { createHash } from "node:crypto";
import { throwFailures } from "../../kernel/failures.ts";
import { uuidV7 } from "../../kernel/ids.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { parseDuration } from "../../rules/durations.ts";
import type { RefusalReason } from "../../rules/entry-refusals.ts";
import type { Graph } from "../../rules/journey-graph.ts";
import type { Store } from "../context.ts";
import { getProfiles } from "../subscribers/subscribers.ts";
import type { EnterableJourney } from "./active.ts";
import { factsOf, startOf } from "./facts.ts";
import type { RefusedEntry } from "./refusals.ts";
import type { Cause } from "./run-items.ts";
import { settledNewest } from "./run-packs.ts";
import { type EntryGuard, entryGuard, newestKey } from "./run-rows.ts";
import { type RunState, runOf } from "./runs.ts";

/** A subscriber whose run may begin, with its cause. */
export interface Candidate {
  subscriber: string;
  cause: Cause & { at: string; key: string };
}

/** A run that may move. */
export interface DrivenRun {
  run: RunState;
  /**
   * The time of its timer, in milliseconds: it has come, even if the clock of this process goes back in the meantime.
   */
  due?: number | undefined;
}

export interface MovingRun extends DrivenRun {
  /** The guard of a run that is not stored yet. */
  entry?: EntryGuard | undefined;
}

/** Runs that are evaluated at once. */
const MAX_CONCURRENT = 10;

export interface AdmittedEntries {
  /** The runs that may begin. The transactions check the newest runs again. */
  entering: (MovingRun & { candidate: Candidate })[];
  /** Runs that an earlier delivery of the same message began, and may not have evaluated since. */
  begun: (DrivenRun & { candidate: Candidate })[];
  refused: RefusedEntry[];
  /** Active runs whose step was over when the trigger came, but that no worker has evaluated since (AMB-136). */
  overdue: (DrivenRun & { candidate: Candidate })[];
}

/** A journey with the graph of the version that subscribers enter. */
export interface EnteredJourney {
  graph: Graph;
  journey: EnterableJourney;
}

/**
 * The people who may enter, and those who have entered by the same cause before. @param options.areMoved overdue runs
 * have been evaluated: those still active block the entry
 */
export async function admitted(
  store: Store,
  { graph, journey }: EnteredJourney,
  candidates: readonly Candidate[],
  { areMoved = false }: { areMoved?: boolean } = {},
): Promise<AdmittedEntries> {
  const { allow_reentry = false, reentry_window, eligibility } = journey.entry_rules ?? {};
  const reentryAfter = allow_reentry ? (parseDuration(reentry_window ?? "") ?? 0) : undefined;
  const now = store.clock.now();
  const places = candidates.map(({ subscriber }) => ({ subscriber, journey: journey.id }));
  const newest = await settledNewest(store, places);

  const open: { candidate: Candidate; entry: EntryGuard }[] = [];
  const begun: AdmittedEntries["begun"] = [];
  const refused: RefusedEntry[] = [];
  const overdue: AdmittedEntries["overdue"] = [];
  for (const [i, candidate] of candidates.entries()) {
    const row = newest[i];
    const at = Date.parse(candidate.cause.at);
    const entry = entryGuard(row, { reentryAfter, at });
    const isOwn = row?.id === runIdOf(store.tenant, journey.id, candidate);
    const isActive = row?.status === "active";
    if (isOwn) {
      if (isActive) begun.push({ candidate, run: runOf(row) });
    } else if (entry) open.push({ candidate, entry });
    else if (isActive && !areMoved && isOverdue(row, at)) overdue.push({ candidate, run: runOf(row) });
    else refused.push(refusal(candidate, isActive ? "already_active" : "reentry_window"));
  }

  const ids = open.map(({ candidate }) => candidate.subscriber);
  const profiles = await getProfiles(store, ids);
  const living = open
    .filter((_, i) => profiles[i])
    .map(({ candidate, entry }) => {
      return { candidate, entry, run: newRun(store, graph, journey, candidate) };
    });
  if (!eligibility) return { entering: living, begun, refused, overdue };

  // The trigger decides as of its own time, whatever the time of the worker (AMB-136).
  const judged = await evaluateAll(living, async (candidate) => {
    const facts = factsOf(store, graph, candidate.run, { now, pauses: journey.pauses });
    return (await facts.holds(eligibility, candidate.run.position.at ?? now)) ? candidate : undefined;
  });
  throwFailures(judged);
  const entering = judged.flatMap((result) => (result.status === "fulfilled" && result.value ? [result.value] : []));
  const isIn = new Set(entering.map(({ candidate }) => candidate));
  const unfit = living.flatMap(({ candidate }) => (isIn.has(candidate) ? [] : [refusal(candidate, "not_eligible")]));
  return { entering, begun, refused: [...refused, ...unfit], overdue };
}

/** Whether the delay or wait of a run was over by then. */
const isOverdue = ({ until }: { until?: number | undefined }, at: number): boolean =>
  until !== undefined && until <= at;

/** The cause of a run that starts by a segment. */
export const segmentCause = ({ segment, entered, at }: { segment: string; entered: boolean; at: string }): string =>
  `${segment}#${entered}#${at}`;

export const refusal = (
  { subscriber, cause: { key } }: Pick<Candidate, "subscriber" | "cause">,
  reason: RefusalReason,
) => ({
  reason,
  subscriber,
  key,
});

/** The id of a run: a repeated cause makes the same run. */
function runIdOf(tenant: string, journey: string, { subscriber, cause: { key, at } }: Candidate): string {
  const digest = createHash("sha256").update(`run:${tenant}:${journey}:${subscriber}:${key}`).digest();
  return uuidV7(Date.parse(at), digest);
}

function newRun({ tenant }: Store, graph: Graph, { id, version }: EnterableJourney, candidate: Candidate): RunState {
  const { key: _, at: received, ...context } = candidate.cause;
  const runId = runIdOf(tenant, id, candidate);
  const begins = { at: startOf({ id: runId, context }), heard: Date.parse(received) };
  return {
    id: runId,
    key: newestKey({ subscriber: candidate.subscriber, journey: id }),
    journey_id: id,
    version,
    subscriber_id: candidate.subscriber,
    status: "active",
    current_step: graph.start,
    entered_at: received,
    ended_at: null,
    end_reason: null,
    steps: [],
    waiting_until: null,
    context,
    seq: 0,
    position: { step: graph.start, ...begins },
  };
}

/** Evaluates a limited number at a time. @returns one result for each, in order */
export async function evaluateAll<T, R>(
  items: readonly T[],
  evaluate: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  for (const batch of chunksOf(items, MAX_CONCURRENT)) results.push(...(await Promise.allSettled(batch.map(evaluate))));
  return results;
}
