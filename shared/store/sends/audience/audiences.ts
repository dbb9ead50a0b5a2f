// How an audience is planned: candidates are judged one by one and packed into chunks.
import { DAY, ttl } from "../../../kernel/clock.ts";
import { type AudienceRules, type Judgement, judge } from "../../../rules/audience.ts";
import { hasConsent } from "../../../rules/channel-types.ts";
import { chunksOf } from "../../../rules/chunks.ts";
import { compilePredicate } from "../../../rules/predicates.ts";
import { comparisonIn } from "../../../rules/values.ts";
import { compileDevicePredicate } from "../../../rules/versions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { type ItemWrite, putItem } from "../../item.ts";
import { groupOf } from "../../lists/targets.ts";
import { addressesOf, askable, consentsNow } from "../../subscribers/addresses.ts";
import { personalEngagements } from "../../subscribers/engagement.ts";
import { CHUNK_SIZE, completeChunk, type PlannedChunk, packChunk, peopleIn } from "../chunks/chunks.ts";
import { GIVEN_PER_ROW } from "../chunks/range-names.ts";
import { getRange, notePlanned, type RangeState } from "../chunks/ranges.ts";
import type { JobSpec } from "../jobs/job-spec.ts";
import type { ChunkRef } from "../ledger/touches.ts";
import { GivenIds } from "./audience-items.ts";
import {
  candidatesById,
  candidatesOf,
  everyMember,
  everyone,
  type PlacedCandidate,
  type RangeRef,
  readsDevices,
} from "./candidates.ts";
import { type ExtraReads, NO_EXTRA_READS, readsOfExcluded, sumOfReads } from "./extra-reads.ts";

/**
 * An audience up to this size is planned within the request, so that `sent` is exact
 * (docs/decisions/0021#audience-size).
 */
export const SMALL_AUDIENCE = 1_000;
/**
 * An audience that is planned within the request is spread over this many chunks, so that none of their keys is hot.
 */
const SPREAD_OVER = 3;
const SMALLEST_CHUNK = 100;
/** Whole groups of ten, and whole batches of 25 rows of the ledger. */
const roundUp = (recipients: number) => Math.ceil(recipients / 50) * 50;
/**
 * How long after the job's time given ids are kept: long enough for a held job, but limited, because an erasure does
 * not visit them (SUB-10).
 */
const GIVEN_KEPT_MS = 30 * DAY;

/** The rules by which a send judges each candidate. @param zone where the days of bare dates begin (AMB-137) */
export function audienceRules(
  job: string,
  spec: Pick<
    JobSpec,
    "holdout_percentage" | "split_percentage" | "variant_b" | "device_filters" | "subscriber_filters" | "draw"
  >,
  { zone, ...choice }: Pick<AudienceRules, "reach" | "tenant"> & { zone: string | undefined },
): AudienceRules {
  return {
    ...choice,
    job: spec.draw ?? job,
    holdoutPercentage: spec.holdout_percentage,
    splitPercentage: spec.variant_b ? (spec.split_percentage ?? 50) : undefined,
    matchesSubscriber: spec.subscriber_filters
      ? compilePredicate(spec.subscriber_filters, comparisonIn(zone))
      : () => true,
    matchesDevice: spec.device_filters ? compileDevicePredicate(spec.device_filters) : undefined,
  };
}

/** The writes that keep given ids until the job's time; they precede the job. */
export function givenWrites(job: string, ids: readonly string[], at: number): ItemWrite<"workspace">[] {
  const expires = ttl(at + GIVEN_KEPT_MS);
  return chunksOf(ids, GIVEN_PER_ROW).map((batch, n) =>
    putItem(GivenIds, { job, n }, { ids: batch.join(" "), expires }),
  );
}

/** The ids that `givenWrites` kept. */
export async function givenIdsOf(store: StoreReader, job: string): Promise<string[]> {
  const rows = await store.queryAll(GivenIds, { job });
  return rows.flatMap(({ ids }) => ids.split(" "));
}

/** The chunks of a small audience. @returns undefined if it turns out not to be small. */
export async function planSmall(
  store: StoreReader,
  spec: Pick<JobSpec, "target">,
  rules: AudienceRules,
  given: readonly string[] | undefined,
): Promise<PlannedChunk[] | undefined> {
  const now = store.clock.now();
  const group = groupOf(spec.target);
  const candidates = given
    ? await candidatesById(store, given, rules)
    : await (group ? everyMember(store, group, rules, SMALL_AUDIENCE) : everyone(store, SMALL_AUDIENCE));
  if (!candidates) return undefined;
  const kept = await keep(store, candidates, rules);
  const ofExcluded = readsOfExcluded(candidates, kept, { readsDevices: readsDevices(rules) });
  const size = Math.min(CHUNK_SIZE, Math.max(SMALLEST_CHUNK, roundUp(kept.length / SPREAD_OVER)));
  const parts = chunksOf(kept, size);
  return parts.map((judged, n) => {
    const next = n + 1 < parts.length ? String(n + 1) : undefined;
    return packChunk(judged, { next, plannedAt: now, ...(n === 0 && { ofExcluded }) });
  });
}

