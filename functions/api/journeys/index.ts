// Journeys: what happens to each subscriber, step by step, from a trigger to an exit.
import * as v from "valibot";
import { cursor, cursorsOf, MAX_PER_PAGE } from "../../../shared/contract/paging.ts";
import { said, Uuid } from "../../../shared/contract/schemas.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { editAsSeen, IF_MATCH, tagged } from "../../../shared/http/if-match.ts";
import { conflict } from "../../../shared/kernel/errors.ts";
import type { EntryRules, Graph } from "../../../shared/rules/journey-graph.ts";
import { attributeKeysIn } from "../../../shared/rules/journey-paths.ts";
import { secrets, timers } from "../../../shared/store/capabilities.ts";
import { type StoreReader, storeRead, storeWrite } from "../../../shared/store/context.ts";
import { countsOf, countsOfVersion } from "../../../shared/store/journeys/counts.ts";
import {
  activateJourney,
  archiveJourney,
  countJourneys,
  createJourney,
  duplicateJourney,
  getJourney,
  Journey,
  listJourneys,
  pauseJourney,
  removeJourney,
  replaceJourney,
} from "../../../shared/store/journeys/journeys.ts";
import { refusedOf } from "../../../shared/store/journeys/refusals.ts";
import { unknownKeys } from "../../../shared/store/subscribers/unknown-keys.ts";
import { definitionOf, JOURNEY_LIMITS, JourneyInput, journeyExample, requireRunnable } from "./input.ts";
import { journeyMigrations } from "./migrations.ts";
import { journeyRuns } from "./runs.ts";
import { simulateJourney } from "./simulate.ts";
import { historySimulations } from "./simulations.ts";
import { journeyVersions, requireVersion } from "./versions.ts";

/** Adds the numbers of runs, which only the list has (JNY-6). */
const withNumbers = (journey: Journey, { entered, completed } = { entered: 0, completed: 0 }) => ({
  ...journey,
  entered,
  completed,
});

/** Adds the keys of its rules that no subscriber has (AMB-148). */
async function warned(store: StoreReader, journey: Journey) {
  const keys = attributeKeysIn(journey.entry_rules as EntryRules | null, journey.steps as Partial<Graph>);
  return { ...withNumbers(journey), ...(await unknownKeys(store, keys)) };
}

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

/** The numbers of steps, all zero: no run is on them. */
const withoutRuns = (steps: object) =>
  Object.fromEntries(Object.keys(steps).map((id) => [id, { active: 0, outcomes: {} }]));

