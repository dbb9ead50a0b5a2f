// In-app experiences (INX, INS, AMB-2 to AMB-7, AMB-101, AMB-102, AMB-120).
import { created, type Operation, ok, read, write } from "./access.ts";
import { note } from "./annotations.ts";
import { checkTarget } from "./audience.ts";
import { listing } from "./checks.ts";
import { cancelJob } from "./closing.ts";
import {
  ABSENT,
  About,
  ANY,
  type Body,
  conflict,
  instant,
  iso,
  isRecord,
  Refusal,
  type Request,
  Unordered,
} from "./kit.ts";
import { needInApp } from "./plans.ts";
import type { Experience } from "./records/plans.ts";
import { createJob, schedule, takeQuota } from "./sending.ts";
import { at, existing, found, newId, type World } from "./world.ts";

const FORMATS = ["banner", "modal", "inbox_only", "card", "fullscreen"];

/** AMB-3: field errors of authored experiences are 400. */
function bad(...fields: string[]): never {
  throw new Refusal(400, { code: "BAD_REQUEST", ...(fields.length > 0 && {}) });
}

/** AMB-120: always with its display. */
const displayOf = (display: Body): Body => ({ trigger: "immediate", frequency: "once", ...display });

function record(experience: Experience): Body {
  const { spec } = experience;
  return {
    ...{ id: experience.id, name: spec.name, format: spec.format, status: experience.status, content: spec.content },
    audience: spec.audience ?? ABSENT,
    start_at: spec.start_at ? iso(instant(spec.start_at)!) : ABSENT,
    end_at: spec.end_at ? iso(instant(spec.end_at)!) : ABSENT,
    variant_b: spec.variant_b ?? ABSENT,
    split_percentage: spec.variant_b ? (spec.split_percentage ?? 50) : ANY,
    holdout_percentage: spec.holdout_percentage ?? 0,
    notification_id: experience.job_id ?? ABSENT,
    archived_at: experience.archived_at === null ? ABSENT : iso(experience.archived_at),
    display: displayOf(spec.display),
    created_at: iso(experience.created_at),
  };
}

/** INX-3 to INX-20. @param audience looked for only if given: a change of something else leaves one that is gone as it is */
function check(world: World, spec: Body, audience: Body | null | undefined = spec.audience): void {
  if (typeof spec.name !== "string" || spec.name === "" || spec.name.length > 200) bad("name");
  if (!FORMATS.includes(spec.format)) bad("format");
  if (!isRecord(spec.content) || !spec.content.title) bad("content.title");
  if ((spec.content.actions?.length ?? 0) > 4) bad("content.actions");
  const { trigger = "immediate", trigger_event, frequency = "once", priority = 1, screens = [] } = spec.display ?? {};
  if (!["immediate", "session_start", "event"].includes(trigger)) bad("display.trigger");
  if ((trigger === "event") !== (trigger_event !== undefined)) bad("display.trigger_event");
  if (!["once", "once_per_session"].includes(frequency)) bad("display.frequency");
  if (!Number.isInteger(priority) || priority < 1 || priority > 10) bad("display.priority");
  if (screens.length > 20 || screens.some((screen: string) => !screen.startsWith("/"))) bad("display.screens");
  const [start, end] = [spec.start_at, spec.end_at].map((text) => (text ? (instant(text) ?? bad()) : undefined));
  if (start !== undefined && end !== undefined && end <= start) bad("end_at");
  if (spec.variant_b && !spec.variant_b.title) bad("variant_b.title");
  const { split_percentage: split = 50, holdout_percentage: holdout = 0 } = spec;
  if (!Number.isInteger(split) || split < 1 || split > 99) bad("split_percentage");
  if (!Number.isInteger(holdout) || holdout < 0 || holdout > 99) bad("holdout_percentage");
  if (audience) checkAudience(world, audience);
}

function checkAudience(world: World, audience: Body): void {
  try {
    checkTarget(world, audience, "audience");
  } catch (error) {
    if (error instanceof Refusal) bad("audience");
    throw error;
  }
}

function add(world: World, spec: Body): Experience {
  const experience: Experience = {
    ...{ id: newId(world, "experience"), status: "draft", spec, job_id: null, held_back: false },
    ...{ created_at: world.now, updated_at: world.now, archived_at: null },
  };
  world.experiences.push(experience);
  return experience;
}

