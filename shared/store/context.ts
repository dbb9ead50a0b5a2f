// The store in functions: the table bound to one tenant, or to the platform, with time, ids and the log.
import type { Clock } from "../kernel/clock.ts";
import type { Capability, Deps, LogEntry } from "../kernel/deps.ts";
import type { Ids, TenantId } from "../kernel/ids.ts";
import { type AnyItem, fullKey, prefixOf, type Ref, rowOf } from "./item.ts";
import type { Item } from "./model.ts";
import { openPlatformTable, openWorkspaceTable, type Reader, type Table } from "./table.ts";
import { WorkspaceItem } from "./workspaces/items.ts";

const reads = ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"];
const writes = [
  "dynamodb:PutItem",
  "dynamodb:UpdateItem",
  "dynamodb:DeleteItem",
  "dynamodb:BatchWriteItem",
  "dynamodb:ConditionCheckItem",
];

/** The first parameter of store functions: the table bound to one tenant, with time, ids and the log. */
export interface StoreContext {
  tenant: TenantId;
  clock: Clock;
  ids: Ids;
  log(entry: LogEntry): void;
  /** The workspace's current time zone, in which the days of bare dates begin (AMB-137). */
  zone(): Promise<string>;
}
export type StoreReader = Reader<"workspace"> & StoreContext;
export type Store = Table<"workspace"> & StoreContext;

/** The table bound to the items that belong to no workspace's own data: workspaces, users, keys, limits. */
export type PlatformReader = Reader<"platform"> & Omit<StoreContext, "tenant" | "zone">;
export type Platform = Table<"platform"> & Omit<StoreContext, "tenant" | "zone">;

export const openStore = (deps: Deps): ((tenant: TenantId) => Store) => {
  const [table, platform] = [openWorkspaceTable(deps), openPlatformTable(deps)];
  return (tenant) => ({
    ...table(tenant),
    tenant,
    clock: deps.clock,
    ids: deps.ids,
    log: deps.log,
    zone: async () => (await platform.get(WorkspaceItem, { tenant }))?.timezone ?? "UTC",
  });
};

export const storeRead: Capability<"store", StoreReader> = {
  as: "store",
  env: ["TABLE_NAME"],
  grants: [{ actions: reads, on: "table" }],
  open: openStore,
};

export const storeWrite: Capability<"store", Store> = {
  as: "store",
  env: ["TABLE_NAME"],
  grants: [{ actions: [...reads, ...writes], on: "table" }],
  open: openStore,
};

const openPlatform = (deps: Deps): (() => Platform) => {
  const table = openPlatformTable(deps);
  return () => ({ ...table, clock: deps.clock, ids: deps.ids, log: deps.log });
};

export const platformRead: Capability<"platform", PlatformReader> = {
  as: "platform",
  env: ["TABLE_NAME"],
  grants: [{ actions: reads, on: "table" }],
  open: openPlatform,
};

export const platformWrite: Capability<"platform", Platform> = {
  as: "platform",
  env: ["TABLE_NAME"],
  grants: [{ actions: [...reads, ...writes], on: "table" }],
  open: openPlatform,
};

/**
 * Reads these rows in one request. @returns a store that answers reads of them by key from memory, for a part of a
 * request that reads each of them before it writes it
 */
export async function readAhead(store: Store, refs: readonly Ref<AnyItem<"workspace">>[]): Promise<Store> {
  const nameOf = (item: AnyItem<"workspace">, key: unknown) =>
    JSON.stringify(fullKey(item, key, prefixOf(store.tenant)));
  const rows: readonly (Item | undefined)[] = await store.getEach(refs);
  const readRows = new Map(refs.map(({ item, key }, i) => [nameOf(item, key), rows[i]]));
  const getAll: Store["getAll"] = async (item, keys, options) => {
    const names = keys.map((key) => nameOf(item, key));
    if (!names.every((name) => readRows.has(name))) return store.getAll(item, keys, options);
    return names.map((name) => {
      const row = readRows.get(name);
      return row && rowOf(item, row);
    });
  };
  const get: Store["get"] = async (item, key, options) =>
    readRows.has(nameOf(item, key)) ? (await getAll(item, [key]))[0] : store.get(item, key, options);
  return { ...store, get, getAll };
}
