// Plays stored events to a journey, page by page (F3): who would enter, and what would be sent. Nothing is written. The
// profile, consent and devices of a subscriber are those of today.
import { classOf } from "../../rules/channel-types.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { isPriced } from "../../rules/cost.ts";
import { type Definition, namesOf, type Recorder, replay, type Window } from "../../rules/journey-replay.ts";
import { charge, count, type ReplayTally, stepOf } from "../../rules/journey-tally.ts";
import { bucket } from "../../rules/split.ts";
import type { StoreReader } from "../context.ts";
import type { StoredEvent } from "../events/events.ts";
import { exportEvents } from "../events/export.ts";
import { eventsOf } from "../events/history.ts";
import { memberPage } from "../lists/memberships.ts";
import type { RootSecrets } from "../secrets.ts";
import { candidatesById } from "../sends/audience/candidates.ts";
import { SHARDS, shardOf } from "../shards.ts";
import { attributesForRules, getProfiles, type LivingProfile } from "../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import {
  capCounter,
  openPlans,
  quietEndFor,
  type SimulatedSend,
  type StepPlan,
  simulateSend,
} from "./simulated-sends.ts";

interface ReplayDeps {
  store: StoreReader;
  root(): Promise<RootSecrets>;
  workspace: WorkspaceRecord;
}

export interface ReplayWork {
  journey: string;
  definition: Definition;
  window: Window;
  /** The share of subscribers that is simulated: 1 to 100. */
  percent: number;
}

/** Where reading continues, and the share of the window or segment that was read: 0 to 1. */
export interface ReplayPosition {
  cursor: string;
  progress: number;
}

const EVENTS_PER_PAGE = 500;
const MEMBERS_PER_PAGE = 200;
const MAX_CONCURRENT = 10;
/** The newest events of one subscriber that are replayed. */
const MAX_EVENTS = 2_000;
const BUCKETS_PER_PERCENT = 100;

interface ReplayedSubscriber {
  subscriber: string;
  enteredSegmentAt?: number;
}

interface Page {
  found: ReplayedSubscriber[];
  /** Ids of the page's events that can start a run. */
  starting: ReadonlySet<string>;
  next: ReplayPosition | undefined;
}

/** Adds one page of the window to the tally. @returns where the next page begins; undefined after the last one */
export async function replayPage(
  deps: ReplayDeps,
  work: ReplayWork,
  position: ReplayPosition | undefined,
  tally: ReplayTally,
): Promise<ReplayPosition | undefined> {
  const page = await (work.definition.trigger.type === "event"
    ? eventPage(deps, work, position)
    : memberPageOf(deps, work, position));
  const chosen = page.found.filter(
    ({ subscriber }) => bucket("split", work.journey, subscriber) < work.percent * BUCKETS_PER_PERCENT,
  );
  const planOf = openPlans(deps);
  for (const batch of chunksOf(chosen, MAX_CONCURRENT)) {
    const ids = batch.map(({ subscriber }) => subscriber);
    const profiles = await getProfiles(deps.store, ids, { eventual: true });
    await Promise.all(
      batch.map((subscriber, i) => {
        const profile = profiles[i];
        return profile && replayOne(deps, work, { ...subscriber, profile, starting: page.starting }, { planOf, tally });
      }),
    );
  }
  return page.next;
}

async function eventPage(
  { store, root }: ReplayDeps,
  { definition: { trigger }, window }: ReplayWork,
  position: ReplayPosition | undefined,
): Promise<Page> {
  const [from, to] = [new Date(window.from).toISOString(), new Date(window.to).toISOString()];
  const query = { from, to, cursor: position?.cursor, limit: EVENTS_PER_PAGE };
  const { items, next_cursor } = await exportEvents(store, await root(), query);
  const starting = items.filter(({ event_name }) => event_name === trigger.event_name);
  const subscribers = new Set(starting.flatMap(({ subscriber_id }) => subscriber_id ?? []));
  const last = Date.parse(items.at(-1)?.occurred_at ?? from);
  const progress = (last - window.from) / (window.to - window.from);
  return {
    found: [...subscribers].map((subscriber) => ({ subscriber })),
    starting: new Set(starting.map(({ id }) => id)),
    next: next_cursor === "" ? undefined : { cursor: next_cursor, progress },
  };
}

