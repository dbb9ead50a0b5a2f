// Conversions: an event that a definition names is counted for the sends that reached its subscriber (D-ATTRIB).
import { MINUTE, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { attributeQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker, type RuntimeContext } from "../../../shared/runtime/worker.ts";
import { type Store, storeWrite } from "../../../shared/store/context.ts";
import { anonymousActor } from "../../../shared/store/events/actors.ts";
import { findEvent, type StoredEvent } from "../../../shared/store/events/events.ts";
import { eventsOfActor } from "../../../shared/store/events/history.ts";
import { recordConversion } from "../../../shared/store/insights/attribution.ts";
import {
  type ConversionDefinition,
  conversionDefinitions,
  definitionFor,
} from "../../../shared/store/insights/conversions.ts";
import { ownersOf, subscribersOf } from "../../../shared/store/subscribers/aliases.ts";

/** A chunk writes the outcomes of a round within this time after it began. An event of that time waits for them. */
const ROUND_MS = 2 * MINUTE;
/** By this time a successor has written the outcomes of a worker that stopped, with the time of the same round. */
const LATE_MS = 15 * MINUTE;
/** Events of an anonymous id read for one message, of each definition; another message reads the older ones. */
const PAGE_EVENTS = 200;

const uses = [storeWrite, attributeQueue] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext;

export const attributeConversions = queueWorker(
  "attribute",
  "Counts conversions for the sends before them.",
  uses,
  async (message, context) => {
    switch (message.kind) {
      case "event":
        return attributeEvent(context, message.event);
      case "visitor": {
        const more = await attributeAlias(context, message);
        return context.attributeQueue.send(more.map((older) => ({ ...message, older })));
      }
    }
  },
);

async function attributeEvent(context: WorkerContext, id: string): Promise<void> {
  const { store, log } = context;
  const event = await findEvent(store, id);
  if (!event?.actor)
    return log({ level: "info", message: "a missing or erased event was dropped", tenant: store.tenant, event: id });
  const definition = await definitionFor(store, event.event_name);
  if (!definition) return;
  const subscriber = (await subscribersOf(store, [event.actor]))(event.actor);
  if (subscriber !== undefined) await attribute(context, subscriber, event, definition);
}

/** Counts an event, and looks at it again until the outcomes of the sends before it must be written. */
async function attribute(
  { store, clock, attributeQueue: queue }: WorkerContext,
  subscriber: string,
  event: StoredEvent,
  definition: ConversionDefinition,
): Promise<void> {
  const outcome = await recordConversion(store, subscriber, event, definition);
  const age = clock.now() - Date.parse(event.occurred_at);
  const waitMs = outcome === "awaiting" || age < ROUND_MS ? ROUND_MS : LATE_MS - age;
  if (waitMs <= 0) return;
  const delaySeconds = Math.ceil(waitMs / SECOND);
  await queue.send([{ kind: "event", tenant: store.tenant, event: event.id }], { delaySeconds });
}

interface Older {
  event_name: string;
  /** RFC 3339. */
  than: string;
}

/**
 * Counts the events of an anonymous id: they belong to the identified subscriber, and can be conversions of its sends
 * (IDN-2).
 * @param options.older default: the newest events of every definition
 * @returns the times before which there may be older ones
 */
async function attributeAlias(
  context: WorkerContext,
  { anonymous, older }: { anonymous: string; older?: Older | undefined },
): Promise<Older[]> {
  const { store } = context;
  const subscriber = (await ownersOf(store, [anonymous])).get(anonymous);
  if (subscriber === undefined) return [];
  const definitions = (await conversionDefinitions(store)).filter(
    ({ event_name }) => older === undefined || older.event_name === event_name,
  );
  const more: Older[] = [];
  for (const definition of definitions) {
    const { event_name } = definition;
    const { events, than } = await pageOf(store, anonymous, event_name, older?.than);
    for (const event of events) await attribute(context, subscriber, event, definition);
    if (than !== undefined) more.push({ event_name, than });
  }
  return more;
}

/**
 * The newest events before a time, with all that occurred at the instant of the oldest. `than`: there are more before
 * it.
 */
async function pageOf(
  store: Store,
  anonymous: string,
  event_name: string,
  to: string | undefined,
): Promise<{ events: StoredEvent[]; than?: string }> {
  const actor = anonymousActor(anonymous);
  const events = await eventsOfActor(store, actor, { event_name, to, limit: PAGE_EVENTS });
  const than = events[0]?.occurred_at;
  if (than === undefined || events.length < PAGE_EVENTS) return { events };
  const after = timestamp(Date.parse(than) + 1);
  const atThan = await eventsOfActor(store, actor, { event_name, from: than, to: after });
  return { events: [...atThan, ...events.filter(({ occurred_at }) => occurred_at >= after)], than };
}
