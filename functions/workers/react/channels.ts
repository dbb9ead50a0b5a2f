// Channels whose verification was asked for.
import type { Context } from "../../../shared/kernel/deps.ts";
import { verifyChannelQueue } from "../../../shared/runtime/resources.ts";
import { ChannelItem } from "../../../shared/store/channels/items.ts";
import type { Changes } from "./change.ts";

export const channelUses = [verifyChannelQueue] as const;

export async function queueVerifications(
  changes: Changes,
  { verifyChannelQueue }: Context<typeof channelUses>,
): Promise<void> {
  const queued = changes
    .of(ChannelItem, "channel")
    .filter(({ before, after }) => after.verification !== undefined && after.verification !== before?.verification);
  await verifyChannelQueue.send(
    queued.map(({ tenant, after }) => ({
      tenant,
      channel: after.id,
      verification: after.verification,
    })),
  );
}
