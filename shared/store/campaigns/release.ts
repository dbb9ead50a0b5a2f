// The release of a campaign (CMP-18 to CMP-20): every message gets its job, at its time.
import { createHash } from "node:crypto";
import type { TenantId } from "../../kernel/ids.ts";
import { all, asRead, is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { isStill } from "../edits.ts";
import { annotationWrite } from "../insights/annotations.ts";
import { toJson } from "../json-text.ts";
import { jobIdOf } from "../sends/jobs/job-ids.ts";
import { type Campaign, type CampaignSpec, moveCampaign } from "./campaigns.ts";
import type { Approval, CampaignMessage } from "./items.ts";

/** The id of a message's job: the same for every attempt at a release (CMP-20). */
const messageJobId = (tenant: TenantId, campaign: string, message: string, releasedAt: number): string =>
  jobIdOf("campaign", releasedAt, createHash("sha256").update(`campaign:${tenant}:${campaign}:${message}`).digest());

/** The time of a message: its own, else the campaign's; undefined if it is sent at the release. */
export function timeOf(
  { scheduled_at }: CampaignSpec,
  message: CampaignMessage,
  releasedAt: number,
): string | undefined {
  const at = message.scheduled_at ?? scheduled_at;
  return at !== undefined && Date.parse(at) > releasedAt ? at : undefined;
}

/** The campaign and its approval are as they were read: a change in between makes the write fail. */
export const asSeen = ({ version, messages, approval }: Campaign) =>
  all<"edits" | "messages" | "approval">(
    isStill(version),
    is("messages", toJson(messages)),
    asRead("approval", approval && toJson(approval)),
  );

interface Release {
  /** The draw of its preview, for all its messages. */
  draw?: string | undefined;
  /** The member who approved it; absent if no approval was needed. */
  approval?: Approval | undefined;
}

/**
 * Releases a campaign: one job per message (CMP-18, CMP-19), whose ids are set before any job is made. @throws 409 if
 * it is not a draft, or has changed since it was read
 */
export async function releaseCampaign(store: Store, draft: Campaign, { draw, approval }: Release): Promise<Campaign> {
  const { id, name } = draft;
  const releasedAt = store.clock.now();
  const messages = draft.messages.map((message) => ({
    ...message,
    job_id: messageJobId(store.tenant, id, message.id, releasedAt),
  }));
  const isNow = messages.some((message) => timeOf(draft, message, releasedAt) === undefined);
  const set = { messages: toJson(messages), released_at: releasedAt, draw, approval: approval && toJson(approval) };
  const note = { kind: "campaign_released", text: `The campaign ${name} was released.`, ref_id: id } as const;
  return moveCampaign(store, id, isNow ? "release_now" : "release_later", {
    change: { set, ...(!approval && { remove: ["approval"] as const }) },
    when: asSeen(draft),
    extraItems: [annotationWrite(store, note)],
    ...(draft.approval && { waits: false }),
  });
}
