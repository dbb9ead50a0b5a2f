// Simulates a journey on history (F3): plays stored events to its steps, on a simulated clock.
import * as v from "valibot";
import { SendCost } from "../../../shared/contract/cost.ts";
import { said, Timestamp, TimestampInput, titled } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { type Clock, DAY, timestamp } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import type { Definition } from "../../../shared/rules/journey-replay.ts";
import { summaryOf } from "../../../shared/rules/journey-tally.ts";
import type { PlanName } from "../../../shared/rules/plans.ts";
import { simulationStatuses } from "../../../shared/rules/simulation-states.ts";
import type { timers } from "../../../shared/store/capabilities.ts";
import { type StoreReader, storeRead, storeWrite } from "../../../shared/store/context.ts";
import type { Journey } from "../../../shared/store/journeys/journeys.ts";
import {
  cancelSimulation,
  createSimulation,
  getSimulation,
  type SimulationRecord,
  simulatedOf,
} from "../../../shared/store/journeys/simulations.ts";
import { getVersion } from "../../../shared/store/journeys/versions.ts";
import { requireRunnable } from "./input.ts";
import { JourneyEdge } from "./versions.ts";

const MAX_DAYS = 90;

/** The fields that ask for a simulation on history. */
export const historyFields = {
  from: said("On history: the beginning of the window", v.optional(TimestampInput)),
  to: said(
    "On history: the end of the window, at most 90 days after its beginning and not in the future",
    v.optional(TimestampInput),
  ),
  version: said(
    "On history: a version that was activated. Default: the journey as it is now",
    v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000))),
  ),
};

const Numbers = v.record(v.string(), v.number());
const Result = titled("SimulationResult", {
  subscribers: said("How many subscribers entered", v.number()),
  entered: said("How many runs began", v.number()),
  runs: said(
    "Runs by their status at the end of the window",
    v.object({
      active: said("Runs that had not ended when the window did", v.number()),
      completed: said("Runs that took their last step", v.number()),
      exited: said("Runs that an exit condition ended", v.number()),
    }),
  ),
  steps: said(
    "For each step: the runs that are on it at the end, and its outcomes, as in the statistics",
    v.record(v.string(), v.object({ active: v.number(), outcomes: Numbers })),
  ),
  edges: said(
    "The ways from step to step, and how often each was taken",
    v.array(
      titled("SimulatedEdge", {
        ...JourneyEdge.pipe[0].entries,
        taken: said("How often it was taken", v.number()),
      }),
    ),
  ),
  dead: said("The ways that were never taken", v.array(JourneyEdge)),
  loops: said("By step: how often a run took it again", Numbers),
  sends: said(
    "Messages by day and channel",
    v.array(
      titled("SimulatedSends", {
        day: said("The day in UTC on which the messages would go out", v.string()),
        channel: said("The type of the channel", v.string()),
        sent: said("Messages", v.number()),
      }),
    ),
  ),
  skipped: said("Sends that would reach nobody, by reason: consent, no address, `capped`", Numbers),
  deferred: said("Sends that would wait for the end of quiet hours", v.number()),
  cut_short: said("Subscribers with more than 2,000 events or 1,000 moves, of which the rest is left out", v.number()),
  cost: said("What the sends would cost at list prices", SendCost),
});

export const HistorySimulation = titled("HistorySimulation", {
  id: said("The id of the simulation", v.string()),
  status: said("Whether the result is complete", v.picklist(simulationStatuses)),
  version: said("The version of the journey that was simulated", v.number()),
  from: said("The beginning of the window", Timestamp),
  to: said("The end of the window", Timestamp),
  sample: said("The share of subscribers that is looked at, in percent", v.number()),
  progress: said("The share of the window that has been played, 0 to 1", v.number()),
  result: said("What was counted so far; all of it once `status` is `completed`", Result),
  error: said("Why it failed; `null` otherwise", v.nullable(v.string())),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

interface Shown {
  simulated: SimulationRecord;
  work: { definition: Definition; window: { from: number; to: number }; percent: number };
  version: number;
}

function shown({ simulated, work, version }: Shown): v.InferOutput<typeof HistorySimulation> {
  const { id, status, progress, tally, error } = simulated;
  const { from, to } = work.window;
  return {
    id,
    status,
    version,
    from: timestamp(from),
    to: timestamp(to),
    sample: work.percent,
    progress: Math.round(progress * 1_000) / 1_000,
    result: summaryOf(tally, work.definition.graph),
    error,
  };
}

/**
 * Checks the window.
 * @throws 422 if it ends before it begins, in the future, or more than 90 days after its beginning
 */
function windowOf(now: number, { from, to }: { from: string; to: string }) {
  const window = { from: Date.parse(from), to: Date.parse(to) };
  if (window.to <= window.from) throw invalid({ to: "must be after from" });
  if (window.to > now) throw invalid({ to: "must not lie in the future" });
  if (window.to - window.from > MAX_DAYS * DAY) throw invalid({ to: `must be at most ${MAX_DAYS} days after from` });
  return window;
}

/**
 * The journey as it is, or a version that was activated.
 * @throws 422 for an unknown version, or one that cannot be run
 */
async function definitionOf(
  store: StoreReader,
  plan: PlanName,
  journey: Journey,
  version: number | undefined,
): Promise<Definition> {
  const stored = version === undefined ? undefined : await getVersion(store, journey.id, version);
  if (stored) return stored;
  if (version !== undefined && version !== journey.version)
    throw invalid({ version: "is no version of this journey that was activated" });
  const { trigger, entry_rules } = journey;
  return { trigger, entry_rules, graph: await requireRunnable(store, plan, journey) };
}

type Deps = Context<readonly [typeof storeWrite, typeof timers]> & { clock: Clock };

interface Simulation {
  from: string;
  to: string;
  /** The share of subscribers that is simulated: 1 to 100. */
  percent: number;
  version?: number | undefined;
}

/** Starts a simulation. @throws 422 for a window or a version that cannot be simulated */
export async function simulateHistory(
  { store, timers, clock }: Deps,
  plan: PlanName,
  journey: Journey,
  asked: Simulation,
): Promise<v.InferOutput<typeof HistorySimulation>> {
  const window = windowOf(clock.now(), asked);
  const definition = await definitionOf(store, plan, journey, asked.version);
  if (definition.trigger.type === "segment_exited")
    throw invalid({ trigger: "exits from segments are not kept, so they cannot be simulated" });
  const work = { journey: journey.id, definition, window, percent: asked.percent };
  const version = asked.version ?? journey.version;
  return shown({ simulated: simulatedOf(await createSimulation(store, timers, work, version)), work, version });
}

export const historySimulations = [
  endpoint(
    "GET /api/v1/journeys/:id/simulations/:simulationId",
    { uses: [storeRead] },
    { summary: "Get a simulation on history, with what it has counted so far", returns: HistorySimulation },
    async ({ store, params }) => {
      const { job, work } = await getSimulation(store, params.id, params.simulationId);
      return shown({ simulated: simulatedOf(job), work, version: job.version });
    },
  ),

  endpoint(
    "POST /api/v1/journeys/:id/simulations/:simulationId/cancel",
    { permission: "content:write", uses: [storeWrite] },
    {
      summary: "Cancel a simulation on history",
      description: "What it has counted can still be read.",
      returns: HistorySimulation,
      errors: ["CONFLICT"],
    },
    async ({ store, params }) => {
      const { work } = await getSimulation(store, params.id, params.simulationId);
      const job = await cancelSimulation(store, params.id, params.simulationId);
      return shown({ simulated: simulatedOf(job), work, version: job.version });
    },
  ),
];
