// Simulates a journey for a subscriber or a sample, from a time on, if given events happened: the replay of one person,
// whose entry and sends are judged as real ones are. Nothing is written or sent.
import { pageRoom } from "../../contract/paging.ts";
import { timestamp } from "../../kernel/clock.ts";
import { invalid } from "../../kernel/errors.ts";
import type { ChannelType } from "../../rules/channel-types.ts";
import type { JourneyNode } from "../../rules/journey-graph.ts";
import type { KnownEvent } from "../../rules/journey-knowledge.ts";
import { type Definition, namesOf, type Recorder, type ReplayRefusal, replay } from "../../rules/journey-replay.ts";
import type { RenderScope } from "../../rules/render.ts";
import type { Reason } from "../../rules/segment-evaluation.ts";
import type { StoreReader } from "../context.ts";
import { eventsOf } from "../events/history.ts";
import type { MailReading } from "../files/mails.ts";
import { toJson } from "../json-text.ts";
import type { Value } from "../model.ts";
import { candidatesById, type PlacedCandidate, placed } from "../sends/audience/candidates.ts";
import { countsOf } from "../sends/audience/caps.ts";
import { shownOn, wordsOf } from "../sends/content/chat-app-words.ts";
import { rendererOf } from "../sends/content/texts.ts";
import { attributesForRules, getProfile, type LivingProfile, subscriberOf } from "../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import { isWithdrawn, newestRuns } from "./run-rows.ts";
import { capCounter, openPlans, quietEndFor, type StepPlan, simulateSend } from "./simulated-sends.ts";

interface SimulatedEvent {
  event_name: string;
  /** RFC 3339. */
  occurred_at: string;
  properties: Record<string, unknown>;
}

interface Simulation {
  subscriber_id?: string | undefined;
  sample?:
    | { external_id?: string | undefined; email?: string | undefined; attributes: Record<string, unknown> }
    | undefined;
  events: readonly SimulatedEvent[];
  start_at?: string | undefined;
}

interface Message {
  /** The types of the channels that it goes by, now or after quiet hours. */
  channels: ChannelType[];
  /** The end of the quiet hours that some of it waits for. */
  deferred_until: string | null;
  /** Null where its text cannot be rendered. */
  rendering: Words | null;
}

interface Words {
  title: string;
  body: string;
  unknown_variables: string[];
  /** The answer has no room for them. */
  left_out?: string[];
}

interface SimulatedStep extends Message {
  step: string;
  type: JourneyNode["type"];
  at: string;
  outcome: string;
  /** The condition of a branch, clause by clause. */
  clauses: Reason[];
}

interface SimulatedRun {
  entry: { at: string; reason: ReplayRefusal | null; clauses: Reason[] };
  steps: SimulatedStep[];
  /** `waiting`: nothing that was given moves the run on. `refused`: no run begins. */
  ended: { status: "completed" | "exited" | "waiting" | "refused"; step: string; at: string; reason: string | null };
}

interface Deps {
  store: StoreReader;
  workspace: WorkspaceRecord;
  mails: MailReading;
}

/** Stored events of one subscriber that are looked at: the newest ones. */
const MAX_EVENTS = 2_000;
const NOT_READ = { now: [], later: [], until: undefined };
const NO_MESSAGE: Message = { channels: [], deferred_until: null, rendering: null };

/** @param definition steps that can be run */
export async function simulate(
  deps: Deps,
  { id: journey, definition }: { id: string; definition: Definition },
  simulation: Simulation,
): Promise<SimulatedRun> {
  const { store } = deps;
  const happening = simulation.events.map((event, i): KnownEvent => ({ ...event, id: `event-${i}` }));
  const { trigger, graph } = definition;
  const event = happening.find(({ event_name }) => trigger.type === "event" && event_name === trigger.event_name);
  const first = event ? Date.parse(event.occurred_at) : store.clock.now();
  const at = simulation.start_at === undefined ? first : Date.parse(simulation.start_at);
  const subject = await subjectOf(store, simulation, { journey, definition, at });
  const simulated: SimulatedRun = {
    entry: { at: timestamp(at), reason: null, clauses: [] },
    steps: [],
    ended: { status: "waiting", step: graph.start, at: timestamp(at), reason: null },
  };
  await replay(
    definition,
    {
      zone: store.zone,
      attributes: subject.attributes,
      events: [...subject.events, ...happening],
      entry: { at, event },
      former: subject.former,
    },
    { from: at, to: Number.POSITIVE_INFINITY },
    recorderOf(deps, { definition, subject, happening, event }, simulated),
  );
  return simulated;
}

interface Walk {
  definition: Definition;
  subject: Subject;
  happening: readonly KnownEvent[];
  /** The event that starts the run, if one does. */
  event: KnownEvent | undefined;
}

const NO_ROOM: Words = { title: "", body: "", unknown_variables: [], left_out: ["title", "body"] };