/** A segment keeps the last entry of each member. */
async function memberPageOf(
  { store }: ReplayDeps,
  { definition: { trigger }, window }: ReplayWork,
  position: ReplayPosition | undefined,
): Promise<Page> {
  const group = { kind: "segment", id: trigger.segment_id ?? "" } as const;
  const { members, next } = await memberPage(store, group, { after: position?.cursor, limit: MEMBERS_PER_PAGE });
  const found = members.map(({ subscriber, entered_at }) => ({ subscriber, enteredSegmentAt: Date.parse(entered_at) }));
  return {
    found: found.filter(({ enteredSegmentAt: at }) => at >= window.from && at < window.to),
    starting: new Set(),
    next: next === undefined ? undefined : { cursor: next, progress: shareOf(next) },
  };
}

/** Members are read shard by shard. */
const shareOf = (id: string): number => SHARDS.indexOf(shardOf(id)) / SHARDS.length;

interface ReplayContext {
  planOf: ReturnType<typeof openPlans>;
  tally: ReplayTally;
}

async function replayOne(
  deps: ReplayDeps,
  { definition, window }: ReplayWork,
  {
    subscriber,
    profile,
    enteredSegmentAt,
    starting,
  }: ReplayedSubscriber & { profile: LivingProfile; starting: ReadonlySet<string> },
  replaying: ReplayContext,
): Promise<void> {
  const { names, back } = namesOf(definition);
  const from = back === undefined ? undefined : new Date(window.from - back).toISOString();
  const to = new Date(window.to).toISOString();
  const range = { event_name: names, from, to, limit: MAX_EVENTS };
  const events = names.length === 0 ? [] : await eventsOf(deps.store, subscriber, range);
  if (enteredSegmentAt === undefined) {
    // A subscriber is taken on the page with its first trigger event.
    const since = new Date(window.from).toISOString();
    const isFirst = ({ event_name, occurred_at }: (typeof events)[number]) =>
      event_name === definition.trigger.event_name && occurred_at >= since;
    if (!starting.has(events.find(isFirst)?.id ?? "")) return;
  }
  const { tally } = replaying;
  const recorder = recorderOf(deps, { profile, events }, replaying);
  const attributes = attributesForRules(profile);
  const { zone } = deps.store;
  const wasCut = await replay(definition, { zone, attributes, events, enteredSegmentAt }, window, recorder);
  if (wasCut || events.length === MAX_EVENTS) tally.cut++;
}

interface SubscriberHistory {
  profile: LivingProfile;
  events: readonly StoredEvent[];
}

function recorderOf(
  deps: ReplayDeps,
  { profile, events }: SubscriberHistory,
  { planOf, tally }: ReplayContext,
): Recorder {
  // Caps count only the sends of this journey.
  const caps = capCounter();
  let hasEntered = false;
  return {
    entered: () => {
      if (!hasEntered) tally.subscribers++;
      hasEntered = true;
    },
    took: ({ step, outcome, isRepeated }) => {
      const numbers = stepOf(tally, step);
      count(numbers.outcomes, outcome);
      if (isRepeated) numbers.repeated++;
    },
    ended: (status, step) => {
      tally.runs[status]++;
      if (status === "active") stepOf(tally, step).active++;
    },
    quietUntil: async (node, at) => {
      const plan = await planOf(node);
      if (!plan?.settings.quiet) return undefined;
      const [candidate] = await candidatesById(deps.store, [profile.id], plan.rules);
      return quietEndFor(deps.store, plan, candidate, at);
    },
    sends: async (node, at, id) => {
      const plan = await planOf(node);
      if (!plan) return "failed";
      const [candidate] = await candidatesById(deps.store, [profile.id], plan.rules);
      const event = events.find((candidate) => candidate.id === id)?.properties;
      const send = await simulateSend(deps.store, plan, { candidate, at, caps, event });
      if (send.kind === "skipped") {
        count(tally.skipped, send.reason);
        return `skipped:${send.reason}`;
      }
      if (send.kind === "failed") return "failed";
      countMessages(tally, plan, send, at);
      return "sent";
    },
  };
}

/** Counts the messages of a send by class, channel and day. */
function countMessages(
  tally: ReplayTally,
  { settings: { via } }: StepPlan,
  { now, later, until }: Extract<SimulatedSend, { kind: "sent" }>,
  at: number,
): void {
  const used = [...now, ...later];
  if (later.length > 0) tally.deferred++;
  tally.recipients++;
  for (const name of new Set(used.map(({ channel }) => classOf(channel)))) count(tally.classes, name);
  for (const channel of new Set(used.map((target) => target.channel)))
    if (isPriced(channel)) charge(tally, channel, via.find(({ type }) => type === channel)?.price);
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  for (const channel of new Set(now.map((target) => target.channel))) count(tally.sends, `${dayOf(at)} ${channel}`);
  for (const channel of new Set(later.map((target) => target.channel)))
    count(tally.sends, `${dayOf(until ?? at)} ${channel}`);
}
