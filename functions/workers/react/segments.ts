// Segments that are to be computed, and subscribers whose dynamic segments may have changed.

import type { Context } from "../../../shared/deps.ts";
import type { Message } from "../../../shared/messages.ts";
import { recomputeQueue, segmentQueue } from "../../../shared/resources.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { compileRule } from "../../../shared/rules/segment-evaluation.ts";
import { EventItem } from "../../../shared/store/events/items.ts";
import { fromJson } from "../../../shared/store/item.ts";
import { dynamicSegments, type SegmentIndex } from "../../../shared/store/segments/active.ts";
import { changedKeys } from "../../../shared/store/segments/facts.ts";
import { fillParts, secondLook } from "../../../shared/store/segments/fill.ts";
import { SegmentItem } from "../../../shared/store/segments/items.ts";
import { Profile, SubscriberAlias } from "../../../shared/store/subscribers/items.ts";
import { type Change, type Changes, eventIdOf, isNew, ofTenants } from "./change.ts";

export const segmentUses = [segmentQueue, recomputeQueue, dynamicSegments] as const;
type WorkerContext = Context<typeof segmentUses>;

/** Requests that took events in while a segment was stored, not knowing that it watches them, have ended by then. */
const SECOND_LOOK_SECONDS = 60;
/** Anonymous events of a moment ago are in their history by then. */
const ALIAS_AGAIN_SECONDS = 5;
/** Subscribers and events of one message. */
const PER_MESSAGE = 25;
/** Beyond so many, all segments are judged: messages stay small. */
const MAX_NAMED = 20;

/** A new run of a segment: every shard of the subscribers, side by side. */
export async function queueComputations(changes: Changes, { recomputeQueue: queue }: WorkerContext): Promise<void> {
  const begun = changes.of(SegmentItem, "segment").filter(({ before, after }) => after.run !== before?.run);
  const messages = (partsOf: typeof fillParts, runs: typeof begun) =>
    runs.flatMap(({ tenant, after: { id: segment, run, parts } }) =>
      partsOf(parts).map((part) => ({ tenant, segment, run, part })),
    );
  await queue.send(messages(fillParts, begun));
  const watching = begun.filter(({ after }) => after.is_dynamic && compileRule(fromJson(after.rule)).events.length > 0);
  await queue.send(messages(secondLook, watching), { delaySeconds: SECOND_LOOK_SECONDS });
}

/** One look at the rules a workspace and batch; only what a rule mentions goes on. */
export async function queueSegments(
  changes: Changes,
  { segmentQueue: queue, dynamicSegments }: WorkerContext,
): Promise<void> {
  const profiles = ofTenants(changes.of(Profile, "subscriber"));
  const newEvents = ofTenants(changes.of(EventItem, "event").filter(isNew));
  const aliases = ofTenants(changes.of(SubscriberAlias, "alias"));
  for (const tenant of new Set([...profiles.keys(), ...newEvents.keys(), ...aliases.keys()])) {
    const index = await dynamicSegments.of(tenant);
    if (index.rules.size === 0) continue;
    const subscribers = new Map<string, Set<string>>();
    for (const change of profiles.get(tenant) ?? []) {
      const { id } = change.after;
      const segments = mentioned(change, index);
      if (segments.length > 0) subscribers.set(id, new Set([...(subscribers.get(id) ?? []), ...segments]));
    }
    const isWatched = ({ after }: Change<typeof EventItem>) => index.byEvent.has(after.event_name);
    const events = (newEvents.get(tenant) ?? []).filter(isWatched).map(eventIdOf);
    const linked = (aliases.get(tenant) ?? []).map(({ after }) => after.subscriber);
    const asked = [...subscribers].map(([id, segments]) =>
      segments.size > MAX_NAMED ? { id } : { id, segments: [...segments] },
    );
    await queue.send([...messagesOf(tenant, [...asked, ...linked.map((id) => ({ id }))], events)]);
    await queue.send(
      messagesOf(
        tenant,
        linked.map((id) => ({ id })),
        [],
      ),
      { delaySeconds: ALIAS_AGAIN_SECONDS },
    );
  }
}

/** Of a new subscriber everything is new, also what it does not have. */
function mentioned(change: Change<typeof Profile>, { rules, byAttribute }: SegmentIndex): string[] {
  if (change.before === undefined || change.before.external_id === undefined) return [...rules.keys()];
  return changedKeys(change.before, change.after).flatMap((key) => byAttribute.get(key) ?? []);
}

function messagesOf(
  tenant: string,
  subscribers: readonly { id: string; segments?: string[] }[],
  events: readonly string[],
): Message<"segment">[] {
  const groups = Math.max(Math.ceil(subscribers.length / PER_MESSAGE), Math.ceil(events.length / PER_MESSAGE));
  const [subscribersOf, eventsOf] = [chunksOf(subscribers, PER_MESSAGE), chunksOf(events, PER_MESSAGE)];
  return Array.from({ length: groups }, (_, i) => ({
    tenant,
    people: subscribersOf[i] ?? [],
    events: eventsOf[i] ?? [],
    tries: 0,
  }));
}
