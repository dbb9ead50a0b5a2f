// Images that were deleted, or whose upload broke off: the object goes, then what is known of it.
import { assetRemoval } from "../../../shared/asset-files.ts";
import { storeWrite } from "../../../shared/resources.ts";
import { deleteUnusedAsset } from "../../../shared/store/experiences/assets.ts";
import { queueWorker } from "../../../shared/worker.ts";

export const discardAsset = queueWorker(
  "discard-asset",
  "Removes the stored bytes of deleted images.",
  [storeWrite, assetRemoval],
  ({ asset, over = false }, { store, assetFiles }) =>
    deleteUnusedAsset(store, asset, assetFiles.remove, { uploadOver: over }),
);
