// Images that in-app content shows: uploaded here, served to everybody under an address that never gets other bytes.
import * as v from "valibot";
import { assetWriting } from "../../../shared/asset-files.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { ApiError } from "../../../shared/http/errors.ts";
import { pageFields } from "../../../shared/http/paging.ts";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { multipart } from "../../../shared/http/upload.ts";
import { storeWrite, timers } from "../../../shared/resources.ts";
import { imageTypeOf } from "../../../shared/rules/image-types.ts";
import { createAsset, listAssets, removeAsset } from "../../../shared/store/experiences/assets.ts";

/** AMB-83: what fits through the gateway. */
export const MAX_FILE_BYTES = 4 * 1_048_576;
const MAX_NAME_CHARACTERS = 255;
const NOT_IN_NAMES = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const Asset = v.object({
  id: v.string(),
  filename: v.pipe(v.string(), v.description("As it was sent, without folders")),
  content_type: v.pipe(
    v.picklist(["image/png", "image/jpeg", "image/gif", "image/webp"]),
    v.description("By its bytes, whatever was said at the upload"),
  ),
  size_bytes: v.number(),
  url: v.pipe(v.string(), v.description("Public and immutable")),
  created_at: Timestamp,
});

const endpoint = endpoints({
  credentials: ["dashboard"],
  feature: "in_app",
  refusal: 400,
  uses: [storeWrite, assetWriting],
});

export const assets = group("assets", "Images for in-app content.", [
  endpoint(
    "POST /api/v1/in-app/assets",
    { permission: "content:write", uses: [timers] },
    {
      summary: "Upload an image of at most 4 MB: png, jpeg, gif or webp",
      form: multipart(v.strictObject({}), { fileBytes: MAX_FILE_BYTES }),
      returns: Asset,
      status: 201,
      errors: ["QUOTA_EXCEEDED"],
    },
    ({ store, timers, assetFiles, caller, form: { file } }) => {
      if (file?.field !== "file") throw refusal("is required");
      const type = imageTypeOf(file.bytes);
      if (!type) throw refusal("must be a png, jpeg, gif or webp image");
      const { plan } = workspaceOf(caller);
      const filename = nameOf(file.filename) ?? `image.${type.extension}`;
      return createAsset(store, timers, assetFiles, plan, { filename, bytes: file.bytes, type });
    },
  ),

  endpoint(
    "GET /api/v1/in-app/assets",
    {},
    {
      summary: "List images, newest first",
      query: v.object(pageFields("page_size")),
      returns: v.object({ items: v.array(Asset), total: v.number(), page: v.number(), page_size: v.number() }),
    },
    async ({ store, assetFiles, query: { page, page_size } }) => ({
      ...(await listAssets(store, assetFiles, { page, size: page_size })),
      ...{ page, page_size },
    }),
  ),

  endpoint(
    "DELETE /api/v1/in-app/assets/:id",
    { permission: "content:write" },
    { summary: "Delete an image: its address leads nowhere within the hour", errors: ["NOT_FOUND"] },
    ({ store, params }) => removeAsset(store, params.id),
  ),
]);

const refusal = (reason: string) => new ApiError("BAD_REQUEST", `file: ${reason}`, { fields: { file: reason } });

/** The last part of the path, without what cannot be seen; undefined if nothing is left. */
function nameOf(given: string | undefined): string | undefined {
  const name = [...((given ?? "").split(/[\\/]/).at(-1) ?? "").replace(NOT_IN_NAMES, "").trim()];
  return name.length > 0 ? name.slice(-MAX_NAME_CHARACTERS).join("") : undefined;
}
