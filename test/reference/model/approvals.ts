// Approval by a second person (RDA-26): a release that was asked for, and what has changed since.
import type { Body, Credential } from "./kit.ts";
import { ABSENT, ANY, conflict, instant, iso, Refusal } from "./kit.ts";
import type { Approval, Campaign } from "./records/plans.ts";
import { found, newId, type World } from "./world.ts";

const MAX_ALONE = 100;

/** Who writes to many does not do so alone, where the workspace asks a second person. */
export function checkAlone({ settings }: World, { target, subscriberIds = [], external_ids = [] }: Body): void {
  const isToMany = target !== undefined || subscriberIds.length > MAX_ALONE || external_ids.length > MAX_ALONE;
  if (settings.approval_required && isToMany) throw new Refusal(403, { code: "APPROVAL_REQUIRED" });
}

/** When each message goes out, by its release at that time; null: at once. */
function timesOf({ spec, messages }: Campaign, at: number): (number | null)[] {
  return messages.map((message) => {
    const time = instant(message.scheduled_at ?? spec.scheduled_at);
    return time !== undefined && time > at ? time : null;
  });
}

/** Everything that would go out: as authored, with the texts of templates and the rule of the segment. */
const askedOf = (world: World, campaign: Campaign, at: number): string =>
  JSON.stringify([
    campaign.name,
    { ...campaign.spec, scheduled_at: undefined },
    campaign.messages.map(({ scheduled_at: _, ...message }) => [
      message,
      found(world.templates, message.template_id ?? campaign.spec.template_id)?.content ?? null,
    ]),
    found(world.segments, campaign.spec.target?.segment_id)?.rule ?? null,
    timesOf(campaign, at),
  ]);

/** Asked again, it is another request. */
export function ask(world: World, campaign: Campaign, { role = "owner" }: Credential): void {
  campaign.approval = {
    ...{ id: newId(world, "approval"), status: "waiting", by: role, at: world.now },
    ...{ times: timesOf(campaign, world.now), asked: askedOf(world, campaign, world.now) },
  };
}

/** @throws 409 where no such request waits */
export function waiting({ status, approval }: Campaign, id: string | undefined): Approval {
  const isThere = status === "draft" && approval?.status === "waiting" && (id === undefined || approval.id === id);
  return isThere ? approval : conflict();
}

export const forbid = (): never => {
  throw new Refusal(403, { code: "FORBIDDEN" });
};

/** What was asked for is what goes out, at times that are still to come. */
export function checkUnchanged(world: World, campaign: Campaign, { at, times, asked }: Approval): void {
  const isLate = times.some((time) => time !== null && time <= world.now);
  if (isLate || askedOf(world, campaign, at) !== asked) conflict();
}

export function shownApproval({ approval }: Campaign): Body {
  if (!approval) return ABSENT;
  const { id, status, at, times, note } = approval;
  return {
    ...{ id, status, requested_by: ANY, requested_at: iso(at), note: note ?? ABSENT },
    sends_at: times.map((time) => (time === null ? null : iso(time))),
  };
}
