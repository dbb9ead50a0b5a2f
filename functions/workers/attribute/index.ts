// Conversions: an event that a definition names is counted for the sends that touched its subscriber (D-ATTRIB).
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { attributeQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { type Store, storeWrite } from "../../../shared/store/context.ts";
import { findEvent } from "../../../shared/store/events/events.ts";
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
    if ("anonymous" in message) return attributeAlias(store, message.anonymous);
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
    const age = clock.now() - Date.parse(event.occurred_at);
    const waitMs = isOpen || age < ROUND_MS ? ROUND_MS : LATE_MS - age;
    if (waitMs > 0) await queue.send([message], { delaySeconds: Math.ceil(waitMs / SECOND) });
  },
);

/** IDN-2: the events of an anonymous id belong to the identified subscriber, and can be conversions of its sends. */
async function attributeAlias(store: Store, anonymous: string): Promise<void> {
  const subscriber = (await ownersOf(store, [anonymous])).get(anonymous);
  if (subscriber === undefined) return;
  for (const definition of await conversionDefinitions(store)) {
    const { event_name } = definition;
    const events = await eventsOfActor(store, { anonymous }, { event_name, limit: MAX_EVENTS });
    for (const event of events) await recordConversion(store, subscriber, event, definition);
  }
}
