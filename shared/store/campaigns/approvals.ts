// Requests for the release of a campaign by a second person: approved, declined or withdrawn (RDA-26,
// docs/decisions/0137).
import { timestamp } from "../../kernel/clock.ts";
import { ApiError, beingChanged, conflict } from "../../kernel/errors.ts";
import { canonicalJson } from "../../kernel/objects.ts";
import { all, oneOf } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { hashOf } from "../hash.ts";
import { fieldsOf } from "../item.ts";
import { toJson } from "../json-text.ts";
import { findSegment } from "../segments/segments.ts";
import { changeListed } from "../status-index.ts";
import { contentOfTemplate, TemplateItem } from "../templates/items.ts";
import { type Campaign, immovable } from "./campaigns.ts";
import { type Approval, authoredFields, CampaignItem, messageFields } from "./items.ts";
import { asSeen, releaseCampaign, timeOf } from "./release.ts";

export type Member = Approval["requested_by"];

const DIGEST_LENGTH = 16;

const timesOf = (campaign: Campaign, at: number): (string | null)[] =>
  campaign.messages.map((message) => timeOf(campaign, message, at) ?? null);

/** Digests, by field, of what a release would send now, including the named resources that others may change. */
async function askedOf(store: StoreReader, campaign: Campaign, at: number): Promise<Record<string, string>> {
  const { target, messages, safety } = campaign;
  const ids = [...new Set(messages.flatMap(({ template_id }) => template_id ?? []))];
  const [segment, ...templates] = await Promise.all([
    target.type === "segment" ? findSegment(store, target.segment_id) : undefined,
    ...ids.map((id) => store.get(TemplateItem, { id })),
  ]);
  const said = messages.map((message) => {
    const { channel_ids: _, scheduled_at: __, ...content } = fieldsOf(messageFields, message);
    return content;
  });
  const fields = {
    ...fieldsOf(authoredFields, campaign),
    content: [said, templates.map((template) => template && contentOfTemplate(template))],
    channel_ids: messages.map(({ channel_ids }) => channel_ids),
    scheduled_at: timesOf(campaign, at),
    target: [target, segment?.rule],
    safety,
  };
  const digests = Object.entries(fields).map(([name, value]) => [
    name,
    hashOf(canonicalJson(value)).slice(0, DIGEST_LENGTH),
  ]);
  return Object.fromEntries(digests);
}

/** Requests the release of a draft. A repeated request is a new one. @throws 409 if it is not a draft */
export async function askRelease(store: Store, draft: Campaign, by: Member, draw?: string): Promise<Campaign> {
  const now = store.clock.now();
  return decide(store, draft, {
    id: store.ids.uuidAt(now),
    status: "waiting",
    requested_by: by,
    requested_at: timestamp(now),
    sends_at: timesOf(draft, now),
    asked: await askedOf(store, draft, now),
    ...(draw !== undefined && { draw }),
  });
}

/** Writes the decision about a request, if the campaign is an unchanged draft. */
async function decide(store: Store, draft: Campaign, approval: Approval | undefined): Promise<Campaign> {
  const outcome = await changeListed(store, CampaignItem, draft.id, {
    change: approval ? { set: { approval: toJson(approval) } } : { remove: ["approval"] },
    status: "draft",
    waits: approval?.status === "waiting",
    when: all(oneOf("status", ["draft"]), asSeen(draft)),
  });
  if (outcome.kind === "changed") return { ...draft, approval };
  if (outcome.current?.status === "draft") throw beingChanged();
  throw immovable(outcome.current, "released");
}

/** The waiting request. @throws 409 if there is another one, or none */
function waiting({ status, approval }: Campaign, id = approval?.id): Approval {
  if (status === "draft" && approval?.status === "waiting" && approval.id === id) return approval;
  throw conflict("No such request to release the campaign waits any more.");
}

const AGAIN = "since its release was asked for";

/**
 * Releases exactly what was requested. @throws 403 for the member who requested it; 409 if no such request waits, or
 * with the fields that have changed since
 */
export async function approveRelease(store: Store, campaign: Campaign, id: string, by: Member): Promise<Campaign> {
  const approval = waiting(campaign, id);
  if (approval.requested_by.user_id === by.user_id)
    throw new ApiError("FORBIDDEN", "You asked for this release: another member approves it.");
  const now = store.clock.now();
  const asked = await askedOf(store, campaign, Date.parse(approval.requested_at));
  const names = new Set([...Object.keys(asked), ...Object.keys(approval.asked)]);
  const changed = [...names].filter((name) => asked[name] !== approval.asked[name]);
  const fields = Object.fromEntries(changed.map((name) => [name, `was changed ${AGAIN}`]));
  if (approval.sends_at.some((at) => at !== null && Date.parse(at) <= now))
    fields.scheduled_at ??= `has passed ${AGAIN}`;
  const [first, ...others] = Object.entries(fields);
  if (first) {
    const words = [first, ...others].map(([name, reason]) => `${name} ${reason}`).join("; ");
    throw new ApiError("CONFLICT", `It is not what was asked for: ${words}. Ask for its release again.`, { fields });
  }
  const decided = { ...approval, status: "approved", decided_by: by, decided_at: timestamp(now) } as const;
  return releaseCampaign(store, campaign, { draw: approval.draw, approval: decided });
}

/** Declines a request. @throws 409 if no such request waits */
export async function declineRelease(
  store: Store,
  campaign: Campaign,
  { approval_id, note }: { approval_id: string; note?: string | undefined },
  by: Member,
): Promise<Campaign> {
  return decide(store, campaign, {
    ...waiting(campaign, approval_id),
    status: "declined",
    decided_by: by,
    decided_at: timestamp(store.clock.now()),
    ...(note !== undefined && { note }),
  });
}

/** Withdraws a request. @throws 403 for another member than the one who requested it, 409 if no request waits */
export async function withdrawRequest(store: Store, campaign: Campaign, by: Member): Promise<Campaign> {
  if (waiting(campaign).requested_by.user_id !== by.user_id)
    throw new ApiError("FORBIDDEN", "Another member asked for this release: you can decline it.");
  return decide(store, campaign, undefined);
}
