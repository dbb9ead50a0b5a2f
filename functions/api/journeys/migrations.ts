// Migrations: waiting runs are moved to another version of their journey (F20).
import * as v from "valibot";
import { said, Timestamp, titled } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { conflict, invalid } from "../../../shared/kernel/errors.ts";
import { STEPS_OF_A_JOURNEY } from "../../../shared/rules/journey-grammar.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { type StoreReader, storeRead, storeWrite } from "../../../shared/store/context.ts";
import { getJourney } from "../../../shared/store/journeys/journeys.ts";
import {
  correspondingSteps,
  createMigration,
  getMigration,
  type Migration,
  progressOfMigration,
} from "../../../shared/store/journeys/migrations.ts";
import { getVersion } from "../../../shared/store/journeys/versions.ts";
import { fromJson } from "../../../shared/store/json-text.ts";

const MAX_ID_CHARACTERS = 128;

const Version = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1, "must be 1 at least"),
  v.maxValue(9_999_999, "must have at most 7 digits"),
);
const StepId = v.pipe(v.string("must be the id of a step"), v.maxLength(MAX_ID_CHARACTERS));

const MigrationInput = v.strictObject({
  from: said("The version that the runs are on", Version),
  to: said("The version that they move to", Version),
  steps: said(
    "By steps of the first version: the steps of the other one where their runs continue",
    v.optional(
      v.pipe(
        v.record(StepId, StepId, "must be an object of ids of steps"),
        v.maxEntries(STEPS_OF_A_JOURNEY, `must have at most ${STEPS_OF_A_JOURNEY} steps`),
      ),
      {},
    ),
  ),
});

const MigrationOutput = titled("JourneyMigration", {
  id: said("The id", v.string()),
  status: said("Whether all runs were looked at", v.picklist(["processing", "completed"])),
  from: said("The version that the runs are on", v.number()),
  to: said("The version that they move to", v.number()),
  steps: said("The steps that correspond, also those of one id", v.record(v.string(), v.string())),
  moved: said("Runs that were moved", v.number()),
  progress: said("The share of the journey's runs that was looked at, 0 to 1", v.number()),
  created_at: Timestamp,
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

async function shown(store: StoreReader, job: Migration): Promise<v.InferOutput<typeof MigrationOutput>> {
  const { id, from, to, created_at } = job;
  const { moved, progress } = await progressOfMigration(store, job);
  const status = progress === 1 ? ("completed" as const) : ("processing" as const);
  return { id, status, from, to, steps: fromJson(job.steps), moved, progress, created_at };
}

export const journeyMigrations = [
  endpoint(
    "POST /api/v1/journeys/:id/migrations",
    { permission: "send", uses: [storeWrite, timers] },
    {
      summary: "Move waiting runs to another version of the journey",
      description:
        "Both versions were activated. A run continues on the step that `steps` names, else on the step with the same id " +
        "and type; a run on a step without either stays on its version. A run keeps its timers: a delay or wait ends when " +
        "it would have. Exit conditions of the new version are evaluated at once. The numbers of a run go with it.",
      body: MigrationInput,
      returns: MigrationOutput,
      status: 202,
      example: { body: { from: 1, to: 2, steps: { pause: "rest" } } },
      errors: ["CONFLICT"],
    },
    async ({ store, timers, params, body: { from, to, steps: named } }) => {
      const { id, status } = await getJourney(store, params.id);
      if (status !== "active" && status !== "paused")
        throw conflict(`The journey is ${status} and has no runs to move.`);
      if (from === to) throw invalid({ to: "must be another version than from" });
      const graphOf = async (version: number, field: string) => {
        const found = await getVersion(store, id, version);
        if (!found) throw invalid({ [field]: "is no version of this journey that was activated" });
        return found.graph;
      };
      const steps = correspondingSteps(await graphOf(from, "from"), await graphOf(to, "to"), named);
      return shown(store, await createMigration(store, timers, { journey: id, from, to, steps }));
    },
  ),

  endpoint(
    "GET /api/v1/journeys/:id/migrations/:migrationId",
    { uses: [storeRead] },
    { summary: "Get a migration of runs with its progress", returns: MigrationOutput },
    async ({ store, params }) => shown(store, await getMigration(store, params.id, params.migrationId)),
  ),
];
