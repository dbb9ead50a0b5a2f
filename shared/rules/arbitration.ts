// Smart channel: which class of channels a subscriber answers to best (SMA-2 to SMA-5, D-ARB, AMB-96).
import { type ChannelClass, channelClasses, classOf } from "./channel-types.ts";
import type { Target } from "./reach.ts";

/** Deliveries and answers of 90 days. */
export interface Engagement {
  delivered: number;
  engaged: number;
}
export type Engagements = Partial<Record<ChannelClass, Engagement>>;

export const rankSources = ["personal", "tenant", "default"] as const;
export type RankSource = (typeof rankSources)[number];

export interface RankedChannel {
  class: ChannelClass;
  source: RankSource;
  score: number;
}

/** The deliveries from which personal history counts (SMA-4). */
const PERSONAL_FROM = 5;
/** The deliveries from which the workspace's history counts (D-ARB). */
const TENANT_FROM = 100;
const DEFAULT_SCORE = 0.25;
const DEFAULT_STEP = 0.001;

const placeOf = (channelClass: ChannelClass): number => channelClasses.indexOf(channelClass);
const scoreOf = ({ delivered, engaged }: Engagement): number => (engaged + 1) / (delivered + 4);

/** Ranks these classes, best first: personal history counts from 5 deliveries, the workspace's from 100. */
export function rankClasses(
  classes: Iterable<ChannelClass>,
  { personal, tenant }: { personal: Engagements; tenant: Engagements },
): RankedChannel[] {
  const ranked = [...new Set(classes)].map((channelClass): RankedChannel => {
    const own = personal[channelClass];
    if (own && own.delivered >= PERSONAL_FROM) return { class: channelClass, source: "personal", score: scoreOf(own) };
    const all = tenant[channelClass];
    if (all && all.delivered >= TENANT_FROM) return { class: channelClass, source: "tenant", score: scoreOf(all) };
    return { class: channelClass, source: "default", score: DEFAULT_SCORE - DEFAULT_STEP * placeOf(channelClass) };
  });
  return ranked.sort((a, b) => b.score - a.score || placeOf(a.class) - placeOf(b.class));
}

/** The targets in the order of their classes. */
export const byRank = (targets: readonly Target[], ranked: readonly RankedChannel[]): Target[] =>
  ranked.flatMap(({ class: channelClass }) => targets.filter(({ channel }) => classOf(channel) === channelClass));

/** Targets of the first class, and of those after it: each class is tried once (SMA-6). */
export function classesOf(targets: readonly Target[]): Target[][] {
  return [...Map.groupBy(targets, ({ channel }) => classOf(channel)).values()];
}
