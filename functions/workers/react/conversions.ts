// Events that somebody reacts to, and those an alias brings: they may be conversions, which the worker tells.
import type { Context } from "../../../shared/deps.ts";
import { attributeQueue } from "../../../shared/resources.ts";
import { type Changes, isNew } from "./change.ts";

/** Anonymous events of a moment ago are in their history by then. */
const ALIAS_AGAIN_SECONDS = 5;

export const conversionUses = [attributeQueue] as const;

export async function followConversions(
  changes: Changes,
  { attributeQueue: queue }: Context<typeof conversionUses>,
): Promise<void> {
  const events = changes.of("event").filter(isNew);
  await queue.send(
    events.map(({ tenant, after }) => ({ tenant, event: after.pk.slice(after.pk.lastIndexOf("#") + 1) })),
  );
  const aliases = changes.of("alias").map(({ tenant, after }) => ({ tenant, anonymous: String(after.anonymous) }));
  await queue.send(aliases);
  await queue.send(aliases, { delaySeconds: ALIAS_AGAIN_SECONDS });
}
