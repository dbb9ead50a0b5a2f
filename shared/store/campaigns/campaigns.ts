// Campaigns (CMP): an ordered list of messages, each of which becomes one job when the campaign is released.
import { createHash } from "node:crypto";
import { timestamp, uuidV7 } from "../../clock.ts";
import { conflict, notFound } from "../../http/errors.ts";
import type { PageQuery } from "../../http/paging.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { type CampaignStatus, campaignMoves } from "../../rules/campaign-states.ts";
import type { ChatAppInput } from "../channels/chat-app-content.ts";
import { all, type Condition, is, oneOf } from "../conditions.ts";
import type { Change } from "../expressions.ts";
import { annotation } from "../insights/annotations.ts";
import { keys } from "../keys.ts";
import { changeListed, createListed, listPage } from "../listed.ts";
import type { Item, TenantId } from "../model.ts";
import type { JobSpec, Target } from "../sends/jobs.ts";
import type { TransactItem } from "../table.ts";

export interface CampaignMessage extends ChatAppInput {
  id: string;
  content?: { title: string; body: string } | undefined;
  template_id?: string | undefined;
  channel_ids: string[];
  /** Omitted: it goes with the campaign. */
  scheduled_at?: string | undefined;
  position: number;
  /** Empty until released. */
  job_id: string;
}

export interface CampaignSpec {
  name: string;
  category: JobSpec["category"];
  target: Target;
  holdout_percentage: number;
  scheduled_at?: string | undefined;
  messages: CampaignMessage[];
}

export interface Campaign extends CampaignSpec {
  id: string;
  status: CampaignStatus;
  created_at: string;
  updated_at: string;
  /** Milliseconds; undefined for a draft. */
  releasedAt: number | undefined;
  /** Where unarchiving leads. */
  archivedFrom: CampaignStatus | undefined;
  /** It came back from the archive and was not paused and resumed since. */
  isRestored: boolean;
}

/** What is stored of a campaign's authored side. */
const stored = ({ name, category, target, holdout_percentage, scheduled_at, messages }: CampaignSpec) => ({
  name,
  category,
  holdout_percentage,
  scheduled_at,
  target: JSON.stringify(target),
  messages: JSON.stringify(messages),
});

/** @throws 429 beyond 10,000 campaigns. */
export async function createCampaign(store: Store, spec: CampaignSpec): Promise<Campaign> {
  const now = store.clock.now();
  const id = store.ids.uuidAt(now);
  const at = timestamp(now);
  const item = await createListed(store, "campaign", id, "draft", {
    ...stored(spec),
    react: "campaign",
    status: "draft",
    created_at: at,
    updated_at: at,
  });
  return campaignOf(item);
}

export async function findCampaign(store: StoreReader, id: string): Promise<Campaign | undefined> {
  const item = await store.get(keys.entity(store.tenant, "campaign", id));
  return item && campaignOf(item);
}

/** @throws 404, also for another workspace's campaign. */
export async function getCampaign(store: StoreReader, id: string): Promise<Campaign> {
  const found = await findCampaign(store, id);
  if (!found) throw notFound("campaign");
  return found;
}

/** CMP-14. */
export async function listCampaigns(
  store: StoreReader,
  { status, ...page }: PageQuery & { status?: CampaignStatus | undefined },
): Promise<{ items: Campaign[]; total: number; page: number; page_size: number }> {
  const { items, total } = await listPage(store, "campaign", { ...page, state: status });
  return { items: items.map(campaignOf), total, page: page.page, page_size: page.size };
}

/** CMP-16: everything authored is replaced. @throws 404, 409 if it is not a draft. */
export function replaceCampaign(store: Store, id: string, spec: CampaignSpec): Promise<Campaign> {
  const { scheduled_at, ...set } = stored(spec);
  const change: Change = { set: { ...set, scheduled_at, updated_at: timestamp(store.clock.now()) } };
  if (scheduled_at === undefined) change.remove = ["scheduled_at"];
  return changed(store, id, change, { when: oneOf("status", ["draft"]) }, "changed");
}

type Move = keyof typeof campaignMoves;

/** Takes a move if the campaign is where it begins. @throws 404, 409 naming its status. */
export const moveCampaign = (
  store: Store,
  id: string,
  move: Move,
  change: Change = {},
  { when, extraItems = [] }: { when?: Condition; extraItems?: readonly TransactItem[] } = {},
): Promise<Campaign> =>
  changed(store, id, movedBy(store, move, change), { ...conditionsOf(move, when), extraItems }, verbs[move]);

