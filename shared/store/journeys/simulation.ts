// What a journey would do with a subscriber or a sample, from a time on, if given events happened: the engine of the
// journeys moves through its steps on a clock of its own. Nothing is written or sent.
import { timestamp } from "../../kernel/clock.ts";
import { invalid } from "../../kernel/errors.ts";
import type { Graph, JourneyNode } from "../../rules/journey-graph.ts";
import { knowledgeOf, type Source } from "../../rules/journey-knowledge.ts";
import { advance, type Position } from "../../rules/journey-run.ts";
import { comparisonIn, compilePredicate } from "../../rules/predicates.ts";
import { compileTemplate, isRenderError, type RenderScope } from "../../rules/render.ts";
import type { Reason } from "../../rules/segment-evaluation.ts";
import type { StoreReader } from "../context.ts";
import type { Actor } from "../events/items.ts";
import { readHistory } from "../segments/facts.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { attributesForRules, attributesOf, getProfile } from "../subscribers/subscribers.ts";
import { getTemplate } from "../templates/templates.ts";

interface SimulatedEvent {
  event_name: string;
  /** RFC 3339. */
  occurred_at: string;
  properties: Record<string, unknown>;
}

export interface Simulation {
  subscriber_id?: string | undefined;
  sample?:
    | { external_id?: string | undefined; email?: string | undefined; attributes: Record<string, unknown> }
    | undefined;
  events: readonly SimulatedEvent[];
  start_at?: string | undefined;
}

interface SimulatedStep {
  step: string;
  type: JourneyNode["type"];
  at: string;
  outcome: string;
  /** Of a branch: its condition, clause by clause. */
  clauses: Reason[];
  /** Of a send; null where its text cannot be rendered. */
  rendering: { title: string; body: string; unknown_variables: string[] } | null;
}

export interface Simulated {
  steps: SimulatedStep[];
  /** `waiting`: nothing that was given moves the run on. */
  ended: { status: "completed" | "exited" | "waiting"; step: string; at: string; reason: string | null };
}

/** Moves of one simulation: a graph may lead back to an earlier step. */
const MAX_MOVES = 300;

/** @param graph steps that can be run @param trigger the name of the event that starts the journey, if one does */
export async function simulate(
  store: StoreReader,
  { graph, trigger }: { graph: Graph; trigger: string | undefined },
  given: Simulation,
): Promise<Simulated> {
  const subject = await subjectOf(store, given);
  const events = given.events.map((event, i) => ({ ...event, id: `event-${i}`, at: Date.parse(event.occurred_at) }));
  const cause = events.find(({ event_name }) => event_name === trigger);
  const start = given.start_at === undefined ? (cause?.at ?? store.clock.now()) : Date.parse(given.start_at);
  const scope: RenderScope = { subscriber: subject.rendered, data: {}, event: cause?.properties };
  const steps: SimulatedStep[] = [];
  let position: Position = { step: graph.start };
  let now = start;
  for (let moves = 0; moves < MAX_MOVES; moves++) {
    const clauses: Reason[][] = [];
    const source = sourceOf(store, { subject, events, cause, start, now, clauses });
    const { outcomes, arrival } = await advance(graph, position, knowledgeOf(graph, source, now));
    for (const { step, name: outcome } of outcomes) {
      const type = graph.steps[step]?.type ?? "exit";
      const judged = type === "branch" ? (clauses.shift() ?? []) : [];
      steps.push({ step, type, at: timestamp(now), outcome, clauses: judged, rendering: null });
    }
    if (arrival.kind === "ends") {
      const { status, step, reason } = arrival;
      return { steps, ended: { status, step, at: timestamp(now), reason } };
    }
    if (arrival.kind === "sends") {
      const { node, next } = arrival;
      const rendering = await rendered(store, node, scope, now);
      steps.push({ step: node.id, type: "send", at: timestamp(now), outcome: "sent", clauses: [], rendering });
      if (!next) return { steps, ended: { status: "completed", step: node.id, at: timestamp(now), reason: "sent" } };
      position = next;
      continue;
    }
    position = arrival.position;
    const moments = [...events.map(({ at }) => at), arrival.position.until ?? Number.POSITIVE_INFINITY];
    const following = Math.min(...moments.filter((at) => at > now));
    if (!Number.isFinite(following)) break;
    now = following;
  }
  return { steps, ended: { status: "waiting", step: position.step, at: timestamp(now), reason: null } };
}

