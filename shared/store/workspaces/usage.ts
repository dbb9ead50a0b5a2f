// What a workspace has used in its billing period, reserved before it is used (D-BILL, F25).
import { timestamp } from "../../clock.ts";
import { ApiError } from "../../http/errors.ts";
import { type PlanName, plans } from "../../plans.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { absent, any, atMost, below } from "../conditions.ts";
import { annotation } from "../insights/annotations.ts";
import { keys } from "../keys.ts";
import type { Item, Key, Value } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { TransactItem } from "../table.ts";

export type Metered = "sends" | "events";

export interface Allowance {
  plan: PlanName;
  /** The workspace's own cap on sends; null for none. */
  sendCap: number | null;
  /** The workspace's rule for marketing e-mail (D-CONSENT); without it whoever has not said no is sent to. */
  emailConsent?: "opt_out" | "opt_in" | undefined;
}

export interface Period {
  /** `2026-11` */
  name: string;
  start: number;
  end: number;
}

/** Shares of a quota at which a warning is given, in percent. */
const WARNINGS = [95, 80];

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

export async function usageOf(store: StoreReader): Promise<Record<Metered, number>> {
  const { sends, events } = await readUsage(store);
  return { sends, events };
}

async function readUsage(store: StoreReader, options?: { eventual?: boolean }) {
  const [item, ...shards] = await store.getAll([usageKey(store), ...eventUsageKeys(store)], options);
  const events = shards.reduce((sum, shard) => sum + Number(shard?.events ?? 0), 0);
  return { item, sends: Number(item?.sends ?? 0), events };
}

/** Events come by the thousand a second: their usage is counted in shards, so that no row of a workspace is hot. */
export const EVENT_USAGE_SHARDS = 8;

export const eventUsageKeys = ({ tenant, clock }: Pick<Store, "tenant" | "clock">): Key[] =>
  Array.from({ length: EVENT_USAGE_SHARDS }, (_, shard) =>
    keys.usageOfEvents(tenant, periodAt(clock.now()).name, shard),
  );

/** What a shard gets of a number: the parts add up to it. */
export const shareOf = (total: number, shard: number): number =>
  Math.floor(total / EVENT_USAGE_SHARDS) + (shard < total % EVENT_USAGE_SHARDS ? 1 : 0);

/**
 * The step of a transaction that takes `n` of what the period still allows: it stands or falls with what it is for,
 * and a repeated request takes nothing twice. Where it is refused, `usageRefusal` says why.
 */
export function reservation(
  store: Pick<Store, "tenant" | "clock">,
  metered: "sends",
  n: number,
  allowance: Allowance,
): TransactItem {
  const max = limitOf(metered, allowance);
  const fits = n <= max ? any(absent(metered), atMost(metered, max - n)) : atMost(metered, -1);
  return { update: usageKey(store), change: { add: { [metered]: n } }, when: fits };
}

/** 402 PAYMENT_REQUIRED beyond the plan, SEND_CAP_REACHED beyond the workspace's own cap (ERR-3, ERR-4). */
export function usageRefusal(
  metered: Metered,
  n: number,
  old: { [name: string]: Value | undefined } | undefined,
  { plan, sendCap }: Allowance,
): ApiError {
  const used = Number(old?.[metered] ?? 0);
  const quota = plans[plan][metered];
  const byCap = metered === "sends" && sendCap !== null && sendCap <= quota;
  const limit = byCap ? sendCap : quota;
  const whose = byCap ? "The workspace's own monthly send cap" : `The plan's quota of ${metered}`;
  return new ApiError(
    byCap ? "SEND_CAP_REACHED" : "PAYMENT_REQUIRED",
    `${whose} does not allow ${n} more: ${used} of ${limit} used in this billing period.`,
  );
}

const limitOf = (metered: Metered, { plan, sendCap }: Allowance) =>
  Math.min(plans[plan][metered], (metered === "sends" ? sendCap : null) ?? Number.POSITIVE_INFINITY);

