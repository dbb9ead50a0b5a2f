// The runs of a journey: listed, explained for one person, canceled.
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf, MAX_PER_PAGE } from "../../../shared/contract/paging.ts";
import { OneOf, said, Uuid } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { notFound } from "../../../shared/kernel/errors.ts";
import { elementAt } from "../../../shared/rules/element-at.ts";
import { runStatuses } from "../../../shared/rules/run-states.ts";
import { secrets, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { getJourney } from "../../../shared/store/journeys/journeys.ts";
import { NamedRun, withNames } from "../../../shared/store/journeys/named-runs.ts";
import { JourneyOfPerson, journeyOfPerson } from "../../../shared/store/journeys/person.ts";
import { listRuns } from "../../../shared/store/journeys/run-list.ts";
import { cancelRun } from "../../../shared/store/journeys/runs.ts";
import { getProfile } from "../../../shared/store/subscribers/subscribers.ts";

const MAX_STEP_CHARACTERS = 256;

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const journeyRuns = [
  endpoint(
    "GET /api/v1/journeys/:id/runs",
    { uses: [storeRead, secrets] },
    {
      summary: "List the runs of a journey, newest first",
      query: v.object({
        cursor,
        status: v.optional(OneOf(runStatuses)),
        subscriber_id: v.optional(Uuid),
        step: said(
          "Only active runs that are on this step",
          v.optional(v.pipe(v.string(), v.maxLength(MAX_STEP_CHARACTERS))),
        ),
      }),
      returns: cursorPage(NamedRun),
    },
    async ({ store, secrets, params, query: { cursor, status, subscriber_id, step } }) => {
      const journey = await getJourney(store, params.id);
      const scope = `runs:${store.tenant}:${params.id}:${status ?? ""}:${subscriber_id ?? ""}:${step ?? ""}`;
      const cursors = cursorsOf(await secrets.root(), scope, Uuid);
      const after = cursors.open(cursor);
      const query = { journey: params.id, status, step, subscriber: subscriber_id, after, limit: MAX_PER_PAGE };
      const { runs, next } = await listRuns(store, query);
      return { items: await withNames(store, journey, runs), next_cursor: cursors.seal(next) };
    },
  ),

  endpoint(
    "GET /api/v1/journeys/:id/subscribers/:subscriberId",
    { agents: "read:pii", uses: [storeRead, workspaceRead] },
    {
      summary: "Explain one person in a journey: what would have started a run, its runs, and what would happen now",
      returns: JourneyOfPerson,
    },
    async ({ store, workspace, params }) => {
      const [journey, profile] = await Promise.all([
        getJourney(store, params.id),
        getProfile(store, params.subscriberId),
      ]);
      if (!profile) throw notFound("subscriber");
      return journeyOfPerson(store, journey, profile, workspace);
    },
  ),

  endpoint(
    "POST /api/v1/journeys/:id/runs/:runId/cancel",
    { permission: "send", uses: [storeWrite] },
    {
      summary: "Cancel an active run",
      returns: NamedRun,
      errors: ["CONFLICT"],
    },
    async ({ store, params }) => {
      const journey = await getJourney(store, params.id);
      const canceled = await cancelRun(store, params.id, params.runId);
      return elementAt(await withNames(store, journey, [canceled]), 0);
    },
  ),
];
