// Plays stored events to a journey, page by page (F3): who would enter, and what would be sent. Nothing is written. The
// profile, consent and devices of a subscriber are those of today.

import { counterOf, windowOf } from "../../rules/caps.ts";
import { classOf } from "../../rules/channel-types.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { isPriced } from "../../rules/cost.ts";
import { expectedOutcome } from "../../rules/expected-outcome.ts";
import type { JourneyNode } from "../../rules/journey-graph.ts";
import { type Definition, namesOf, type Recorder, replay, type Window } from "../../rules/journey-replay.ts";
import { charge, count, type ReplayTally, stepOf } from "../../rules/journey-tally.ts";
import { quietUntil } from "../../rules/quiet-hours.ts";
import type { Target } from "../../rules/reach.ts";
import { bucket } from "../../rules/split.ts";
import type { StoreReader } from "../context.ts";
import { exportEvents } from "../events/export.ts";
import { eventsOf } from "../events/history.ts";
import { memberPage } from "../lists/memberships.ts";
import type { RootSecrets } from "../secrets.ts";
import { keep } from "../sends/audience/audiences.ts";
import { candidatesById } from "../sends/audience/candidates.ts";
import { channelSettings, deliverySettingsOf } from "../sends/audience/planning.ts";
import { zoneFor } from "../sends/chunks/deferred.ts";
import { SHARDS, shardOf } from "../shards.ts";
import { attributesForRules, getProfiles, type LivingProfile } from "../subscribers/subscribers.ts";
import { TemplateItem } from "../templates/items.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import { planOfStep } from "./sends.ts";

export interface ReplayDeps {
  store: StoreReader;
  root(): Promise<RootSecrets>;
  workspace: WorkspaceRecord;
}

export interface ReplayWork {
  journey: string;
  definition: Definition;
  window: Window;
  /** 1 to 100: the share of subscribers that is looked at. */
  percent: number;
}

/** Where reading continues, and how much of the window or segment was read: 0 to 1. */
export interface ReplayPosition {
  cursor: string;
  progress: number;
}

const EVENTS_PER_PAGE = 500;
const MEMBERS_PER_PAGE = 200;
const MAX_CONCURRENT = 10;
/** Of one subscriber: its newest ones. */
const MAX_EVENTS = 2_000;
const BUCKETS_PER_PERCENT = 100;

interface ReplayedSubscriber {
  subscriber: string;
  enteredSegmentAt?: number;
}

interface Page {
  found: ReplayedSubscriber[];
  /** Ids of the events of the page that can start a run. */
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
  for (const some of chunksOf(chosen, MAX_CONCURRENT)) {
    const profiles = await getProfiles(
      deps.store,
      some.map(({ subscriber }) => subscriber),
      { eventual: true },
    );
    await Promise.all(
      some.map((one, i) => {
        const profile = profiles[i];
        return profile && replayOne(deps, work, { ...one, profile, starting: page.starting }, { planOf, tally });
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

interface Replaying {
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
  replaying: Replaying,
): Promise<void> {
  const { names, back } = namesOf(definition);
  const from = back === undefined ? undefined : new Date(window.from - back).toISOString();
  const to = new Date(window.to).toISOString();
  const range = { event_name: names, from, to, limit: MAX_EVENTS };
  const events = names.length === 0 ? [] : await eventsOf(deps.store, subscriber, range);
  if (enteredSegmentAt === undefined) {
    // The page that has the first event of the trigger takes the subscriber.
    const since = new Date(window.from).toISOString();
    const isFirst = ({ event_name, occurred_at }: (typeof events)[number]) =>
      event_name === definition.trigger.event_name && occurred_at >= since;
    if (!starting.has(events.find(isFirst)?.id ?? "")) return;
  }
  const { tally } = replaying;
  const recorder = recorderOf(deps, profile, replaying);
  const attributes = attributesForRules(profile);
  const { zone } = deps.store;
  const wasCut = await replay(definition, { zone, attributes, events, enteredSegmentAt }, window, recorder);
  if (wasCut || events.length === MAX_EVENTS) tally.cut++;
}

function recorderOf(deps: ReplayDeps, profile: LivingProfile, { planOf, tally }: Replaying): Recorder {
  /** What frequency caps have counted of this journey. */
  const counted = new Map<string, number>();
  let hasEntered = false;
  return {
    entered: () => {
      if (!hasEntered) tally.subscribers++;
      hasEntered = true;
    },
    took: (step, outcome, isRepeated) => {
      const numbers = stepOf(tally, step);
      count(numbers.outcomes, outcome);
      if (isRepeated) numbers.repeated++;
    },
    ended: (status, step) => {
      tally.runs[status]++;
      if (status === "active") stepOf(tally, step).active++;
    },
    sends: async (node, at) => {
      const plan = await planOf(node);
      if (!plan) return "failed";
      const [kept] = await keep(deps.store, await candidatesById(deps.store, [profile.id], plan.rules), plan.rules);
      if (kept?.judgement.verdict !== "send") {
        const reason = kept?.judgement.verdict === "skip" ? kept.judgement.reason : "unknown_subscriber";
        count(tally.skipped, reason);
        return `skipped:${reason}`;
      }
      countMessages(tally, { ...plan, profile, targets: kept.judgement.targets, at, counted });
      return "sent";
    },
  };
}

type StepPlan = NonNullable<Awaited<ReturnType<ReturnType<typeof openPlans>>>>;

/** The plans of steps that send, each made once. */
function openPlans({ store, workspace }: ReplayDeps) {
  const plan = async (node: JourneyNode & { type: "send" }) => {
    const { template_id } = node.send;
    if (template_id !== undefined && !(await store.get(TemplateItem, { id: template_id }))) return undefined;
    const found = await planOfStep(store, workspace, [], { node, event: undefined });
    if (!found) return undefined;
    const settings = deliverySettingsOf(found.spec, found.via.map(channelSettings), workspace);
    return { rules: found.rules, settings };
  };
  const plans = new Map<string, ReturnType<typeof plan>>();
  return (node: JourneyNode & { type: "send" }) => {
    const found = plans.get(node.id) ?? plan(node);
    plans.set(node.id, found);
    return found;
  };
}

interface Message extends StepPlan {
  profile: LivingProfile;
  targets: readonly Target[];
  at: number;
  counted: Map<string, number>;
}

/** What quiet hours and caps would make of a send. Caps count the sends of this journey alone. */
function countMessages(
  tally: ReplayTally,
  { settings: { via, quiet, caps = [], timezone = "UTC" }, profile, targets, at, counted }: Message,
): void {
  const until = quiet ? quietUntil(quiet, zoneFor(quiet, timezone, profile), at) : undefined;
  const keyed = caps.map((cap) => ({ cap, key: `${cap.per} ${counterOf(cap)} ${windowOf(cap.per, timezone, at)}` }));
  const concerns = (channelClass: string | undefined, { channel }: Target) =>
    channelClass === undefined || channelClass === classOf(channel);
  const full = keyed.filter(({ cap, key }) => (counted.get(key) ?? 0) >= cap.max);
  const { now, later, reason } = expectedOutcome(targets, {
    isSmart: false,
    quietUntil: until,
    refusal: (target) => (full.some(({ cap }) => concerns(cap.channel_class, target)) ? "capped" : undefined),
  });
  if (reason !== undefined) {
    count(tally.skipped, reason);
    return;
  }
  const used = [...now, ...later];
  for (const { cap, key } of keyed)
    if (used.some((target) => concerns(cap.channel_class, target))) counted.set(key, (counted.get(key) ?? 0) + 1);
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