const usageKey = ({ tenant, clock }: Pick<Store, "tenant" | "clock">) => keys.usage(tenant, periodAt(clock.now()).name);

/** Once per period, threshold and limit: an annotation and a line of the log that say the numbers (F25, D-BILL). */
export async function warnOfUsage(store: Store, metered: Metered, allowance: Allowance): Promise<void> {
  const { item, [metered]: used } = await readUsage(store, { eventual: true });
  for (const limit of warnedLimits(metered, allowance)) {
    const percent = WARNINGS.find((share) => used >= (limit.max * share) / 100);
    if (percent === undefined || Number(item?.[limit.mark] ?? 0) >= percent) continue;
    await warn(store, { ...limit, metered, used, percent });
  }
}

interface WarnedLimit {
  /** Where the usage row notes the highest threshold that was warned of. */
  mark: string;
  whose: string;
  max: number;
}

function warnedLimits(metered: Metered, { plan, sendCap }: Allowance): WarnedLimit[] {
  const ofPlan = { mark: `warned_${metered}`, whose: `the plan's ${metered}`, max: plans[plan][metered] };
  if (metered !== "sends" || !sendCap) return [ofPlan];
  return [ofPlan, { mark: "warned_cap", whose: "the workspace's own monthly send cap", max: sendCap }];
}

async function warn(
  store: Store,
  { mark, whose, max, metered, used, percent }: WarnedLimit & { metered: Metered; used: number; percent: number },
): Promise<void> {
  const period = periodAt(store.clock.now()).name;
  const text = `${percent} % of ${whose} are used: ${used} of ${max} in ${period}.`;
  const isFirst = await store
    .transact([
      {
        update: usageKey(store),
        change: { set: { [mark]: percent } },
        when: any(absent(mark), below(mark, percent)),
      },
      { put: annotation(store, { kind: "quota_warning", text }) },
    ])
    .then(
      () => true,
      onTransactionCanceled(() => false),
    );
  if (!isFirst) return;
  store.log({
    ...{ level: "warn", message: "a workspace nears a limit", tenant: store.tenant },
    ...{ metered, percent, used, limit: max, limit_of: whose, period },
  });
}

/** What was used in every period there has been, as the bill would say it. */
export async function usageRecord(store: Store): Promise<{ period: string; sends: number; events: number }[]> {
  const partitions = [
    keys.usage(store.tenant, "").pk,
    ...Array.from({ length: EVENT_USAGE_SHARDS }, (_, shard) => keys.usageOfEvents(store.tenant, "", shard).pk),
  ];
  const rows = (await Promise.all(partitions.map((pk) => store.query({ pk })))).flatMap(({ items }) => items);
  const sum = (items: readonly Item[], metered: Metered) =>
    items.reduce((n, item) => n + Number(item[metered] ?? 0), 0);
  return [...Map.groupBy(rows, ({ sk }) => sk)]
    .map(([period, items]) => ({ period, sends: sum(items, "sends"), events: sum(items, "events") }))
    .sort((a, b) => (a.period < b.period ? -1 : 1));
}

/** Sets what counts as used in the current period: an operator's correction. */
export async function setUsage(
  store: Store,
  { sends, events }: { [M in Metered]?: number | undefined },
): Promise<void> {
  await store.update(usageKey(store), { set: { sends, warned_sends: 0, warned_events: 0, warned_cap: 0 } });
  if (events === undefined) return;
  const rows = eventUsageKeys(store).map((key, shard) => ({ put: { ...key, events: shareOf(events, shard) } }));
  await store.writeAll(rows);
}

/** What the period's end will see at this pace. */
export function forecast(used: number, now: number): number {
  const { start, end } = periodAt(now);
  const elapsed = Math.max(1, now - start);
  return Math.round((used * (end - start)) / elapsed);
}
