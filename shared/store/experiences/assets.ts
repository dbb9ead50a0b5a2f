// Uploaded images (AST): a row for each and an object in S3. The row comes first and goes last, so that nothing that
// breaks off between the two can leave an object that nobody knows.
import type { AssetWriting } from "../../asset-files.ts";
import { MINUTE, timestamp } from "../../clock.ts";
import { ApiError, notFound } from "../../http/errors.ts";
import type { PageQuery } from "../../http/paging.ts";
import { type PlanName, plans } from "../../plans.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { assetMoves } from "../../rules/asset-states.ts";
import type { ImageType } from "../../rules/image-types.ts";
import { MAX_ENTRIES } from "../catalogue.ts";
import { absent, all, any, atMost, below } from "../conditions.ts";
import { keys } from "../keys.ts";
import { moveWrite } from "../lifecycle.ts";
import type { Item } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { listPage, statusIndexWrite } from "../roster.ts";
import type { TransactItem } from "../table.ts";
import type { Timers } from "../timers.ts";

/** An upload that has not ended by now never will: a request lives half a minute. */
const ABANDONED_MS = 15 * MINUTE;

export interface Asset {
  id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  url: string;
  created_at: string;
}

interface Upload {
  filename: string;
  bytes: Buffer;
  type: ImageType;
}

/** Stores an image under a random name that is never used again. @throws 429 beyond the plan's bytes (AMB-40). */
export async function createAsset(
  store: Store,
  timers: Timers,
  files: AssetWriting,
  plan: PlanName,
  { filename, bytes, type: { contentType, extension } }: Upload,
): Promise<Asset> {
  const { tenant, ids, clock } = store;
  const now = clock.now();
  const id = ids.uuidAt(now);
  const row = {
    ...keys.entity(tenant, "asset", id),
    ...{ id, filename, content_type: contentType, size_bytes: bytes.length, created_at: timestamp(now) },
    name: `${ids.bytes(16).toString("base64url")}.${extension}`,
    status: "storing",
  };
  await timers.set([{ kind: "asset-upload", id, at: now + ABANDONED_MS }]);
  await store.transact([claim(store, plan, bytes.length), { put: row, when: absent() }]).catch(
    onTransactionCanceled(([taken, existing]) => {
      if (taken && !existing) throw beyondPlan(plan, bytes.length, taken.old);
    }),
  );
  await files.put(row.name, bytes, contentType);
  await store.transact([
    moveWrite(keys.entity(tenant, "asset", id), assetMoves, "keep"),
    statusIndexWrite(store, "asset", id, "stored"),
  ]);
  return assetOf(row, files);
}

/** AST-3: newest first. */
export async function listAssets(
  store: StoreReader,
  files: Pick<AssetWriting, "urlOf">,
  page: PageQuery,
): Promise<{ items: Asset[]; total: number }> {
  const { items, total } = await listPage(store, "asset", page);
  return { items: items.map((item) => assetOf(item, files)), total };
}

/** AST-4: gone from every list at once, its object a moment later. @throws 404. */
export async function removeAsset(store: Store, id: string): Promise<void> {
  const asset = await store.get(keys.entity(store.tenant, "asset", id));
  if (asset?.status !== "stored" || !(await discard(store, asset))) throw notFound("asset");
}

/** Marks an asset as one that goes and gives its bytes back, once. @returns false if it is marked already. */
async function discard(store: Store, { id, size_bytes }: Item): Promise<boolean> {
  const writes: TransactItem[] = [
    // The attribute wakes the reaction that has the object removed.
    moveWrite(keys.entity(store.tenant, "asset", String(id)), assetMoves, "discard", {
      change: { set: { react: "asset" } },
    }),
    { remove: keys.listed(store.tenant, "asset", String(id)) },
    { update: keys.stored(store.tenant), change: { add: { bytes: -Number(size_bytes), assets: -1 } } },
  ];
  return store.transact(writes).then(
    () => true,
    onTransactionCanceled(() => false),
  );
}

/**
 * What the worker does with an asset it is told of: one whose upload was given up is marked, one that is marked goes
 * for good, object first.
 */
export async function deleteUnusedAsset(
  store: Store,
  id: string,
  remove: (name: string) => Promise<void>,
  { uploadOver }: { uploadOver: boolean },
): Promise<void> {
  const key = keys.entity(store.tenant, "asset", id);
  const asset = await store.get(key);
  if (asset?.status === "storing" && uploadOver) await discard(store, asset);
  if (asset?.status !== "removed") return;
  await remove(String(asset.name));
  await store.remove(key);
}

/** Bytes of all stored assets, exactly: claimed before an object is written, given back when it is deleted. */
export async function storedBytes(store: StoreReader): Promise<number> {
  return Number((await store.get(keys.stored(store.tenant)))?.bytes ?? 0);
}

const claim = (store: Store, plan: PlanName, size: number): TransactItem => ({
  update: keys.stored(store.tenant),
  change: { add: { bytes: size, assets: 1 } },
  when: all(
    any(absent("bytes"), atMost("bytes", plans[plan].assetBytes - size)),
    any(absent("assets"), below("assets", MAX_ENTRIES)),
  ),
});

function beyondPlan(plan: PlanName, size: number, old: Item | undefined): ApiError {
  if (Number(old?.assets ?? 0) >= MAX_ENTRIES)
    return new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MAX_ENTRIES} assets.`);
  const used = Number(old?.bytes ?? 0);
  const message = `The plan ${plan} does not allow ${size} bytes more: ${used} of ${plans[plan].assetBytes} are stored.`;
  return new ApiError("QUOTA_EXCEEDED", message);
}

const assetOf = (item: Item, { urlOf }: Pick<AssetWriting, "urlOf">): Asset => ({
  id: String(item.id),
  filename: String(item.filename),
  content_type: String(item.content_type),
  size_bytes: Number(item.size_bytes),
  url: urlOf(String(item.name)),
  created_at: String(item.created_at),
});
