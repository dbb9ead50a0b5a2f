// The recount: counters compared with the rows they count, and repaired (docs/decisions/0024).
import { DAY, HOUR } from "../kernel/clock.ts";
import { sealSends } from "./audit/sealed-sends.ts";
import type { SealingContext } from "./audit/trail.ts";
import { absent, all, asRead, is } from "./conditions.ts";
import type { Store } from "./context.ts";
import { countChange } from "./counters.ts";
import { AssetItem, AssetTotals } from "./experiences/asset-items.ts";
import { type AnyItem, type ChangeOf, type ConditionOf, changeItem, checkItem, type KeyOf, keyOf } from "./item.ts";
import { type PartialCount, recountJourneys } from "./journeys/recount.ts";
import { settleLeftPacks } from "./journeys/run-packs.ts";
import { type Group, MemberCount } from "./lists/items.ts";
import { countRows } from "./lists/memberships.ts";
import { happened, transacted, whereItHolds } from "./refusals.ts";
import { wakeSchedules } from "./schedules/schedules.ts";
import { DynamicSegmentCount, SegmentItem } from "./segments/items.ts";
import {
  directLanes,
  firstQuarter,
  returnUnused,
  settleQuarter,
  unsettledQuarters,
  WATCHED_QUARTERS,
} from "./sends/chunks/quarters.ts";
import { SHARDS } from "./shards.ts";
import { hasOpenPack, settleLeftImportPacks } from "./subscribers/import-packs.ts";
import { isAlive, Profile, SubscriberCount } from "./subscribers/items.ts";
import type { Timers } from "./timers.ts";
import { WebhookCount, WebhookItem } from "./webhooks/items.ts";
import { QUARTER_MS, quarterAt } from "./workspaces/sends-ahead.ts";

/** Attempts at a counter that changes while its rows are counted. */
const MAX_ATTEMPTS = 5;
/** Counters of lists and segments that are read at once. */
const PAGE = 160;
interface Position {
  /** The name of a place; undefined: the first one. */
  place?: string | undefined;
  /** The part of the place that was recounted last. */
  after?: string | undefined;
  /** The sum of the parts so far, if several parts are one counter. */
  partial?: PartialCount | undefined;
}

interface Part {
  /** How many counters were wrong. */
  repaired: number;
  /** Where the recount continues; undefined at the end. */
  next?: Position | undefined;
}

/** The effects of a recount: lost timers, and entries of the audit trail. */
type RecountDeps = SealingContext & { timers: Timers };

type RecountPart = (
  store: Store,
  after: string | undefined,
  partial: PartialCount | undefined,
  deps: RecountDeps,
) => Promise<{ repaired: number } & Omit<Position, "place">>;

/** Where counters are that a customer sees or a limit reads, and what waits for a time that has passed. */
const places: Record<string, RecountPart> = {
  "import-packs": async (store) => {
    await settleLeftImportPacks(store);
    return { repaired: 0 };
  },
  subscribers: recountSubscribers,
  "run-packs": async (store) => {
    await settleLeftPacks(store, HOUR);
    return { repaired: 0 };
  },
  journeys: recountJourneys,
  schedules: async (store, _, __, { timers }) => ({ repaired: await wakeSchedules(store, timers) }),
  sends: (store, after, _, deps) => recountQuarters(store, deps, after),
  lists: (store, after) => recountMembers(store, "list", after),
  segments: (store, after) => recountMembers(store, "segment", after),
  webhooks: recountRows(WebhookCount, async (store) => ({ n: await store.count(WebhookItem, {}) })),
  "dynamic-segments": recountRows(DynamicSegmentCount, async (store) => ({
    n: await store.count(SegmentItem, {}, { filter: is("is_dynamic", true) }),
  })),
  assets: recountRows(AssetTotals, assetTotals),
};

