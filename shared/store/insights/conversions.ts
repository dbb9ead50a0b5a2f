// Conversion definitions (CNV): which events count, what they are worth, and how long after a touch.
import { DAY, SECOND } from "../../clock.ts";
import { ApiError, notFound } from "../../http/errors.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { present } from "../conditions.ts";
import { watchWrites } from "../events/watchers.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";

/** D-ATTRIB. */
export const DEFAULT_WINDOW_SECONDS = (7 * DAY) / SECOND;
export const MAX_WINDOW_SECONDS = (365 * DAY) / SECOND;
const MAX_DEFINITIONS = 100;

export interface ConversionDefinition {
  event_name: string;
  /** Event property that holds the revenue in cents. */
  value_property: string | null;
  window_seconds: number;
}

/** Creates or replaces the definition of an event (CNV-4). @throws 429 beyond 100 of them. */
export async function defineConversion(store: Store, definition: ConversionDefinition): Promise<void> {
  const { event_name, value_property, window_seconds } = definition;
  const definitions = await conversionDefinitions(store);
  if (definitions.length >= MAX_DEFINITIONS && !definitions.some((each) => each.event_name === event_name))
    throw new ApiError("QUOTA_EXCEEDED", `A workspace has at most ${MAX_DEFINITIONS} conversion definitions.`);
  const item: Item = {
    ...keys.entity(store.tenant, "conversion", event_name),
    event_name,
    ...(value_property !== null && { value_property }),
    window_seconds,
  };
  await store.transact([{ put: item }, ...watchWrites(store, "conversion", event_name, [event_name])]);
}

/** By event name. */
export async function conversionDefinitions(store: StoreReader): Promise<ConversionDefinition[]> {
  const { items } = await store.query({ pk: keys.entities(store.tenant, "conversion") });
  return items.map(definitionOf);
}

export async function definitionFor(store: StoreReader, eventName: string): Promise<ConversionDefinition | undefined> {
  const item = await store.get(keys.entity(store.tenant, "conversion", eventName), { eventual: true });
  return item && definitionOf(item);
}

/** CNV-5. @throws 404. */
export async function forgetConversion(store: Store, eventName: string): Promise<void> {
  const key = keys.entity(store.tenant, "conversion", eventName);
  await store.transact([{ remove: key, when: present() }, ...watchWrites(store, "conversion", eventName, [])]).catch(
    onTransactionCanceled(() => {
      throw notFound("conversion definition");
    }),
  );
}

const definitionOf = (item: Item): ConversionDefinition => ({
  event_name: String(item.event_name),
  value_property: (item.value_property as string | undefined) ?? null,
  window_seconds: Number(item.window_seconds),
});
