// The sources of candidates: the shards of a workspace, the members of a list or segment, and given ids.
import { byText } from "../../../kernel/order.ts";
import type { AudienceRules, Candidate } from "../../../rules/audience.ts";
import { hasDevices } from "../../../rules/channel-types.ts";
import { chunksOf } from "../../../rules/chunks.ts";
import type { StoreReader } from "../../context.ts";
import type { Group } from "../../lists/items.ts";
import { memberPage, memberShard } from "../../lists/memberships.ts";
import { SHARDS, shardOf } from "../../shards.ts";
import { audiencePage, isProfileRow, subscriberIn } from "../../subscribers/audience-pages.ts";
import { contactOf } from "../../subscribers/contacts.ts";
import type { DeviceRow } from "../../subscribers/device-items.ts";
import { deviceOf, deviceRows } from "../../subscribers/devices.ts";
import type { ProfileRow } from "../../subscribers/items.ts";
import { attributesForRules, getProfiles, isLiving, type LivingProfile } from "../../subscribers/subscribers.ts";
import { pagesOf } from "../../table.ts";
import { CHUNK_SIZE } from "../chunks/chunks.ts";
import { sourceOf } from "../chunks/range-names.ts";
import type { DeliverySettings, JobSpec } from "../jobs/job-spec.ts";
import { GivenIds } from "./audience-items.ts";

/** Rows of a shard read at a time when the audience is planned within the request. */
const SMALL_PAGE_ROWS = 252;
/** Rows of a shard that a worker reads at a time: full chunks and the row that says whether more follow. */
const PAGE_ROWS = 1_001;
/** A worker adds another shard to a page with fewer candidates. */
const FULL_PAGE = 800;
/** Queries for devices of given subscribers that run at once. */
const DEVICES_AT_ONCE = 50;

/** A candidate, where its range continues after it, and its profile. */
export type PlacedCandidate = Candidate & { cursor: string; profile?: LivingProfile };

interface CandidatePage {
  candidates: PlacedCandidate[];
  /** Where the next page begins; undefined at the end. */
  next: string | undefined;
}

export interface RangeRef {
  job: string;
  range: string;
}

/** A page for a worker, which runs a while after the job: eventual reads are enough. */
export async function candidatesOf(
  store: StoreReader,
  { job, range }: RangeRef,
  cursor: string | undefined,
  rules: AudienceRules,
): Promise<CandidatePage> {
  const source = sourceOf(range);
  if (source.from === "shards")
    return pageOfShards(source.shards, cursor, (shard, after, limit) =>
      source.group
        ? membersPage(store, source.group, { shard, after, limit }, rules)
        : shardPage(store, shard, after, { eventual: true, limit }),
    );
  if (source.from === "given") return givenPage(store, { job, n: source.n }, cursor, rules);
  return { candidates: [], next: undefined };
}

/**
 * Shards in order, which is that of their ids, until a page is full. Candidates that do not fill a chunk are read
 * again.
 */
async function pageOfShards(
  shards: readonly string[],
  cursor: string | undefined,
  read: (shard: string, after: string | undefined, limit: number) => Promise<CandidatePage>,
): Promise<CandidatePage> {
  const candidates: PlacedCandidate[] = [];
  let after = cursor;
  for (let i = cursor === undefined ? 0 : shards.indexOf(shardOf(cursor)); i < shards.length; ) {
    const page = await read(shards[i]!, after, PAGE_ROWS - candidates.length);
    candidates.push(...page.candidates);
    after = page.next;
    if (after === undefined) i++;
    if (i === shards.length || candidates.length < FULL_PAGE) continue;
    const full = candidates.slice(0, candidates.length - (candidates.length % CHUNK_SIZE));
    return { candidates: full, next: full.at(-1)?.cursor };
  }
  return { candidates, next: undefined };
}

/** Profiles and devices of a shard, up to 1 MB a page. A subscriber cut by the page's end belongs to the next page. */
async function shardPage(
  store: StoreReader,
  shard: string,
  cursor: string | undefined,
  options: { eventual?: boolean; limit?: number },
): Promise<CandidatePage> {
  const after = cursor === undefined ? undefined : `${cursor}#~`;
  const page = await audiencePage(store, shard, { ...options, after });
  const groups = [...Map.groupBy(page.rows, subscriberIn)];
  if (page.next !== undefined && groups.length > 1) groups.pop();
  const candidates: PlacedCandidate[] = [];
  for (const [id, rows] of groups) {
    let profile: ProfileRow | undefined;
    const devices: DeviceRow[] = [];
    for (const row of rows)
      if (isProfileRow(row)) profile = row;
      else devices.push(row);
    if (profile && isLiving(profile)) candidates.push(placed(profile, devices, id));
  }
  const [last] = groups.at(-1) ?? [];
  return { candidates, next: page.next === undefined ? undefined : last };
}

