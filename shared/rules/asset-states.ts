// States of an uploaded image and the moves between them: what is listed is stored, what is removed is on its way out.

export const assetMoves = {
  /** The object is where it belongs. */
  keep: { from: ["storing"], to: "stored" },
  /** Deleted by somebody, or its upload broke off: the object goes after it. */
  discard: { from: ["storing", "stored"], to: "removed" },
} as const;
