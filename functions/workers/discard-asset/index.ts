// Removes images whose upload was abandoned or whose asset was deleted: first the object, then the row.
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { deleteUnusedAsset } from "../../../shared/store/experiences/assets.ts";
import { assetRemoval } from "../../../shared/store/files/assets.ts";

export const discardAsset = queueWorker(
  "discard-asset",
  "Removes the stored bytes of deleted images.",
  [storeWrite, assetRemoval],
  async (message, { store, assetFiles, log }) => {
    const { asset, over: isUploadOver = false } = message;
    const isDeleted = await deleteUnusedAsset(store, asset, assetFiles, { isUploadOver });
    if (!isDeleted) log({ level: "info", message: "an asset was not removed: it is in use or gone", ...message });
  },
);
