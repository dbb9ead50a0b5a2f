// States of an uploaded image and the transitions between them. Only stored images are listed.

export const assetStatuses = ["storing", "stored", "removed"] as const;
type AssetStatus = (typeof assetStatuses)[number];

export const assetMoves = {
  /** The object was written. */
  keep: { from: ["storing"], to: "stored" },
  /** Deleted through the API, or the upload was abandoned: the object is removed next. */
  discard: { from: ["storing", "stored"], to: "removed" },
} as const satisfies Record<string, { from: readonly AssetStatus[]; to: AssetStatus }>;
