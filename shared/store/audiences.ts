// Where candidates come from: the shards of a workspace, or ids that the caller gave.
import type { Store, StoreReader } from "../resources.ts";
import { type AudienceRules, type Candidate, judge } from "../rules/audience.ts";
import { compilePredicate } from "../rules/predicates.ts";
import { compileDevicePredicate } from "../rules/versions.ts";
import { CHUNK_SIZE, type Chunk, getRange, notePlanned, packChunk, type RangeState, settleChunk } from "./chunks.ts";
import type { JobSpec } from "./jobs.ts";
import { type Grouping, keys, SHARDS } from "./keys.ts";
import { type Group, memberPage, memberShard } from "./memberships.ts";
import type { Item } from "./model.ts";
import { attributesOf, getProfiles, isLiving, subscriberOf } from "./subscribers.ts";
import { chunksOf } from "./table.ts";
import { groupOf } from "./targets.ts";

/** An audience up to this size is planned within the request, so that `sent` is exact (decision 11). */
export const SMALL_AUDIENCE = 1_000;
/** Rows of a shard read at a time for such an audience. */
const SMALL_PAGE_ROWS = 252;
/** Rows of a shard that a worker reads at a time: five chunks and the row that says whether more follow, not 1 MB. */
const PAGE_ROWS = 501;
/** Queries for devices of given subscribers that run at once. */
const DEVICES_AT_ONCE = 50;
/** Ids in one row of given ids. */
const GIVEN_PER_ROW = 1_000;

/** A candidate and where its range goes on after it. */
type Placed = Candidate & { cursor: string };

interface CandidatePage {
  candidates: Placed[];
  /** Where the next page begins; undefined at the end. */
  next: string | undefined;
}

