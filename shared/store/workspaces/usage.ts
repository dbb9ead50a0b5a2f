// The usage of a workspace in its billing period, reserved before it is used (D-BILL, F25).
import { timestamp } from "../../kernel/clock.ts";
import { ApiError } from "../../kernel/errors.ts";
import { byText } from "../../kernel/order.ts";
import { type PlanName, plans } from "../../rules/plans.ts";
import { absent, any, asRead, atMost, below } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { annotationWrite } from "../insights/annotations.ts";
import { changeItem, type ItemWrite, ref } from "../item.ts";
import { transacted } from "../refusals.ts";
import { EventUsage, type PeriodUsage, Usage } from "./items.ts";
import type { SendingSettings } from "./settings.ts";
import type { WorkspaceRecord } from "./workspaces.ts";

export type MeteredKind = "sends" | "events";

export interface Allowance {
  plan: PlanName;
  /** The workspace's own cap on sends; null for none. */
  sendCap: number | null;
  /** The settings of the workspace's sends, if they are known; otherwise workers read them. */
  sending?: SendingSettings | undefined;
}

interface Period {
  /** `2026-11` */
  name: string;
  start: number;
  end: number;
}

/** Shares of a quota at which a warning is given, in percent. */
export const WARNINGS = [95, 80];

/** The calendar month, in UTC. */
export function periodAt(now: number): Period {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: timestamp(now).slice(0, 7),
    start: Date.UTC(year, month, 1),
    end: Date.UTC(year, month + 1, 1),
  };
}

export const allowanceOf = ({
  plan,
  monthly_send_cap: sendCap,
}: Pick<WorkspaceRecord, "plan" | "monthly_send_cap">): Allowance => ({ plan, sendCap });

/** How many sends the period of now still allows; not negative. */
export async function sendsLeft(store: StoreReader, allowance: Allowance): Promise<number> {
  const { sends = 0 } = (await store.get(Usage, usageKey(store))) ?? {};
  return Math.max(0, limitOf("sends", allowance) - sends);
}

/** The usage of a billing period. @param period such as `2026-10`; default: the current one */
export async function usageOf(store: StoreReader, period?: string): Promise<Record<MeteredKind, number>> {
  const key = period === undefined ? usageKey(store) : { period };
  const shards = eventUsageKeys(store, key).map((shard) => ref(EventUsage, shard));
  const [row, ...counts] = await store.getEach([ref(Usage, key), ...shards]);
  return { sends: row?.sends ?? 0, events: sumOfEvents(counts) };
}

const sumOfEvents = (counts: readonly ({ events?: number } | undefined)[]) =>
  counts.reduce((sum, count) => sum + (count?.events ?? 0), 0);

/** Usage of events is counted in shards: a workspace may send thousands a second, more than one row takes. */
export const EVENT_USAGE_SHARDS = 8;

/** The keys of all shards, in this billing period or in another. */
export const eventUsageKeys = (
  store: Pick<Store, "clock">,
  { period } = usageKey(store),
): { shard: number; period: string }[] => Array.from({ length: EVENT_USAGE_SHARDS }, (_, shard) => ({ shard, period }));

/** A shard's share of a number: the shares add up to it. */
export const shareOf = (total: number, shard: number): number =>
  Math.floor(total / EVENT_USAGE_SHARDS) + (shard < total % EVENT_USAGE_SHARDS ? 1 : 0);

/**
 * The write that takes `n` sends of what the period of a time still allows, for the transaction of the send itself: a
 * repeated request takes nothing twice. Where it is refused, `usageRefusal` says why.
 */
export function sendReservation(n: number, allowance: Allowance, at: number): ItemWrite<"workspace"> {
  const max = limitOf("sends", allowance);
  const fits = n <= max ? any(absent("sends"), atMost("sends", max - n)) : atMost("sends", -1);
  return changeItem(Usage, { period: periodAt(at).name }, { add: { sends: n } }, fits);
}

/** The quota that a send reserved, and the part that it used. */
export interface Use {
  reserved: number | undefined;
  /** When it was taken, in milliseconds; undefined if it was taken ahead, which the quarter-hour settles. */
  reservedAt: number | undefined;
  /** Recipients who were accepted into delivery. */
  sent: number;
}

/**
 * The writes that correct the usage to what was sent, for the transaction that ends the sends: none where it is right
 * already, or where an operator has set it since. It may then be above the limit (docs/decisions/0093).
 */
export async function settlement(store: StoreReader, uses: readonly Use[]): Promise<ItemWrite<"workspace">[]> {
  const writes: ItemWrite<"workspace">[] = [];
  const open = uses.filter(({ reserved = 0, sent }) => sent !== reserved);
  const taken = open.flatMap(({ reservedAt: at, ...use }) => (at === undefined ? [] : [{ ...use, at }]));
  for (const [period, records] of Map.groupBy(taken, ({ at }) => periodAt(at).name)) {
    const setAt = (await store.get(Usage, { period }))?.set_at;
    const n = records
      .filter(({ at }) => setAt === undefined || setAt < at)
      .reduce((sum, { reserved = 0, sent }) => sum + sent - reserved, 0);
    if (n !== 0) writes.push(changeItem(Usage, { period }, { add: { sends: n } }, asRead("set_at", setAt)));
  }
  return writes;
}

