// Campaigns (CMP, AMB-13, AMB-14, AMB-54, AMB-65 to AMB-67, AMB-113, AMB-138).
import { created, type Operation, ok, read, write } from "./access.ts";
import { note } from "./annotations.ts";
import { ask, checkUnchanged, forbid, shownApproval, waiting } from "./approvals.ts";
import { checkTarget } from "./audience.ts";
import { ACTIONS, isOpen, OVERDUE } from "./campaign-actions.ts";
import { jobsOf } from "./campaign-moves.ts";
import { listing, optionalInstant, optionalOneOf, optionalWhole, pageNumber, requiredText } from "./checks.ts";
import { cancelJob } from "./closing.ts";
import { needChannels } from "./gates.ts";
import {
  ABSENT,
  type Body,
  conflict,
  instant,
  invalid,
  iso,
  OneOf,
  type Request,
  together,
  Unordered,
  Unpromised,
} from "./kit.ts";
import type { Campaign } from "./records/plans.ts";
import { createJob, schedule } from "./sending.ts";
import { needTemplate } from "./templates.ts";
import { needTopic } from "./topics.ts";
import { existing, newId, type World } from "./world.ts";

/** CMP-1, CMP-10, AMB-66: the top level mirrors the first message. */
function record(campaign: Campaign): Body {
  const { spec, messages } = campaign;
  const time = spec.scheduled_at ?? messages[0]?.scheduled_at;
  return {
    ...{ id: campaign.id, name: campaign.name, status: campaign.status, category: spec.category ?? "marketing" },
    ...{ target: spec.target ?? { type: "all" }, holdout_percentage: spec.holdout_percentage ?? 0 },
    content: messages[0]?.content ?? ABSENT,
    channel_ids: messages[0]?.channel_ids ?? [],
    scheduled_at: time === undefined ? ABSENT : iso(instant(time)!),
    messages: messages.map((message, position) => ({
      ...{ position, content: message.content ?? ABSENT, channel_ids: message.channel_ids ?? [] },
      scheduled_at: message.scheduled_at === undefined ? ABSENT : iso(instant(message.scheduled_at)!),
      job_id: message.job_id ?? new OneOf(["", null]),
      moved_to: movedTo(campaign, message),
    })),
    topic: spec.topic ?? new OneOf([null, ABSENT]),
    safety: spec.safety === undefined ? ABSENT : spec.safety,
    ...{ approval: shownApproval(campaign), created_at: iso(campaign.created_at) },
  };
}

/** AMB-138: told of what does not keep its time. */
function movedTo({ moved, spec }: Campaign, message: Campaign["messages"][number]): Body {
  const time = moved[message.job_id ?? ""];
  if (time === undefined || time === null) return time === null ? null : ABSENT;
  return instant(message.scheduled_at ?? spec.scheduled_at) === time ? ABSENT : iso(time);
}

/** CMP-12, CMP-13, AMB-65. */
function checkShape(body: Body): void {
  requiredText(body, "name");
  optionalOneOf(body, "category", ["transactional", "marketing"]);
  optionalWhole(body, "holdout_percentage", 0, 99);
  for (const message of [body, ...(body.messages ?? [])]) optionalInstant(message, "scheduled_at");
}

function checkReferences(world: World, body: Body): void {
  const all = [body, ...(body.messages ?? [])];
  together(
    () => body.target !== undefined && checkTarget(world, body.target),
    () => needTopic(world, body.topic),
    ...all.map((message) => () => needTemplate(world, message.template_id)),
    ...all.map((message) => () => needChannels(world, message.channel_ids, "messages")),
  );
}

/** One message of its own, or those that are listed. */
function messagesOf({ messages, content, template_id, channel_ids }: Body): Body[] {
  if (messages) return structuredClone(messages);
  return [{ ...(content && { content }), ...(template_id && { template_id }), channel_ids }];
}

