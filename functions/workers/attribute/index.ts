// Conversions: an event that a definition names is counted for the sends that touched its subscriber (D-ATTRIB).
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { attributeQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { type Store, storeWrite } from "../../../shared/store/context.ts";
import { findEvent, type StoredEvent } from "../../../shared/store/events/events.ts";
import { eventsOfActor } from "../../../shared/store/events/history.ts";
import { recordConversion } from "../../../shared/store/insights/attribution.ts";
import { conversionDefinitions, definitionFor } from "../../../shared/store/insights/conversions.ts";
import { ownersOf } from "../../../shared/store/subscribers/aliases.ts";

/** A chunk writes the outcomes of a round within this time after it began: an event that came before them waits for them. */
const ROUND_MS = 2 * MINUTE;
/** Those of a worker that stopped are written by its successor, with the time of the same round: by then. */
const LATE_MS = 15 * MINUTE;
/** For each definition, the newest events of an anonymous id that become conversions when it is identified. */
const MAX_EVENTS = 200;

export const attributeConversions = queueWorker(
  "attribute",
  "Counts conversions for the sends before them.",
  [storeWrite, attributeQueue],
  async (message, { store, tenant, clock, log, attributeQueue: queue }) => {
    const lookAgain = (event: string, waitMs: number) =>
      queue.send([{ tenant, event }], { delaySeconds: Math.ceil(waitMs / SECOND) });
    if ("anonymous" in message) {
      for (const { id, waitMs } of await attributeAlias(store, message.anonymous)) await lookAgain(id, waitMs);
      return;
    }
    const event = await findEvent(store, message.event);
    if (!event?.actor)
      return log({ level: "info", message: "a missing or erased event was dropped", tenant, event: message.event });
    const definition = await definitionFor(store, event.event_name);
    if (!definition) return;
    const { actor } = event;
    const subscriber =
      "subscriber" in actor ? actor.subscriber : (await ownersOf(store, [actor.anonymous])).get(actor.anonymous);
    if (subscriber === undefined) return;
    const isOpen = await recordConversion(store, subscriber, event, definition);
    const waitMs = waitOf(event, isOpen, clock.now());
    if (waitMs > 0) await lookAgain(message.event, waitMs);
  },
);

/** When an event is looked at again: until the outcomes of the sends before it must be there. 0: not at all. */
function waitOf({ occurred_at }: Pick<StoredEvent, "occurred_at">, isOpen: boolean, now: number): number {
  const age = now - Date.parse(occurred_at);
  return isOpen || age < ROUND_MS ? ROUND_MS : Math.max(0, LATE_MS - age);
}

/**
 * IDN-2: the events of an anonymous id belong to the identified subscriber, and can be conversions of its sends.
 * @returns those that are to be looked at again, as each event of a subscriber is
 */
async function attributeAlias(store: Store, anonymous: string): Promise<{ id: string; waitMs: number }[]> {
  const subscriber = (await ownersOf(store, [anonymous])).get(anonymous);
  if (subscriber === undefined) return [];
  const again: { id: string; waitMs: number }[] = [];
  for (const definition of await conversionDefinitions(store)) {
    const { event_name } = definition;
    const events = await eventsOfActor(store, { anonymous }, { event_name, limit: MAX_EVENTS });
    for (const event of events) {
      const isOpen = await recordConversion(store, subscriber, event, definition);
      again.push({ id: event.id, waitMs: waitOf(event, isOpen, store.clock.now()) });
    }
  }
  return again.filter(({ waitMs }) => waitMs > 0);
}
