// Keeps dynamic segments up to date, subscriber by subscriber: after a change, an event, or the end of a window.
import { SECOND } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import type { Message } from "../../../shared/messages.ts";
import { segmentQueue, storeWrite, timers } from "../../../shared/resources.ts";
import type { Rule } from "../../../shared/rules/segment-evaluation.ts";
import { eventOf, type StoredEvent } from "../../../shared/store/events/events.ts";
import { keys } from "../../../shared/store/keys.ts";
import { dynamicSegments, type SegmentIndex } from "../../../shared/store/segments/active.ts";
import { reevaluate } from "../../../shared/store/segments/reevaluation.ts";
import { ownersOf } from "../../../shared/store/subscribers/aliases.ts";
import { chunksOf } from "../../../shared/store/table.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** Subscribers that are judged side by side. */
const AT_ONCE = 10;
/** An event that its history does not show yet is looked for again this much later, and given up in the end. */
const LATE_SECONDS = 3;
const MAX_ATTEMPTS = 20;
const MAX_DELAY_SECONDS = 900;

const uses = [storeWrite, timers, segmentQueue, dynamicSegments] as const;
type WorkerContext = Context<typeof uses>;

/** What is asked of one subscriber: its segments (all, if undefined), and events that must be seen. */
interface Evaluation {
  segments: Set<string> | undefined;
  events: StoredEvent[];
}

export const segment = queueWorker(
  "segment",
  "Keeps subscribers in the dynamic segments that they belong to.",
  uses,
  async (message, context) => {
    const { store, segmentQueue: queue, clock } = context;
    if (message.window) {
      // Another clock was ahead of ours: the window has not ended yet.
      const early = message.window.at - clock.now();
      if (early > 0)
        return queue.send([message], { delaySeconds: Math.min(MAX_DELAY_SECONDS, Math.ceil(early / SECOND)) });
    }
    const index = await context.dynamicSegments.of(store.tenant);
    if (index.rules.size === 0) return;
    const evaluations = await collectSubscribers(context, message, index);
    const profiles = await store.getAll([...evaluations.keys()].map((id) => keys.subscriber(store.tenant, id)));
    const byId = new Map([...evaluations.keys()].map((id, i) => [id, profiles[i]]));
    const late: string[] = [];
    for (const batch of chunksOf([...evaluations], AT_ONCE)) {
      const unseen = await Promise.all(
        batch.map(([subscriber, { segments, events }]) =>
          reevaluate(store, context.timers, () => rulesOf(context, segments), {
            ...{ subscriber, events },
            profile: byId.get(subscriber),
          }),
        ),
      );
      late.push(...unseen.flat().map(({ id }) => id));
    }
    if (late.length > 0 && message.tries < MAX_ATTEMPTS)
      await queue.send([{ tenant: store.tenant, people: [], events: late, tries: message.tries + 1 }], {
        delaySeconds: LATE_SECONDS,
      });
  },
);

async function rulesOf(
  { store, dynamicSegments }: WorkerContext,
  segments: ReadonlySet<string> | undefined,
): Promise<ReadonlyMap<string, Rule>> {
  const { rules } = await dynamicSegments.of(store.tenant);
  return segments ? new Map([...rules].filter(([id]) => segments.has(id))) : rules;
}

/** Subscribers by name and by their events, each once; anonymous ids as those they belong to. */
async function collectSubscribers({ store }: WorkerContext, message: Message<"segment">, index: SegmentIndex) {
  const evaluations = new Map<string, Evaluation>();
  const evaluateRules = (id: string, segments: Iterable<string> | undefined, event?: StoredEvent) => {
    const existing = evaluations.get(id) ?? { segments: new Set<string>(), events: [] };
    evaluations.set(id, {
      segments: existing.segments && segments ? new Set([...existing.segments, ...segments]) : undefined,
      events: event ? [...existing.events, event] : existing.events,
    });
  };
  if (message.window) evaluateRules(message.window.subscriber, index.windowed);
  for (const { id, segments } of message.people) evaluateRules(id, segments);
  const rows = await store.getAll(message.events.map((id) => keys.event(store.tenant, id)));
  const events = rows.flatMap((row) => (row ? [eventOf(row)] : []));
  const anonymous = events.flatMap(({ actor }) => (actor && "anonymous" in actor ? [actor.anonymous] : []));
  const owners = await ownersOf(store, [...new Set(anonymous)]);
  for (const event of events) {
    const { actor } = event;
    const subscriber = actor && ("subscriber" in actor ? actor.subscriber : owners.get(actor.anonymous));
    if (subscriber !== undefined) evaluateRules(subscriber, index.byEvent.get(event.event_name) ?? [], event);
  }
  return evaluations;
}
