// Computes a segment over all subscribers: shard by shard, page by page, with a checkpoint after each page.
import type { Store, StoreReader } from "../../resources.ts";
import { compileRule, type Rule } from "../../rules/segment-evaluation.ts";
import { absent, all, any, below, is } from "../conditions.ts";
import { keys, SHARDS } from "../keys.ts";
import { changeMembers } from "../lists/memberships.ts";
import type { Item, Key } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import { countSubscribers, isLiving } from "../subscribers/subscribers.ts";
import { chunksOf } from "../table.ts";
import type { Timers } from "../timers.ts";
import { changedKeys, judgeProfile, type SubscriberFacts } from "./facts.ts";
import { reevaluate, scheduleRecheck } from "./reevaluation.ts";

/** Rows of a shard at a time. */
const PAGE_ROWS = 250;
/** Histories that are read at once. */
const AT_ONCE = 25;
const ID_CHARACTERS = 36;
const AGAIN = "again:";
/** A workspace of so few subscribers is computed in one part, a larger one in a part per shard. */
const SMALL = 2_000;
const WHOLE = "*";

/** How many parts a computation that begins now has. */
export const partsNeeded = async (store: StoreReader): Promise<number> =>
  (await countSubscribers(store)) <= SMALL ? 1 : SHARDS.length;

/** The parts of a computation. */
export const fillParts = (parts: number): readonly string[] => (parts === 1 ? [WHOLE] : SHARDS);
/** The second look, for events that were being taken in, unwatched, while the segment was stored. */
export const secondLook = (parts: number): readonly string[] => fillParts(parts).map((part) => AGAIN + part);

interface PagePosition {
  shard: string;
  /** A row's sort key, after which the next page begins; empty for the beginning. */
  after: string;
}

/**
 * Goes on with one part of a run until it is done or `isTimeUp`.
 * @returns whether there is nothing left to do: it is done, or another run has begun, or the segment is gone.
 */
export async function fillPart(
  store: Store,
  timers: Timers,
  { segment, run, part }: { segment: string; run: number; part: string },
  isTimeUp: () => boolean,
): Promise<boolean> {
  const row = keys.fill(store.tenant, segment, part);
  const shards = part.endsWith(WHOLE) ? SHARDS : [part.slice(-1)];
  const state = await store.get(row);
  if (state?.run === run && state.done === true) return finishPart(store, segment, run, part);
  const [shard, after] = state?.run === run ? [String(state.shard), String(state.after)] : [shards[0]!, ""];
  for (let place: PagePosition | undefined = { shard, after }; place; ) {
    const item: Item | undefined = await store.get(keys.entity(store.tenant, "segment", segment));
    if (!item || Number(item.run) !== run) return true;
    const last: string | undefined = await fillPage(store, timers, item, place);
    const following: string | undefined = shards[shards.indexOf(place.shard) + 1];
    const ended: PagePosition | undefined = following === undefined ? undefined : { shard: following, after: "" };
    const isCheckpoint: boolean = last !== undefined || isTimeUp();
    place = last === undefined ? ended : { shard: place.shard, after: last };
    if (!place || !isCheckpoint) continue;
    const isNoted = await store.put({ ...row, run, ...place }, isOpen(run)).then(
      () => true,
      onConditionFailed(() => false),
    );
    if (!isNoted) return true;
    if (isTimeUp()) return false;
  }
  return finishPart(store, segment, run, part);
}

/** A part that neither this run has done nor a later one has begun. */
const isOpen = (run: number) => any(absent("run"), below("run", run), all(is("run", run), absent("done")));

/** Judges one page of subscribers and their membership rows. @returns after which row the next begins, if one does. */
async function fillPage(
  store: Store,
  timers: Timers,
  segment: Item,
  { shard, after }: PagePosition,
): Promise<string | undefined> {
  const pk = keys.audience(store.tenant, shard);
  const page = await store.query({ pk, limit: PAGE_ROWS, after: after === "" ? undefined : { pk, sk: after } });
  const profiles = page.items.filter((row) => row.sk.length === ID_CHARACTERS && isLiving(row));
  const last = page.next?.sk;
  const id = String(segment.id);
  const [members, verdicts] = await Promise.all([
    membersBetween(store, id, shard, after.slice(0, ID_CHARACTERS), last?.slice(0, ID_CHARACTERS)),
    judgeAll(store, compileRule(JSON.parse(String(segment.rule))), profiles),
  ]);
  const matching = new Set(verdicts.filter(({ matches }) => matches).map(({ subscriber }) => subscriber));
  const enter = [...matching].filter((subscriber) => !members.has(subscriber));
  const leave = [...members].filter((subscriber) => !matching.has(subscriber));
  await changeMembers(store, { kind: "segment", id }, { enter, leave });
  const unsure = await lookAgain(store, timers, segment, [...enter, ...leave], verdicts);
  for (const batch of chunksOf(unsure, AT_ONCE))
    await Promise.all(
      batch.map((subscriber) =>
        reevaluate(store, segment.is_dynamic ? timers : undefined, () => currentRule(store, id), {
          subscriber,
          events: [],
        }),
      ),
    );
  return last;
}