function create(world: World, { body }: Request) {
  check(world, body);
  return created(record(add(world, structuredClone(body))));
}

/** INX-25 to INX-28: an empty text clears a time; each block replaces the whole. */
function patch(world: World, { body }: Request, { id }: Record<string, string>) {
  const experience = existing(world.experiences, id);
  const { remove_variant_b, ...changes } = structuredClone(body);
  const spec = { ...experience.spec, ...changes };
  for (const field of ["start_at", "end_at"]) if (spec[field] === "") delete spec[field];
  if (remove_variant_b) for (const field of ["variant_b", "split_percentage"]) delete spec[field];
  if (experience.status !== "draft") throw new Refusal(422, { code: "VALIDATION_ERROR" });
  check(world, spec, changes.audience ?? null);
  Object.assign(experience, { spec, updated_at: world.now });
  return ok(record(experience));
}

/** INX-31, INX-32, AMB-4, AMB-47: to everybody of the audience, by the in-app channel of the workspace. */
function publish(world: World, experience: Experience, given: Body): void {
  const { spec } = experience;
  const { content, variant_b, audience, end_at } = spec;
  if (!audience || !content.body || (variant_b && !variant_b.body)) bad();
  if (end_at && instant(end_at)! <= world.now) bad();
  send(world, experience, given?.notification_id);
  note(world, "experience_published", experience.id);
  experience.status = "live";
  const { end_at: end } = spec;
  if (end) at(world, instant(end)!, () => endIt(world, experience, instant(end)!));
}

function send(world: World, experience: Experience, unit: string | undefined): void {
  const { spec } = experience;
  const { audience, content, variant_b, split_percentage, holdout_percentage, format, display, start_at } = spec;
  const inApp = world.channels.filter(({ type }) => type === "in_app").map(({ id }) => id);
  const draw = { ...(variant_b && { variant_b, split_percentage }), holdout_percentage };
  const authored = { format, display: displayOf(display) };
  const job = createJob(
    world,
    { target: audience, content, ...draw, channel_ids: inApp.slice(0, 1), experience: authored },
    { type: "experience", id: experience.id },
  );
  job.unit = unit ?? job.id;
  const due = start_at ? instant(start_at)! : null;
  if (due === null || due <= world.now) takeQuota(world, job, unit !== undefined);
  experience.job_id = job.id;
  schedule(world, job, due);
}

const messagesOf = (world: World, experience: Experience) => {
  const jobs = world.jobs.filter(({ source }) => source.type === "experience" && source.id === experience.id);
  return world.inbox.filter(({ notification_id }) => jobs.some(({ id }) => id === notification_id));
};

/** INX-33. */
export function pause(world: World, experience: Experience): void {
  experience.status = "paused";
  for (const message of messagesOf(world, experience)) message.hidden = true;
  const job = found(world.jobs, experience.job_id);
  if (job?.status !== "scheduled") return;
  cancelJob(world, job);
  experience.held_back = true;
}

/** INX-34, AMB-6: a send that pause canceled goes out after all, and so does one that reached nobody. */
function resume(world: World, experience: Experience, given: Body): void {
  const { end_at } = experience.spec;
  if (end_at && instant(end_at)! <= world.now) bad();
  // Beyond the quota it stays paused.
  if (experience.held_back || found(world.jobs, experience.job_id)?.status === "failed")
    send(world, experience, given?.notification_id);
  Object.assign(experience, { status: "live", held_back: false });
  for (const message of messagesOf(world, experience)) message.hidden = false;
}

/** INX-35, AMB-7: a final recall. */
function endIt(world: World, experience: Experience, at: number): void {
  if (experience.status !== "live" && experience.status !== "paused") return;
  note(world, "experience_ended", experience.id, at);
  experience.status = "ended";
  for (const message of messagesOf(world, experience)) message.recalled = true;
  const job = found(world.jobs, experience.job_id);
  if (job?.status === "scheduled") cancelJob(world, job);
}

function archive(world: World, experience: Experience): void {
  if (experience.status === "archived") return;
  Object.assign(experience, { status: "archived", archived_at: world.now });
}