/** The same for moves that the service makes by itself. @returns false and nothing changed if it is elsewhere. */
export async function tryMove(store: Store, id: string, move: Move): Promise<boolean> {
  return "item" in (await changeListed(store, "campaign", id, movedBy(store, move, {}), conditionsOf(move)));
}

const movedBy = (store: Store, move: Move, change: Change): Change => ({
  ...change,
  set: { ...change.set, status: campaignMoves[move].to, updated_at: timestamp(store.clock.now()) },
});

const conditionsOf = (move: Move, when?: Condition) => {
  const { from, to } = campaignMoves[move];
  const inPlace = oneOf("status", from);
  return { state: to, when: when ? all(inPlace, when) : inPlace };
};

const verbs: Record<Move, string> = {
  release_now: "released",
  release_later: "released",
  start: "started",
  complete: "completed",
  pause: "paused",
  resume: "resumed",
  archive: "archived",
  restore_draft: "unarchived",
  restore_scheduled: "unarchived",
  restore_live: "unarchived",
  restore_completed: "unarchived",
  restore_paused: "unarchived",
};

async function changed(
  store: Store,
  id: string,
  change: Change,
  conditions: Parameters<typeof changeListed>[4],
  verb: string,
): Promise<Campaign> {
  const outcome = await changeListed(store, "campaign", id, change, conditions);
  if ("item" in outcome) return campaignOf(outcome.item);
  if (!outcome.current) throw notFound("campaign");
  throw conflict(`The campaign is ${outcome.current.status} and cannot be ${verb}.`);
}

/** The job of a message: the same for every attempt at a release (CMP-20). */
export const messageJobId = (tenant: TenantId, campaign: string, message: string, releasedAt: number): string =>
  uuidV7(releasedAt, createHash("sha256").update(`campaign:${tenant}:${campaign}:${message}`).digest());

/** The time of a message: its own, else the campaign's; undefined where it goes out at the release. */
export function timeOf(
  { scheduled_at }: CampaignSpec,
  message: CampaignMessage,
  releasedAt: number,
): string | undefined {
  const at = message.scheduled_at ?? scheduled_at;
  return at !== undefined && Date.parse(at) > releasedAt ? at : undefined;
}

/** CMP-18, CMP-19: one job per message, named before any of them is made. @throws 404, 409 if it is not a draft. */
export async function releaseCampaign(store: Store, id: string): Promise<Campaign> {
  const draft = await getCampaign(store, id);
  const releasedAt = store.clock.now();
  const messages = draft.messages.map((message) => ({
    ...message,
    job_id: messageJobId(store.tenant, id, message.id, releasedAt),
  }));
  const isNow = messages.some((message) => timeOf(draft, message, releasedAt) === undefined);
  const change = { set: { messages: JSON.stringify(messages), released_at: releasedAt } };
  // The messages that are released are the ones that were read: a change that came between is not lost.
  const unchanged = is("messages", JSON.stringify(draft.messages));
  const note = { kind: "campaign_released", text: `The campaign ${draft.name} was released.`, ref_id: id } as const;
  const extraItems = [{ put: annotation(store, note) }];
  return moveCampaign(store, id, isNow ? "release_now" : "release_later", change, { when: unchanged, extraItems });
}

export const campaignActions = ["pause", "resume", "archive", "unarchive"] as const;

/** CMP-21 to CMP-25. @throws 404, 409 naming the status. */
export async function actOnCampaign(
  store: Store,
  id: string,
  action: (typeof campaignActions)[number],
): Promise<Campaign> {
  if (action === "pause") return moveCampaign(store, id, "pause");
  if (action === "resume") return moveCampaign(store, id, "resume", { remove: ["restored"] });
  const current = await getCampaign(store, id);
  if (action === "archive")
    return moveCampaign(
      store,
      id,
      "archive",
      { set: { archived_from: current.status } },
      { when: is("status", current.status) },
    );
  const back = `restore_${current.archivedFrom}` as Move;
  if (current.status !== "archived") throw conflict(`The campaign is ${current.status} and cannot be unarchived.`);
  return moveCampaign(store, id, back, { set: { restored: true }, remove: ["archived_from"] });
}

export function campaignOf(item: Item): Campaign {
  return {
    id: String(item.id),
    name: String(item.name),
    status: item.status as CampaignStatus,
    category: item.category as Campaign["category"],
    target: JSON.parse(String(item.target)),
    holdout_percentage: Number(item.holdout_percentage),
    scheduled_at: item.scheduled_at as string | undefined,
    messages: JSON.parse(String(item.messages)),
    created_at: String(item.created_at),
    updated_at: String(item.updated_at),
    releasedAt: item.released_at as number | undefined,
    archivedFrom: item.archived_from as CampaignStatus | undefined,
    isRestored: item.restored === true,
  };
}
