// Images that were deleted: their objects go.
import type { Context } from "../../../shared/kernel/deps.ts";
import { discardAssetQueue } from "../../../shared/runtime/resources.ts";
import { AssetItem } from "../../../shared/store/experiences/asset-items.ts";
import { becomes, type Changes } from "./change.ts";

export const assetUses = [discardAssetQueue] as const;

export async function queueAssetDeletion(
  changes: Changes,
  { discardAssetQueue }: Context<typeof assetUses>,
): Promise<void> {
  const removed = changes.of(AssetItem, "asset").filter(becomes("removed"));
  await discardAssetQueue.send(removed.map(({ tenant, after }) => ({ tenant, asset: after.id })));
}
