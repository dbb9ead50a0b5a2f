// Conversions: an event that a definition names counts for the sends that touched its subscriber (D-ATTRIB).
import { type Store, storeWrite } from "../../../shared/resources.ts";
import { eventOf } from "../../../shared/store/events/events.ts";
import { eventsOfActor } from "../../../shared/store/events/history.ts";
import { recordConversion } from "../../../shared/store/insights/attribution.ts";
import { conversionDefinitions, definitionFor } from "../../../shared/store/insights/conversions.ts";
import { keys } from "../../../shared/store/keys.ts";
import { ownersOf } from "../../../shared/store/subscribers/aliases.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** The newest events of an anonymous id, by definition, that an identification may make conversions. */
const MAX_EVENTS = 200;

export const attribute = queueWorker(
  "attribute",
  "Counts conversions for the sends before them.",
  [storeWrite],
  async (message, { store }) => {
    if ("anonymous" in message) return attributeAlias(store, message.anonymous);
    const row = await store.get(keys.event(store.tenant, message.event));
    const event = row && eventOf(row);
    if (!event?.actor) return;
    const definition = await definitionFor(store, event.event_name);
    if (!definition) return;
    const { actor } = event;
    const subscriber =
      "subscriber" in actor ? actor.subscriber : (await ownersOf(store, [actor.anonymous])).get(actor.anonymous);
    if (subscriber !== undefined) await recordConversion(store, subscriber, event, definition);
  },
);

/** IDN-2: what somebody did before being known is theirs from then on, and may answer a send they had. */
async function attributeAlias(store: Store, anonymous: string): Promise<void> {
  const subscriber = (await ownersOf(store, [anonymous])).get(anonymous);
  if (subscriber === undefined) return;
  for (const definition of await conversionDefinitions(store)) {
    const { event_name } = definition;
    const events = await eventsOfActor(store, { anonymous }, { event_name, limit: MAX_EVENTS });
    for (const event of events) await recordConversion(store, subscriber, event, definition);
  }
}