function create(world: World, { body }: Request) {
  const hasOwn = (body.content !== undefined || body.template_id !== undefined) && body.channel_ids !== undefined;
  if (body.name && body.messages === undefined && !hasOwn) invalid();
  if (body.messages?.length === 0) invalid();
  checkShape(body);
  checkReferences(world, body);
  const { name, messages: _, ...spec } = structuredClone(body);
  return created(record(draft(world, { name, spec, messages: messagesOf(body) })));
}

function draft(world: World, authored: Pick<Campaign, "name" | "spec" | "messages">): Campaign {
  const rest = { before_archive: null, moved: {}, created_at: world.now, updated_at: world.now };
  const campaign: Campaign = { id: newId(world, "campaign"), status: "draft", ...authored, ...rest };
  world.campaigns.push(campaign);
  return campaign;
}

/** A12: all that was written, but times that have passed. What the copy is called is open. */
function duplicate(world: World, { given }: Request, { id }: Record<string, string>) {
  const { spec, messages } = structuredClone(existing(world.campaigns, id));
  const authored = ({ scheduled_at, job_id: _, ...rest }: Body): Body => ({
    ...rest,
    ...(scheduled_at !== undefined && instant(scheduled_at)! > world.now && { scheduled_at }),
  });
  return created(record(draft(world, { name: given.name, spec: authored(spec), messages: messages.map(authored) })));
}

/** CMP-16: replaces everything; what is left out goes back to its default. */
function put(world: World, { body }: Request, { id }: Record<string, string>) {
  if (!Array.isArray(body.messages) || body.messages.length === 0) invalid();
  checkShape(body);
  const campaign = existing(world.campaigns, id);
  // What the body names is looked at before the state.
  checkReferences(world, body);
  if (campaign.status !== "draft") conflict();
  const { name, messages, ...spec } = structuredClone(body);
  // What GET showed as its time is that of its first message.
  const shown = [messages[0], campaign.messages[0]].map((message) => instant(message.scheduled_at));
  if (campaign.spec.scheduled_at === undefined && shown.every((time) => time === instant(spec.scheduled_at)))
    delete spec.scheduled_at;
  Object.assign(campaign, { name, spec, messages, updated_at: world.now });
  return ok(record(campaign));
}

/** RDA-26: where the workspace asks a second person, a release only asks. */
function release(world: World, { given, as }: Request, { id }: Record<string, string>) {
  const campaign = existing(world.campaigns, id);
  if (campaign.status !== "draft") conflict();
  if (!world.settings.approval_required) {
    campaign.approval = undefined;
    return goOut(world, campaign, given);
  }
  ask(world, campaign, as);
  return { status: 202, body: { ...record(campaign), outcome: "approval_requested" } };
}

/** RDA-26: by another member than who asked, and just what was asked for. */
function approve(world: World, { given, as, body }: Request, { id }: Record<string, string>) {
  const campaign = existing(world.campaigns, id);
  const approval = waiting(campaign, body.approval_id);
  if (approval.by === (as.role ?? "owner")) forbid();
  checkUnchanged(world, campaign, approval);
  approval.status = "approved";
  return goOut(world, campaign, given);
}

function decline(world: World, { body }: Request, { id }: Record<string, string>) {
  const campaign = existing(world.campaigns, id);
  Object.assign(waiting(campaign, body.approval_id), { status: "declined", note: body.note });
  return ok(record(campaign));
}

function withdraw(world: World, { as }: Request, { id }: Record<string, string>) {
  const campaign = existing(world.campaigns, id);
  if (waiting(campaign, undefined).by !== (as.role ?? "owner")) forbid();
  campaign.approval = undefined;
  return ok(record(campaign));
}