/**
 * After the writes: whoever may have changed since it was judged, so that the newest rule, attributes and events have
 * the last word. Who comes after this look finds what was written. A static segment is as of the moment of judging.
 */
async function lookAgain(
  store: Store,
  timers: Timers,
  segment: Item,
  changed: readonly string[],
  verdicts: readonly Judged[],
): Promise<string[]> {
  if (changed.length === 0 && !verdicts.some(({ nextChangeAt }) => nextChangeAt)) return [];
  const item = await store.get(keys.entity(store.tenant, "segment", String(segment.id)));
  if (item?.run !== segment.run) return item ? [...changed] : [];
  if (!segment.is_dynamic) return [];
  const judged = new Map(verdicts.map((verdict) => [verdict.subscriber, verdict]));
  const profiles = await store.getAll(changed.map((id) => keys.subscriber(store.tenant, id)));
  const unsure = new Set(
    changed.filter((id, i) => {
      const verdict = judged.get(id);
      const profile = profiles[i];
      return !verdict || verdict.facts !== undefined || !profile || changedKeys(verdict.profile, profile).length > 0;
    }),
  );
  for (const { subscriber, facts, nextChangeAt } of verdicts)
    if (nextChangeAt !== undefined && !unsure.has(subscriber))
      if (!(await scheduleRecheck(store, timers, subscriber, nextChangeAt, facts?.checkAt))) unsure.add(subscriber);
  return [...unsure];
}

async function currentRule(store: Store, id: string): Promise<ReadonlyMap<string, Rule>> {
  const item = await store.get(keys.entity(store.tenant, "segment", id));
  return new Map(item ? [[id, compileRule(JSON.parse(String(item.rule)))]] : []);
}

async function membersBetween(
  store: Store,
  segment: string,
  shard: string,
  after: string,
  until: string | undefined,
): Promise<Set<string>> {
  const members = new Set<string>();
  let next: Key | undefined;
  do {
    const page = await store.query({
      pk: keys.members(store.tenant, "segment", segment, shard),
      from: `${after}!`,
      to: until ?? "~",
      after: next,
    });
    for (const { sk } of page.items) members.add(sk);
    next = page.next;
  } while (next);
  return members;
}

interface Judged {
  subscriber: string;
  profile: Item;
  /** Read where the events had to decide. */
  facts: SubscriberFacts | undefined;
  matches: boolean;
  nextChangeAt: number | undefined;
}

async function judgeAll(store: Store, rule: Rule, profiles: readonly Item[]): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const batch of chunksOf(profiles, AT_ONCE))
    judged.push(
      ...(await Promise.all(
        batch.map(async (profile) => ({
          ...{ subscriber: String(profile.id), profile },
          ...(await judgeProfile(store, rule, profile)),
        })),
      )),
    );
  return judged;
}

/** Notes that a part is done, once, and with the last one that the segment is computed. */
async function finishPart(store: Store, segment: string, run: number, part: string): Promise<boolean> {
  const place = keys.fill(store.tenant, segment, part);
  const entity = keys.entity(store.tenant, "segment", segment);
  if (part.startsWith(AGAIN)) {
    await store.put({ ...place, run, done: true });
    return true;
  }
  await store
    .transact([
      { put: { ...place, run, done: true }, when: isOpen(run) },
      { update: entity, change: { add: { parts_done: 1 } }, when: is("run", run) },
    ])
    .catch(onTransactionCanceled(() => undefined));
  const item = await store.get(entity);
  if (item && Number(item.run) === run && item.parts_done === item.parts)
    await store
      .update(
        entity,
        { set: { computed: Number(item.run_version) } },
        all(is("run", run), below("computed", Number(item.run_version))),
      )
      .catch(onConditionFailed(() => undefined));
  return true;
}

/** The parts of a segment's run that are not done. */
export async function openParts(store: StoreReader, { id, run, parts }: Item): Promise<string[]> {
  const all = fillParts(Number(parts));
  const rows = await store.getAll(all.map((part) => keys.fill(store.tenant, String(id), part)));
  return all.filter((_, i) => rows[i]?.run !== run || rows[i]?.done !== true);
}
