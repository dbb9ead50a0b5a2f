// Conversions: an event that a definition names counts for the sends that touched its subscriber (D-ATTRIB).
import { storeWrite } from "../../../shared/resources.ts";
import { eventOf } from "../../../shared/store/events/events.ts";
import { recordConversion } from "../../../shared/store/insights/attribution.ts";
import { definitionFor } from "../../../shared/store/insights/conversions.ts";
import { keys } from "../../../shared/store/keys.ts";
import { ownersOf } from "../../../shared/store/subscribers/aliases.ts";
import { queueWorker } from "../../../shared/worker.ts";

export const attribute = queueWorker(
  "attribute",
  "Counts conversions for the sends before them.",
  [storeWrite],
  async ({ event: id }, { store }) => {
    const row = await store.get(keys.event(store.tenant, id));
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
