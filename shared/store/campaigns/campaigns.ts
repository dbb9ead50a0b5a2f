// Campaigns (CMP): an ordered list of messages, each of which becomes one job when the campaign is released.
import type * as v from "valibot";
import type { PageQuery } from "../../contract/paging.ts";
import type { SafetyInput } from "../../contract/safety.ts";
import { copyName } from "../../contract/schemas.ts";
import type { Target } from "../../contract/send-input.ts";
import { timestamp } from "../../kernel/clock.ts";
import { beingChanged, conflict, notFound, requireFound } from "../../kernel/errors.ts";
import { campaignMoves } from "../../rules/campaign-states.ts";
import { absent, all, is, oneOf } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { anotherEdit, type EditResult, edited, isStill, outdated, versionOf } from "../edits.ts";
import { annotationWrite } from "../insights/annotations.ts";
import { type AttributeOf, type ChangeOf, fieldsOf, type NewRowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { changeListed, createListed, type ListedChange, type ListFilter, listPage } from "../status-index.ts";
import {
  type Approval,
  authoredFields,
  CampaignItem,
  type CampaignMessage,
  campaignFields,
  type MessageError,
} from "./items.ts";

type CampaignRow = NewRowOf<typeof CampaignItem>;
type CampaignChange = ChangeOf<typeof CampaignItem>;
type CampaignMove = ListedChange<typeof CampaignItem>;

export interface CampaignSpec extends Pick<CampaignRow, keyof typeof authoredFields | "scheduled_at"> {
  target: Target;
  messages: readonly CampaignMessage[];
  /** The brake of its sends; `null`: none; omitted: the workspace's. */
  safety?: SafetyInput | undefined;
}

type ServiceField =
  | "id"
  | "status"
  | "last_error"
  | "created_at"
  | "updated_at"
  | "released_at"
  | "draw"
  | "archived_from"
  | "holds"
  | "restored";

export interface Campaign extends CampaignSpec, Pick<CampaignRow, ServiceField> {
  version: number;
  messages: readonly ReleasedMessage[];
  approval: Approval | undefined;
  /** By job that was held at the last resume: its time in milliseconds, or `null` if it is skipped. */
  resumed: Record<string, number | null> | undefined;
}

/** A message, with the error of its job if that failed as a whole. */
type ReleasedMessage = CampaignMessage & { error?: v.InferOutput<typeof MessageError> };

/** The authored fields, as they are stored. */
const stored = ({ target, messages, safety, ...asGiven }: CampaignSpec) => ({
  ...asGiven,
  target: toJson(target),
  messages: toJson(messages),
  safety: safety === undefined ? undefined : toJson(safety),
});

/** Creates a campaign. @throws 429 beyond 10,000 campaigns */
export async function createCampaign(store: Store, spec: CampaignSpec): Promise<Campaign> {
  const now = store.clock.now();
  const id = store.ids.uuidAt(now);
  const at = timestamp(now);
  const row: CampaignRow = {
    ...stored(spec),
    id,
    react: "campaign",
    status: "draft",
    created_at: at,
    updated_at: at,
  };
  await createListed(store, CampaignItem, "draft", row);
  return campaignOf(row);
}

export async function findCampaign(store: StoreReader, id: string): Promise<Campaign | undefined> {
  const row = await store.get(CampaignItem, { id });
  return row && campaignOf(row);
}

/** Gets a campaign. @throws 404, also for another workspace's campaign */
export async function getCampaign(store: StoreReader, id: string): Promise<Campaign> {
  return requireFound(await findCampaign(store, id), "campaign");
}

/** Lists campaigns (CMP-14). */
export async function listCampaigns(
  store: StoreReader,
  query: PageQuery & ListFilter,
): Promise<{ items: Campaign[]; total: number; page: number; page_size: number }> {
  const { rows, total } = await listPage(store, CampaignItem, query);
  return { items: rows.map(campaignOf), total, page: query.page, page_size: query.size };
}

/** Copies a campaign as a draft, without times in the past. @throws 404, 429 beyond 10,000 campaigns */
export async function duplicateCampaign(store: Store, id: string): Promise<Campaign> {
  const original = await getCampaign(store, id);
  const { name, target, scheduled_at, messages, safety } = original;
  const now = timestamp(store.clock.now());
  const ahead = (at: string | undefined) => (at !== undefined && at > now ? at : undefined);
  return createCampaign(store, {
    ...fieldsOf(authoredFields, original),
    name: copyName(name),
    target,
    scheduled_at: ahead(scheduled_at),
    safety,
    messages: messages.map(({ error: _, scheduled_at: time, ...message }) => ({
      ...message,
      ...(ahead(time) !== undefined && { scheduled_at: time }),
      id: store.ids.uuid(),
      job_id: "",
    })),
  });
}

/**
 * Replaces all authored fields (CMP-16). @param seen only if it still has this version @throws 404, 409 if it is not a
 * draft
 */
export async function replaceCampaign(
  store: Store,
  id: string,
  spec: CampaignSpec,
  seen?: number,
): Promise<EditResult<Campaign>> {
  const set = stored(spec);
  const change: CampaignChange = {
    set: { ...set, updated_at: timestamp(store.clock.now()) },
    add: anotherEdit,
    remove: absentFrom(set),
  };
  const isDraft = oneOf("status", ["draft"]);
  const when = seen === undefined ? isDraft : all(isDraft, isStill(seen));
  const outcome = await changeListed(store, CampaignItem, id, { change, when });
  if (outcome.kind === "changed") return edited(campaignOf(outcome.row));
  if (outcome.current?.status === "draft") return outdated;
  throw immovable(outcome.current, "changed");
}

/** The optional fields that are omitted; a required field never is. */
const absentFrom = (set: ReturnType<typeof stored>) =>
  [...Object.keys(authoredFields), "scheduled_at", "safety"].filter(
    (name) => set[name as keyof typeof set] === undefined,
  ) as NonNullable<CampaignChange["remove"]>;

type Move = keyof typeof campaignMoves;

/** Makes a move if the campaign has a status that it begins from. @throws 404, 409 naming its status */
export async function moveCampaign(
  store: Store,
  id: string,
  move: Move,
  options: Partial<Omit<CampaignMove, "status">> = {},
): Promise<Campaign> {
  const outcome = await changeListed(store, CampaignItem, id, moveOf(store, move, options));
  if (outcome.kind === "changed") return campaignOf(outcome.row);
  if (outcome.current?.deleting) throw conflict("The campaign is being deleted.");
  // The status allows the move, so another field was changed in the meantime.
  if (campaignMoves[move].from.some((status) => status === outcome.current?.status)) throw beingChanged();
  throw immovable(outcome.current, verbs[move]);
}

/** The same for moves by the service itself. @returns false if the campaign has another status */
export async function tryMove(store: Store, id: string, move: Move): Promise<boolean> {
  return (await changeListed(store, CampaignItem, id, moveOf(store, move))).kind === "changed";
}

function moveOf(
  store: Store,
  move: Move,
  { change = {}, when, ...others }: Partial<Omit<CampaignMove, "status">> = {},
): CampaignMove {
  const { from, to } = campaignMoves[move];
  const mayMove = all<"status" | "deleting">(oneOf("status", from), absent("deleting"));
  return {
    change: {
      ...change,
      set: { ...change.set, status: to, updated_at: timestamp(store.clock.now()) },
      ...((move === "pause" || move === "archive") && { add: { ...change.add, holds: 1 } }),
    },
    status: to,
    when: when ? all<AttributeOf<typeof CampaignItem>>(mayMove, when) : mayMove,
    ...others,
  };
}

/**
 * Begins the deletion of a campaign. From then on it cannot be restored, even if the deletion stops halfway, because
 * its jobs may be canceled. @throws 404, 409 for a campaign of another status than draft and archived
 */
export async function beginDeletion(store: Store, id: string): Promise<Campaign> {
  const change: CampaignChange = { set: { deleting: true } };
  const outcome = await changeListed(store, CampaignItem, id, { change, when: oneOf("status", ["draft", "archived"]) });
  if (outcome.kind === "changed") return campaignOf(outcome.row);
  const { current } = outcome;
  throw current
    ? conflict(`The campaign is ${current.status} and cannot be deleted. Archive it first.`)
    : notFound("campaign");
}

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

export const immovable = (current: { status: string } | undefined, verb: string) =>
  current ? conflict(`The campaign is ${current.status} and cannot be ${verb}.`) : notFound("campaign");

/**
 * Pauses a campaign because of a problem that the service found, if its status still allows it, and stores the reason
 * (AMB-119).
 */
export async function pauseCampaign(store: Store, { id, name }: Pick<Campaign, "id" | "name">, reason: string) {
  const last_error = { code: "PAUSED", message: reason, at: timestamp(store.clock.now()) };
  const note = { kind: "campaign_paused", text: `The campaign ${name} was paused: ${reason}.`, ref_id: id } as const;
  const pause = moveOf(store, "pause", { change: { set: { last_error } }, extraItems: [annotationWrite(store, note)] });
  await changeListed(store, CampaignItem, id, pause);
}

export const campaignActions = ["pause", "resume", "archive", "unarchive"] as const;

/** Resumes a campaign (CMP-22). @param times of the jobs that it holds @throws 404, 409 naming the status */
export const resumeCampaign = (store: Store, id: string, times: Record<string, number | null>): Promise<Campaign> =>
  moveCampaign(store, id, "resume", { change: { set: { resumed: toJson(times) }, remove: ["restored"] } });

/** Applies an action to a campaign (CMP-21, CMP-23 to CMP-25). @throws 404, 409 naming the status */
export async function actOnCampaign(
  store: Store,
  id: string,
  action: Exclude<(typeof campaignActions)[number], "resume">,
): Promise<Campaign> {
  if (action === "pause") return moveCampaign(store, id, "pause");
  const { status, archived_from } = await getCampaign(store, id);
  if (action === "archive") {
    const set = { archived_from: status === "archived" ? undefined : status };
    return moveCampaign(store, id, "archive", { change: { set }, when: is("status", status) });
  }
  if (status !== "archived" || !archived_from) throw conflict(`The campaign is ${status} and cannot be unarchived.`);
  // A draft had nothing due while it was archived: its release sends all messages.
  const set = archived_from === "draft" ? {} : { restored: true as const };
  const change: CampaignChange = { set, remove: ["archived_from"] };
  return moveCampaign(store, id, `restore_${archived_from}`, { change });
}

const campaignOf = (row: CampaignRow): Campaign => ({
  ...fieldsOf(campaignFields, row),
  version: versionOf(row),
  target: fromJson(row.target),
  safety: row.safety === undefined ? undefined : fromJson(row.safety),
  scheduled_at: row.scheduled_at,
  messages: fromJson(row.messages).map((message): ReleasedMessage => {
    const error = row[`error:${message.job_id}`];
    return error ? { ...message, error } : message;
  }),
  released_at: row.released_at,
  draw: row.draw,
  approval: row.approval === undefined ? undefined : fromJson(row.approval),
  archived_from: row.archived_from,
  restored: row.restored,
  holds: row.holds,
  resumed: row.resumed === undefined ? undefined : fromJson(row.resumed),
});
