// Watchers: the segments, journeys and conversions that react to events. An event whose name has no watcher causes no
// reaction, and data derived from the watchers of a workspace is read again only after one of them changed.
import type { Capability } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { type Store, type StoreReader, storeRead } from "../context.ts";
import { changeItem, type ItemWrite, putItem, removeItem } from "../item.ts";
import { recent } from "../recent.ts";
import { Watcher, type WatcherKind, WatchVersion } from "./watcher-items.ts";

/** The most workspaces whose index an environment caches. */
const MAX_CACHED = 1_000;

/**
 * Makes a segment, journey or conversion react to these event names from now on, in place of the former names; to none
 * with an empty list. The writes belong to the transaction that activates or changes it.
 */
export const watchWrites = (kind: WatcherKind, id: string, names: readonly string[]): ItemWrite<"workspace">[] => [
  names.length > 0 ? putItem(Watcher, { kind, id }, { names: [...new Set(names)] }) : removeItem(Watcher, { kind, id }),
  newWatchVersion(),
];

const NEXT_VERSION = { add: { version: 1 } };

/** Makes every environment read the watched names of the workspace again. */
export const newWatchVersion = (): ItemWrite<"workspace"> => changeItem(WatchVersion, {}, NEXT_VERSION);

/** The same by a write of its own. */
export async function watchersChanged(store: Store): Promise<void> {
  await store.change(WatchVersion, {}, NEXT_VERSION);
}

export interface WatcherVersion {
  version: number;
}

/**
 * Caches an index per workspace: `read` runs only after the version of the watchers changed (docs/decisions/0011).
 * @param empty the index of a workspace that never had a watcher
 * @returns a function that takes the version as just read, and returns the index of that version or a newer one
 */
function cachedByVersion<I extends WatcherVersion>(
  empty: I,
  read: (store: StoreReader, version: number) => Promise<I>,
): (store: StoreReader, current: WatcherVersion | undefined) => Promise<I> {
  const cache = recent<I>(MAX_CACHED);
  return async (store, current) => {
    if (!current) return empty;
    const cached = cache.get(store.tenant);
    if (cached && cached.version >= current.version) return cached;
    const index = await read(store, current.version);
    cache.set(store.tenant, index);
    return index;
  };
}

/** The same for callers that may know the version: without it, each call costs a small read. */
export function watchedIndex<I extends WatcherVersion>(
  empty: I,
  read: (store: StoreReader, version: number) => Promise<I>,
): (store: StoreReader, known?: Promise<WatcherVersion | undefined>) => Promise<I> {
  const indexOf = cachedByVersion(empty, read);
  return async (store, known) => indexOf(store, await (known ?? store.get(WatchVersion, {})));
}

interface WatchVersions {
  /** The version after all writes of the batch; undefined if there never was a watcher. */
  of(tenant: string): Promise<WatcherVersion | undefined>;
}

/** The versions that a batch of records needs, each read once for all reactions to the batch. */
export const watchVersions: Capability<"watchVersions", WatchVersions> = {
  as: "watchVersions",
  env: storeRead.env,
  grants: [{ actions: ["dynamodb:GetItem"], on: "table" }],
  open: (deps) => {
    const bind = storeRead.open(deps);
    return () => {
      const reads = new Map<string, Promise<WatcherVersion | undefined>>();
      const of = (tenant: string) => {
        const read = reads.get(tenant) ?? bind(tenant as TenantId).get(WatchVersion, {});
        reads.set(tenant, read);
        return read;
      };
      return { of };
    };
  },
};

export interface WatchedNames {
  names: ReadonlySet<string>;
  /** The names that a journey or conversion reacts to: it reads events by their ids. */
  tracked: ReadonlySet<string>;
}

async function readNames(store: StoreReader): Promise<WatchedNames> {
  const rows = await store.queryAll(Watcher, {});
  const tracked = rows.filter(({ sk }) => !sk.startsWith("segment#"));
  return {
    names: new Set(rows.flatMap(({ names }) => names)),
    tracked: new Set(tracked.flatMap(({ names }) => names)),
  };
}

/** The names of all watched events, one cache for each environment. */
export function watchedNames(): (store: StoreReader, current: WatcherVersion | undefined) => Promise<WatchedNames> {
  const empty = { version: 0, names: new Set<string>(), tracked: new Set<string>() };
  return cachedByVersion(empty, async (store, version) => ({ version, ...(await readNames(store)) }));
}

/** The same as it is stored now. */
export const watchedNow = readNames;

/** Ids by each of the names that belong to them. */
export function idsByName(entries: Iterable<readonly [id: string, names: Iterable<string>]>): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const [id, names] of entries) for (const name of new Set(names)) ids.set(name, [...(ids.get(name) ?? []), id]);
  return ids;
}