/** Adds what happens to the answer. */
function recorderOf(deps: Deps, { definition, subject, happening, event }: Walk, simulated: SimulatedRun): Recorder {
  const { store, mails } = deps;
  const { steps, start } = definition.graph;
  const planOf = openPlans(deps);
  const caps = capCounter(async (cap, timezone, now) => {
    const [counted = []] = subject.id ? await countsOf(store, { timezone, now }, [subject.id], cap) : [];
    return counted;
  });
  const hasRoom = pageRoom();
  let message = NO_MESSAGE;
  return {
    explains: true,
    entered: () => undefined,
    refused: (reason, at, clauses) => {
      simulated.entry = { at: timestamp(at), reason, clauses };
      simulated.ended = { status: "refused", step: start, at: timestamp(at), reason };
    },
    took: ({ step, outcome, at, clauses }) => {
      const type = steps[step]?.type ?? "exit";
      const sent = type === "send" ? message : NO_MESSAGE;
      simulated.steps.push({ step, type, at: timestamp(at), outcome, clauses, ...sent });
    },
    quietUntil: async (node, at) => {
      const plan = await planOf(node);
      return plan && quietEndFor(store, plan, await subject.candidate(plan), at);
    },
    sends: async (node, at, id) => {
      message = NO_MESSAGE;
      const found = await planOf(node);
      if (!found) return "failed";
      const [said = found.said] = await mails.whole([found.said]);
      const plan = { ...found, said };
      const caused = (happening.find((item) => item.id === id) ?? event)?.properties;
      const candidate = await subject.candidate(plan);
      const send = await simulateSend(store, plan, { candidate, at, caps, event: caused });
      if (send.kind === "skipped") return `skipped:${send.reason}`;
      const scope = { subscriber: subject.rendered, data: {}, event: caused };
      const { now, later, until } = send.kind === "failed" ? NOT_READ : send;
      const channels = [...new Set([...now, ...later].map(({ channel }) => channel))];
      const rendering = rendered(plan, channels[0] ?? plan.settings.via[0]?.type ?? "in_app", scope, at);
      message = {
        channels,
        deferred_until: later.length > 0 && until !== undefined ? timestamp(until) : null,
        rendering: rendering && !hasRoom(rendering) ? NO_ROOM : rendering,
      };
      return rendering ? send.kind : "failed";
    },
    ended: (status, step, at, reason) => {
      simulated.ended = { status: status === "active" ? "waiting" : status, step, at: timestamp(at), reason };
    },
  };
}

interface Subject {
  /** Empty for a sample. */
  id: string;
  attributes: Record<string, unknown>;
  rendered: RenderScope["subscriber"];
  /** Stored events up to the start, oldest first. */
  events: readonly KnownEvent[];
  former: { enteredAt: number; isActive: boolean } | undefined;
  candidate(plan: StepPlan): Promise<PlacedCandidate | undefined>;
}

/** The subject of a simulation. @throws 422 unless exactly one of a subscriber and a sample is given */
async function subjectOf(
  store: StoreReader,
  { subscriber_id: id, sample }: Simulation,
  start: { journey: string; definition: Definition; at: number },
): Promise<Subject> {
  if ((id === undefined) === (sample === undefined))
    throw invalid({ subscriber_id: "either subscriber_id or sample must be given" });
  if (sample) return sampleOf(sample, store.clock.now());
  const profile = await getProfile(store, id ?? "");
  if (!profile) throw invalid({ subscriber_id: "no such subscriber in this workspace" });
  const [events, [run]] = await Promise.all([
    historyOf(store, profile.id, start),
    newestRuns(store, [{ subscriber: profile.id, journey: start.journey }]),
  ]);
  return {
    ...seenAs(profile),
    id: profile.id,
    events,
    former:
      run && !isWithdrawn(run)
        ? { enteredAt: Date.parse(run.entered_at), isActive: run.status === "active" }
        : undefined,
    candidate: async ({ rules }) => (await candidatesById(store, [profile.id], rules))[0],
  };
}

async function historyOf(
  store: StoreReader,
  subscriber: string,
  { definition, at }: { definition: Definition; at: number },
): Promise<KnownEvent[]> {
  const { names, back } = namesOf(definition);
  if (names.length === 0) return [];
  const from = back === undefined ? undefined : timestamp(at - back);
  return eventsOf(store, subscriber, { event_name: names, from, to: timestamp(at + 1), limit: MAX_EVENTS });
}

/** A subscriber that there is not: a profile without consents and devices. */
function sampleOf(
  { external_id = "sample", email, attributes }: NonNullable<Simulation["sample"]>,
  now: number,
): Subject {
  const at = timestamp(now);
  const profile: LivingProfile = { pk: "", sk: "", id: "", external_id, created_at: at, updated_at: at };
  if (email !== undefined) profile.email = email;
  for (const [key, value] of Object.entries(attributes)) profile[`a:${key}`] = toJson(value as Value);
  return {
    ...seenAs(profile),
    id: "",
    attributes: { external_id, ...(email !== undefined && { email }), ...attributes },
    events: [],
    former: undefined,
    candidate: async () => placed(profile, [], ""),
  };
}

function seenAs(profile: LivingProfile): Pick<Subject, "attributes" | "rendered"> {
  const { id, external_id, email, attributes } = subscriberOf(profile);
  return {
    attributes: attributesForRules(profile),
    rendered: { id, external_id, email, attributes: JSON.parse(attributes) },
  };
}

/** The text of a send as its first channel shows it. */
function rendered(
  { said, chatApp }: StepPlan,
  channel: ChannelType,
  scope: RenderScope,
  now: number,
): Message["rendering"] {
  const renderer = rendererOf(said, now, undefined);
  const shown = shownOn(channel, { renderer, chatApp }, { arm: undefined, scope, now });
  const { title, body, unknown } = wordsOf(shown);
  return body === null ? null : { title: title ?? "", body, unknown_variables: unknown };
}
