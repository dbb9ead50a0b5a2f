// Entities whose names may repeat, listed by page: the entity, and a small row that holds its status. A page of one
// status, with its total, then costs a query of the small rows and the entities it shows.
import * as v from "valibot";
import { ApiError } from "../http/errors.ts";
import { offsetOf, type PageQuery } from "../http/paging.ts";
import type { Store, StoreReader } from "../resources.ts";
import { absent, all, type Condition, present } from "./conditions.ts";
import {
  type AnyEntity,
  type AttributeOf,
  type ChangeOf,
  changeItem,
  type ItemWrite,
  item,
  type Kind,
  type NewRowOf,
  putItem,
  type RowOf,
  removeItem,
} from "./item.ts";
import { getEntities, MAX_ENTITIES } from "./name-index.ts";
import { oldRow, onConditionFailed, onTransactionCanceled } from "./refusals.ts";

/** The status of an experience or an asset. */
export const Status = item({
  about: "The status of an entity, for lists and counts: experiences and assets.",
  pk: ({ kind }: { kind: Kind }) => `${kind}:ids`,
  sk: ({ id }: { id: string }) => id,
  row: { status: v.string() },
  writers: ["api-experiences", "api-assets", "end-experience"],
});

/** The status of every other entity that is listed by status. */
export const State = item({
  about: "The status of an entity, for lists and counts: campaigns, schedules and journeys.",
  pk: ({ kind }: { kind: Kind }) => `${kind}:names`,
  sk: ({ id }: { id: string }) => id,
  row: { state: v.string() },
  writers: [
    "api-campaigns",
    "api-schedules",
    "api-journeys",
    "api-segments",
    "api-channels",
    "run-campaign",
    "run-schedule",
  ],
});

const hasStatusRow = ({ kind }: Pick<AnyEntity, "kind">) => kind === "experience" || kind === "asset";

/** The write that notes the status of an entity: for the transaction that makes or moves the entity. */
export const statusWrite = ({ kind }: AnyEntity, id: string, status: string): ItemWrite<"workspace"> =>
  hasStatusRow({ kind }) ? putItem(Status, { kind, id }, { status }) : putItem(State, { kind, id }, { state: status });

interface Listed {
  id: string;
  status: string;
}

/** Every entity of a kind with its status, newest first: ids are UUIDv7, so their order is the order of creation. */
async function listStatuses(store: StoreReader, entity: AnyEntity): Promise<Listed[]> {
  const { kind } = entity;
  if (!hasStatusRow(entity)) {
    const rows = await store.queryAll(State, { kind }, { newestFirst: true });
    return rows.map(({ sk, state }) => ({ id: sk, status: state }));
  }
  const rows = await store.queryAll(Status, { kind }, { newestFirst: true, eventual: true });
  return rows.map(({ sk, status }) => ({ id: sk, status }));
}

/** How many entities of a kind there are, in any status. */
export const countEntities = async (store: StoreReader, entity: AnyEntity): Promise<number> =>
  (await listStatuses(store, entity)).length;

/** @throws 429 QUOTA_EXCEEDED where a workspace can hold no more of a kind. */
export async function requireRoom(store: StoreReader, entity: AnyEntity, noun: string): Promise<void> {
  if ((await countEntities(store, entity)) >= MAX_ENTITIES)
    throw new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MAX_ENTITIES} ${noun}.`);
}

type ListedRow = { id: string };

/** Puts an entity and its status in one transaction. @throws 429 QUOTA_EXCEEDED beyond 10,000 of a kind. */
export function createListed<D extends AnyEntity>(
  store: Store,
  entity: D,
  status: string,
  row: NewRowOf<D> & ListedRow,
): Promise<void>;
export async function createListed(store: Store, entity: AnyEntity, status: string, row: ListedRow): Promise<void> {
  const { id } = row;
  await requireRoom(store, entity, "of these");
  await store.transact([putItem(entity, { id }, row, absent()), statusWrite(entity, id, status)]);
}

export interface ListedOptions<D> {
  /** The status after the change, where the change is a move. */
  status?: string | undefined;
  when?: Condition<AttributeOf<D>> | undefined;
  extraItems?: readonly ItemWrite[];
}

/** The writes that change an entity and, where it moves, its status. */
export function listedWrites<D extends AnyEntity>(
  entity: D,
  id: string,
  change: ChangeOf<D>,
  options?: Omit<ListedOptions<D>, "extraItems">,
): ItemWrite<"workspace">[];
export function listedWrites(
  entity: AnyEntity,
  id: string,
  change: object,
  // biome-ignore lint/suspicious/noExplicitAny: the signature above says what it takes
  { status, when }: any = {},
): ItemWrite<"workspace">[] {
  return [
    changeItem(entity, { id }, change, when ? all(present(), when) : present()),
    ...(status === undefined ? [] : [statusWrite(entity, id, status)]),
  ];
}

/**
 * Changes an entity that exists and meets `when`, with `extraItems` in the same transaction, whose own conditions must
 * hold.
 * @returns the row after the change; or as it is (undefined: there is none) where the condition failed.
 */
export function changeListed<D extends AnyEntity>(
  store: Store,
  entity: D,
  id: string,
  change: ChangeOf<D>,
  options?: ListedOptions<D>,
): Promise<{ row: RowOf<D> } | { current: RowOf<D> | undefined }>;
export async function changeListed(
  store: Store,
  entity: AnyEntity,
  id: string,
  change: object,
  // biome-ignore lint/suspicious/noExplicitAny: the signature above says what it takes
  options: any = {},
): Promise<object> {
  const writes = [...listedWrites(entity, id, change, options), ...(options.extraItems ?? [])];
  if (writes.length === 1) {
    const when = options.when ? all(present(), options.when) : present();
    return store.change(entity, { id }, change, when).then(
      (row) => ({ row }),
      onConditionFailed((current) => ({ current })),
    );
  }
  const refusal = await store.transact(writes).then(
    () => undefined,
    onTransactionCanceled(([own]) => ({ current: oldRow(entity, own) })),
  );
  if (refusal) return refusal;
  const row = await store.get(entity, { id });
  return row ? { row } : { current: undefined };
}

/** Removes an entity and its status. @returns false if there is no such entity. */
export const removeListed = (store: Store, entity: AnyEntity, id: string): Promise<boolean> => {
  const { kind } = entity;
  const status = hasStatusRow(entity) ? removeItem(Status, { kind, id }) : removeItem(State, { kind, id });
  return store.transact([removeItem(entity, { id }, present()), status]).then(
    () => true,
    onTransactionCanceled(() => false),
  );
};

/** Entities are read in one range where it holds at most so many others for each that is wanted. */
const MAX_SPREAD = 2;

/** A page of entities, newest first, of one status or of all; `total` counts all pages. */
export async function listPage<D extends AnyEntity>(
  store: StoreReader,
  entity: D,
  { status, ...page }: PageQuery & { status?: string | undefined },
): Promise<{ rows: RowOf<D>[]; total: number }> {
  const all = (await listStatuses(store, entity)).map((one, place) => ({ ...one, place }));
  const wanted = status === undefined ? all : all.filter((one) => one.status === status);
  const { from, to } = offsetOf(page);
  const chosen = wanted.slice(from, to);
  const [first, last] = [chosen[0], chosen.at(-1)];
  const span = first && last ? last.place - first.place + 1 : 0;
  const asRange = span <= MAX_SPREAD * chosen.length;
  const ids = chosen.map(({ id }) => id);
  return { rows: await getEntities(store, entity, ids, { asRange }), total: wanted.length };
}
