// The stored form of uploaded images (AST).
import * as v from "valibot";
import { said, Timestamp } from "../../contract/schemas.ts";
import { assetStatuses } from "../../rules/asset-states.ts";
import { imageTypes } from "../../rules/image-types.ts";
import { counterRow } from "../counters.ts";
import { entity, item, type RowOf } from "../item.ts";

/** An uploaded image as the API returns it. */
export const Asset = v.object({
  id: v.string(),
  filename: said("As it was sent, without folders", v.string()),
  content_type: said("By its bytes, whatever was said at the upload", v.picklist(imageTypes)),
  size_bytes: v.number(),
  url: said("Public; its bytes never change", v.string()),
  created_at: Timestamp,
});
export type Asset = v.InferOutput<typeof Asset>;

export const AssetItem = entity("asset", {
  about: "An uploaded image; it is stored before its S3 object is written, and removed after the object.",
  row: {
    id: Asset.entries.id,
    filename: Asset.entries.filename,
    content_type: Asset.entries.content_type,
    size_bytes: Asset.entries.size_bytes,
    created_at: Asset.entries.created_at,
    /** The random name of its object. */
    name: v.string(),
    status: v.picklist(assetStatuses),
    react: v.optional(v.literal("asset")),
  },
  writers: ["api-assets", "discard-asset", "purge"],
});
export type AssetRow = RowOf<typeof AssetItem>;

export const AssetTotals = item({
  about:
    "The number of assets and their bytes, reserved before an object is written and returned when it is discarded.",
  pk: () => "STORED",
  row: { bytes: v.number(), assets: v.number(), changes: counterRow.changes },
  writers: ["api-assets", "discard-asset", "recount"],
});
