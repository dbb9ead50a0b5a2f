// Whether the month's quota prevents a person from beginning a run now (AMB-147).
import type { Graph } from "../../rules/journey-graph.ts";
import { nextMove } from "../../rules/journey-move.ts";
import type { StoreReader } from "../context.ts";
import { keep } from "../sends/audience/audiences.ts";
import { candidatesById } from "../sends/audience/candidates.ts";
import { allowanceOf, sendsLeft } from "../workspaces/usage.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import { factsOf } from "./facts.ts";
import type { Journey } from "./journeys.ts";
import { openPlans } from "./simulated-sends.ts";

/**
 * Whether a run is beyond the quota: a run that would send before it waits does not begin after the month's sends are
 * used up. A run whose first steps send nothing, or whose send would skip the person, uses no quota and begins.
 */
export async function beyondQuotaNow(
  store: StoreReader,
  journey: Pick<Journey, "steps">,
  subscriber: string,
  workspace: () => Promise<WorkspaceRecord | undefined>,
): Promise<"over_quota" | null> {
  const record = await workspace();
  if (!record || (await sendsLeft(store, allowanceOf(record))) > 0) return null;

  const graph = journey.steps as Graph;
  const now = store.clock.now();
  const run = { id: store.ids.uuidAt(now), subscriber_id: subscriber, context: {} };
  const mover = { position: { step: graph.start, at: now, heard: now }, isNew: true, trigger: undefined };
  const move = await nextMove(graph, mover, factsOf(store, graph, run, { now, pauses: undefined }));
  const plan = move?.send && (await openPlans({ store, workspace: record })(move.send.node));
  if (!plan) return null;

  const [judged] = await keep(store, await candidatesById(store, [subscriber], plan.rules), plan.rules);
  return judged?.judgement.kind === "send" ? "over_quota" : null;
}
