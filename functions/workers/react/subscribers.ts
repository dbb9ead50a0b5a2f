// Subscribers that were created or erased.
import type { Context } from "../../../shared/deps.ts";
import { eraseQueue, subscriberCounts } from "../../../shared/resources.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { type Change, type Changes, isNew } from "./change.ts";

export const subscriberUses = [eraseQueue, subscriberCounts] as const;

const erasuresIn = (changes: Changes): Change<typeof Profile>[] =>
  changes.of(Profile, "erasure").filter(({ before }) => before?.erased_at === undefined);

export async function queueErasures(changes: Changes, { eraseQueue }: Context<typeof subscriberUses>): Promise<void> {
  await eraseQueue.send(
    erasuresIn(changes).map(({ tenant, after }) => ({ tenant, subscriber: after.id, pass: 1 as const })),
  );
}

/** Not idempotent: a batch that is repeated counts again. */
export async function countSubscribers(changes: Changes, { counts }: Context<typeof subscriberUses>): Promise<void> {
  const created = changes.of(Profile, "subscriber").filter(isNew);
  await counts.add([
    ...created.map(({ tenant, after }) => ({ tenant, id: after.id, n: 1 })),
    ...erasuresIn(changes).map(({ tenant, after }) => ({ tenant, id: after.id, n: -1 })),
  ]);
}
