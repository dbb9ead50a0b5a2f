// Where candidates come from: the shards of a workspace, the members of a list or segment, ids that the caller gave.
import type { StoreReader } from "../../resources.ts";
import type { AudienceRules, Candidate } from "../../rules/audience.ts";
import { type Grouping, keys, SHARDS } from "../keys.ts";
import { type Group, memberPage, memberShard } from "../lists/memberships.ts";
import type { Item } from "../model.ts";
import { contactOf } from "../subscribers/contacts.ts";
import { deviceOf, deviceRows } from "../subscribers/devices.ts";
import { attributesOf, getProfiles, isLiving, subscriberOf } from "../subscribers/subscribers.ts";
import { chunksOf } from "../table.ts";

/** Rows of a shard read at a time for such an audience. */
const SMALL_PAGE_ROWS = 252;
/** Rows of a shard that a worker reads at a time: full chunks and the row that says whether more follow. */
const PAGE_ROWS = 1_001;
/** Queries for devices of given subscribers that run at once. */
const DEVICES_AT_ONCE = 50;
/** A candidate, where its range goes on after it, and its profile. */
export type Placed = Candidate & { cursor: string; profile?: Item };

export interface CandidatePage {
  candidates: Placed[];
  /** Where the next page begins; undefined at the end. */
  next: string | undefined;
}

/** A page for a worker, which comes a while after the job: its reads need not see the last moment's writes. */
export const candidatesOf = (
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
    const devices = rows.filter((row) => row !== profile);
    if (profile && isLiving(profile)) candidates.push(placed(profile, devices, id));
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

const membersById = async (store: StoreReader, ids: readonly string[], rules: AudienceRules): Promise<Placed[]> =>
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

/** Given ids in their order; their devices are looked up only where a filter or a channel asks for them. */
export async function candidatesById(
  store: StoreReader,
  ids: readonly string[],
  rules: AudienceRules,
): Promise<Placed[]> {
  const profiles = await getProfiles(store, ids);
  const asks = rules.matchesDevice !== undefined || rules.reach.channels.some((channel) => PUSH.has(channel));
  const candidates: Placed[] = [];
  for (const batch of chunksOf([...ids.entries()], DEVICES_AT_ONCE))
    candidates.push(
      ...(await Promise.all(
        batch.map(async ([i, id]) => {
          const profile = profiles[i];
          return profile ? placed(profile, asks ? await deviceRows(store, id) : [], id) : { id, cursor: id };
        }),
      )),
    );
  return candidates;
}

const PUSH: ReadonlySet<string> = new Set(["ios", "android", "web_push"]);

const placed = (profile: Item, devices: Item[], cursor: string): Placed => ({
  id: String(profile.id),
  profile,
  subscriber: {
    attributes: attributesForFilters(profile),
    devices: devices.filter(({ status }) => status !== "invalid").map(deviceForFilters),
    contact: contactOf(profile, devices),
  },
  cursor,
});

/** What a device filter sees: what the API shows of a device, as far as it is known. */
export const deviceForFilters = (row: Item): Record<string, unknown> => {
  const { pk, sk, token, subscription, address, rev, ...fields } = row;
  const { status, push_enabled } = deviceOf(row);
  return { ...fields, status, push_enabled };
};

/** What a filter sees: the attributes, and the fields of the subscriber itself. */
export function attributesForFilters(profile: Item): Record<string, unknown> {
  const { external_id, email, created_at } = subscriberOf(profile);
  return { external_id, ...(email !== undefined && { email }), created_at, ...attributesOf(profile) };
}

/** All shards side by side, given up as soon as there are too many. */
export async function everyone(store: StoreReader, max: number): Promise<Placed[] | undefined> {
  const candidates: Placed[] = [];
  await Promise.all(
    SHARDS.map(async (shard) => {
      let next: string | undefined;
      do {
        const page = await shardPage(store, shard, next, { limit: SMALL_PAGE_ROWS });
        candidates.push(...page.candidates);
        next = page.next;
      } while (next !== undefined && candidates.length <= max);
    }),
  );
  if (candidates.length > max) return undefined;
  return candidates.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** All members, given up as soon as there are too many. */
export async function everyMember(
  store: StoreReader,
  group: Group,
  rules: AudienceRules,
  max: number,
): Promise<Placed[] | undefined> {
  const { members } = await memberPage(store, group, { after: undefined, limit: max + 1 });
  if (members.length > max) return undefined;
  return membersById(
    store,
    members.map(({ subscriber }) => subscriber),
    rules,
  );
}
