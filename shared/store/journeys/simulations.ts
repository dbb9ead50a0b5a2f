// Simulations of journeys on stored events (F3): a worker computes them, a lease at a time.
import { DAY, timestamp, ttl } from "../../kernel/clock.ts";
import { conflict, notFound, requireFound } from "../../kernel/errors.ts";
import { emptyTally, type ReplayTally } from "../../rules/journey-tally.ts";
import { simulationMoves } from "../../rules/simulation-states.ts";
import { is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { type NewRowOf, putItem, type RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { JOB_WATCH_MS, noteJob, requireTurn } from "../leased-jobs.ts";
import { move } from "../lifecycle.ts";
import type { Timers } from "../timers.ts";
import type { ReplayPosition, ReplayWork } from "./replays.ts";
import { SimulatedVersion, SimulationItem } from "./simulation-items.ts";

export type SimulationJob = RowOf<typeof SimulationItem>;

const KEPT_MS = 7 * DAY;

export interface SimulationRecord {
  id: string;
  status: SimulationJob["status"];
  /** The share of the window, or of the segment, that was played: 0 to 1. */
  progress: number;
  tally: ReplayTally;
  error: string | null;
}

/**
 * Puts a simulation; its insertion into the table starts it. The watchdog is set before.
 * @throws 429 while three are computed.
 */
export async function createSimulation(
  store: Store,
  timers: Timers,
  { journey, definition, window: { from, to }, percent }: ReplayWork,
  version: number,
): Promise<SimulationJob> {
  await requireTurn(store, SimulationItem, "simulations are computed");
  const now = store.clock.now();
  const id = store.ids.uuidAt(now);
  const expires = ttl(now + KEPT_MS);
  await timers.set([{ kind: "simulation-watch", id, at: now + JOB_WATCH_MS }]);
  const row: NewRowOf<typeof SimulationItem> = {
    react: "simulation",
    id,
    journey,
    version,
    from,
    to,
    percent,
    status: "pending",
    tally: toJson(emptyTally()),
    created_at: timestamp(now),
    expires,
  };
  await store.transact([
    putItem(SimulatedVersion, { simulation: id }, { definition: toJson(definition), expires }),
    putItem(SimulationItem, { id }, row),
  ]);
  return requireSimulation(store, id);
}

async function requireSimulation(store: StoreReader, id: string): Promise<SimulationJob> {
  return requireFound(await store.get(SimulationItem, { id }), "simulation");
}

/** A simulation of this journey. @throws 404. */
export async function getSimulation(store: StoreReader, journey: string, id: string) {
  const job = await requireSimulation(store, id);
  const work = await workOf(store, job);
  if (job.journey !== journey || !work) throw notFound("simulation");
  return { job, work };
}

/** The input of a simulation; undefined after it has expired. */
export async function workOf(
  store: StoreReader,
  { id, journey, from, to, percent }: SimulationJob,
): Promise<ReplayWork | undefined> {
  const version = await store.get(SimulatedVersion, { simulation: id });
  return version && { journey, definition: fromJson(version.definition), window: { from, to }, percent };
}

export function simulatedOf({ id, status, position, tally, error }: SimulationJob): SimulationRecord {
  const played = position === undefined ? 0 : fromJson(position).progress;
  return { id, status, progress: status === "completed" ? 1 : played, tally: fromJson(tally), error: error ?? null };
}

/** Cancels a simulation. A canceled one is returned as it is. @throws 404, 409 if it has ended */
export async function cancelSimulation(store: Store, journey: string, id: string): Promise<SimulationJob> {
  const { job } = await getSimulation(store, journey, id);
  if (job.status === "canceled") return job;
  const change = { set: { completed_at: timestamp(store.clock.now()) }, remove: ["lease"] as const };
  const canceled = await move(store, SimulationItem, { id }, { lifecycle: simulationMoves, action: "cancel", change });
  if (canceled.kind === "changed") return canceled.row;
  throw conflict(`The simulation is ${canceled.current?.status ?? job.status} and can no longer be canceled.`);
}

/** Notes the results so far, in one write with the position, so that no page counts twice. */
export function noteSimulation(
  store: Store,
  job: SimulationJob,
  { position, tally }: { position: ReplayPosition; tally: ReplayTally },
  isReleased: boolean,
): Promise<"noted" | "lost"> {
  const set = { position: toJson(position), tally: toJson(tally), ...(isReleased && { lease: 0 }) };
  return noteJob(store, SimulationItem, job, { lifecycle: simulationMoves, set });
}

/** Changes nothing if it had ended before, or another worker has it. */
export async function endSimulation(
  store: Store,
  { id, lease = 0 }: SimulationJob,
  outcome: { kind: "completed"; tally: ReplayTally } | { kind: "failed"; error: string },
): Promise<void> {
  const completed_at = timestamp(store.clock.now());
  const result = outcome.kind === "failed" ? { error: outcome.error } : { tally: toJson(outcome.tally) };
  await move(
    store,
    SimulationItem,
    { id },
    {
      lifecycle: simulationMoves,
      action: outcome.kind === "failed" ? "fail" : "complete",
      change: { set: { ...result, completed_at }, remove: ["lease", "position"] },
      when: is("lease", lease),
    },
  );
}
