// Plays stored events to a journey (F3), page by page. The counts are noted together with the position, so that another
// message can continue there.
import type { JobPart, Message } from "../../../shared/contract/messages.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { simulationMoves } from "../../../shared/rules/simulation-states.ts";
import { replayPage } from "../../../shared/store/journeys/replays.ts";
import { SimulationItem } from "../../../shared/store/journeys/simulation-items.ts";
import {
  endSimulation,
  noteSimulation,
  type SimulationJob,
  workOf,
} from "../../../shared/store/journeys/simulations.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { isOpen, isTooOld, JOB_WATCH_MS, takeJob } from "../../../shared/store/leased-jobs.ts";
import type { WorkerContext } from "./context.ts";

/** After this time the worker stops, and another message continues. */
const WORKING_MS = 35 * SECOND;

/** Begins, continues or checks a simulation. */
export async function simulateOnHistory(
  { tenant, id, watch }: Message<"import-rows">,
  context: WorkerContext,
): Promise<void> {
  const { store, timers, clock, log, importRowsQueue: queue } = context;
  const found = watch ? await store.get(SimulationItem, { id }) : undefined;
  if (found && isOpen(found)) await timers.set([{ kind: "simulation-watch", id, at: clock.now() + JOB_WATCH_MS }]);
  const taken = await takeJob(store, SimulationItem, id, simulationMoves);
  if (taken.kind === "closed")
    return log({ level: "info", message: "a simulation is not to be computed", tenant, simulation: id });
  const { job } = taken;
  if (isTooOld(store, job)) {
    await endSimulation(store, job, { kind: "failed", error: "it could not be computed within a day" });
    return;
  }
  const part = await play(context, job);
  if (part === "unfinished") await queue.send([{ tenant, kind: "simulation", id }]);
}

/** Plays pages until the last one or the end of the time. */
async function play(context: WorkerContext, job: SimulationJob): Promise<JobPart> {
  const { store, secrets, clock, log } = context;
  const until = clock.now() + WORKING_MS;
  const [work, workspace] = await Promise.all([workOf(store, job), context.workspace()]);
  if (!work || !workspace) {
    await endSimulation(store, job, { kind: "failed", error: "the workspace is closed" });
    return "ended";
  }
  const deps = { store, workspace, root: () => secrets.root() };
  const tally = fromJson(job.tally);
  let position = job.position === undefined ? undefined : fromJson(job.position);
  for (;;) {
    position = await replayPage(deps, work, position, tally);
    if (!position) {
      await endSimulation(store, job, { kind: "completed", tally });
      return "ended";
    }
    const isTimeUp = clock.now() >= until;
    const noted = await noteSimulation(store, job, { position, tally }, isTimeUp);
    if (noted === "lost") {
      const message = "a simulation ended while it was computed";
      log({ level: "info", message, tenant: store.tenant, simulation: job.id });
      return "ended";
    }
    if (isTimeUp) return "unfinished";
  }
}