/** Members of a shard; a subscriber whose erasure has begun is no member any more. */
async function membersPage(
  store: StoreReader,
  group: Group,
  page: { shard: string; after: string | undefined; limit: number },
  rules: AudienceRules,
): Promise<CandidatePage> {
  const { members, next } = await memberShard(store, group, page);
  const ids = members.map(({ subscriber }) => subscriber);
  const candidates = await membersById(store, ids, rules);
  return { candidates: candidates.map((candidate) => ({ ...candidate, cursor: candidate.id })), next };
}

const membersById = async (
  store: StoreReader,
  ids: readonly string[],
  rules: AudienceRules,
): Promise<PlacedCandidate[]> => (await candidatesById(store, ids, rules)).filter(({ subscriber }) => subscriber);

async function givenPage(
  store: StoreReader,
  given: { job: string; n: number },
  cursor = "0",
  rules: AudienceRules,
): Promise<CandidatePage> {
  const row = await store.get(GivenIds, given);
  const ids = row ? row.ids.split(" ") : [];
  const from = Number(cursor);
  const candidates = await candidatesById(store, ids.slice(from), rules);
  return {
    candidates: candidates.map((candidate, i) => ({ ...candidate, cursor: String(from + i + 1) })),
    next: undefined,
  };
}

/** Whether the devices of candidates that are read by their ids are read too. */
export const readsDevices = (rules: AudienceRules): boolean =>
  rules.matchesDevice !== undefined || rules.reach.channels.some(hasDevices);

/** Whether each candidate takes a request of its own for its devices. */
export const readsDevicesOneByOne = ({ target, device_filters }: JobSpec, { via }: DeliverySettings): boolean =>
  target?.type !== "all" && (device_filters !== null || via.some(({ type }) => hasDevices(type)));

/** Given ids in their order. Their devices are read only where a filter or a channel needs them. */
export async function candidatesById(
  store: StoreReader,
  ids: readonly string[],
  rules: AudienceRules,
): Promise<PlacedCandidate[]> {
  const profiles = await getProfiles(store, ids);
  const needsDevices = readsDevices(rules);
  const candidates: PlacedCandidate[] = [];
  for (const batch of chunksOf([...ids.entries()], DEVICES_AT_ONCE))
    candidates.push(
      ...(await Promise.all(
        batch.map(async ([i, id]) => {
          const profile = profiles[i];
          return profile ? placed(profile, needsDevices ? await deviceRows(store, id) : [], id) : { id, cursor: id };
        }),
      )),
    );
  return candidates;
}

/** A candidate from a profile, with the fields for filters and channels. */
export const placed = (profile: LivingProfile, devices: readonly DeviceRow[], cursor: string): PlacedCandidate => ({
  id: profile.id,
  profile,
  subscriber: {
    attributes: attributesForRules(profile),
    devices: devicesForFilters(devices),
    contact: contactOf(profile, devices),
  },
  cursor,
});

/** The fields of devices for filters: those of the API, without unknown ones. A deleted device is left out (D-DEV). */
export const devicesForFilters = (rows: readonly DeviceRow[]) =>
  rows
    .filter(({ status }) => status !== "invalid")
    .map((row) => {
      const { pk, sk, token, subscription, rev, ...fields } = row;
      const { status, push_enabled } = deviceOf(row);
      return { ...fields, status, push_enabled };
    });

/** All subscribers, reading the shards in parallel; undefined as soon as there are more than `max`. */
export async function everyone(store: StoreReader, max: number): Promise<PlacedCandidate[] | undefined> {
  const candidates: PlacedCandidate[] = [];
  await Promise.all(
    SHARDS.map(async (shard) => {
      const read = (cursor?: string) => shardPage(store, shard, cursor, { limit: SMALL_PAGE_ROWS });
      for await (const page of pagesOf(read)) {
        candidates.push(...page.candidates);
        if (candidates.length > max) break;
      }
    }),
  );
  if (candidates.length > max) return undefined;
  return candidates.sort(byText(({ id }) => id));
}

/** All members; undefined as soon as there are more than `max`. */
export async function everyMember(
  store: StoreReader,
  group: Group,
  rules: AudienceRules,
  max: number,
): Promise<PlacedCandidate[] | undefined> {
  const { members } = await memberPage(store, group, { after: undefined, limit: max + 1 });
  if (members.length > max) return undefined;
  const ids = members.map(({ subscriber }) => subscriber);
  return membersById(store, ids, rules);
}