/** CMP-19, CMP-20: one job for each message, at its time, the campaign's, or now. */
function goOut(world: World, campaign: Campaign, given: Body) {
  const { spec } = campaign;
  let isNow = false;
  campaign.messages.forEach((message, position) => {
    const time = message.scheduled_at ?? spec.scheduled_at;
    const due = time === undefined ? null : instant(time)!;
    if (due === null || due <= world.now) isNow = true;
    const content = message.content
      ? { content: message.content }
      : { template_id: message.template_id ?? spec.template_id };
    const { category, holdout_percentage, topic, target = { type: "all" } } = spec;
    const rest = { category, target, holdout_percentage, ...(topic && { topic }), channel_ids: message.channel_ids };
    const job = createJob(world, { ...content, ...rest }, { type: "campaign", id: campaign.id });
    job.unit = given?.messages?.[position]?.job_id ?? job.id;
    message.job_id = job.id;
    schedule(world, job, due);
  });
  note(world, "campaign_released", campaign.id);
  campaign.status = isNow ? "live" : "scheduled";
  campaign.updated_at = world.now;
  return ok(record(campaign));
}

/** CMP-17, CMP-25. */
function act(world: World, { body }: Request, { id }: Record<string, string>) {
  const action = Object.hasOwn(ACTIONS, body.action ?? "") ? ACTIONS[body.action] : undefined;
  if (!action) return invalid();
  if (body.overdue !== undefined && (body.action !== "resume" || !OVERDUE.includes(body.overdue))) invalid("overdue");
  const campaign = existing(world.campaigns, id);
  if (!action.from.includes(campaign.status)) conflict();
  action.run(world, campaign, body);
  campaign.updated_at = world.now;
  return ok(record(campaign));
}

/** A12: drafts and archived ones only. What was still to come of it does not come. */
function remove(world: World, _: Request, { id }: Record<string, string>) {
  const campaign = existing(world.campaigns, id);
  if (campaign.status !== "draft" && campaign.status !== "archived") conflict();
  const open = jobsOf(world, campaign).filter(isOpen);
  if (open.some(({ dispatched_at }) => dispatched_at !== null))
    throw new Unpromised("a campaign is deleted of which a part was handed over");
  for (const job of open) cancelJob(world, job);
  world.schedules = world.schedules.filter(({ spec }) => spec.campaign_id !== id);
  world.campaigns = world.campaigns.filter((other) => other !== campaign);
  return { status: 204 };
}

function page(world: World, { query }: Request) {
  pageNumber(query, "page", 1, 1e9);
  const size = pageNumber(query, "page_size", 20, 100);
  const [from, to] = [instant(query.from) ?? 0, instant(query.to) ?? Number.POSITIVE_INFINITY];
  const matching = world.campaigns
    .filter(({ status }) => [undefined, status].includes(query.status))
    .filter(({ name }) => name.toLowerCase().includes((query.q ?? "").toLowerCase()))
    .filter(
      ({ status, approval }) => !query.awaiting_approval || (status === "draft" && approval?.status === "waiting"),
    )
    .filter(({ created_at }) => created_at >= from && created_at <= to);
  return listing("items", new Unordered(matching.map(record)), size, matching.length);
}

export const campaignOperations: Operation[] = [
  write("POST /api/v1/campaigns", "content:write", create),
  read("GET /api/v1/campaigns", page),
  read("GET /api/v1/campaigns/:id", (world, _, { id }) => ok(record(existing(world.campaigns, id)))),
  write("PUT /api/v1/campaigns/:id", "content:write", put),
  write("PATCH /api/v1/campaigns/:id", "send", act),
  write("DELETE /api/v1/campaigns/:id", "content:write", remove),
  write("POST /api/v1/campaigns/:id/duplicate", "content:write", duplicate),
  write("POST /api/v1/campaigns/:id/release", "send", release),
  write("POST /api/v1/campaigns/:id/approve", "send", approve),
  write("POST /api/v1/campaigns/:id/decline", "send", decline),
  write("POST /api/v1/campaigns/:id/withdraw", "send", withdraw),
];
