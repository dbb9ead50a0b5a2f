// Subscribers that came or were erased: their traces go, and the counts follow.

import type { Context } from "../../../shared/deps.ts";
import type { Message } from "../../../shared/messages.ts";
import { eraseQueue, subscriberCounts } from "../../../shared/resources.ts";
import { type Changes, isNew } from "./change.ts";

export const subscriberUses = [eraseQueue, subscriberCounts] as const;

export async function followSubscribers(
  changes: Changes,
  { eraseQueue, counts }: Context<typeof subscriberUses>,
): Promise<void> {
  const created = changes.of("subscriber").filter(isNew);
  const erased = changes.of("erasure").filter(({ before }) => before?.erased_at === undefined);
  await eraseQueue.send(
    erased.map(({ tenant, after }): Message<"erase"> => ({ tenant, subscriber: String(after.id), pass: 1 })),
  );
  await counts.add([
    ...created.map(({ tenant, after }) => ({ tenant, id: String(after.id), n: 1 })),
    ...erased.map(({ tenant, after }) => ({ tenant, id: String(after.id), n: -1 })),
  ]);
}