export const journeys = group("journeys", "What happens to each subscriber, from a trigger to an exit.", [
  endpoint(
    "GET /api/v1/journeys",
    { agents: "read", uses: [storeRead, secrets] },
    {
      summary: "List journeys, newest first, with how many entered and completed",
      query: v.object({ cursor }),
      returns: v.object({ journeys: v.array(Journey), next_cursor: v.string() }),
    },
    async ({ store, secrets, query: { cursor } }) => {
      const cursors = cursorsOf(await secrets.root(), `journeys:${store.tenant}`, Uuid);
      const { items, next } = await listJourneys(store, { after: cursors.open(cursor), limit: MAX_PER_PAGE });
      const ids = items.map(({ id }) => id);
      const counts = await countsOf(store, ids);
      const numbers = counts.map(({ runs }) => ({
        entered: Object.values(runs).reduce((sum, n) => sum + n, 0),
        completed: runs.completed,
      }));
      return {
        journeys: items.map((journey, i) => withNumbers(journey, numbers[i])),
        next_cursor: cursors.seal(next),
      };
    },
  ),

  endpoint(
    "POST /api/v1/journeys",
    { permission: "content:write", agents: "write:drafts", uses: [storeWrite] },
    {
      summary: "Create a journey as a draft",
      description: "A draft may be incomplete: activation validates all of it.",
      body: JourneyInput,
      limits: JOURNEY_LIMITS,
      returns: Journey,
      status: 201,
      errors: ["QUOTA_EXCEEDED"],
      example: { body: journeyExample },
    },
    async ({ store, body }) => warned(store, await createJourney(store, definitionOf(body, ["malformed"]))),
  ),

  endpoint(
    "GET /api/v1/journeys/counts",
    { uses: [storeRead] },
    {
      summary: "Count journeys: active ones, and all that are not archived",
      returns: v.object({ active: v.number(), total: v.number() }),
    },
    ({ store }) => countJourneys(store),
  ),

  endpoint(
    "GET /api/v1/journeys/:id",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get a journey",
      description: "The header `ETag` is its version.",
      returns: Journey,
    },
    async ({ store, params }) => tagged(await warned(store, await getJourney(store, params.id))),
  ),

  endpoint(
    "PUT /api/v1/journeys/:id",
    { permission: "content:write", uses: [storeWrite] },
    {
      summary: "Replace a draft or paused journey; runs stay on the version they entered",
      description: IF_MATCH,
      body: JourneyInput,
      limits: JOURNEY_LIMITS,
      returns: Journey,
      errors: ["CONFLICT", "PRECONDITION_FAILED", "TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE"],
      example: { body: journeyExample },
    },
    ({ store, caller, params, body, headers }) =>
      editAsSeen(headers, Journey, {
        read: () => getJourney(store, params.id),
        edit: async (seen) => {
          const journey = seen ?? (await getJourney(store, params.id));
          const definition = definitionOf(body, ["malformed", "wrong"]);
          if (journey.status === "paused") await requireRunnable(store, workspaceOf(caller).plan, definition);
          return replaceJourney(store, journey, definition);
        },
        show: (journey) => warned(store, journey),
      }),
  ),

  simulateJourney,
  ...historySimulations,
  ...journeyVersions,
  ...journeyMigrations,

  endpoint(
    "POST /api/v1/journeys/:id/activate",
    { permission: "send", uses: [storeWrite] },
    {
      summary: "Activate a draft or paused journey after checking all of it",
      returns: Journey,
      errors: ["CONFLICT", "TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE"],
    },
    async ({ store, caller, params }) => {
      const journey = await getJourney(store, params.id);
      const { status } = journey;
      if (status !== "draft" && status !== "paused")
        throw conflict(`The journey is ${status} and cannot be activated.`);
      const graph = await requireRunnable(store, workspaceOf(caller).plan, journey);
      return warned(store, await activateJourney(store, journey, graph));
    },
  ),

  endpoint(
    "POST /api/v1/journeys/:id/pause",
    { permission: "send", uses: [storeWrite] },
    {
      summary: "Pause an active journey: no subscriber enters, and runs stay where they are",
      returns: Journey,
      errors: ["CONFLICT"],
    },
    async ({ store, params }) => withNumbers(await pauseJourney(store, params.id)),
  ),

  endpoint(
    "POST /api/v1/journeys/:id/archive",
    { permission: "send", uses: [storeWrite] },
    {
      summary: "Archive a draft or paused journey; its active runs are canceled",
      returns: Journey,
      errors: ["CONFLICT"],
    },
    async ({ store, params }) => withNumbers(await archiveJourney(store, params.id)),
  ),

  endpoint(
    "POST /api/v1/journeys/:id/duplicate",
    { permission: "content:write", uses: [storeWrite] },
    {
      summary: "Copy a journey into a new draft",
      returns: Journey,
      status: 201,
      errors: ["QUOTA_EXCEEDED"],
    },
    async ({ store, params }) => withNumbers(await duplicateJourney(store, params.id)),
  ),

  endpoint(
    "DELETE /api/v1/journeys/:id",
    { permission: "content:write", uses: [storeWrite, timers] },
    { summary: "Delete a journey and all its runs" },
    ({ store, timers, params }) => removeJourney(store, timers, params.id),
  ),

  endpoint(
    "GET /api/v1/journeys/:id/stats",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Count a journey's runs by status, and its active runs and outcomes by step",
      description:
        "Of one version, the runs are counted when they are asked for: those of erased subscribers are left out, and beyond " +
        "10,000 runs of the journey the numbers are estimates.",
      query: v.object({
        version: said(
          "Only runs of this version, which was activated",
          v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,6}$/, "must be the number of a version"))),
        ),
      }),
      returns: v.object({
        runs: v.record(v.string(), v.number()),
        steps: v.record(v.string(), v.object({ active: v.number(), outcomes: v.record(v.string(), v.number()) })),
        refused: said(
          "What would have started a run and did not, by reason; not of a version",
          v.optional(v.record(v.string(), v.number())),
        ),
        exact: said("Of a version: whether every run was counted", v.optional(v.boolean())),
      }),
    },
    async ({ store, params, query: { version } }) => {
      const { steps } = await getJourney(store, params.id);
      if (version !== undefined) {
        const { graph } = await requireVersion(store, params.id, version);
        const counted = await countsOfVersion(store, params.id, Number(version));
        return { ...counted, steps: { ...withoutRuns(graph.steps), ...counted.steps } };
      }
      const [[counts], refused] = await Promise.all([countsOf(store, [params.id]), refusedOf(store, params.id)]);
      return { runs: { ...counts?.runs }, refused, steps: { ...withoutRuns(steps.steps ?? {}), ...counts?.steps } };
    },
  ),

  ...journeyRuns,
]);
