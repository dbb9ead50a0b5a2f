// The activated versions of a journey, and the differences between two of them (F20).
import * as v from "valibot";
import { grammar } from "../../../shared/contract/grammar.ts";
import { cursor, cursorPage, cursorsOf } from "../../../shared/contract/paging.ts";
import { said, titled } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { notFound } from "../../../shared/kernel/errors.ts";
import { diffOf } from "../../../shared/rules/journey-diff.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { type StoreReader, storeRead } from "../../../shared/store/context.ts";
import { getJourney, Journey } from "../../../shared/store/journeys/journeys.ts";
import { getVersion, listVersions, type Version } from "../../../shared/store/journeys/versions.ts";

/** A version has up to 128 KB. */
const PER_PAGE = 20;

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeRead] });

export const JourneyEdge = titled("JourneyEdge", {
  from: said("The step that it leaves", v.string()),
  by: said("`next`, or the outcome: `branch:then`, `branch:else`, `wait:event`, `wait:timeout`", v.string()),
  to: said("The step that it leads to; `null` where the run completes", v.nullable(v.string())),
});

const JourneyVersion = titled("JourneyVersion", {
  version: said("The number of the version", v.number()),
  trigger: Journey.entries.trigger,
  entry_rules: Journey.entries.entry_rules,
  steps: v.pipe(v.record(v.string(), v.any()), grammar("JourneyGraph")),
});

const steps = (description: string) => said(description, v.array(v.string()));

const Diff = titled("JourneyDiff", {
  added: steps("Steps that only the second version has"),
  removed: steps("Steps that only the first version has"),
  changed: said(
    "Steps of both versions that differ",
    v.array(
      titled("ChangedStep", {
        step: said("The id of the step", v.string()),
        fields: steps("The settings that differ; `type` where the type does"),
      }),
    ),
  ),
  edges: said(
    "The ways from step to step that differ",
    v.object({
      added: said("Ways that only the second version has", v.array(JourneyEdge)),
      removed: said("Ways that only the first version has", v.array(JourneyEdge)),
    }),
  ),
  others: steps("Of `trigger`, `entry_rules`, `start` and `exit_conditions`, those that differ"),
});

/** @throws 404 for a version that was never activated. */
export async function requireVersion(store: StoreReader, journey: string, version: string | number): Promise<Version> {
  const found = /^[1-9]\d{0,6}$/.test(String(version)) ? await getVersion(store, journey, Number(version)) : undefined;
  if (!found) throw notFound("version");
  return found;
}

export const journeyVersions = [
  endpoint(
    "GET /api/v1/journeys/:id/versions",
    { uses: [secrets] },
    {
      summary: "List the versions of a journey that were activated, newest first",
      query: v.object({ cursor }),
      returns: cursorPage(JourneyVersion),
    },
    async ({ store, secrets, params, query: { cursor } }) => {
      await getJourney(store, params.id);
      const cursors = cursorsOf(await secrets.root(), `versions:${store.tenant}:${params.id}`, v.number());
      const { versions, next } = await listVersions(store, params.id, {
        before: cursors.open(cursor),
        limit: PER_PAGE,
      });
      return {
        items: versions.map(({ graph, ...version }) => ({ ...version, steps: graph })),
        next_cursor: cursors.seal(next),
      };
    },
  ),

  endpoint(
    "GET /api/v1/journeys/:id/versions/:version/diff/:other",
    {},
    {
      summary: "Compare two versions of a journey",
      description: "Both were activated. The answer says what makes the second version out of the first.",
      returns: Diff,
    },
    async ({ store, params }) => {
      await getJourney(store, params.id);
      const first = await requireVersion(store, params.id, params.version);
      return diffOf(first, await requireVersion(store, params.id, params.other));
    },
  ),
];
