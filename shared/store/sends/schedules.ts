// Cron schedules (SCH): what they send, whether they are active, and the one tick that comes next.
import { createHash } from "node:crypto";
import { timestamp, uuidV7 } from "../../clock.ts";
import { invalid, notFound } from "../../http/errors.ts";
import type { PageQuery } from "../../http/paging.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { CampaignStatus } from "../../rules/campaign-states.ts";
import { type Cron, nextRun, parseCron } from "../../rules/cron.ts";
import { isTimeZone } from "../../rules/time-zones.ts";
import { all, atMost, is } from "../conditions.ts";
import { keys } from "../keys.ts";
import { changeListed, createListed, listPage, removeListed } from "../listed.ts";
import type { Item, TenantId } from "../model.ts";
import type { TransactItem } from "../table.ts";
import type { Timers } from "../timers.ts";

export interface Schedule {
  id: string;
  cron_expression: string;
  timezone: string;
  template_id: string;
  channel_ids: string[];
  target: { type: "all" };
  /** The campaign that it belongs to (AMB-15). */
  campaign_id: string | null;
  active: boolean;
  /** Null while inactive (AMB-64). */
  next_run_at: string | null;
  /** The last tick that was too late to be sent, if there was one. */
  last_missed_at: string | null;
  created_at: string;
  updated_at: string;
}

/** `revision` grows with every change of when it fires: a timer of an earlier one does nothing. */
export type ScheduleItem = Schedule & { revision: number; heldBy: "pause" | "archive" | undefined };

export type ScheduleSpec = Pick<Schedule, "cron_expression" | "timezone" | "template_id" | "channel_ids" | "active"> & {
  campaign_id?: string | undefined;
};

/** What a change may say; `held_by` names the move of its campaign that switched it off. */
type ScheduleChange = { [F in keyof Omit<ScheduleSpec, "campaign_id">]?: ScheduleSpec[F] | undefined } & {
  held_by?: "pause" | "archive" | undefined;
};

/** @throws 422 naming the field (SCH-4, SCH-8). */
export function readCron({ cron_expression, timezone }: Pick<Schedule, "cron_expression" | "timezone">): Cron {
  const cron = parseCron(cron_expression);
  if ("problem" in cron) throw invalid({ cron_expression: cron.problem });
  if (!isTimeZone(timezone)) throw invalid({ timezone: "must be an IANA time zone" });
  return cron;
}

const stateOf = (active: boolean) => (active ? "active" : "paused");

/** @throws 422 for a bad expression or zone, 429 beyond 10,000 of them. */
export async function createSchedule(store: Store, timers: Timers, spec: ScheduleSpec): Promise<ScheduleItem> {
  const now = store.clock.now();
  const id = store.ids.uuidAt(now);
  const next = spec.active ? nextRun(readCron(spec), spec.timezone, now) : undefined;
  readCron(spec);
  await setTick(timers, id, 1, next);
  if (spec.campaign_id !== undefined) await store.put({ ...ownedKey(store, spec.campaign_id, id) });
  const item = await createListed(store, "schedule", id, stateOf(spec.active), {
    ...spec,
    ...(next !== undefined && { next }),
    ...(spec.campaign_id !== undefined && { react: "schedule" }),
    revision: 1,
    created_at: timestamp(now),
    updated_at: timestamp(now),
  });
  return scheduleOf(item);
}

/** @throws 404, also for another workspace's schedule. */
export async function getSchedule(store: StoreReader, id: string): Promise<ScheduleItem> {
  const found = await findSchedule(store, id);
  if (!found) throw notFound("schedule");
  return found;
}

export async function findSchedule(store: StoreReader, id: string): Promise<ScheduleItem | undefined> {
  const item = await store.get(keys.entity(store.tenant, "schedule", id));
  return item && scheduleOf(item);
}

/** SCH-5. */
export async function listSchedules(
  store: StoreReader,
  { active, ...page }: PageQuery & { active?: boolean | undefined },
): Promise<{ data: ScheduleItem[]; total: number; page: number }> {
  const state = active === undefined ? undefined : stateOf(active);
  const { items, total } = await listPage(store, "schedule", { ...page, state });
  return { data: items.map(scheduleOf), total, page: page.page };
}