/** 402 PAYMENT_REQUIRED beyond the plan, SEND_CAP_REACHED beyond the workspace's own cap (ERR-3, ERR-4). */
export function usageRefusal(
  metered: MeteredKind,
  n: number,
  old: { [M in MeteredKind]?: number } | undefined,
  allowance: Allowance,
): ApiError {
  const used = old?.[metered] ?? 0;
  const limit = limitOf(metered, allowance);
  const byCap = metered === "sends" && limit === allowance.sendCap;
  const whose = byCap ? "The workspace's own monthly send cap" : `The plan's quota of ${metered}`;
  return new ApiError(
    byCap ? "SEND_CAP_REACHED" : "PAYMENT_REQUIRED",
    `${whose} does not allow ${n} more: ${used} of ${limit} used in this billing period.`,
  );
}

/** What the plan and, for sends, the workspace's own cap allow in a period. */
export function limitOf(metered: MeteredKind, { plan, sendCap }: Allowance): number {
  const quota = plans[plan][metered];
  return metered === "sends" && sendCap !== null ? Math.min(quota, sendCap) : quota;
}

const usageKey = ({ clock }: Pick<Store, "clock">) => ({ period: periodAt(clock.now()).name });

/**
 * Once per period, threshold and limit: an annotation and a log line with the numbers (F25, D-BILL). A higher limit has
 * thresholds of its own.
 */
export async function warnOfUsage(store: Store, metered: MeteredKind, allowance: Allowance): Promise<void> {
  const key = usageKey(store);
  const shards = metered === "events" ? eventUsageKeys(store, key).map((shard) => ref(EventUsage, shard)) : [];
  const [row, ...counts] = await store.getEach([ref(Usage, key), ...shards], { eventual: true });
  const used = metered === "events" ? sumOfEvents(counts) : (row?.sends ?? 0);
  for (const limit of warnedLimits(metered, allowance)) {
    const percent = WARNINGS.find((share) => used >= (limit.max * share) / 100);
    if (percent === undefined) continue;
    const threshold = (limit.max * percent) / 100;
    const wasWarned = (row?.[limit.mark] ?? 0) >= threshold;
    if (!wasWarned) await warn(store, { ...limit, metered, used, percent, threshold });
  }
}

interface WarnedLimit {
  /** The attribute of the usage row with the highest use from which on a warning was given. */
  mark: "warned_sends" | "warned_events" | "warned_cap";
  whose: string;
  max: number;
}

interface UsageWarning {
  metered: MeteredKind;
  used: number;
  percent: number;
  /** The use from which on the warning is given. */
  threshold: number;
}

function warnedLimits(metered: MeteredKind, { plan, sendCap }: Allowance): WarnedLimit[] {
  const ofPlan = { mark: `warned_${metered}` as const, whose: `the plan's ${metered}`, max: plans[plan][metered] };
  if (metered !== "sends" || !sendCap) return [ofPlan];
  return [ofPlan, { mark: "warned_cap", whose: "the workspace's own monthly send cap", max: sendCap }];
}

async function warn(
  store: Store,
  { mark, whose, max, metered, used, percent, threshold }: WarnedLimit & UsageWarning,
): Promise<void> {
  const { period } = usageKey(store);
  const text = `${percent}% of ${whose} are used: ${used} of ${max} in ${period}.`;
  const isFirst = await transacted(store, [
    changeItem(Usage, { period }, { set: { [mark]: threshold } }, any(absent(mark), below(mark, threshold))),
    annotationWrite(store, { kind: "quota_warning", text }),
  ]);
  if (!isFirst) return;
  store.log({
    level: "warn",
    message: "a workspace nears a limit",
    tenant: store.tenant,
    metered,
    percent,
    used,
    limit: max,
    limit_of: whose,
    period,
  });
}

/** What was used in each billing period so far, as the bills show it. */
export async function usageRecord(store: StoreReader): Promise<PeriodUsage[]> {
  const [sends, ...events] = await Promise.all([
    store.query(Usage, {}),
    ...Array.from({ length: EVENT_USAGE_SHARDS }, (_, shard) => store.query(EventUsage, { shard })),
  ]);
  const counts = [
    ...sends.items.map((row) => ({ period: row.sk, sends: row.sends ?? 0, events: 0 })),
    ...events.flatMap(({ items }) => items.map((row) => ({ period: row.sk, sends: 0, events: row.events ?? 0 }))),
  ];
  return [...Map.groupBy(counts, ({ period }) => period)]
    .map(([period, rows]) => ({
      period,
      sends: rows.reduce((sum, row) => sum + row.sends, 0),
      events: rows.reduce((sum, row) => sum + row.events, 0),
    }))
    .sort(byText(({ period }) => period));
}

/** The expected usage at the end of the period, at the pace so far. */
export function forecast(used: number, now: number): number {
  const { start, end } = periodAt(now);
  const elapsed = Math.max(1, now - start);
  return Math.round((used * (end - start)) / elapsed);
}
