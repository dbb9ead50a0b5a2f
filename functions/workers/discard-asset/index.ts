// Removes images whose upload was abandoned, and what the deletion of one left: first the object, then the row.
import { assetRemoval } from "../../../shared/asset-files.ts";
import { storeWrite } from "../../../shared/resources.ts";
import { deleteUnusedAsset } from "../../../shared/store/experiences/assets.ts";
import { queueWorker } from "../../../shared/worker.ts";

export const discardAsset = queueWorker(
  "discard-asset",
  "Removes the stored bytes of deleted images.",
  [storeWrite, assetRemoval],
  async (message, { store, assetFiles, log }) => {
    const { asset, over: isUploadOver = false } = message;
    if (!(await deleteUnusedAsset(store, asset, assetFiles, { isUploadOver })))
      log({ level: "info", message: "an asset was not removed: it is in use or gone", ...message });
  },
);
