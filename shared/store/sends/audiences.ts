// How an audience is planned: who is in it, judged candidate by candidate and packed into chunks.
import { DAY, SECOND } from "../../clock.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { type AudienceRules, judge } from "../../rules/audience.ts";
import { compilePredicate } from "../../rules/predicates.ts";
import { compileDevicePredicate } from "../../rules/versions.ts";
import { keys, SHARDS } from "../keys.ts";
import type { Group } from "../lists/memberships.ts";
import { groupOf } from "../lists/targets.ts";
import type { Item } from "../model.ts";
import { personalEngagements } from "../subscribers/engagement.ts";
import { chunksOf } from "../table.ts";
import { candidatesById, candidatesOf, everyMember, everyone, type Placed } from "./candidates.ts";
import { CHUNK_SIZE, completeChunk, type PlannedChunk, packChunk } from "./chunks.ts";
import type { JobSpec } from "./jobs.ts";
import { getRange, notePlanned, type RangeState } from "./ranges.ts";

/**
 * An audience up to this size is planned within the request, so that `sent` is exact
 * (docs/decisions/0021#audience-size).
 */
export const SMALL_AUDIENCE = 1_000;
/** Ids in one row of given ids. */
const GIVEN_PER_ROW = 1_000;
/** How long after the job's time they are kept: long enough for a held job, and no erasure looks for them (SUB-10). */
const GIVEN_KEPT_MS = 30 * DAY;

export function audienceRules(
  job: string,
  spec: Pick<
    JobSpec,
    "holdout_percentage" | "split_percentage" | "variant_b" | "device_filters" | "subscriber_filters"
  >,
  choice: Pick<AudienceRules, "reach" | "tenant">,
): AudienceRules {
  return {
    ...choice,
    job,
    holdoutPercentage: spec.holdout_percentage,
    splitPercentage: spec.variant_b ? (spec.split_percentage ?? 50) : undefined,
    matchesSubscriber: spec.subscriber_filters ? compilePredicate(spec.subscriber_filters) : () => true,
    matchesDevice: spec.device_filters ? compileDevicePredicate(spec.device_filters) : undefined,
  };
}

const shardRange = (shard: string) => `s${shard}`;
const givenRange = (n: number) => `g${n}`;
/** Members of a list or segment in one of its shards: `list:<id>:<shard>`. */
const memberRange = ({ kind, id }: Group, shard: string) => `${kind}:${id}:${shard}`;
/** The range of an audience that was planned within the request. */
export const PLANNED_RANGE = "p";

/** The ranges of a job whose audience is planned by workers. */
export function rangesOf({ target, subscriber_ids_count }: Pick<JobSpec, "target" | "subscriber_ids_count">): string[] {
  if (target?.type === "all") return SHARDS.map(shardRange);
  const group = groupOf(target);
  if (group) return SHARDS.map((shard) => memberRange(group, shard));
  const rows = Math.ceil((subscriber_ids_count ?? 0) / GIVEN_PER_ROW);
  return Array.from({ length: rows }, (_, n) => givenRange(n));
}

/** The rows that keep given ids until the job's time; written before the job. */
export function givenRows({ tenant }: Pick<Store, "tenant">, job: string, ids: readonly string[], at: number): Item[] {
  const expires = Math.ceil((at + GIVEN_KEPT_MS) / SECOND);
  return chunksOf(ids, GIVEN_PER_ROW).map((batch, n) => ({
    ...keys.given(tenant, job, n),
    ids: batch.join(" "),
    expires,
  }));
}

/**
 * Everyone of a small audience, judged and packed into chunks.
 * @returns undefined if it turns out not to be small.
 */
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
  const parts = chunksOf(kept, CHUNK_SIZE);
  return parts.map((judged, n) => packChunk(judged, n + 1 < parts.length ? String(n + 1) : undefined, now));
}

/** Judges candidates and leaves out those whom the filters do; a smart send looks into the history of the rest. */
export async function keep(store: StoreReader, candidates: readonly Placed[], rules: AudienceRules) {
  const kept = candidates
    .map((candidate) => ({ ...candidate, judgement: judge(candidate, rules) }))
    .filter(({ judgement }) => judgement.verdict !== "excluded");
  if (!rules.tenant) return kept;
  const ranked = kept.filter(({ judgement }) => judgement.verdict === "send");
  const found = await personalEngagements(
    store,
    ranked.map(({ profile }) => profile!),
  );
  const engagements = new Map(ranked.map(({ id }, i) => [id, found[i]]));
  return kept.map((one) => {
    const engagement = engagements.get(one.id);
    return engagement
      ? { ...one, judgement: judge({ id: one.id, subscriber: { ...one.subscriber!, engagement } }, rules) }
      : one;
  });
}

/**
 * Plans a range onwards from where it stands, chunk by chunk, until it ends or `isTimeUp`.
 * `announce` is told of every batch of chunks after they are in the table and before the position moves past them,
 * so that a crash repeats an announcement and never loses one.
 */
export async function planRange(
  store: Store,
  job: string,
  range: string,
  rules: AudienceRules,
  { announce, isTimeUp }: { announce(chunks: number[]): Promise<void>; isTimeUp(): boolean },
): Promise<RangeState> {
  let state = await getRange(store, job, range);
  while (!state.planned && !isTimeUp()) {
    const first = state.chunks;
    const { chunks, cursor, planned } = await planPage(store, job, range, rules, state);
    await announce(Array.from({ length: chunks - first }, (_, i) => first + i));
    state = await notePlanned(store, job, range, { chunks, cursor, planned });
  }
  return state;
}

/** One page of candidates becomes chunks: each continues where the one before it in the table says. */
async function planPage(
  store: Store,
  job: string,
  range: string,
  rules: AudienceRules,
  { chunks, cursor }: RangeState,
) {
  const now = store.clock.now();
  const page = await candidatesOf(store, job, range, cursor, rules);
  const kept = await keep(store, page.candidates, rules);
  let n = chunks;
  let from = 0;
  while (from < kept.length || (page.next === undefined && from === kept.length)) {
    const judged = kept.slice(from, from + CHUNK_SIZE);
    const isLast = page.next === undefined && from + CHUNK_SIZE >= kept.length;
    const chunk = await completeChunk(
      store,
      job,
      range,
      n,
      packChunk(judged, isLast ? undefined : judged.at(-1)!.cursor, now),
    );
    n++;
    if (chunk.next === undefined) return { chunks: n, cursor: undefined, planned: true };
    const last = kept.findIndex((candidate) => candidate.cursor === chunk.next);
    if (last < 0) return { chunks: n, cursor: chunk.next, planned: false };
    from = last + 1;
  }
  return { chunks: n, cursor: page.next, planned: false };
}
