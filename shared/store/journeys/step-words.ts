// The steps of a run in words: what they are called, why they sent nothing to the person, since when the reason holds and what set it; and what
// branches and waits asked for.
import { SECOND } from "../../kernel/clock.ts";
import { span, wantedText } from "../../rules/clause-words.ts";
import { parseDuration } from "../../rules/durations.ts";
import type { Graph, JourneyNode } from "../../rules/journey-graph.ts";
import { inPlain } from "../../rules/placeholders.ts";
import { withTriggerValues } from "../../rules/trigger-values.ts";
import { detailOf, holdsStill } from "../../rules/why-details.ts";
import type { KnownSkip } from "../../rules/why-journey-words.ts";
import type { StoreReader } from "../context.ts";
import { idKeys } from "../item.ts";
import { compiledRule } from "../segments/rules.ts";
import { PLAIN_SEND } from "../sends/jobs/job-spec.ts";
import { type JudgedSend, rulesNow } from "../sends/reports/rules-now.ts";
import type { LivingProfile } from "../subscribers/subscribers.ts";
import { TemplateItem } from "../templates/items.ts";
import { topicOfSend } from "../topics/topics.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import type { Run } from "./runs.ts";

const SKIPPED = "skipped:";
const FAILED = "failed";

/** The fields of a step's send that decide who gets it. */
async function sendOf(store: StoreReader, { id, send }: JourneyNode & { type: "send" }): Promise<JudgedSend> {
  return {
    ...PLAIN_SEND,
    channel_ids: send.channel_ids,
    category: send.category ?? "marketing",
    topic: await topicOfSend(store, send.topic),
    deliverySettings: undefined,
    source: { type: "journey", id },
  };
}

interface StepContext {
  graph: Graph | undefined;
  profile: LivingProfile;
  workspace: () => Promise<WorkspaceRecord | undefined>;
}

/** Details of skipped messages. @returns by step; other steps are left out */
export async function skipDetails(
  store: StoreReader,
  run: Run,
  { graph, profile, workspace }: StepContext,
): Promise<ReadonlyMap<string, KnownSkip>> {
  const skipped = run.steps.filter(({ outcome }) => outcome.startsWith(SKIPPED) || outcome === FAILED);
  const owner = skipped.length > 0 ? await workspace() : undefined;
  if (!owner) return new Map();
  const details = skipped.map(async ({ step, outcome }) => {
    const node = graph?.steps[step];
    if (node?.type !== "send") return [];
    const now = await rulesNow(store, await sendOf(store, node), profile, async () => owner);
    // A step fails if none of its channels could send; a refusal of a provider is shown in its own words.
    const failed = now.channels.length === 0 ? "no_channel" : null;
    const reason = outcome === FAILED ? failed : outcome.slice(SKIPPED.length);
    const known = { reason, attempts: [], now, sent_at: run.ended_at };
    return [[step, { words: detailOf(known), holdsStill: holdsStill(known) }] as const];
  });
  return new Map((await Promise.all(details)).flat());
}

/** The conditions of steps. @returns by step: the condition of a branch, the name of the event of a wait */
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

/** The names of a version's steps. An unknown step is named by its id. */
export async function stepNames(store: StoreReader, graph: Graph | undefined): Promise<(step: string) => string> {
  const nodes = Object.entries(graph?.steps ?? {});
  const templateOf = (node: JourneyNode) => (node.type === "send" ? node.send.template_id : undefined);
  const templates = [...new Set(nodes.flatMap(([, node]) => templateOf(node) ?? []))];
  const rows = await store.getAll(TemplateItem, idKeys(templates), { eventual: true });
  const titles = new Map(templates.map((id, i) => [id, rows[i]?.name]));
  const names = new Map(nodes.map(([id, node]) => [id, stepName(node, titles.get(templateOf(node) ?? ""))]));
  return (step) => names.get(step) ?? step;
}

/**
 * The name of a step in a sentence: its action, because steps have no names of their own. @param template the name of
 * the template of a send, if it exists
 */
function stepName(node: JourneyNode, template?: string): string {
  switch (node.type) {
    case "send": {
      const title = node.send.content ? inPlain(node.send.content.title) : template;
      return title ? `the message “${title}”` : "a message of a template";
    }
    case "delay":
      return `the wait of ${span((parseDuration(node.delay.duration) ?? 0) / SECOND)}`;
    case "branch":
      return "the branch";
    case "wait_for_event":
      return `the wait for ${node.wait_for_event.event_name}`;
    default:
      return "the end";
  }
}
