// Channels whose verification was asked for.
import type { Context } from "../../../shared/deps.ts";
import { verifyChannelQueue } from "../../../shared/resources.ts";
import type { Changes } from "./change.ts";

export const channelUses = [verifyChannelQueue] as const;

export async function verifyQueued(
  changes: Changes,
  { verifyChannelQueue }: Context<typeof channelUses>,
): Promise<void> {
  const queued = changes
    .of("channel")
    .filter(({ before, after }) => after.verification !== undefined && after.verification !== before?.verification);
  await verifyChannelQueue.send(
    queued.map(({ tenant, after }) => ({
      tenant,
      channel: String(after.id),
      verification: String(after.verification),
    })),
  );
}
