// Keeps dynamic segments up to date, subscriber by subscriber: after a change, an event, or the end of a window.
import { SECOND } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import type { Message } from "../../../shared/messages.ts";
import { segmentQueue, storeWrite, timers } from "../../../shared/resources.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import type { Rule } from "../../../shared/rules/segment-evaluation.ts";
import { eventOf, type StoredEvent } from "../../../shared/store/events/events.ts";
import { EventItem } from "../../../shared/store/events/items.ts";
import { dynamicSegments, type SegmentIndex } from "../../../shared/store/segments/active.ts";
import { reevaluate } from "../../../shared/store/segments/reevaluation.ts";
import { ownersOf } from "../../../shared/store/subscribers/aliases.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { queueWorker } from "../../../shared/worker.ts";

const CONCURRENT_SUBSCRIBERS = 10;
/** An event that is not in its history yet is tried again this much later, up to `MAX_ATTEMPTS` times. */
const LATE_SECONDS = 3;
const MAX_ATTEMPTS = 20;
const MAX_DELAY_SECONDS = 900;

const uses = [storeWrite, timers, segmentQueue, dynamicSegments] as const;
type WorkerContext = Context<typeof uses>;

/** What is to be evaluated for one subscriber: these segments (all, if undefined), with events that must be seen. */
interface Evaluation {
  segments: Set<string> | undefined;
  events: StoredEvent[];
}

export const segment = queueWorker(
  "segment",
  "Keeps subscribers in the dynamic segments that they belong to.",
  uses,
  async (message, context) => {
    const { store, segmentQueue: queue, clock, log } = context;
    if (message.window) {
      // The clock of another process was ahead: the window has not ended yet.
      const early = message.window.at - clock.now();
      if (early > 0)
        return queue.send([message], { delaySeconds: Math.min(MAX_DELAY_SECONDS, Math.ceil(early / SECOND)) });
    }
    const index = await context.dynamicSegments.of(store.tenant);
    if (index.rules.size === 0) return;
    const late = await evaluateSubscribers(context, await collectSubscribers(context, message, index));
    if (late.length === 0) return;
    if (message.tries >= MAX_ATTEMPTS)
      return log({ level: "info", message: "events are not in their histories", tenant: store.tenant, events: late });
    const next = { tenant: store.tenant, people: [], events: late, tries: message.tries + 1 };
    await queue.send([next], { delaySeconds: LATE_SECONDS });
  },
);

/** @returns the ids of events that are not in their history yet */
async function evaluateSubscribers(
  context: WorkerContext,
  evaluations: ReadonlyMap<string, Evaluation>,
): Promise<string[]> {
  const { store, timers } = context;
  const profiles = await store.getAll(
    Profile,
    [...evaluations.keys()].map((id) => ({ id })),
  );
  const byId = new Map(profiles.map((profile) => [profile?.id, profile]));
  const late: string[] = [];
  for (const batch of chunksOf([...evaluations], CONCURRENT_SUBSCRIBERS)) {
    const unseen = await Promise.all(
      batch.map(([subscriber, { segments, events }]) =>
        reevaluate(store, timers, () => rulesOf(context, segments), {
          subscriber,
          events,
          profile: byId.get(subscriber),
        }),
      ),
    );
    late.push(...unseen.flat().map(({ id }) => id));
  }
  return late;
}

async function rulesOf(
  { store, dynamicSegments }: WorkerContext,
  segments: ReadonlySet<string> | undefined,
): Promise<ReadonlyMap<string, Rule>> {
  const { rules } = await dynamicSegments.of(store.tenant);
  return segments ? new Map([...rules].filter(([id]) => segments.has(id))) : rules;
}

/** The subscribers that a message names or whose events it names, each once; anonymous ids by their subscribers. */
async function collectSubscribers({ store }: WorkerContext, message: Message<"segment">, index: SegmentIndex) {
  const evaluations = new Map<string, Evaluation>();
  const add = (id: string, segments: Iterable<string> | undefined, event?: StoredEvent) => {
    const existing = evaluations.get(id) ?? { segments: new Set<string>(), events: [] };
    evaluations.set(id, {
      segments: existing.segments && segments ? new Set([...existing.segments, ...segments]) : undefined,
      events: event ? [...existing.events, event] : existing.events,
    });
  };
  if (message.window) add(message.window.subscriber, index.windowed);
  for (const { id, segments } of message.people) add(id, segments);
  const rows = await store.getAll(
    EventItem,
    message.events.map((id) => ({ id })),
  );
  const events = rows.flatMap((row) => (row ? [eventOf(row)] : []));
  const anonymous = events.flatMap(({ actor }) => (actor && "anonymous" in actor ? [actor.anonymous] : []));
  const owners = await ownersOf(store, [...new Set(anonymous)]);
  for (const event of events) {
    const { actor } = event;
    const subscriber = actor && ("subscriber" in actor ? actor.subscriber : owners.get(actor.anonymous));
    if (subscriber !== undefined) add(subscriber, index.byEvent.get(event.event_name) ?? [], event);
  }
  return evaluations;
}