interface Subject {
  attributes: Record<string, unknown>;
  rendered: RenderScope["subscriber"];
  actors: readonly Actor[];
}

/** @throws 422 unless exactly one of a subscriber and a sample is given. */
async function subjectOf(store: StoreReader, { subscriber_id: id, sample }: Simulation): Promise<Subject> {
  if ((id === undefined) === (sample === undefined))
    throw invalid({ subscriber_id: "either subscriber_id or sample must be given" });
  if (sample) {
    const { external_id = "sample", email, attributes } = sample;
    const own = { external_id, ...(email !== undefined && { email }) };
    return { attributes: { ...own, ...attributes }, rendered: { id: "", ...own, attributes }, actors: [] };
  }
  const subscriber = id ?? "";
  const profile = await getProfile(store, subscriber);
  if (!profile) throw invalid({ subscriber_id: "no such subscriber in this workspace" });
  const { external_id, email } = profile;
  const aliases = await aliasesOf(store, subscriber);
  return {
    attributes: attributesForRules(profile),
    rendered: { id: subscriber, external_id, email, attributes: attributesOf(profile) },
    actors: [{ subscriber }, ...aliases.map((anonymous) => ({ anonymous }))],
  };
}

interface Placed extends SimulatedEvent {
  id: string;
  at: number;
}

interface Moment {
  subject: Subject;
  events: readonly Placed[];
  cause: Placed | undefined;
  start: number;
  now: number;
  /** The clauses of each condition that was asked for, in order. */
  clauses: Reason[][];
}

/** What the engine may know at a moment: the stored history of the subscriber, and the given events until then. */
function sourceOf(store: StoreReader, { subject, events, cause, start, now, clauses }: Moment): Source {
  const happened = events.filter(({ at }) => at <= now);
  return {
    enteredAt: start,
    arrivedAt: now,
    triggerId: cause?.id,
    aheadMs: 0,
    triggerProperties: async () => cause?.properties ?? {},
    attributes: async () => subject.attributes,
    zone: store.zone,
    times: async (conditions) => {
      const history = subject.actors.length > 0 ? await readHistory(store, subject.actors, conditions) : undefined;
      return (node) => {
        const satisfies = compilePredicate(node.where ?? {}, comparisonIn(node.zone));
        const own = happened.filter(({ event_name, properties }) => event_name === node.name && satisfies(properties));
        return [...(history?.times(node) ?? []), ...own.map(({ at }) => at)].sort((a, b) => b - a);
      };
    },
    find: async (_, __, counts) => happened.find(counts),
    explained: (reasons) => clauses.push(reasons),
  };
}

/** The text of a send as its template says it. */
async function rendered(
  store: StoreReader,
  { send: { content, template_id } }: JourneyNode & { type: "send" },
  scope: RenderScope,
  now: number,
): Promise<SimulatedStep["rendering"]> {
  const { title, body } =
    template_id === undefined ? (content ?? EMPTY) : (await getTemplate(store, template_id)).content;
  try {
    const [first, second] = [title, body].map((text) => compileTemplate(text).render(scope, { now, escape: "none" }));
    const unknown = [...(first?.unknown ?? []), ...(second?.unknown ?? [])];
    return { title: first?.text ?? "", body: second?.text ?? "", unknown_variables: [...new Set(unknown)] };
  } catch (error) {
    if (isRenderError(error)) return null;
    throw error;
  }
}

const EMPTY = { title: "", body: "" };
