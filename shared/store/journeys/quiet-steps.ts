// When what a step of a journey sends leaves: in the quiet hours of its recipient, at their end (D-QUIET, AMB-136).
import type { Source } from "../../rules/journey-knowledge.ts";
import { disturbs, quietUntil } from "../../rules/quiet-hours.ts";
import type { StoreReader } from "../context.ts";
import { selectedChannels } from "../sends/audience/planning.ts";
import { zoneFor } from "../sends/chunks/deferred.ts";
import type { LivingProfile } from "../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";

/**
 * Whether anything of the step reaches the recipient is not asked: who is sent nothing waits as long. Outside quiet hours it reads
 * the workspace alone.
 */
export const leavingOf =
  (
    store: StoreReader,
    workspace: () => Promise<WorkspaceRecord | undefined>,
    profile: () => Promise<LivingProfile | undefined>,
  ): NonNullable<Source["leavesAt"]> =>
  async ({ send: { category, channel_ids } }, at) => {
    const { quiet_hours: quiet, timezone = "UTC" } = (await workspace()) ?? {};
    if (!quiet || category === "transactional") return undefined;
    const until = quietUntil(quiet, zoneFor(quiet, timezone, await profile()), at);
    if (until === undefined) return undefined;
    const channels = await selectedChannels(store, { channel_ids });
    return channels.some(({ type }) => disturbs(type)) ? until : undefined;
  };
