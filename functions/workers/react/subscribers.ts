// Subscribers that were erased.
import type { Context } from "../../../shared/kernel/deps.ts";
import { eraseQueue } from "../../../shared/runtime/resources.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import type { Changes } from "./change.ts";

export const subscriberUses = [eraseQueue] as const;

export async function queueErasures(changes: Changes, { eraseQueue }: Context<typeof subscriberUses>): Promise<void> {
  const erased = changes.of(Profile, "erasure").filter(({ before }) => before?.erased_at === undefined);
  await eraseQueue.send(erased.map(({ tenant, after }) => ({ tenant, subscriber: after.id, pass: 1 as const })));
}
