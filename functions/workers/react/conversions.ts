// Events that are conversions, and those an alias brings, of which the worker tells.
import type { Context } from "../../../shared/kernel/deps.ts";
import { attributeQueue } from "../../../shared/runtime/resources.ts";
import { convertingEvents } from "../../../shared/store/insights/converting-events.ts";
import { SubscriberAlias } from "../../../shared/store/subscribers/items.ts";
import { type Changes, newEvents } from "./change.ts";

/** Anonymous events of a moment ago are in their history by then. */
const ALIAS_AGAIN_SECONDS = 5;

export const conversionUses = [attributeQueue, convertingEvents] as const;

export async function queueConversions(
  changes: Changes,
  { attributeQueue: queue, convertingEvents }: Context<typeof conversionUses>,
): Promise<void> {
  for (const [tenant, events] of Map.groupBy(newEvents(changes), (event) => event.tenant)) {
    const names = await convertingEvents.of(tenant);
    const converting = events.filter(({ event_name }) => names.has(event_name));
    await queue.send(converting.map(({ id }) => ({ tenant, event: id })));
  }
  const aliases = changes
    .of(SubscriberAlias, "alias")
    .map(({ tenant, after }) => ({ tenant, anonymous: after.anonymous }));
  await queue.send(aliases);
  await queue.send(aliases, { delaySeconds: ALIAS_AGAIN_SECONDS });
}
