// The subscribers that a request names by the workspace's own ids.
import { chunksOf } from "../../rules/chunks.ts";
import type { StoreReader } from "../context.ts";
import { idKeys } from "../item.ts";
import type { RootSecrets } from "../secrets.ts";
import { Profile } from "./items.ts";
import { isLiving, subscriberId } from "./subscribers.ts";

/** Profiles read at a time. They may be large. */
const MAX_CONCURRENT = 500;

/** A subscriber that a request names. One that does not exist has the id that its creation would give it. */
export interface NamedSubscriber {
  id: string;
  name: string;
  exists: boolean;
}

/** Subscribers by the ids that the service gave them, in order. */
export async function namedByIds(store: StoreReader, ids: readonly string[]): Promise<NamedSubscriber[]> {
  const named: NamedSubscriber[] = [];
  for (const batch of chunksOf(ids, MAX_CONCURRENT)) {
    const rows = await store.getAll(Profile, idKeys(batch));
    named.push(...batch.map((id, i) => ({ id, name: id, exists: rows[i] !== undefined && isLiving(rows[i]) })));
  }
  return named;
}

/** Subscribers by external id, in order. One that was erased is looked for in its next generation. */
export async function namedByExternalIds(
  store: StoreReader,
  secrets: Pick<RootSecrets, "idKey">,
  externalIds: readonly string[],
): Promise<NamedSubscriber[]> {
  const named: NamedSubscriber[] = [];
  for (const batch of chunksOf(externalIds, MAX_CONCURRENT)) named.push(...(await lookUp(store, secrets, batch)));
  return named;
}

async function lookUp(
  store: StoreReader,
  secrets: Pick<RootSecrets, "idKey">,
  externalIds: readonly string[],
): Promise<NamedSubscriber[]> {
  const idOf = (name: string, generation: number) => subscriberId(secrets, store.tenant, name, generation);
  const named = externalIds.map((name) => ({ id: idOf(name, 0), name, exists: false }));
  let open = named.map((subscriber) => ({ subscriber, generation: 0 }));
  while (open.length > 0) {
    const ids = open.map(({ subscriber }) => subscriber.id);
    const rows = await store.getAll(Profile, idKeys(ids));
    open = open.flatMap(({ subscriber, generation }, i) => {
      const row = rows[i];
      subscriber.exists = row !== undefined && isLiving(row);
      if (!row || subscriber.exists) return [];
      const next = Math.max(generation + 1, row.next ?? 0);
      subscriber.id = idOf(subscriber.name, next);
      return [{ subscriber, generation: next }];
    });
  }
  return named;
}
