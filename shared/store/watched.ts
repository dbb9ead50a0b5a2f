// What a workspace watches for, as an index: read again only when its version moved on.
import type { StoreReader } from "../resources.ts";
import { keys } from "./keys.ts";
import { recent } from "./recent.ts";

const TENANTS_REMEMBERED = 500;

/** Remembers an index per workspace: one small read a call, and `read` only after a change (docs/decisions/0011). */
export function watched<I extends { version: number }>(
  none: I,
  read: (store: StoreReader, version: number) => Promise<I>,
): (store: StoreReader) => Promise<I> {
  const cache = recent<I>(TENANTS_REMEMBERED);
  return async (store) => {
    const version = Number((await store.get(keys.watchVersion(store.tenant)))?.version ?? 0);
    if (version === 0) return none;
    const found = cache.get(store.tenant);
    if (found && found.version >= version) return found;
    const index = await read(store, version);
    cache.set(store.tenant, index);
    return index;
  };
}