/** Recounts one part of a workspace's counters: of seconds, where there are millions of rows. */
export async function recountPart(store: Store, deps: RecountDeps, { place, after, partial }: Position): Promise<Part> {
  const names = Object.keys(places);
  const name = place ?? names[0]!;
  const recount = places[name];
  if (!recount) throw new Error(`Nothing is counted at ${name}.`);
  const { repaired, after: last, partial: more } = await recount(store, after, partial, deps);
  const following = names[names.indexOf(name) + 1];
  const next = last === undefined ? following && { place: following } : { place: name, after: last, partial: more };
  return { repaired, next: next || undefined };
}

/**
 * The counters of one first digit: one for each two digits, and one for those that imports created. It is not known
 * which of them counted a subscriber, so the missing part of their sum is added to the last one, unless any of them
 * changed in the meantime.
 */
async function recountSubscribers(store: Store, after: string | undefined) {
  const digit = SHARDS[after === undefined ? 0 : SHARDS.indexOf(after) + 1]!;
  const last = digit === SHARDS.at(-1) ? undefined : digit;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { items } = await store.query(SubscriberCount, {}, { prefix: digit });
    const living = await store.count(Profile, { id: digit }, { prefix: digit, filter: isAlive() });
    const missing = living - items.reduce((sum, { n }) => sum + n, 0);
    if (missing === 0) return { repaired: 0, after: last };
    // Rows of an import may be there that its seal counts: one that came since is seen by the conditions.
    if (await hasOpenPack(store)) continue;
    const rows = new Map(items.map((row) => [row.sk, row]));
    const seen = (shard: string) => {
      const row = rows.get(shard);
      if (!row) return absent();
      return all(is("n", row.n), is("changes", row.changes));
    };
    const checks = SHARDS.map((second) => checkItem(SubscriberCount, { shard: digit + second }, seen(digit + second)));
    const repair = changeItem(SubscriberCount, { shard: digit }, countChange({ n: missing }), seen(digit));
    const isRepaired = await transacted(store, [repair, ...checks]);
    if (!isRepaired) continue;
    logRepair(store, SubscriberCount, { key: { shard: digit }, seen: { n: living - missing }, counted: { n: living } });
    return { repaired: 1, after: last };
  }
  logBusy(store, SubscriberCount, { shard: digit });
  return { repaired: 0, after: last };
}

/** Counters that changed since they were last recounted. */
async function recountMembers(store: Store, kind: Group["kind"], after: string | undefined) {
  const last = after === undefined ? undefined : keyOf(MemberCount, store.tenant, memberCountKey(kind, after));
  const page = await store.query(MemberCount, { kind }, { limit: PAGE, after: last });
  let repaired = 0;
  for (const { sk, changes, recounted } of page.items) {
    if (changes === recounted) continue;
    const key = memberCountKey(kind, sk);
    const count = async () => ({ n: await countRows(store, key, key.shard) });
    repaired += await repairCounter(store, MemberCount, key, { count, isUncounted: hasOpenPack });
    await whereItHolds(store.change(MemberCount, key, { set: { recounted: changes } }, is("changes", changes)));
  }
  return { repaired, after: page.next?.sk };
}

function memberCountKey(kind: Group["kind"], sk: string) {
  const [id = "", shard = ""] = sk.split("#");
  return { kind, id, shard };
}

async function assetTotals(store: Store): Promise<{ bytes: number; assets: number }> {
  const rows = (await store.queryAll(AssetItem, {})).filter(({ status }) => status !== "removed");
  return { bytes: rows.reduce((sum, { size_bytes }) => sum + size_bytes, 0), assets: rows.length };
}

type Numbers = Record<string, number>;

interface Recount {
  count(): Promise<Numbers>;
  /** Whether there may be rows that no transaction has counted yet. */
  isUncounted?(store: Store): Promise<boolean>;
}

/** The recount of a counter that a workspace has once. */
function recountRows(counter: AnyItem<"workspace">, count: (store: Store) => Promise<Numbers>): RecountPart {
  return async (store) => ({ repaired: await repairCounter(store, counter, {}, { count: () => count(store) }) });
}

