// Lists and segments that were deleted: their members go.
import type { Message } from "../../../shared/messages.ts";
import type { Context } from "../../../shared/parts.ts";
import { disbandQueue } from "../../../shared/resources.ts";
import { type Changes, isNew } from "./change.ts";

export const groupUses = [disbandQueue] as const;

export async function disbandDeleted(changes: Changes, { disbandQueue }: Context<typeof groupUses>): Promise<void> {
  const deleted = changes.of("disband").filter(isNew);
  await disbandQueue.send(
    deleted.map(({ tenant, after }) => ({ tenant, kind: after.kind, id: after.id }) as Message<"disband">),
  );
}
