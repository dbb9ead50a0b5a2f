// Images for in-app content: uploaded here, and public under a URL whose bytes never change.
import * as v from "valibot";
import { numberedPage, pageFields } from "../../../shared/contract/paging.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { multipart } from "../../../shared/http/upload.ts";
import { malformed } from "../../../shared/kernel/errors.ts";
import { imageTypeOf } from "../../../shared/rules/image-types.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { Asset } from "../../../shared/store/experiences/asset-items.ts";
import { createAsset, listAssets, removeAsset } from "../../../shared/store/experiences/assets.ts";
import { assetRemoval, assetWriting } from "../../../shared/store/files/assets.ts";

/** AMB-83: the largest body that the API gateway accepts. */
export const MAX_FILE_BYTES = 4 * 1_048_576;
const MAX_NAME_CHARACTERS = 255;
const NOT_IN_NAMES = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const endpoint = endpoints({
  credentials: ["dashboard"],
  feature: "in_app",
  refusal: 400,
  uses: [],
});

export const assets = group("assets", "Images for in-app content.", [
  endpoint(
    "POST /api/v1/in-app/assets",
    { permission: "content:write", uses: [storeWrite, timers, assetWriting] },
    {
      summary: "Upload an image of at most 4 MB: png, jpeg, gif or webp",
      form: multipart(v.strictObject({}), { fileBytes: MAX_FILE_BYTES }),
      returns: Asset,
      status: 201,
      errors: ["QUOTA_EXCEEDED"],
    },
    ({ store, timers, assetFiles, caller, form: { file } }) => {
      if (!file) throw malformed({ file: "is required" });
      const type = imageTypeOf(file.bytes);
      if (!type) throw malformed({ file: "must be a png, jpeg, gif or webp image" });
      const { plan } = workspaceOf(caller);
      const filename = nameOf(file.filename) ?? `image.${type.extension}`;
      return createAsset({ store, timers, assetFiles }, plan, { filename, bytes: file.bytes, type });
    },
  ),

  endpoint(
    "GET /api/v1/in-app/assets",
    { uses: [storeRead, assetWriting] },
    {
      summary: "List images, newest first",
      query: v.object(pageFields("page_size")),
      returns: numberedPage(Asset),
    },
    async ({ store, assetFiles, query: { page, page_size } }) => ({
      ...(await listAssets(store, assetFiles, { page, size: page_size })),
      page,
      page_size,
    }),
  ),

  endpoint(
    "DELETE /api/v1/in-app/assets/:id",
    { permission: "content:write", uses: [storeWrite, assetRemoval] },
    { summary: "Delete an image", description: "Caches may keep it for a minute." },
    ({ store, assetFiles, params }) => removeAsset(store, assetFiles, params.id),
  ),
]);

/** The last part of the path, without invisible characters; undefined if nothing is left. */
function nameOf(filename: string | undefined): string | undefined {
  const name = [...((filename ?? "").split(/[\\/]/).at(-1) ?? "").replace(NOT_IN_NAMES, "").trim()];
  return name.length > 0 ? name.slice(-MAX_NAME_CHARACTERS).join("") : undefined;
}
