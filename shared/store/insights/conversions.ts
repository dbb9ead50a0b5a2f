// Conversion definitions (CNV): which events count, what they are worth, and how long after a touch.
import * as v from "valibot";
import { DAY, SECOND } from "../../kernel/clock.ts";
import { ApiError, notFound } from "../../kernel/errors.ts";
import { present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { watchWrites } from "../events/watchers.ts";
import { fieldsOrNull, putItem, type RowOf, removeItem } from "../item.ts";
import { orRefuse } from "../refusals.ts";
import { ConversionDefinitionItem } from "./items.ts";

/** D-ATTRIB. */
export const DEFAULT_WINDOW_SECONDS = (7 * DAY) / SECOND;
export const MAX_WINDOW_SECONDS = (365 * DAY) / SECOND;
const MAX_DEFINITIONS = 100;

export const ConversionDefinition = v.object({
  event_name: v.string(),
  /** The property of the event that holds the revenue in cents. */
  value_property: v.nullable(v.string()),
  window_seconds: v.number(),
});
export type ConversionDefinition = v.InferOutput<typeof ConversionDefinition>;

/** Creates or replaces the definition of an event (CNV-4). @throws 429 beyond 100 of them */
export async function defineConversion(store: Store, definition: ConversionDefinition): Promise<void> {
  const { event_name, value_property, window_seconds } = definition;
  const definitions = await conversionDefinitions(store);
  if (definitions.length >= MAX_DEFINITIONS && !definitions.some((each) => each.event_name === event_name))
    throw new ApiError("QUOTA_EXCEEDED", `A workspace has at most ${MAX_DEFINITIONS} conversion definitions.`);
  const row = { event_name, value_property: value_property ?? undefined, window_seconds };
  await store.transact([
    putItem(ConversionDefinitionItem, { id: event_name }, row),
    ...watchWrites("conversion", event_name, [event_name]),
  ]);
}

/** By event name. */
export async function conversionDefinitions(store: StoreReader): Promise<ConversionDefinition[]> {
  const { items } = await store.query(ConversionDefinitionItem, {});
  return items.map(definitionOf);
}

export async function definitionFor(store: StoreReader, eventName: string): Promise<ConversionDefinition | undefined> {
  const row = await store.get(ConversionDefinitionItem, { id: eventName }, { eventual: true });
  return row && definitionOf(row);
}

/** Removes a definition (CNV-5). @throws 404 */
export async function removeDefinition(store: Store, eventName: string): Promise<void> {
  const removal = removeItem(ConversionDefinitionItem, { id: eventName }, present());
  await store
    .transact([removal, ...watchWrites("conversion", eventName, [])])
    .catch(orRefuse(() => notFound("conversion definition")));
}

const definitionOf = (row: RowOf<typeof ConversionDefinitionItem>): ConversionDefinition =>
  fieldsOrNull(ConversionDefinition.entries, row);
