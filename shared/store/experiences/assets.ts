// Uploaded images (AST): a row and an S3 object each. The row is written first and removed last, so that an interrupted
// request leaves no object without a row.
import type { PageQuery } from "../../contract/paging.ts";
import { MINUTE, timestamp } from "../../kernel/clock.ts";
import { ApiError, notFound } from "../../kernel/errors.ts";
import { assetMoves } from "../../rules/asset-states.ts";
import type { ImageType } from "../../rules/image-types.ts";
import { type PlanName, plans } from "../../rules/plans.ts";
import { absent, all, any, atMost, below } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { countChange } from "../counters.ts";
import type { AssetWriting, ObjectRemoval } from "../files/assets.ts";
import { changeItem, fieldsOf, type ItemWrite, type NewRowOf, putItem, type RowOf, removeItem } from "../item.ts";
import { moveWrite } from "../lifecycle.ts";
import { MAX_ENTITIES, noRoom } from "../name-index.ts";
import { failuresOf, oldRow, transacted } from "../refusals.ts";
import { listPage, Status, statusWrite } from "../status-index.ts";
import type { Timers } from "../timers.ts";
import { Asset, AssetItem, type AssetRow, AssetTotals } from "./asset-items.ts";

/** An upload is abandoned after this time: a request takes at most half a minute. */
const ABANDONED_MS = 15 * MINUTE;

interface Upload {
  filename: string;
  bytes: Buffer;
  type: ImageType;
}

/** Stores an image under a random name that is never reused. @throws 429 beyond the plan's bytes (AMB-40) */
export async function createAsset(
  { store, timers, assetFiles: files }: { store: Store; timers: Timers; assetFiles: AssetWriting },
  plan: PlanName,
  { filename, bytes, type: { contentType, extension } }: Upload,
): Promise<Asset> {
  const { ids, clock } = store;
  const now = clock.now();
  const id = ids.uuidAt(now);
  const row: NewRowOf<typeof AssetItem> = {
    id,
    filename,
    content_type: contentType,
    size_bytes: bytes.length,
    created_at: timestamp(now),
    name: `${ids.bytes(16).toString("base64url")}.${extension}`,
    status: "storing",
  };
  await timers.set([{ kind: "asset-upload", id, at: now + ABANDONED_MS }]);
  const reserving = [reservation(plan, bytes.length), putItem(AssetItem, { id }, row, absent())];
  const [beyondLimit, existing] = await failuresOf(store, reserving);
  if (beyondLimit && !existing) throw limitRefusal(plan, bytes.length, oldRow(AssetTotals, beyondLimit));
  await files.put(row.name, bytes, contentType);
  await store.transact([
    moveWrite(AssetItem, { id }, { lifecycle: assetMoves, action: "keep" }),
    statusWrite(AssetItem, id, "stored"),
  ]);
  return assetOf(row, files);
}

/** Lists assets, newest first (AST-3). */
export async function listAssets(
  store: StoreReader,
  files: Pick<AssetWriting, "urlOf">,
  page: PageQuery,
): Promise<{ items: Asset[]; total: number }> {
  const { rows, total } = await listPage(store, AssetItem, page);
  return { items: rows.map((row) => assetOf(row, files)), total };
}

/**
 * Removes an asset from every list, then its object (AST-4, AMB-118). If the object could not be removed, a repeated
 * request or the worker removes it. @throws 404
 */
export async function removeAsset(store: Store, files: ObjectRemoval, id: string): Promise<void> {
  const asset = await store.get(AssetItem, { id });
  if (!asset || asset.status === "storing") throw notFound("asset");
  const isDiscarded = asset.status === "stored" && (await discard(store, asset));
  await files.remove(asset.name);
  if (!isDiscarded) throw notFound("asset");
}

/** Moves an asset to `removed` and returns its bytes to the quota, once. @returns false if it was moved before. */
async function discard(store: Store, { id, size_bytes }: AssetRow): Promise<boolean> {
  const writes: ItemWrite<"workspace">[] = [
    // The attribute triggers the removal of the row, and of the object if the request could not remove it.
    moveWrite(AssetItem, { id }, { lifecycle: assetMoves, action: "discard", change: { set: { react: "asset" } } }),
    removeItem(Status, { kind: "asset", id }),
    changeItem(AssetTotals, {}, countChange({ bytes: -size_bytes, assets: -1 })),
  ];
  return transacted(store, writes);
}

/**
 * Discards an asset whose upload was abandoned, if `isUploadOver`, and deletes a removed one: first its object, then its
 * row.
 * @returns false if there was nothing to do.
 */
export async function deleteUnusedAsset(
  store: Store,
  id: string,
  files: ObjectRemoval,
  { isUploadOver }: { isUploadOver: boolean },
): Promise<boolean> {
  const asset = await store.get(AssetItem, { id });
  if (asset?.status === "storing" && isUploadOver) return discard(store, asset);
  if (asset?.status !== "removed") return false;
  await files.remove(asset.name);
  await store.remove(AssetItem, { id });
  return true;
}

/** Bytes of all stored assets, exactly: reserved before an object is written, returned when it is discarded. */
export async function storedBytes(store: StoreReader): Promise<number> {
  return (await store.get(AssetTotals, {}))?.bytes ?? 0;
}

function reservation(plan: PlanName, size: number): ItemWrite<"workspace"> {
  const fits = any(absent("bytes"), atMost("bytes", plans[plan].assetBytes - size));
  const isOneOfFew = any(absent("assets"), below("assets", MAX_ENTITIES));
  return changeItem(AssetTotals, {}, countChange({ bytes: size, assets: 1 }), all(fits, isOneOfFew));
}

function limitRefusal(plan: PlanName, size: number, totals: RowOf<typeof AssetTotals> | undefined): ApiError {
  const { bytes = 0, assets = 0 } = totals ?? {};
  if (assets >= MAX_ENTITIES) return noRoom("assets");
  const message = `The plan ${plan} does not allow ${size} bytes more: ${bytes} of ${plans[plan].assetBytes} are stored.`;
  return new ApiError("QUOTA_EXCEEDED", message);
}

const assetOf = (row: NewRowOf<typeof AssetItem>, { urlOf }: Pick<AssetWriting, "urlOf">): Asset => ({
  ...fieldsOf(Asset.entries, row),
  url: urlOf(row.name),
});
