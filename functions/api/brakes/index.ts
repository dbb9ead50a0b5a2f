// The brakes of a journey's send steps (F21): their figures, and how a halted step is resumed or canceled.
import * as v from "valibot";
import { Halt, Safety, SafetyInput } from "../../../shared/contract/safety.ts";
import { said, titled } from "../../../shared/contract/schemas.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { conflict, notFound } from "../../../shared/kernel/errors.ts";
import type { Graph } from "../../../shared/rules/journey-graph.ts";
import { workspaceRead } from "../../../shared/store/capabilities.ts";
import { type StoreReader, storeRead, storeWrite } from "../../../shared/store/context.ts";
import { getJourney } from "../../../shared/store/journeys/journeys.ts";
import type { StepRef } from "../../../shared/store/journeys/step-brake-items.ts";
import { cancelStep, limitsOf, resumeStep, viewStep } from "../../../shared/store/journeys/step-brakes.ts";
import { haltOfStep, stepStates } from "../../../shared/store/journeys/step-states.ts";
import { getVersion, listVersions } from "../../../shared/store/journeys/versions.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";

const counts = (description: string) => said(description, v.record(v.string(), v.number()));

const JourneyBrake = titled("JourneyBrake", {
  version: said("The version of the journey", v.number()),
  step: said("The id of the step", v.string()),
  status: said(
    "`halted`: runs wait at the step. `canceled`: it was, and runs that arrive there are canceled",
    v.picklist(["open", "halted", "canceled"]),
  ),
  safety: said("The limits at which it halts; `null`: switched off", v.nullable(Safety)),
  halted: said("Why it halted, until it is resumed", v.nullable(Halt)),
  under_way: said("Messages that were begun and not tried yet", v.number()),
  tried: counts("Of the last messages, those that were tried, by channel type"),
  errors: counts("Of these, refused by the provider or without an answer"),
  bounced: said("Mails that bounced since it was resumed, or from the beginning", v.number()),
  complained: said("Complaints about its mails in that time", v.number()),
  opted_out: said("Opt-outs by its mails in that time", v.number()),
});

const fields = {
  version: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(9_999_999),
    v.description("The version of the step"),
  ),
  step: v.pipe(v.string(), v.nonEmpty(), v.maxLength(128), v.description("The id of the step")),
};

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

async function shown(
  store: StoreReader,
  workspace: WorkspaceRecord | undefined,
  ref: StepRef,
  graph: Graph | undefined,
) {
  const node = graph?.steps[ref.step];
  const { state, lanes, attempts, late } = await viewStep(store, ref);
  const halted = (state && haltOfStep(state)) ?? null;
  const held = halted ? ("halted" as const) : ("open" as const);
  const status = state?.canceled ? ("canceled" as const) : held;
  const { bounced, complained, opted_out } = late;
  const limits = limitsOf(node?.type === "send" ? node.send.safety : undefined, workspace, state);
  return {
    version: ref.version,
    step: ref.step,
    status,
    safety: limits ?? null,
    halted,
    under_way: lanes.reduce((sum, { underWay }) => sum + underWay, 0),
    tried: attempts.tried,
    errors: attempts.errors,
    bounced,
    complained,
    opted_out,
  };
}

/** The step of a version that was activated. @throws 404 for a step without a brake */
async function requireBrake(store: StoreReader, journey: string, { version, step }: { version: number; step: string }) {
  await getJourney(store, journey);
  const found = await getVersion(store, journey, version);
  const node = found?.graph.steps[step];
  if (node?.type !== "send" || !node.send.safety) throw notFound("brake");
  return { ref: { journey, version, step }, graph: found?.graph };
}

export const brakes = group("brakes", "The brakes of a journey's send steps: why they halt, and how they go on.", [
  endpoint(
    "GET /api/v1/journeys/:id/brakes",
    { uses: [storeRead, workspaceRead] },
    {
      summary: "List the brakes of a journey's send steps, with what is known of each",
      description:
        "Those of the steps with `safety` of the newest version that was activated, and of older versions those that " +
        "halted.",
      returns: v.object({ items: v.array(JourneyBrake) }),
    },
    async ({ store, workspace, params }) => {
      const { id } = await getJourney(store, params.id);
      const settings = await workspace();
      const states = await stepStates(store, id);
      const [newest] = (await listVersions(store, id, { before: undefined, limit: 1 })).versions;
      const steps = Object.values(newest?.graph.steps ?? {}).filter((node) => node.type === "send" && node.send.safety);
      const older = states.filter((row) => row.version !== newest?.version && row.halted !== undefined);
      const graphs = new Map([[newest?.version, newest?.graph]]);
      for (const row of older)
        if (!graphs.has(row.version)) graphs.set(row.version, (await getVersion(store, id, row.version))?.graph);
      const refs = [
        ...(newest ? steps.map((node) => ({ journey: id, version: newest.version, step: node.id })) : []),
        ...older.map((row) => ({ journey: id, version: row.version, step: row.step })),
      ];
      return { items: await Promise.all(refs.map((ref) => shown(store, settings, ref, graphs.get(ref.version)))) };
    },
  ),

  endpoint(
    "POST /api/v1/journeys/:id/brakes/resume",
    { permission: "send", uses: [storeWrite, workspaceRead] },
    {
      summary: "Resume a send step that its brake halted",
      description:
        "Runs that wait at the step go on, each once. What was known until now does not count against it any more. " +
        "`safety` changes its limits until the next version, `null` switches the brake off.",
      body: v.strictObject({ ...fields, safety: v.optional(SafetyInput) }),
      example: { body: { version: 1, step: "welcome", safety: { max_error_rate: 0.3 } } },
      returns: JourneyBrake,
      errors: ["CONFLICT"],
    },
    async ({ store, workspace, params, body: { safety, ...step } }) => {
      const { ref, graph } = await requireBrake(store, params.id, step);
      const isResumed = await resumeStep(store, ref, safety === null ? "off" : safety);
      if (!isResumed) throw conflict("The step is not halted.");
      return shown(store, await workspace(), ref, graph);
    },
  ),

  endpoint(
    "POST /api/v1/journeys/:id/brakes/cancel",
    { permission: "send", uses: [storeWrite, workspaceRead] },
    {
      summary: "Cancel a send step that its brake halted: its runs end",
      description:
        "Runs that wait at the step are canceled, and so are those that arrive there later. Activate a new version to " +
        "send again.",
      body: v.strictObject(fields),
      example: { body: { version: 1, step: "welcome" } },
      returns: JourneyBrake,
      errors: ["CONFLICT"],
    },
    async ({ store, workspace, params, body }) => {
      const { ref, graph } = await requireBrake(store, params.id, body);
      const isCanceled = await cancelStep(store, ref);
      if (!isCanceled) throw conflict("The step is not halted.");
      return shown(store, await workspace(), ref, graph);
    },
  ),
]);
