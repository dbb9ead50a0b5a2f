// The ladder of plans (D-PLAN).
import { type Body, Refusal, Unordered } from "./kit.ts";
import type { Job } from "./records/sends.ts";
import type { World } from "./world.ts";

const LADDER = ["free", "starter", "growth", "pro", "premium", "enterprise"];
const FREE_TYPES = ["ios", "android", "web_push", "email"];
const MORE_TYPES = [[], ["in_app"], ["in_app", "sms"]];

export const reaches = (world: World, plan: string) => LADDER.indexOf(world.plan) >= LADDER.indexOf(plan);

export const channelTypesOf = (plan: string): string[] => [
  ...FREE_TYPES,
  ...(MORE_TYPES[LADDER.indexOf(plan)] ?? ["in_app", "sms", "chat_app"]),
];

const of = (plan: string, values: number[]) => values[LADDER.indexOf(plan)]!;

export const limits = (plan: string): Body => ({
  sends: of(plan, [10_000, 100_000, 500_000, 2_000_000, 10_000_000, 100_000_000]),
  events: of(plan, [100_000, 1_000_000, 5_000_000, 20_000_000, 100_000_000, 1_000_000_000]),
  subscribers: of(plan, [1_000, 25_000, 100_000, 500_000, 2_000_000, 20_000_000]),
  dynamic_segments: of(plan, [0, 5, 20, 50, 200, 1000]),
  event_conditions_per_rule: of(plan, [1, 3, 5, 10, 20, 50]),
  requests_per_minute: of(plan, [60, 300, 600, 1000, 3000, 10_000]),
  lookback_days: [30, 90, 180, 365][LADDER.indexOf(plan)] ?? null,
});

/** Sends of the billing period: of those under way what they hold of the quota. */
export function usedSends({ now, spent }: World): number {
  const [start] = periodOf(now);
  return spent.filter(({ at }) => at >= start).reduce((sum, { sends }) => sum + sends, 0);
}

/** An operator says what was sent: what ends later corrects it no more (docs/decisions/0093), and warnings begin anew. */
export function useUp(world: World, sends: number): void {
  const [start] = periodOf(world.now);
  world.spent = [...world.spent.filter(({ at }) => at < start), { at: world.now, sends }];
  world.warned = {};
}

/** A send to one person who was skipped late leaves the usage with its quarter-hour (docs/decisions/0056 and 0093). */
export const leavesLate = ({ source, recipients, taken }: Job): boolean =>
  source.type !== "journey" && recipients.length === 1 && taken?.sends === 0;

/** What the quota and the own cap leave of the month. */
export const sendsLeft = (world: World): number =>
  Math.min(limits(world.plan).sends, world.monthly_send_cap ?? Number.POSITIVE_INFINITY) - usedSends(world);

/** The billing period, a calendar month in UTC (AMB-40). */
export function periodOf(now: number): [start: number, end: number] {
  const day = new Date(now);
  const [year, month] = [day.getUTCFullYear(), day.getUTCMonth()];
  return [Date.UTC(year, month), Date.UTC(year, month + 1)];
}

/** How many of these times are in the billing period. */
export function inPeriod(world: World, times: number[]): number {
  const [start] = periodOf(world.now);
  return times.filter((time) => time >= start).length;
}

export function needChannelType({ plan }: World, type: string): void {
  const allowed = new Unordered(channelTypesOf(plan));
  const refused = { error: "channel_type_not_permitted", allowed, upgrade_required: true };
  if (!channelTypesOf(plan).includes(type)) throw new Refusal(403, refused);
}
/** INX-1, AMB-82. */
export function needInApp(world: World): void {
  if (!reaches(world, "starter")) throw new Refusal(403, { error: "in_app_not_permitted", upgrade_required: true });
}
/** HOK-4. */
export function needWebhooks(world: World): void {
  if (!reaches(world, "starter")) throw new Refusal(403, { error: "feature_not_available" });
}
/** SMA-1. */
export function needSmart(world: World): void {
  if (!reaches(world, "growth")) throw new Refusal(403, { error: "feature_not_available", feature: "smart_channel" });
}
/** SCH-2, AMB-16. */
export function needSchedules(world: World): void {
  if (!reaches(world, "premium")) throw new Refusal(403, { error: "PLAN_FEATURE_UNAVAILABLE" });
}
