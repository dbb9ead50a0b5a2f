// Recurring sends (SCH, AMB-15, AMB-16, AMB-64).
import { created, type Operation, ok, read, write } from "./access.ts";
import { completeIfDone } from "./campaign-moves.ts";
import { listing, pageNumber, requiredText } from "./checks.ts";
import { isZone, nextAfter, parseCron } from "./cron.ts";
import { needChannels } from "./gates.ts";
import { ABSENT, type Body, HOUR, invalid, iso, isoOrNull, OneOf, type Request, together, Unordered } from "./kit.ts";
import { needSchedules, reaches } from "./plans.ts";
import type { Schedule } from "./records/plans.ts";
import { createJob, schedule as goOut } from "./sending.ts";
import { needTemplate } from "./templates.ts";
import { needTopic } from "./topics.ts";
import { at, existing, found, newId, type World } from "./world.ts";

const record = ({ id, spec, active, next_run_at, created_at, missed_at }: Schedule): Body => ({
  last_missed_at: missed_at === undefined ? new OneOf([null, ABSENT]) : iso(missed_at),
  ...{ id, cron_expression: spec.cron_expression, timezone: spec.timezone, template_id: spec.template_id },
  ...{ channel_ids: spec.channel_ids, target: { type: "all" }, active, campaign_id: spec.campaign_id ?? null },
  ...{ next_run_at: isoOrNull(next_run_at), created_at: iso(created_at) },
});

/** SCH-4, SCH-13, AMB-64: an expression that never fires is refused. */
function check(world: World, { cron_expression, timezone, channel_ids }: Body): void {
  const cron = parseCron(cron_expression);
  together(
    () => isZone(timezone) || invalid("timezone"),
    () => (cron && (!isZone(timezone) || nextAfter(cron, world.now, timezone))) || invalid("cron_expression"),
    () => (Array.isArray(channel_ids) && channel_ids.length > 0) || invalid("channel_ids"),
  );
}

function checkReferences(world: World, { template_id, channel_ids, topic }: Body): void {
  together(
    () => needTopic(world, topic),
    () => needTemplate(world, template_id),
    () => needTopic(world, topic),
    () => needChannels(world, channel_ids),
  );
}

/**
 * SCH-12, SCH-14: while active, at each instant of its expression. What is more than an hour late is not sent, and neither
 * is what came between; the ticks of the last hour are, each (docs/decisions/0021-settled-questions.md).
 */
export function nextRun(world: World, row: Schedule, after = world.now): void {
  const { cron_expression, timezone } = row.spec;
  const due = row.active ? nextAfter(parseCron(cron_expression)!, after, timezone)! : null;
  row.next_run_at = due;
  if (due === null) return;
  at(world, due, () => {
    if (!world.schedules.includes(row) || !row.active || row.next_run_at !== due) return;
    const isLate = world.now - due > HOUR;
    if (isLate) row.missed_at = due;
    else if (reaches(world, "premium")) fire(world, row);
    nextRun(world, row, isLate ? world.now - HOUR : due);
  });
}

function fire(world: World, { id, spec }: Schedule): void {
  const { template_id, channel_ids, topic } = spec;
  const content = { template_id, channel_ids, target: { type: "all" }, ...(topic && { topic }) };
  const job = createJob(world, content, { type: "schedule", id });
  goOut(world, job, null);
}

function create(world: World, { body }: Request) {
  for (const field of ["cron_expression", "timezone", "template_id"]) requiredText(body, field);
  if (body.target?.type !== "all") invalid();
  check(world, body);
  checkReferences(world, body);
  const row: Schedule = {
    ...{ id: newId(world, "schedule"), spec: structuredClone(body), active: body.active ?? true },
    ...{ switched_off_by: null, next_run_at: null, created_at: world.now },
  };
  world.schedules.push(row);
  nextRun(world, row);
  return created(record(row));
}

/** SCH-7, AMB-64: an empty body is 422; channel_ids replace the whole array. */
function patch(world: World, { body }: Request, { id }: Record<string, string>) {
  if (Object.keys(body).length === 0) invalid();
  const row = existing(world.schedules, id);
  const spec = { ...row.spec, ...structuredClone(body) };
  check(world, spec);
  checkReferences(world, body.active ? spec : body);
  row.spec = spec;
  if (body.active !== undefined) Object.assign(row, { active: body.active, switched_off_by: null });
  nextRun(world, row);
  reconsider(world, row);
  return ok(record(row));
}

/** AMB-67: switching off the last owned schedule re-evaluates the campaign. */
function reconsider(world: World, { spec }: Schedule): void {
  const campaign = found(world.campaigns, spec.campaign_id);
  if (campaign) completeIfDone(world, campaign);
}

function remove(world: World, _: Request, { id }: Record<string, string>) {
  const row = existing(world.schedules, id);
  world.schedules = world.schedules.filter((other) => other !== row);
  reconsider(world, row);
  return { status: 204 };
}

function page(world: World, { query }: Request) {
  pageNumber(query, "page", 1, 1e9);
  const size = pageNumber(query, "per_page", 20, 100);
  const matching = world.schedules.filter(({ active }) => [undefined, String(active)].includes(query.active));
  return listing("data", new Unordered(matching.map(record)), size, matching.length);
}

/** AMB-16: only creating and changing are gated. */
export const scheduleOperations: Operation[] = [
  { ...write("POST /api/v1/schedules", "content:write", create), plan: needSchedules },
  read("GET /api/v1/schedules", page),
  read("GET /api/v1/schedules/:id", (world, _, { id }) => ok(record(existing(world.schedules, id)))),
  { ...write("PATCH /api/v1/schedules/:id", "content:write", patch), plan: needSchedules },
  write("DELETE /api/v1/schedules/:id", "content:write", remove),
];