/** SCH-7, SCH-12, SCH-14: what fires when is computed anew, from now on. @throws 404, 422. */
export async function changeSchedule(
  store: Store,
  timers: Timers,
  id: string,
  change: ScheduleChange,
): Promise<ScheduleItem> {
  for (;;) {
    const current = await getSchedule(store, id);
    const { cron_expression = current.cron_expression, timezone = current.timezone, active = current.active } = change;
    const cron = readCron({ cron_expression, timezone });
    const now = store.clock.now();
    const isMoved =
      cron_expression !== current.cron_expression || timezone !== current.timezone || active !== current.active;
    const revision = current.revision + (isMoved ? 1 : 0);
    const next = active ? nextRun(cron, timezone, now) : undefined;
    if (isMoved) await setTick(timers, id, revision, next);
    const moved = isMoved ? { revision, next } : {};
    const changed = await changeListed(
      store,
      "schedule",
      id,
      {
        set: { ...change, ...moved, updated_at: timestamp(now) },
        remove: [
          ...(isMoved && next === undefined ? ["next"] : []),
          ...(change.active !== undefined && change.held_by === undefined ? ["held_by"] : []),
        ],
      },
      { when: is("revision", current.revision), ...(active !== current.active && { state: stateOf(active) }) },
    );
    if ("item" in changed) return scheduleOf(changed.item);
    if (!changed.current) throw notFound("schedule");
  }
}

/** SCH-9. @throws 404. */
export async function deleteSchedule(store: Store, id: string): Promise<void> {
  if (!(await removeListed(store, "schedule", id))) throw notFound("schedule");
}

const ownedKey = ({ tenant }: Pick<Store, "tenant">, campaign: string, id: string) =>
  keys.part(tenant, "campaign", campaign, `S#${id}`);

/** The schedules that belong to a campaign, those deleted since left out. */
export async function ownedSchedules(store: StoreReader, campaign: string): Promise<ScheduleItem[]> {
  const { pk, sk } = ownedKey(store, campaign, "");
  const { items } = await store.query({ pk, prefix: sk });
  const found = await store.getAll(items.map((row) => keys.entity(store.tenant, "schedule", row.sk.slice(sk.length))));
  return found.flatMap((item) => (item ? [scheduleOf(item)] : []));
}

/**
 * Switches a campaign's schedules off while it is paused or archived, and on again those that this switched off, never
 * those that the user did (CMP-21 to CMP-23, AMB-67).
 */
export async function switchOwned(
  store: Store,
  timers: Timers,
  campaign: string,
  status: CampaignStatus,
): Promise<void> {
  const holder = status === "paused" ? "pause" : status === "archived" ? "archive" : undefined;
  for (const { id, active, heldBy } of await ownedSchedules(store, campaign)) {
    if (holder && active) await changeSchedule(store, timers, id, { active: false, held_by: holder });
    const isOver = heldBy !== undefined && !active && (!holder || (holder === "pause" && heldBy === "archive"));
    if (isOver) await changeSchedule(store, timers, id, { active: true });
  }
}

/** The job of a tick: its id is derived, so a tick that comes twice meets its own job. */
export function tickJobId(tenant: TenantId, schedule: string, tick: number): string {
  return uuidV7(tick, createHash("sha256").update(`schedule:${tenant}:${schedule}:${tick}`).digest());
}

/** The step that goes on from a tick to the next one, if the schedule stands where the tick belongs. */
export const tickWrite = (
  store: Pick<Store, "tenant">,
  { id, revision }: ScheduleItem,
  tick: number,
  next: number | undefined,
  missed?: string,
): TransactItem => ({
  update: keys.entity(store.tenant, "schedule", id),
  change: { set: { next, last_missed_at: missed }, ...(next === undefined && { remove: ["next"] }) },
  when: all(is("revision", revision), is("active", true), atMost("next", tick)),
});

/** The revision is part of the timer's name, for a timer is never set again under a name that it had. */
export async function setTick(timers: Timers, id: string, revision: number, at: number | undefined): Promise<void> {
  if (at !== undefined) await timers.set([{ kind: "schedule", id: `${id}:${revision}`, at }]);
}

function scheduleOf(item: Item): ScheduleItem {
  return {
    id: String(item.id),
    cron_expression: String(item.cron_expression),
    timezone: String(item.timezone),
    template_id: String(item.template_id),
    channel_ids: item.channel_ids as string[],
    target: { type: "all" },
    campaign_id: (item.campaign_id as string | undefined) ?? null,
    active: item.active === true,
    next_run_at: item.next === undefined ? null : timestamp(Number(item.next)),
    last_missed_at: (item.last_missed_at as string | undefined) ?? null,
    created_at: String(item.created_at),
    updated_at: String(item.updated_at),
    revision: Number(item.revision),
    heldBy: item.held_by as ScheduleItem["heldBy"],
  };
}
