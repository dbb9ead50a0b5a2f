// What people answer to, by channel class and week, over 90 days (SMA-3, SMA-4, D-ARB): answers are counters on the
// profile, deliveries are the ledger's own rows, and the workspace's sums are one item per shard.
import { DAY, timestamp } from "../../clock.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { Engagement, Engagements } from "../../rules/arbitration.ts";
import { type ChannelClass, channelClasses, classOf, type ReachChannel } from "../../rules/reach.ts";
import { absent, all, present } from "../conditions.ts";
import type { Change } from "../expressions.ts";
import { keys, SHARDS, shardOf } from "../keys.ts";
import type { Item, Key } from "../model.ts";
import { lowestId } from "../sends/inbox.ts";
import type { TransactItem } from "../table.ts";

const WINDOW_DAYS = 90;
const WEEK_MS = 7 * DAY;
const WEEKS = Math.ceil(WINDOW_DAYS / 7);
/** Counters older than the window that a new answer sweeps away. */
const STALE_WEEKS = 4;
/** Histories that are read at once. */
const AT_ONCE = 50;

const weekOf = (at: number): number => Math.floor(at / WEEK_MS);
const DELIVERED = "wd";
const ENGAGED = "we";
const counter = (kind: string, one: ChannelClass, week: number) => `${kind}:${one}:${week}`;

const answers: Record<string, true> = {
  tapped: true,
  action_tapped: true,
  email_opened: true,
  email_clicked: true,
  inapp_click: true,
  foreground_received: true,
};

/** The class that an interaction is an answer in; undefined for one that is no answer (D-ARB). */
export function answeredClass(interaction: string, platform: string): ChannelClass | undefined {
  if (!answers[interaction]) return undefined;
  if (interaction.startsWith("email_")) return "email";
  if (interaction.startsWith("inapp_")) return "in_app";
  if (platform === "ios" || platform === "android") return "push";
  return platform === "web" ? "web_push" : undefined;
}

/**
 * The steps that count an answer, for the transaction that notes the interaction. The first one is refused for a
 * subscriber that is not there any more.
 */
export function noteEngagement(
  { tenant, clock }: Pick<Store, "tenant" | "clock">,
  subscriber: string,
  { interaction, platform }: { interaction: string; platform: string },
): TransactItem[] {
  const one = answeredClass(interaction, platform);
  if (!one) return [];
  const week = weekOf(clock.now());
  const add = { [counter(ENGAGED, one, week)]: 1 };
  const remove = Array.from({ length: STALE_WEEKS }, (_, i) => counter(ENGAGED, one, week - WEEKS - 1 - i));
  return [
    {
      update: keys.subscriber(tenant, subscriber),
      change: { add, remove },
      when: all(present("external_id"), absent("erased_at")),
    },
    { update: keys.prior(tenant, shardOf(subscriber)), change: { add } },
  ];
}

/** The step that adds a job's deliveries to what the workspace knows. */
export function deliveredWrite(
  { tenant, clock }: Pick<Store, "tenant" | "clock">,
  byChannel: Readonly<Record<string, number>>,
  job: string,
): { update: Key; change: Change } | undefined {
  const week = weekOf(clock.now());
  const add: Record<string, number> = {};
  for (const [channel, n] of Object.entries(byChannel)) {
    const name = counter(DELIVERED, classOf(channel as ReachChannel), week);
    add[name] = (add[name] ?? 0) + n;
  }
  return Object.keys(add).length > 0 ? { update: keys.prior(tenant, job.at(-1)!), change: { add } } : undefined;
}

/** What the whole workspace answered to. */
export async function tenantEngagements(store: StoreReader): Promise<Engagements> {
  const rows = await store.getAll(
    SHARDS.map((shard) => keys.prior(store.tenant, shard)),
    { eventual: true },
  );
  const sums = newSums();
  for (const row of rows) if (row) addCounters(sums, row, store.clock.now());
  return Object.fromEntries(sums);
}

/** What each of these people answered to; undefined where it cannot be told. */
export async function personalEngagements(
  store: StoreReader,
  profiles: readonly Item[],
): Promise<(Engagements | undefined)[]> {
  const found: (Engagements | undefined)[] = [];
  for (let from = 0; from < profiles.length; from += AT_ONCE)
    found.push(...(await Promise.all(profiles.slice(from, from + AT_ONCE).map((one) => personal(store, one)))));
  return found;
}

async function personal(store: StoreReader, profile: Item): Promise<Engagements | undefined> {
  const sums = newSums();
  const now = store.clock.now();
  addCounters(sums, profile, now);
  for (const [one, jobs] of await deliveriesOf(store, String(profile.id), now - WINDOW_DAYS * DAY))
    sums.get(one)!.delivered += jobs.size;
  const isWhole = [...sums.values()].every(({ delivered, engaged }) => Number.isFinite(delivered + engaged));
  return isWhole ? Object.fromEntries(sums) : undefined;
}

type Sums = Map<ChannelClass, Engagement>;
const newSums = (): Sums => new Map(channelClasses.map((one) => [one, { delivered: 0, engaged: 0 }]));

function addCounters(sums: Sums, item: Item, now: number): void {
  const first = weekOf(now) - WEEKS;
  for (const [name, n] of Object.entries(item)) {
    const [kind, one, week] = name.split(":");
    const sum = sums.get(one as ChannelClass);
    if (!sum || Number(week) <= first) continue;
    if (kind === DELIVERED) sum.delivered += Number(n);
    if (kind === ENGAGED) sum.engaged += Number(n);
  }
}

/** Which jobs reached a person by which class since then: the ledger's rows, and the inbox, which is its own ledger. */
async function deliveriesOf(store: StoreReader, subscriber: string, since: number) {
  const pk = keys.person(store.tenant, subscriber);
  const jobs = new Map<ChannelClass, Set<string>>(channelClasses.map((one) => [one, new Set()]));
  const note = async (from: string, to: string, take: (row: Item) => void) => {
    let after: Key | undefined;
    do {
      const page = await store.query({ pk, from, to, after, eventual: true });
      page.items.forEach(take);
      after = page.next;
    } while (after);
  };
  await Promise.all([
    note(`R#${timestamp(since)}`, "R#~", ({ state, channel, job }) => {
      if (state === "sent") jobs.get(classOf(channel as ReachChannel))?.add(String(job));
    }),
    note(`I#${lowestId(since)}`, "I#~", ({ job }) => jobs.get("in_app")!.add(String(job))),
  ]);
  return jobs;
}
