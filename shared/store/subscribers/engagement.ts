// The classes of channels that subscribers answer in, by week, over 90 days (SMA-3, SMA-4, D-ARB). Answers are counters
// of a row beside the profile, which may be large, deliveries are the rows of the ledger, and the workspace's sums are one
// item per shard.
import { DAY, timestamp } from "../../kernel/clock.ts";
import type { Engagement, Engagements } from "../../rules/arbitration.ts";
import {
  type ChannelClass,
  channelClasses,
  channelOfPlatform,
  channelTypes,
  classOf,
  hasDevices,
} from "../../rules/channel-types.ts";
import { chunksOf } from "../../rules/chunks.ts";
import type { Store, StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { hashOf } from "../hash.ts";
import { changeItem, type ItemWrite, type RowOf } from "../item.ts";
import { lowestId } from "../sends/inbox/inbox.ts";
import { Message } from "../sends/inbox/inbox-items.ts";
import { isTestId } from "../sends/jobs/job-ids.ts";
import { TouchItem, touchesFrom } from "../sends/ledger/ledger-items.ts";
import { SHARDS, shardOf } from "../shards.ts";
import type { ProfileRow } from "./items.ts";
import { AnswersItem, EngagementCount } from "./statistics-items.ts";

const WINDOW_DAYS = 90;
const WEEK_MS = 7 * DAY;
const WEEKS = Math.ceil(WINDOW_DAYS / 7);
/** Counters older than the window that a new answer removes. */
const STALE_WEEKS = 4;
/** Histories that are read at once. */
const MAX_CONCURRENT = 50;

const weekOf = (at: number): number => Math.floor(at / WEEK_MS);
const answersIn = (channelClass: ChannelClass, week: number) => `we:${channelClass}:${week}` as const;
const deliveriesIn = (channelClass: ChannelClass, week: number) => `wd:${channelClass}:${week}` as const;

const answers: ReadonlySet<string> = new Set([
  "tapped",
  "action_tapped",
  "email_opened",
  "email_clicked",
  "inapp_click",
  "foreground_received",
]);

/** The class that an interaction is an answer in; undefined for one that is no answer (D-ARB). */
export function answeredClass(interaction: string, platform: string): ChannelClass | undefined {
  if (!answers.has(interaction)) return undefined;
  if (interaction.startsWith("email_")) return "email";
  if (interaction.startsWith("inapp_")) return "in_app";
  const channel = channelOfPlatform(platform);
  return channel && hasDevices(channel) ? classOf(channel) : undefined;
}

/** The counted answers of one subscriber. */
export async function answersOf(store: StoreReader, subscriber: string) {
  const row = await store.get(AnswersItem, { subscriber }, { eventual: true });
  return (row ? familyOf(row, "we:") : []).map(([name, count]) => {
    const [channelClass = "", week = ""] = name.split(":");
    return { class: channelClass, week_start: timestamp(Number(week) * WEEK_MS), count };
  });
}

/** The writes that count an answer, for the transaction that stores the interaction. */
export function noteEngagement(
  { clock }: Pick<Store, "clock">,
  subscriber: string,
  { interaction, platform }: { interaction: string; platform: string },
): ItemWrite<"workspace">[] {
  const channelClass = answeredClass(interaction, platform);
  if (!channelClass) return [];
  const week = weekOf(clock.now());
  const add: { [counter: `we:${string}`]: number } = {};
  add[answersIn(channelClass, week)] = 1;
  const remove = Array.from({ length: STALE_WEEKS }, (_, i) => answersIn(channelClass, week - WEEKS - 1 - i));
  return [
    changeItem(AnswersItem, { subscriber }, { add, remove }),
    changeItem(EngagementCount, { shard: shardOf(subscriber) }, { add }),
  ];
}

/** The counters of a week that deliveries by types of channels add to. @param at in milliseconds */
export function deliveryCounters(
  at: number,
  byChannel: Readonly<Record<string, number>>,
): { [counter: `wd:${string}`]: number } {
  const week = weekOf(at);
  const add: { [counter: `wd:${string}`]: number } = {};
  for (const channel of channelTypes) {
    const n = byChannel[channel];
    if (n === undefined) continue;
    const counter = deliveriesIn(classOf(channel), week);
    add[counter] = (add[counter] ?? 0) + n;
  }
  return add;
}

/** The write that adds a job's deliveries to those of the workspace; undefined if there are none. */
export function deliveredWrite(
  { clock }: Pick<Store, "clock">,
  byChannel: Readonly<Record<string, number>>,
  job: string,
): ItemWrite<"workspace"> | undefined {
  const add = deliveryCounters(clock.now(), byChannel);
  return Object.keys(add).length > 0
    ? changeItem(EngagementCount, { shard: shardOf(hashOf(job)) }, { add })
    : undefined;
}

/** Deliveries and answers of the whole workspace. */
export async function tenantEngagements(store: StoreReader): Promise<Engagements> {
  const keys = SHARDS.map((shard) => ({ shard }));
  const rows = await store.getAll(EngagementCount, keys, { eventual: true });
  const sums = newSums();
  const now = store.clock.now();
  for (const row of rows) {
    if (!row) continue;
    addCounters(sums, "delivered", familyOf(row, "wd:"), now);
    addCounters(sums, "engaged", familyOf(row, "we:"), now);
  }
  return sums;
}

/** Deliveries and answers of each of these subscribers; undefined where the counters are damaged. */
export async function personalEngagements(
  store: StoreReader,
  profiles: readonly ProfileRow[],
): Promise<(Engagements | undefined)[]> {
  const found: (Engagements | undefined)[] = [];
  for (const batch of chunksOf(profiles, MAX_CONCURRENT)) {
    const keys = batch.map(({ id: subscriber }) => ({ subscriber }));
    const answers = await store.getAll(AnswersItem, keys, { eventual: true });
    found.push(...(await Promise.all(batch.map(({ id }, n) => personal(store, id, answers[n])))));
  }
  return found;
}

async function personal(
  store: StoreReader,
  subscriber: string,
  answers: RowOf<typeof AnswersItem> | undefined,
): Promise<Engagements | undefined> {
  const sums = newSums();
  const now = store.clock.now();
  if (answers) addCounters(sums, "engaged", familyOf(answers, "we:"), now);
  for (const [channelClass, jobs] of await deliveriesOf(store, subscriber, now - WINDOW_DAYS * DAY))
    sums[channelClass].delivered += jobs.size;
  const isWhole = Object.values(sums).every(({ delivered, engaged }) => Number.isFinite(delivered + engaged));
  return isWhole ? sums : undefined;
}

type Sums = Record<ChannelClass, Engagement>;

// Every class has its sums.
const newSums = () =>
  Object.fromEntries(
    channelClasses.map((channelClass): [string, Engagement] => [channelClass, { delivered: 0, engaged: 0 }]),
  ) as Sums;

/** @param counters `<class>:<week>` and how many. */
function addCounters(sums: Sums, kind: keyof Engagement, counters: readonly [string, number][], now: number): void {
  const first = weekOf(now) - WEEKS;
  for (const [name, n] of counters) {
    const [counted, week] = name.split(":");
    const channelClass = channelClasses.find((known) => known === counted);
    if (channelClass && Number(week) > first) sums[channelClass][kind] += Number(n);
  }
}

/** The jobs that reached a subscriber since then, by class: from the ledger and from the inbox, which is its own ledger. */
async function deliveriesOf(
  store: StoreReader,
  subscriber: string,
  since: number,
): Promise<Map<ChannelClass, Set<string>>> {
  const [touches, messages] = await Promise.all([
    store.queryAll(TouchItem, { subscriber }, { ...touchesFrom(timestamp(since)), eventual: true }),
    store.queryAll(Message, { subscriber }, { from: `I#${lowestId(since)}`, to: "I#~", eventual: true }),
  ]);
  const sent = touches.flatMap(({ state, channel, job }) =>
    state === "sent" && channel ? [{ channelClass: classOf(channel), job }] : [],
  );
  const reached = [
    ...sent,
    ...messages.filter(({ job }) => !isTestId(job)).map(({ job }) => ({ channelClass: "in_app" as const, job })),
  ];
  const byClass = Map.groupBy(reached, ({ channelClass }) => channelClass);
  return new Map([...byClass].map(([channelClass, rows]) => [channelClass, new Set(rows.map(({ job }) => job))]));
}
