// Events that somebody reacts to: those may be conversions, which the worker tells from their definition.
import type { Context } from "../../../shared/parts.ts";
import { attributeQueue } from "../../../shared/resources.ts";
import { type Changes, isNew } from "./change.ts";

export const conversionUses = [attributeQueue] as const;

export async function followConversions(
  changes: Changes,
  { attributeQueue: queue }: Context<typeof conversionUses>,
): Promise<void> {
  const events = changes.of("event").filter(isNew);
  await queue.send(
    events.map(({ tenant, after }) => ({ tenant, event: after.pk.slice(after.pk.lastIndexOf("#") + 1) })),
  );
}