export function audienceRules(
  job: string,
  spec: Pick<
    JobSpec,
    "holdout_percentage" | "split_percentage" | "variant_b" | "device_filters" | "subscriber_filters"
  >,
): AudienceRules {
  return {
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
export function givenRows(store: Pick<Store, "tenant">, job: string, ids: readonly string[]): Item[] {
  return chunksOf(ids, GIVEN_PER_ROW).map((batch, n) => ({
    ...keys.given(store.tenant, job, n),
    ids: batch.join(" "),
  }));
}

/** A page for a worker, which comes a while after the job: its reads need not see the last moment's writes. */
const candidatesOf = (
  store: StoreReader,
  job: string,
  range: string,
  cursor: string | undefined,
  rules: AudienceRules,
): Promise<CandidatePage> =>
  range.includes(":")
    ? membersPage(store, range, cursor, rules)
    : range.startsWith("s")
      ? shardPage(store, range.slice(1), cursor, { eventual: true, limit: PAGE_ROWS })
      : givenPage(store, job, Number(range.slice(1)), cursor, rules);

/** Profiles and devices of a shard, up to 1 MB a page; a subscriber cut by the page's end belongs to the next one. */
async function shardPage(
  store: StoreReader,
  shard: string,
  cursor: string | undefined,
  options: { eventual?: boolean; limit?: number },
): Promise<CandidatePage> {
  const pk = keys.audience(store.tenant, shard);
  const page = await store.query({
    pk,
    ...options,
    ...(cursor !== undefined && { after: { pk, sk: `${cursor}#~` } }),
  });
  const groups = Map.groupBy(page.items, ({ sk }) => sk.slice(0, 36));
  if (page.next && groups.size > 1) groups.delete([...groups.keys()].at(-1)!);
  const candidates: Placed[] = [];
  for (const [id, rows] of groups) {
    const profile = rows.find(({ sk }) => sk === id);
    if (profile && isLiving(profile))
      candidates.push(
        placed(
          profile,
          rows.filter((row) => row !== profile),
          id,
        ),
      );
  }
  return { candidates, next: page.next && [...groups.keys()].at(-1) };
}

/** Members of a shard; whoever is being erased at the moment is no member any more. */
async function membersPage(
  store: StoreReader,
  range: string,
  cursor: string | undefined,
  rules: AudienceRules,
): Promise<CandidatePage> {
  const [kind, id, shard] = range.split(":") as [Grouping, string, string];
  const { members, next } = await memberShard(store, { kind, id }, shard, cursor, { limit: PAGE_ROWS });
  const candidates = await membersById(
    store,
    members.map(({ subscriber }) => subscriber),
    rules,
  );
  return { candidates: candidates.map((candidate) => ({ ...candidate, cursor: candidate.id })), next };
}

const membersById = async (store: StoreReader, ids: readonly string[], rules: AudienceRules): Promise<Candidate[]> =>
  (await candidatesById(store, ids, rules)).filter(({ subscriber }) => subscriber);

async function givenPage(
  store: StoreReader,
  job: string,
  row: number,
  cursor = "0",
  rules: AudienceRules,
): Promise<CandidatePage> {
  const item = await store.get(keys.given(store.tenant, job, row));
  const ids = item ? String(item.ids).split(" ") : [];
  const from = Number(cursor);
  const candidates = await candidatesById(store, ids.slice(from), rules);
  return {
    candidates: candidates.map((candidate, i) => ({ ...candidate, cursor: String(from + i + 1) })),
    next: undefined,
  };
}

/** Given ids in their order; their devices are looked up only where a filter asks for them. */
async function candidatesById(
  store: StoreReader,
  ids: readonly string[],
  { matchesDevice }: AudienceRules,
): Promise<Candidate[]> {
  const profiles = await getProfiles(store, ids);
  const candidates: Candidate[] = [];
  for (const batch of chunksOf([...ids.entries()], DEVICES_AT_ONCE))
    candidates.push(
      ...(await Promise.all(
        batch.map(async ([i, id]) => {
          const profile = profiles[i];
          return profile ? placed(profile, matchesDevice ? await devicesOf(store, id) : [], id) : { id };
        }),
      )),
    );
  return candidates;
}

async function devicesOf(store: StoreReader, subscriber: string): Promise<Item[]> {
  const { pk, sk } = keys.device(store.tenant, subscriber, "");
  return (await store.query({ pk, prefix: sk })).items;
}

const placed = (profile: Item, devices: Item[], cursor: string): Placed => ({
  id: String(profile.id),
  subscriber: { attributes: attributesForFilters(profile), devices },
  cursor,
});

/** What a filter sees: the attributes, and the fields of the subscriber itself. */
function attributesForFilters(profile: Item): Record<string, unknown> {
  const { external_id, email, created_at } = subscriberOf(profile);
  return { external_id, ...(email !== undefined && { email }), created_at, ...attributesOf(profile) };
}

/**
 * Everyone of a small audience, judged and packed into chunks.
 * @returns undefined if it turns out not to be small.
 */
export async function planSmall(
  store: StoreReader,
  job: string,
  spec: JobSpec,
  given: readonly string[] | undefined,
): Promise<Chunk[] | undefined> {
  const now = store.clock.now();
  const rules = audienceRules(job, spec);
  const group = groupOf(spec.target);
  const candidates = given
    ? await candidatesById(store, given, rules)
    : await (group ? everyMember(store, group, rules) : everyone(store));
  if (!candidates) return undefined;
  const kept = keep(candidates, rules);
  return chunksOf(kept, CHUNK_SIZE).map((judged) => packChunk(judged, undefined, now));
}

/** All shards side by side, given up as soon as there are too many. */
async function everyone(store: StoreReader): Promise<Candidate[] | undefined> {
  const candidates: Candidate[] = [];
  await Promise.all(
    SHARDS.map(async (shard) => {
      let next: string | undefined;
      do {
        const page = await shardPage(store, shard, next, { limit: SMALL_PAGE_ROWS });
        candidates.push(...page.candidates);
        next = page.next;
      } while (next !== undefined && candidates.length <= SMALL_AUDIENCE);
    }),
  );
  if (candidates.length > SMALL_AUDIENCE) return undefined;
  return candidates.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** All members, given up as soon as there are too many. */
async function everyMember(store: StoreReader, group: Group, rules: AudienceRules): Promise<Candidate[] | undefined> {
  const { members } = await memberPage(store, group, { after: undefined, limit: SMALL_AUDIENCE + 1 });
  if (members.length > SMALL_AUDIENCE) return undefined;
  return membersById(
    store,
    members.map(({ subscriber }) => subscriber),
    rules,
  );
}

const keep = <C extends Candidate>(candidates: readonly C[], rules: AudienceRules) =>
  candidates
    .map((candidate) => ({ ...candidate, judgement: judge(candidate, rules) }))
    .filter(({ judgement }) => judgement.verdict !== "excluded");

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
  const kept = keep(page.candidates, rules);
  let n = chunks;
  let from = 0;
  while (from < kept.length || (page.next === undefined && from === kept.length)) {
    const judged = kept.slice(from, from + CHUNK_SIZE);
    const isLast = page.next === undefined && from + CHUNK_SIZE >= kept.length;
    const chunk = await settleChunk(
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
