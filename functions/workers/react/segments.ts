// Segments that are to be computed, and subscribers whose dynamic segments may have changed.

import type { Context } from "../../../shared/deps.ts";
import type { Message } from "../../../shared/messages.ts";
import { recomputeQueue, segmentQueue } from "../../../shared/resources.ts";
import { compileRule } from "../../../shared/rules/segment-evaluation.ts";
import { dynamicSegments, type SegmentIndex } from "../../../shared/store/segments/active.ts";
import { changedKeys } from "../../../shared/store/segments/facts.ts";
import { fillParts, secondLook } from "../../../shared/store/segments/fill.ts";
import { chunksOf } from "../../../shared/store/table.ts";
import { type Change, type Changes, isNew } from "./change.ts";

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
export async function computeSegments(changes: Changes, { recomputeQueue: queue }: WorkerContext): Promise<void> {
  const begun = changes.of("segment").filter(({ before, after }) => after.run !== before?.run);
  const messages = (partsOf: typeof fillParts, runs: readonly Change[]) =>
    runs.flatMap(({ tenant, after }) =>
      partsOf(Number(after.parts)).map((part) => ({ tenant, segment: String(after.id), run: Number(after.run), part })),
    );
  await queue.send(messages(fillParts, begun));
  const watching = begun.filter(
    ({ after }) => after.is_dynamic === true && compileRule(JSON.parse(String(after.rule))).events.length > 0,
  );
  await queue.send(messages(secondLook, watching), { delaySeconds: SECOND_LOOK_SECONDS });
}

/** One look at the rules a workspace and batch; only what a rule mentions goes on. */
export async function followSegments(
  changes: Changes,
  { segmentQueue: queue, dynamicSegments }: WorkerContext,
): Promise<void> {
  const kinds = ["subscriber", "event", "alias"] as const;
  const byTenant = Map.groupBy(
    kinds.flatMap((kind) => changes.of(kind).map((change) => ({ kind, ...change }))),
    ({ tenant }) => tenant,
  );
  for (const [tenant, group] of byTenant) {
    const index = await dynamicSegments.of(tenant);
    if (index.rules.size === 0) continue;
    const subscribers = new Map<string, Set<string>>();
    const events: string[] = [];
    const linked: string[] = [];
    for (const change of group) {
      const { kind, after } = change;
      if (kind === "alias") linked.push(String(after.subscriber));
      else if (kind === "event") {
        if (isNew(change) && index.byEvent.has(String(after.event_name))) events.push(eventIdOf(after.pk));
      } else {
        const id = String(after.id);
        const segments = mentioned(change, index);
        if (segments.length > 0) subscribers.set(id, new Set([...(subscribers.get(id) ?? []), ...segments]));
      }
    }
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

const eventIdOf = (pk: string): string => pk.slice(pk.lastIndexOf("#") + 1);

/** Of a new subscriber everything is new, also what it does not have. */
function mentioned(change: Change, { rules, byAttribute }: SegmentIndex): string[] {
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
