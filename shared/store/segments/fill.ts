// Computes a segment over all subscribers: shard by shard and page by page, with a checkpoint after each page.
import type { JobPart } from "../../contract/messages.ts";
import type { Rule } from "../../rules/segment-evaluation.ts";
import { absent, all, any, below, is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { changeItem, idKeys, putItem } from "../item.ts";
import { fromJson } from "../json-text.ts";
import { Member } from "../lists/items.ts";
import { changeMembers } from "../lists/memberships.ts";
import { happened, whereItHolds } from "../refusals.ts";
import { SHARDS } from "../shards.ts";
import { audiencePage, isProfileRow, subscriberIn } from "../subscribers/audience-pages.ts";
import { Profile } from "../subscribers/items.ts";
import { countSubscribers, isLiving } from "../subscribers/subscribers.ts";
import type { Timers } from "../timers.ts";
import { changedKeys, judgeProfiles, type SubscriberVerdict } from "./facts.ts";
import { type FilledPage, fillLeaves, holdWrite } from "./fill-leaves.ts";
import { Fill, SegmentItem, type SegmentRow } from "./items.ts";
import { reevaluate, scheduleRecheck } from "./reevaluation.ts";
import { compiledRule } from "./rules.ts";

const PAGE_ROWS = 250;
const AGAIN = "again:";
/** A workspace of at most this many subscribers is computed in one part, a larger one in a part for each shard. */
const MAX_SMALL = 5_000;
const WHOLE = "*";

export const partsNeeded = async (store: StoreReader): Promise<number> =>
  (await countSubscribers(store)) <= MAX_SMALL ? 1 : SHARDS.length;

export const fillParts = (parts: number): readonly string[] => (parts === 1 ? [WHOLE] : SHARDS);
/** The parts of the second pass, for events that were ingested, unwatched, while the segment was stored. */
export const secondLook = (parts: number): readonly string[] => fillParts(parts).map((part) => AGAIN + part);

/** One computation of a segment, in one part of the subscribers. */
interface Computation {
  segment: string;
  run: number;
  part: string;
}

interface PagePosition {
  shard: string;
  /** The sort key after which the next page begins; empty for the beginning. */
  after: string;
}

/**
 * Continues one part of a computation until it is done or `isTimeUp`. It has ended too once a newer computation has
 * started, or the segment is deleted.
 */
export async function fillPart(
  store: Store,
  timers: Timers,
  computation: Computation,
  isTimeUp: () => boolean,
): Promise<JobPart> {
  const { segment, run, part } = computation;
  const shards = part.endsWith(WHOLE) ? SHARDS : [part.slice(-1)];
  const state = await store.get(Fill, { segment, part });
  const checkpoint = state?.run === run ? state : undefined;
  if (checkpoint?.done) return finishPart(store, computation);
  const { shard = shards[0] ?? "", after = "" } = checkpoint ?? {};
  let row: SegmentRow | undefined;
  let isBegun = checkpoint !== undefined;
  for (let position: PagePosition | undefined = { shard, after }; position; ) {
    // Writes to leaves are refused after a newer computation has begun, so the rule is read once.
    if (!row || row.is_dynamic) row = await store.get(SegmentItem, { id: segment });
    if (row?.run !== run) return "ended";
    const isOurs: boolean = isBegun || (await storePosition(store, computation, position));
    if (!isOurs) return "ended";
    isBegun = true;
    const page: FilledPage = row.is_dynamic
      ? await fillPage(store, timers, row, { part, ...position })
      : await fillLeaves(store, row, { part, ...position });
    if (page.kind === "ended") return "ended";
    const { last }: { last: string | undefined } = page;
    const needsCheckpoint = last !== undefined || isTimeUp();
    position = last === undefined ? startOfNext(shards, position.shard) : { shard: position.shard, after: last };
    if (!position || !needsCheckpoint) continue;
    const isStored = await storePosition(store, computation, position);
    if (!isStored) return "ended";
    if (isTimeUp()) return "unfinished";
  }
  return finishPart(store, computation);
}

/** Stores the position. @returns false if another worker has ended the part, or a newer computation has begun it */
const storePosition = (store: Store, { segment, run, part }: Computation, position: PagePosition): Promise<boolean> =>
  happened(store.put(Fill, { segment, part }, { run, ...position }, isOpen(run)));

function startOfNext(shards: readonly string[], shard: string): PagePosition | undefined {
  const next = shards[shards.indexOf(shard) + 1];
  return next === undefined ? undefined : { shard: next, after: "" };
}

/** The part is not done in this computation, and no newer one has started it. */
const isOpen = (run: number) => any(absent("run"), below("run", run), all(is("run", run), absent("done")));

/** Evaluates one page of subscribers and their membership rows. */
async function fillPage(
  store: Store,
  timers: Timers,
  segment: SegmentRow,
  { part, shard, after }: PagePosition & { part: string },
): Promise<FilledPage> {
  const { id } = segment;
  const page = await audiencePage(store, shard, { limit: PAGE_ROWS, after: after === "" ? undefined : after });
  const profiles = page.rows.filter(isProfileRow).filter(isLiving);
  const last = page.next;
  const bounds = {
    after: subscriberIn({ sk: after }),
    until: last === undefined ? undefined : subscriberIn({ sk: last }),
  };
  const [members, verdicts] = await Promise.all([
    membersBetween(store, id, shard, bounds),
    judgeProfiles(store, await compiledRule(store, fromJson(segment.rule)), profiles),
  ]);

  const idsOf = (judged: readonly SubscriberVerdict[]) => new Set(judged.map(({ profile }) => profile.id));
  const matching = idsOf(verdicts.filter(({ matches }) => matches));
  const historical = idsOf(verdicts.filter(({ isHistorical }) => isHistorical));
  const enter = [...matching].filter((subscriber) => !members.has(subscriber));
  const leave = [...members].filter((subscriber) => !matching.has(subscriber));
  // A worker that was slow would else write by a rule that has changed, and may end before it looks again.
  await changeMembers(store, { kind: "segment", id }, { enter, leave, historical, hold: holdWrite(segment, part) });

  const unsure = await lookAgain(store, timers, segment, { changed: [...enter, ...leave], verdicts });
  const rules = { now: () => currentRule(store, id) };
  const candidates = unsure.map((subscriber) => ({ subscriber }));
  await reevaluate(store, segment.is_dynamic ? timers : undefined, rules, candidates);
  return { kind: "filled", last };
}

/**
 * Finds, after the writes, the subscribers that may have changed since they were evaluated. What changes after this
 * look is evaluated with the written memberships. A static segment is as of the time of its evaluation.
 */
async function lookAgain(
  store: Store,
  timers: Timers,
  segment: SegmentRow,
  { changed, verdicts }: { changed: readonly string[]; verdicts: readonly SubscriberVerdict[] },
): Promise<string[]> {
  if (changed.length === 0 && !verdicts.some(({ nextChangeAt }) => nextChangeAt)) return [];
  const current = await store.get(SegmentItem, { id: segment.id });
  if (current?.run !== segment.run) return current ? [...changed] : [];
  if (!segment.is_dynamic) return [];
  const verdictOf = new Map(verdicts.map((verdict) => [verdict.profile.id, verdict]));
  const profiles = await store.getAll(Profile, idKeys(changed));
  const unsure = new Set(
    changed.filter((id, i) => {
      const verdict = verdictOf.get(id);
      const profile = profiles[i];
      return !verdict || verdict.facts !== undefined || !profile || changedKeys(verdict.profile, profile).length > 0;
    }),
  );
  for (const { profile, facts, nextChangeAt } of verdicts)
    if (nextChangeAt !== undefined && !unsure.has(profile.id)) {
      const recheck = { subscriber: profile.id, next: nextChangeAt, checkAt: facts?.checkAt };
      const isScheduled = await scheduleRecheck(store, timers, recheck);
      if (!isScheduled) unsure.add(profile.id);
    }
  return [...unsure];
}

async function currentRule(store: Store, id: string): Promise<ReadonlyMap<string, Rule>> {
  const row = await store.get(SegmentItem, { id });
  return new Map(row ? [[id, await compiledRule(store, fromJson(row.rule))]] : []);
}

async function membersBetween(
  store: Store,
  segment: string,
  shard: string,
  { after, until = "~" }: { after: string; until: string | undefined },
): Promise<Set<string>> {
  const range = { from: `${after}!`, to: until };
  const members = await store.queryAll(Member, { kind: "segment", id: segment, shard }, range);
  return new Set(members.map(({ sk }) => sk));
}

/** Marks a part as done, once, and after the last part the segment as computed. */
async function finishPart(store: Store, { segment, run, part }: Computation): Promise<"ended"> {
  const done = { run, done: true };
  if (part.startsWith(AGAIN)) {
    await whereItHolds(store.put(Fill, { segment, part }, done, isOpen(run)));
    return "ended";
  }
  await whereItHolds(
    store.transact([
      putItem(Fill, { segment, part }, done, isOpen(run)),
      changeItem(SegmentItem, { id: segment }, { add: { parts_done: 1 } }, is("run", run)),
    ]),
  );
  const row = await store.get(SegmentItem, { id: segment });
  if (row?.run === run && row.parts_done === row.parts) {
    const computed = row.run_version;
    const isBehind = all(is("run", run), below("computed", computed));
    await whereItHolds(store.change(SegmentItem, { id: segment }, { set: { computed } }, isBehind));
  }
  return "ended";
}

/** The parts of a segment's current computation that are not done. */
export async function openParts(store: StoreReader, { id, run, parts }: SegmentRow): Promise<string[]> {
  const all = fillParts(parts);
  const keys = all.map((part) => ({ segment: id, part }));
  const rows = await store.getAll(Fill, keys);
  return all.filter((_, i) => rows[i]?.run !== run || !rows[i]?.done);
}