type Move = (world: World, experience: Experience, given: Body) => void;
const MOVES: Record<string, { from: string[]; run: Move }> = {
  publish: { from: ["draft"], run: publish },
  pause: { from: ["live"], run: pause },
  resume: { from: ["paused"], run: resume },
  end: { from: ["live", "paused", "ended"], run: (world, experience) => endIt(world, experience, world.now) },
  archive: { from: ["draft", "ended", "archived"], run: archive },
};

/** INX-30, INX-37: anything else is 400 naming the status. */
const move =
  (name: string): Operation["run"] =>
  (world, { given }, { id }) => {
    const { from, run } = MOVES[name]!;
    const experience = existing(world.experiences, id);
    if (!from.includes(experience.status)) bad();
    run(world, experience, given);
    return ok(record(experience));
  };

/** INX-39, INX-40: also of one whose audience is gone. */
function duplicate(world: World, { body }: Request, { id }: Record<string, string>) {
  const { spec } = existing(world.experiences, id);
  const { start_at, end_at, ...kept } = structuredClone(spec);
  return created(record(add(world, { ...kept, name: body?.name ?? `Copy of ${spec.name}` })));
}

/** INS-1 to INS-3: impressions count events, reach counts people. */
function stats(world: World, _: Request, { id }: Record<string, string>) {
  const experience = existing(world.experiences, id);
  const jobs = world.jobs.filter(({ source }) => source.type === "experience" && source.id === id).map((job) => job.id);
  const own = world.interactions.filter(({ job_id }) => jobs.includes(job_id));
  const count = (rows: typeof own, kind: string) => rows.filter(({ interaction }) => interaction === kind).length;
  const numbers = (rows: typeof own) => {
    const impressions = count(rows, "inapp_impression");
    const [clicks, dismissals] = [count(rows, "inapp_click"), count(rows, "inapp_dismiss")];
    const ratio = (n: number) => new About(impressions === 0 ? 0 : n / impressions);
    return { impressions, clicks, dismissals, ctr: ratio(clicks), dismiss_rate: ratio(dismissals) };
  };
  const { dismiss_rate, ...total } = numbers(own);
  const reach = own
    .filter(({ interaction }) => interaction === "inapp_impression")
    .flatMap((row) => row.subscriber_id ?? []);
  const by_variant = ["a", "b"].map((variant_id) => {
    const { dismiss_rate: _, ...rest } = numbers(own.filter((row) => row.variant_id === variant_id));
    return { variant_id, ...rest };
  });
  const variants = experience.spec.variant_b ? { by_variant: new Unordered(by_variant) } : { by_variant: ABSENT };
  const unique_reach = new Set(reach).size;
  return ok({ experience_id: id, status: experience.status, ...total, dismiss_rate, unique_reach, ...variants });
}

/** AMB-29: more than 100 are 100; below 1 is 400 here. */
function page(world: World, { query }: Request) {
  const size = query.page_size === undefined ? 20 : Number(query.page_size);
  if (!/^\d+$/.test(query.page_size ?? "20") || size < 1) bad();
  const matching = world.experiences.filter(({ status }) => [undefined, status].includes(query.status));
  return listing("items", new Unordered(matching.map(record)), Math.min(size, 100), matching.length);
}

/** Drafts only (api-additions). */
function remove(world: World, _: Request, { id }: Record<string, string>) {
  const experience = existing(world.experiences, id);
  if (experience.status !== "draft") conflict();
  world.experiences = world.experiences.filter((other) => other !== experience);
  return { status: 204 };
}

const path = "/api/v1/in-app/experiences";
const gated = (operation: Operation): Operation => ({ ...operation, plan: needInApp });
export const experienceOperations: Operation[] = [
  write(`POST ${path}`, "content:write", create),
  read(`GET ${path}`, page),
  read(`GET ${path}/:id`, (world, _, { id }) => ok(record(existing(world.experiences, id)))),
  write(`PATCH ${path}/:id`, "content:write", patch),
  write(`DELETE ${path}/:id`, "content:write", remove),
  ...["publish", "pause", "resume", "end"].map((name) => write(`POST ${path}/:id/${name}`, "send", move(name))),
  write(`POST ${path}/:id/archive`, "content:write", move("archive")),
  write(`POST ${path}/:id/duplicate`, "content:write", duplicate),
  read(`GET ${path}/:id/stats`, stats),
].map(gated);
