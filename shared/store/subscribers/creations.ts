// New subscribers of an import, many in one transaction: those of a shard change one counter (docs/decisions/0079).

import { chunksOf } from "../../rules/chunks.ts";
import { absent } from "../conditions.ts";
import type { Store } from "../context.ts";
import { countChange } from "../counters.ts";
import { changeItem, putItem } from "../item.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { shardOf } from "../shards.ts";
import { Profile, SubscriberCount } from "./items.ts";
import { newProfile, type SubscriberInput } from "./profile-writes.ts";

const CREATIONS_PER_TRANSACTION = 24;
/** A profile with longer attributes is created alone: a transaction takes 4 MB, and an item of more than 400 KB refuses it. */
const MAX_ATTRIBUTES = 10_000;

/** A subscriber that is not there, with the id that it gets. */
interface Creation {
  id: string;
  input: SubscriberInput;
}

/**
 * Creates subscribers that were not there a moment ago.
 * @returns those that were created; the others are left to an upsert
 */
export async function createSubscribers(store: Store, creations: readonly Creation[]): Promise<Creation[]> {
  const isSmall = ({ input }: Creation) => JSON.stringify(input.attributes ?? {}).length <= MAX_ATTRIBUTES;
  const shards = Map.groupBy(creations.filter(isSmall), ({ id }) => shardOf(id));
  const batches = [...shards].flatMap(([shard, ones]) =>
    chunksOf(ones, CREATIONS_PER_TRANSACTION).map((batch) => createBatch(store, shard, batch)),
  );
  return (await Promise.all(batches)).flat();
}

/** Those that were created meanwhile, or erased, are left out, and the others are tried again. */
async function createBatch(store: Store, shard: string, batch: readonly Creation[]): Promise<readonly Creation[]> {
  for (let pending = batch; pending.length > 0; ) {
    const puts = pending.map(({ id, input }) => {
      const { pk: _, sk: __, ...row } = newProfile(store, id, input);
      return putItem(Profile, { id }, row, absent());
    });
    const counted = changeItem(SubscriberCount, { shard }, countChange({ n: pending.length }));
    const failures = await store.transact([...puts, counted]).then(
      () => undefined,
      onTransactionCanceled((failures) => failures),
    );
    if (!failures) return pending;
    pending = pending.filter((_, i) => !failures[i]);
  }
  return [];
}
