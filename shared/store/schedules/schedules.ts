// Cron schedules (SCH): what they send, whether they are active, and their next tick.
import { createHash } from "node:crypto";
import * as v from "valibot";
import { inOneAnswer, type PageQuery } from "../../contract/paging.ts";
import { LastError, said, Timestamp } from "../../contract/schemas.ts";
import { HOUR, MINUTE, timestamp } from "../../kernel/clock.ts";
import { type ApiError, invalid, notFound, requireFound } from "../../kernel/errors.ts";
import type { CampaignStatus } from "../../rules/campaign-states.ts";
import { type Cron, nextRun, parseCron } from "../../rules/cron.ts";
import { isTimeZone } from "../../rules/time-zones.ts";
import { CampaignItem } from "../campaigns/items.ts";
import { absent, all, atMost, is, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { annotationWrite } from "../insights/annotations.ts";
import { changeItem, checkItem, fieldsOf, type ItemWrite, idKeys, type NewRowOf, putItem } from "../item.ts";
import { recountTimer } from "../recount-timer.ts";
import { busy, contended, done, orRefuse, untilUncontended, whereItHolds } from "../refusals.ts";
import { jobIdOf } from "../sends/jobs/job-ids.ts";
import { changeListed, createListed, listPage, removeListed, Status } from "../status-index.ts";
import type { Timers } from "../timers.ts";
import { CampaignSchedule, ScheduleItem, scheduleFields } from "./items.ts";

export const Schedule = v.object({
  ...scheduleFields,
  target: v.object({ type: v.literal("all") }),
  topic: said("The key of its topic, where it names one", v.optional(v.string())),
  /** The campaign that it belongs to (AMB-15). */
  campaign_id: v.nullable(v.string()),
  active: v.boolean(),
  /** Null while inactive (AMB-64). */
  next_run_at: v.nullable(Timestamp),
  /** The last tick that was too late to be sent. */
  last_missed_at: v.nullable(Timestamp),
  /** Why the last tick that ended failed; absent after a success (AMB-123). */
  last_error: v.optional(LastError),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Schedule = v.InferOutput<typeof Schedule>;

export type ScheduleRow = NewRowOf<typeof ScheduleItem>;

type Changeable = "cron_expression" | "timezone" | "template_id" | "channel_ids" | "topic" | "active";
type ScheduleSpec = Pick<ScheduleRow, Changeable | "campaign_id" | "hold">;
type WantedChange = ScheduleChange | ((current: ScheduleRow) => ScheduleChange | undefined);
type ScheduleChange = { [F in Changeable | "held_by" | "hold"]?: ScheduleRow[F] | undefined };

/** Parses the expression of a schedule. @throws 422 naming the field (SCH-4, SCH-8) */
export function readCron({ cron_expression, timezone }: Pick<Schedule, "cron_expression" | "timezone">): Cron {
  const parsed = parseCron(cron_expression);
  if (parsed.kind === "refused") throw invalid({ cron_expression: parsed.problem });
  if (!isTimeZone(timezone)) throw invalid({ timezone: "must be an IANA time zone" });
  return parsed.cron;
}

const statusOf = (active: boolean) => (active ? "active" : "paused");

export const noSuchCampaign = (): ApiError => invalid({ campaign_id: "no such campaign in this workspace" });

/** A schedule joins its campaign, unless the deletion of that has begun: it removes those that it finds. */
function ownWrites({ id: schedule, campaign_id: campaign }: ScheduleRow): ItemWrite<"workspace">[] {
  if (campaign === undefined) return [];
  const remains = all<"pk" | "deleting">(present(), absent("deleting"));
  return [putItem(CampaignSchedule, { campaign, schedule }, {}), checkItem(CampaignItem, { id: campaign }, remains)];
}

/** Creates a schedule. @throws 422 for a bad expression or zone, or a deleted campaign, 429 beyond 10,000 schedules */
export async function createSchedule(store: Store, timers: Timers, spec: ScheduleSpec): Promise<Schedule> {
  const now = store.clock.now();
  const id = store.ids.uuidAt(now);
  const cron = readCron(spec);
  const next = spec.active ? nextRun(cron, spec.timezone, now) : undefined;
  await setTick(store, timers, { id, revision: 1, next });
  const { campaign_id } = spec;
  const row: ScheduleRow = {
    ...spec,
    id,
    react: campaign_id === undefined ? undefined : "schedule",
    next,
    revision: 1,
    created_at: timestamp(now),
    updated_at: timestamp(now),
  };
  await createListed(store, ScheduleItem, statusOf(spec.active), row, ownWrites(row)).catch(orRefuse(noSuchCampaign));
  return scheduleOf(row);
}

/** Gets a schedule. @throws 404, also for another workspace's schedule */
export const getSchedule = async (store: StoreReader, id: string): Promise<Schedule> =>
  scheduleOf(await requireSchedule(store, id));

export const findSchedule = (store: StoreReader, id: string): Promise<ScheduleRow | undefined> =>
  store.get(ScheduleItem, { id });

async function requireSchedule(store: StoreReader, id: string): Promise<ScheduleRow> {
  return requireFound(await findSchedule(store, id), "schedule");
}

/** SCH-5. */
export async function listSchedules(
  store: StoreReader,
  { active, ...page }: PageQuery & { active?: boolean | undefined },
): Promise<{ data: Schedule[]; total: number; page: number }> {
  const status = active === undefined ? undefined : statusOf(active);
  const { rows, total } = await listPage(store, ScheduleItem, { ...page, status });
  return { data: inOneAnswer(rows.map(scheduleOf)), total, page: page.page };
}

/**
 * SCH-7, SCH-12, SCH-14: the next tick is computed again, from now on.
 * @param wanted the change, or what decides it by the schedule as it is then; undefined for none
 * @throws 404, 422.
 */
export async function changeSchedule(
  store: Store,
  timers: Timers,
  id: string,
  wanted: WantedChange,
): Promise<Schedule> {
  return requireFound(await tryChange(store, timers, id, wanted), "schedule");
}

/** The same for a schedule that may be deleted in the meantime: undefined then. */
async function tryChange(
  store: Store,
  timers: Timers,
  id: string,
  wanted: WantedChange,
): Promise<Schedule | undefined> {
  return untilUncontended<Schedule | undefined>(
    busy.transient("The schedule is being changed by others."),
    async () => {
      const current = await findSchedule(store, id);
      if (!current) return done(undefined);
      const change = typeof wanted === "function" ? wanted(current) : wanted;
      if (!change) return done(scheduleOf(current));
      const {
        cron_expression = current.cron_expression,
        timezone = current.timezone,
        active = current.active,
      } = change;
      const cron = readCron({ cron_expression, timezone });

      const now = store.clock.now();
      const isMoved =
        cron_expression !== current.cron_expression || timezone !== current.timezone || active !== current.active;
      const revision = current.revision + (isMoved ? 1 : 0);
      const next = active ? nextRun(cron, timezone, now) : undefined;
      if (isMoved) await setTick(store, timers, { id, revision, next });
      const moved = isMoved ? { revision, next } : {};

      const remove: ("next" | "held_by")[] = [];
      if (isMoved && next === undefined) remove.push("next");
      if (change.active !== undefined && change.held_by === undefined) remove.push("held_by");
      const changed = await changeListed(store, ScheduleItem, id, {
        change: { set: { ...change, ...moved, updated_at: timestamp(now) }, remove },
        when: is("revision", current.revision),
        status: active === current.active ? undefined : statusOf(active),
      });
      return changed.kind === "changed" ? done(scheduleOf(changed.row)) : contended;
    },
  );
}

/** Switches a schedule off, if it is still there, and says why, on itself and in an annotation (AMB-119). */
export async function switchOff(store: Store, timers: Timers, id: string, reason: string): Promise<void> {
  await tryChange(store, timers, id, { active: false });
  const text = `A schedule was switched off: ${reason}.`;
  const last_error = { code: "SWITCHED_OFF", message: reason, at: timestamp(store.clock.now()) };
  await whereItHolds(
    store.transact([
      changeItem(ScheduleItem, { id }, { set: { last_error } }, present()),
      annotationWrite(store, { kind: "schedule_failed", text, ref_id: id }),
    ]),
  );
}

/** SCH-9. @throws 404. */
export async function deleteSchedule(store: Store, timers: Timers, id: string): Promise<void> {
  const removed = await removeSchedule(store, timers, await requireSchedule(store, id));
  if (removed === "refused") throw notFound("schedule");
}

/** One of a campaign is switched off before, which lets that end (D-CMP-AUTO): a removal is followed by nothing. */
export async function removeSchedule(
  store: Store,
  timers: Timers,
  { id, campaign_id, active }: Pick<ScheduleRow, "id" | "campaign_id" | "active">,
): Promise<"removed" | "refused"> {
  if (campaign_id !== undefined && active) await tryChange(store, timers, id, { active: false });
  return removeListed(store, ScheduleItem, id);
}

/** The schedules that belong to a campaign, without deleted ones. */
export async function ownedSchedules(store: StoreReader, campaign: string): Promise<ScheduleRow[]> {
  const items = await store.queryAll(CampaignSchedule, { campaign });
  const ids = items.map(({ sk }) => sk.slice("S#".length));
  const rows = await store.getAll(ScheduleItem, idKeys(ids));
  return rows.filter((row) => row !== undefined);
}

/** The actions that switch the schedules of a campaign off, by its status. */
const holders: Partial<Record<CampaignStatus, "pause" | "archive">> = { paused: "pause", archived: "archive" };

/**
 * Switches a campaign's schedules off when it is paused or archived. Afterwards it switches these on again, but never
 * those that the user switched off (CMP-21 to CMP-23, AMB-67). One that the user switched on in the meantime stays on
 * (SCH-12). The campaign may be an older version: the decision of a later hold stays.
 */
export async function switchOwned(
  store: Store,
  timers: Timers,
  { id: campaign, status, holds = 0 }: { id: string; status: CampaignStatus; holds?: number | undefined },
): Promise<void> {
  const holder = holders[status];
  const decide = ({ active, held_by, hold = -1 }: ScheduleRow): ScheduleChange | undefined => {
    if (holder && active && hold < holds) return { active: false, held_by: holder, hold: holds };
    const isOver = held_by !== undefined && !active && (!holder || (holder === "pause" && held_by === "archive"));
    return isOver && hold <= holds ? { active: true, hold: holds } : undefined;
  };
  for (const schedule of await ownedSchedules(store, campaign))
    if (decide(schedule)) await tryChange(store, timers, schedule.id, decide);
}

/** The job of a tick. The write that advances the schedule decides which attempt at the tick counts. */
export function tickJobId({ tenant, clock }: Pick<Store, "tenant" | "clock">, schedule: string, tick: number): string {
  const tail = createHash("sha256").update(`schedule:${tenant}:${schedule}:${tick}`).digest();
  return jobIdOf("schedule", clock.now(), tail);
}

/** The write that advances a schedule from a tick to the next one, if the tick belongs to its current revision. */
export function tickWrite(
  { id, revision }: Pick<ScheduleRow, "id" | "revision">,
  tick: number,
  next: number | undefined,
  missed?: string,
): ItemWrite<"workspace"> {
  const isDue = all(is("revision", revision), is("active", true), atMost("next", tick));
  const remove = next === undefined ? (["next"] as const) : [];
  return changeItem(ScheduleItem, { id }, { set: { next, last_missed_at: missed }, remove }, isDue);
}

/** By then the message of a tick was delivered or dead-lettered, and the tick is not yet too late to be sent. */
const WATCH_MS = 50 * MINUTE;

/**
 * The revision is part of the timer's name: a name is never used for two timers. The night after the tick looks whether
 * both timers were lost.
 */
export async function setTick(
  { tenant }: Pick<Store, "tenant">,
  timers: Timers,
  { id, revision, next: at }: Pick<ScheduleRow, "id" | "revision" | "next">,
): Promise<void> {
  if (at === undefined) return;
  await timers.set([
    { kind: "schedule", id: `${id}:${revision}`, at },
    { kind: "schedule-watch", id: `${id}:${revision}:${at}`, at: at + WATCH_MS },
    recountTimer(at + WATCH_MS, tenant),
  ]);
}

/** A time that passed so long ago was left behind by its tick and by the watch of it. */
const LEFT_BEHIND_MS = 2 * HOUR;

/**
 * Repeats the tick of active schedules whose next time has passed; the tick notes what was missed. @returns how many
 */
export async function wakeSchedules(store: Store, timers: Timers): Promise<number> {
  const now = store.clock.now();
  const listed = await store.queryAll(Status, { kind: "schedule" });
  const active = listed.filter(({ status }) => status === statusOf(true)).map(({ sk }) => ({ id: sk }));
  const rows = (await store.getAll(ScheduleItem, active)).filter((row) => row !== undefined);
  const left = rows.filter((row) => row.active && row.next !== undefined && row.next < now - LEFT_BEHIND_MS);
  for (const row of left) {
    store.log({
      level: "warn",
      message: "a schedule was left behind by its tick",
      tenant: store.tenant,
      schedule: row.id,
    });
    await timers.set([{ kind: "schedule", id: `${row.id}:${row.revision}`, at: row.next ?? now }]);
  }
  return left.length;
}

const scheduleOf = (row: ScheduleRow): Schedule => ({
  ...fieldsOf(scheduleFields, row),
  target: { type: "all" },
  topic: row.topic ?? undefined,
  campaign_id: row.campaign_id ?? null,
  active: row.active,
  next_run_at: row.next === undefined ? null : timestamp(row.next),
  last_missed_at: row.last_missed_at ?? null,
  ...(row.last_error && { last_error: row.last_error }),
  created_at: row.created_at,
  updated_at: row.updated_at,
});
