// Events that somebody reacts to, and those an alias brings: they may be conversions, which the worker tells.
import type { Context } from "../../../shared/deps.ts";
import { attributeQueue } from "../../../shared/resources.ts";
import { EventItem } from "../../../shared/store/events/items.ts";
import { SubscriberAlias } from "../../../shared/store/subscribers/items.ts";
import { type Changes, eventIdOf, isNew } from "./change.ts";

/** Anonymous events of a moment ago are in their history by then. */
const ALIAS_AGAIN_SECONDS = 5;

export const conversionUses = [attributeQueue] as const;

export async function queueConversions(
  changes: Changes,
  { attributeQueue: queue }: Context<typeof conversionUses>,
): Promise<void> {
  const events = changes.of(EventItem, "event").filter(isNew);
  await queue.send(events.map((event) => ({ tenant: event.tenant, event: eventIdOf(event) })));
  const aliases = changes
    .of(SubscriberAlias, "alias")
    .map(({ tenant, after }) => ({ tenant, anonymous: after.anonymous }));
  await queue.send(aliases);
  await queue.send(aliases, { delaySeconds: ALIAS_AGAIN_SECONDS });
}