/**
 * Sets a counter to the number of its rows, unless it changes in the meantime: rows and counters change in one
 * transaction, so an unchanged counter belongs to the rows that were read. @returns 1 if the counter was wrong
 */
async function repairCounter<D extends AnyItem<"workspace">>(
  store: Store,
  item: D,
  key: KeyOf<D>,
  { count, isUncounted = async () => false }: Recount,
): Promise<0 | 1> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const row = (await store.get(item, key)) as Partial<Numbers> | undefined;
    const counted = await count();
    const names = Object.keys(counted);
    if (names.every((name) => (row?.[name] ?? 0) === counted[name])) return 0;
    if (await isUncounted(store)) continue;
    const seen = Object.fromEntries([...names, "changes"].map((name) => [name, row?.[name]]));
    const change: object = { set: counted, add: { changes: 1 } };
    const isAsSeen = all(...Object.entries(seen).map(([name, n]) => asRead(name, n)));
    const isRepaired = await happened(store.change(item, key, change as ChangeOf<D>, isAsSeen as ConditionOf<D>));
    if (!isRepaired) continue;
    logRepair(store, item, { key, seen, counted });
    return 1;
  }
  logBusy(store, item, key);
  return 0;
}

type Counter = Pick<AnyItem<"workspace">, "about">;

function logRepair(
  { log, tenant }: Store,
  { about }: Counter,
  repair: { key: unknown; seen: object; counted: object },
): void {
  log({ level: "warn", message: "a counter was repaired", tenant, counter: about, ...repair });
}

function logBusy({ log, tenant }: Store, { about }: Counter, key: unknown): void {
  log({ level: "info", message: "a counter changed too often to be recounted", tenant, counter: about, key });
}

// The recount of sends to one subscriber: the quarter-hours of the last two days are settled again, as far as they say
// something else than is counted (docs/decisions/0056).

const RECOUNTED_MS = 2 * DAY;

/** Recounts one quarter-hour. @param after the one that was recounted last */
async function recountQuarters(
  store: Store,
  sealing: SealingContext,
  after: string | undefined,
): Promise<{ repaired: number; after?: string | undefined }> {
  const now = store.clock.now();
  const end = quarterAt(now) - WATCHED_QUARTERS;
  const begin = after === undefined ? quarterAt(now - RECOUNTED_MS) : Number(after) + 1;
  const lanes = await directLanes(store);
  const quarter = await nextQuarter(store, lanes, begin, end);
  if (quarter === undefined) return { repaired: 0 };
  let repaired = 0;
  for (const lane of lanes) {
    const { counted } = await settleQuarter(store, sealing.secrets, quarter, lane);
    if (Object.keys(counted).length === 0) continue;
    repaired++;
    const { tenant } = store;
    store.log({
      level: "warn",
      message: "the sends of a quarter-hour were counted late",
      tenant,
      quarter,
      lane,
      counted,
    });
  }
  await returnUnused(store, quarter, lanes);
  await sealSends(store, sealing, quarter, lanes);
  return { repaired, after: String(quarter) };
}

/** The first quarter-hour with sends, or with sends that were taken ahead; undefined after the last one. */
async function nextQuarter(
  store: Store,
  lanes: Awaited<ReturnType<typeof directLanes>>,
  begin: number,
  end: number,
): Promise<number | undefined> {
  if (begin >= end) return undefined;
  const bounds = { from: begin * QUARTER_MS, to: end * QUARTER_MS };
  const found = await Promise.all([
    firstQuarter(store, lanes, bounds),
    ...[bounds.from, bounds.to].map((at) => unsettledQuarters(store, at)),
  ]);
  const quarters = found.flat().filter((quarter) => quarter !== undefined && quarter >= begin && quarter < end);
  return quarters.length > 0 ? Math.min(...quarters.filter((quarter) => quarter !== undefined)) : undefined;
}
