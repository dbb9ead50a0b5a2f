// What the branches and waits of a run asked for, in words.
import { wantedText } from "../../rules/clause-words.ts";
import type { Graph } from "../../rules/journey-graph.ts";
import { withTriggerValues } from "../../rules/journey-run.ts";
import type { StoreReader } from "../context.ts";
import { compiledRule } from "../segments/rules.ts";
import type { Run } from "./runs.ts";

/** @returns by step: the condition of a branch, the name of the event of a wait */
export async function askedBySteps(
  store: StoreReader,
  { steps }: Run,
  graph: Graph | undefined,
): Promise<ReadonlyMap<string, string>> {
  const asked = steps.map(async ({ step }) => {
    const node = graph?.steps[step];
    if (node?.type === "wait_for_event") return [[step, node.wait_for_event.event_name] as const];
    if (node?.type !== "branch") return [];
    const rule = await compiledRule(store, withTriggerValues(node.branch.condition, {}));
    return [[step, wantedText(rule)] as const];
  });
  return new Map((await Promise.all(asked)).flat());
}
