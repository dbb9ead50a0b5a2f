// Lists and segments that were deleted: their members go.

import type { Context } from "../../../shared/kernel/deps.ts";
import { deleteMembershipsQueue } from "../../../shared/runtime/resources.ts";
import { DeletedMemberships } from "../../../shared/store/lists/items.ts";
import { type Changes, isNew } from "./change.ts";

export const groupUses = [deleteMembershipsQueue] as const;

export async function queueMembershipDeletion(
  changes: Changes,
  { deleteMembershipsQueue }: Context<typeof groupUses>,
): Promise<void> {
  const deleted = changes.of(DeletedMemberships, "disband").filter(isNew);
  await deleteMembershipsQueue.send(deleted.map(({ tenant, after }) => ({ tenant, kind: after.kind, id: after.id })));
}
