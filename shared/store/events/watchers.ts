// Who reacts to which events: a workspace in which nobody watches an event pays for no reaction to it.

import type { Store, StoreReader } from "../../resources.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { allItems } from "../pages.ts";
import { recent } from "../recent.ts";
import type { TransactItem } from "../table.ts";

export type WatcherKind = "segment" | "journey" | "conversion";

const TENANTS_REMEMBERED = 1_000;

/**
 * The steps of a transaction that makes a segment, journey or conversion react to these event names from now on, in
 * place of those it woke for before; none to stop. Put them along with the change that makes it active.
 */
export function watchWrites(
  store: Pick<Store, "tenant">,
  kind: WatcherKind,
  id: string,
  names: readonly string[],
): TransactItem[] {
  const key = keys.watcher(store.tenant, `${kind}#${id}`);
  const row: TransactItem = names.length > 0 ? { put: { ...key, names: [...new Set(names)] } } : { remove: key };
  return [row, { update: keys.watchVersion(store.tenant), change: { add: { version: 1 } } }];
}

/** One per environment: the watched names as of a version, read again only when the version has moved. */
export function watchedNames() {
  const cache = recent<{ version: number; names: ReadonlySet<string> }>(TENANTS_REMEMBERED);

  /** @param item the version item of the workspace, as just read. */
  return async (store: StoreReader, item: Item | undefined): Promise<ReadonlySet<string>> => {
    const version = Number(item?.version ?? 0);
    if (version === 0) return new Set();
    const found = cache.get(store.tenant);
    if (found && found.version >= version) return found.names;
    const rows = await allItems(store, { pk: keys.watcher(store.tenant, "").pk });
    const names = new Set(rows.flatMap((row) => row.names as string[]));
    cache.set(store.tenant, { version, names });
    return names;
  };
}
