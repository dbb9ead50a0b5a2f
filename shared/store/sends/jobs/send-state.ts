// Whether a send may go on: the workers ask before they plan it and before they hand it over (AMB-112, AMB-113).
import { HOUR, MINUTE } from "../../../kernel/clock.ts";
import { isHeld } from "../../../rules/campaign-states.ts";
import { CampaignItem } from "../../campaigns/items.ts";
import type { StoreReader } from "../../context.ts";
import { Status } from "../../status-index.ts";
import type { Timer } from "../../timers.ts";
import type { WorkspaceRecord } from "../../workspaces/workspaces.ts";
import type { JobRecord } from "./job-record.ts";

/**
 * `paused`: by its campaign, and the job will be held. `held`: it is. `halted`: its brake stopped it.
 * `suspended`, `deleted`: the workspace is.
 * `ended`: the job is not in progress.
 */
export type SendState = "open" | "paused" | "held" | "halted" | "suspended" | "deleted" | "ended";

/** @param job as it is now; its workspace and its campaign are read */
export async function sendStateOf(
  store: StoreReader,
  workspace: () => Promise<WorkspaceRecord | undefined>,
  { status, held, halted, source }: Pick<JobRecord, "status" | "held" | "halted" | "source">,
): Promise<SendState> {
  if (status !== "queued" && status !== "processing") return "ended";
  const [record, campaign] = await Promise.all([
    workspace(),
    // The campaign itself may have 400 KB, and each chunk asks.
    source.type === "campaign" && source.id !== null
      ? store.get(Status, { kind: CampaignItem.kind, id: source.id })
      : undefined,
  ]);
  if (record === undefined || record.status === "deleted") return "deleted";
  if (held) return "held";
  if (halted) return "halted";
  if (record.status === "suspended") return "suspended";
  return campaign && isHeld(campaign.status) ? "paused" : "open";
}

export type Stop = "halted" | "paused" | null;

/** Why a send does not go on, as its row says: its brake, or the pause of its campaign. */
export function stopOf({ halted, held }: Pick<JobRecord, "halted" | "held">): Stop {
  if (halted) return "halted";
  return held ? "paused" : null;
}

/** The same of what waited for the end of quiet hours, which a pause of its journey holds too. */
export async function stopAfterQuiet(
  store: StoreReader,
  { source: { type, id }, ...job }: Pick<JobRecord, "source" | "halted" | "held">,
): Promise<Stop> {
  const stop = stopOf(job);
  if (stop !== null || type !== "journey" || id === null) return stop;
  const journey = await store.get(Status, { kind: "journey", id });
  return journey?.status === "paused" ? "paused" : null;
}

/** A suspended workspace's job is looked at again after an eighth of its age, within these bounds. */
const LOOK_AGAIN_MS = { min: 5 * MINUTE, max: HOUR, share: 1 / 8 };

/** The timer by which a job of a suspended workspace goes on. Workers that stop at the same moment set the same one. */
export function resumeTimer({ id, created_at, scheduled_at }: JobRecord, now: number): Timer {
  const { min, max, share } = LOOK_AGAIN_MS;
  const age = now - Date.parse(scheduled_at ?? created_at);
  const wait = Math.min(max, Math.max(min, age * share));
  return { kind: "job-resume", id, at: Math.ceil((now + wait) / min) * min };
}
