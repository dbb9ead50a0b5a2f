// Why the messages of a run did not arrive: the outcome of a step says that they failed, their ledger says why.

import type { StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { findJobs } from "../sends/jobs/jobs.ts";
import { CLOCK_TOLERANCE_MS, touchesSince } from "../sends/ledger/touches.ts";
import { RunItem, runPrefix } from "./run-items.ts";
import type { Run } from "./runs.ts";

const MAX_SENDS = 20;
const isFailure = (outcome: string): boolean => outcome === "failed" || outcome === "bounced";

/** The reasons of its steps that failed or bounced, by step; `not_planned` where nothing of it could be sent at all. */
export async function failuresOfRun(store: StoreReader, run: Run): Promise<ReadonlyMap<string, string>> {
  const steps = run.steps.filter(({ outcome }) => isFailure(outcome)).map(({ step }) => step);
  if (steps.length === 0) return new Map();
  const { journey_id, subscriber_id: subscriber } = run;
  const prefix = runPrefix(journey_id);
  const rows = await store.queryAll(RunItem, { subscriber }, { from: prefix, to: `${prefix}~` });
  const row = rows.find(({ id }) => id === run.id);
  const followed = row ? familyOf(row, "f:").filter(([_, outcome]) => isFailure(outcome)) : [];
  const ids = followed.map(([job]) => job).slice(-MAX_SENDS);
  const [jobs, touches] = await Promise.all([
    findJobs(store, ids),
    ids.length > 0 ? touchesSince(store, subscriber, Date.parse(run.entered_at) - CLOCK_TOLERANCE_MS) : [],
  ]);
  const reasons = new Map<string, string>();
  const sent = new Set<string>();
  for (const job of jobs) {
    const step = job?.step?.id;
    if (!job || step === undefined) continue;
    sent.add(step);
    const touch = touches.findLast((one) => one.job === job.id && one.reason !== undefined);
    const reason = touch?.reason ?? job.error ?? undefined;
    if (reason !== undefined) reasons.set(step, reason);
  }
  const isWhole = followed.length === ids.length && jobs.every((job) => job !== undefined);
  for (const step of isWhole ? steps : []) if (!sent.has(step)) reasons.set(step, "not_planned");
  return reasons;
}