/**
 * Judges candidates and drops those that the filters exclude. For the others, the state of addresses is read (AMB-128),
 * and in a smart send the history.
 */
export async function keep(store: StoreReader, candidates: readonly PlacedCandidate[], rules: AudienceRules) {
  const included = candidates
    .map((candidate) => ({ ...candidate, judgement: judge(candidate, rules) }))
    .filter(({ judgement }) => judgement.kind !== "excluded");
  const kept = await heldToAddresses(store, included, rules);
  if (!rules.tenant) return kept;
  const ranked = kept.flatMap(({ profile, judgement }) => (profile && judgement.kind === "send" ? [profile] : []));
  const found = await personalEngagements(store, ranked);
  const engagements = new Map(ranked.map(({ id }, i) => [id, found[i]]));
  return kept.map((candidate) => {
    const { id, subscriber } = candidate;
    const engagement = engagements.get(id);
    if (!subscriber || !engagement) return candidate;
    return { ...candidate, judgement: judge({ id, subscriber: { ...subscriber, engagement } }, rules) };
  });
}

type JudgedCandidate = PlacedCandidate & { judgement: Judgement };

/** Judges candidates again whose address is suppressed or opted out. */
async function heldToAddresses(
  store: StoreReader,
  kept: JudgedCandidate[],
  rules: AudienceRules,
): Promise<JudgedCandidate[]> {
  const { channels } = rules.reach;
  if (!channels.some(hasConsent)) return kept;
  const profiles = kept.map(({ profile }) => profile);
  const all = await addressesOf(store, profiles, channels);
  return kept.map((candidate, i) => {
    const { id, subscriber, profile } = candidate;
    const held = all[i] ?? {};
    const addresses = rules.reach.confirms ? askable(held) : held;
    if (!subscriber || !profile || Object.values(addresses).every((row) => row === undefined)) return candidate;
    const contact = { ...subscriber.contact, consents: consentsNow(profile, addresses) };
    const reread = { ...subscriber, contact };
    return { ...candidate, subscriber: reread, judgement: judge({ id, subscriber: reread }, rules) };
  });
}

/**
 * Plans a range from its position on, chunk by chunk, until it ends or `isTimeUp`.
 * `announce` gets every batch of chunks after they are in the table and before the position moves past them, so that a
 * crash repeats an announcement and never loses one.
 */
export async function planRange(
  store: Store,
  { job, range }: RangeRef,
  rules: AudienceRules,
  { announce, isTimeUp }: { announce(chunks: number[]): Promise<void>; isTimeUp(): boolean },
): Promise<RangeState> {
  let state = await getRange(store, job, range);
  let ofExcluded = NO_EXTRA_READS;
  while (!state.planned && !isTimeUp()) {
    const first = state.chunks;
    const page = await planPage(store, { job, range, n: first }, { cursor: state.cursor, rules, ofExcluded });
    const { chunks, cursor, planned } = page;
    ofExcluded = page.ofExcluded;
    await announce(Array.from({ length: chunks - first }, (_, i) => first + i));
    const people = state.people + page.people;
    state = await notePlanned(store, job, range, { chunks, people, cursor, planned });
  }
  return state;
}

/**
 * Makes chunks of one page of candidates. Each continues where the chunk before it in the table ends.
 * @param ofExcluded the units of reading excluded people, of pages without a chunk. The first chunk notes it.
 */
async function planPage(
  store: Store,
  first: ChunkRef,
  { cursor, rules, ...before }: { cursor: string | undefined; rules: AudienceRules; ofExcluded: ExtraReads },
) {
  const now = store.clock.now();
  const page = await candidatesOf(store, first, cursor, rules);
  const kept = await keep(store, page.candidates, rules);
  const ofPage = readsOfExcluded(page.candidates, kept, { readsDevices: readsDevices(rules) });
  let ofExcluded = sumOfReads(before.ofExcluded, ofPage);
  let { n } = first;
  let people = 0;
  let from = 0;
  while (from < kept.length || (page.next === undefined && from === kept.length)) {
    const judged = kept.slice(from, from + CHUNK_SIZE);
    const isLast = page.next === undefined && from + CHUNK_SIZE >= kept.length;
    const next = isLast ? undefined : judged.at(-1)?.cursor;
    const planned = packChunk(judged, { next, plannedAt: now, ofExcluded });
    ofExcluded = NO_EXTRA_READS;
    const chunk = await completeChunk(store, { ...first, n }, planned);
    n++;
    people += peopleIn(chunk);
    if (chunk.next === undefined) return { chunks: n, people, cursor: undefined, planned: true, ofExcluded };
    const last = kept.findIndex((candidate) => candidate.cursor === chunk.next);
    if (last < 0) return { chunks: n, people, cursor: chunk.next, planned: false, ofExcluded };
    from = last + 1;
  }
  return { chunks: n, people, cursor: page.next, planned: false, ofExcluded };
}
