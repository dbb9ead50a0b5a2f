// The content of an export's file: its columns, and its rows page by page (RDA-16).
import * as v from "valibot";
import { timestamp } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import { cellOf } from "../../rules/csv.ts";
import { otherChannels, STATUS_OF, TIME_OF, TOPIC_TIME } from "../../rules/import-mapping.ts";
import { attributesOfKey } from "../../rules/predicates.ts";
import { consentChannelOf, topicKeyOf } from "../../rules/topics.ts";
import { findCampaign } from "../campaigns/campaigns.ts";
import { CampaignItem } from "../campaigns/items.ts";
import { reportOf } from "../campaigns/report.ts";
import type { StoreReader } from "../context.ts";
import { entityPage } from "../entity-pages.ts";
import { exportEvents } from "../events/export.ts";
import { familyOf } from "../families.ts";
import { fromJson } from "../json-text.ts";
import type { Group } from "../lists/items.ts";
import { memberPage } from "../lists/memberships.ts";
import { groupExists } from "../lists/targets.ts";
import type { RootSecrets } from "../secrets.ts";
import { getJob } from "../sends/jobs/jobs.ts";
import { listRecipients, RecipientPosition } from "../sends/ledger/recipient-list.ts";
import { SHARDS } from "../shards.ts";
import { type Addresses, addressesOf, consentNow } from "../subscribers/addresses.ts";
import { audiencePage, isProfileRow } from "../subscribers/audience-pages.ts";
import { MAX_NAMES, namesOf } from "../subscribers/names.ts";
import { attributesOf, getProfiles, type LivingProfile, living } from "../subscribers/subscribers.ts";
import { suppressionsOfShard } from "../subscribers/suppressions.ts";
import { listTopics } from "../topics/topics.ts";
import type { ExportJob } from "./exports.ts";
import type { ExportKind } from "./items.ts";

interface Page {
  rows: string[][];
  /** Where the next page begins; undefined on the last one. */
  next: string | undefined;
}

interface Source {
  store: StoreReader;
  /** The secrets for the positions in an export of events. */
  root(): Promise<RootSecrets>;
  job: ExportJob;
}

/** Rows of one read. */
const PAGE = 500;
const REPORTS = 10;
const EVENTS = 1_000;

/** The columns that an import knows; the attributes follow (D-CSV). */
const KNOWN = ["phone", "first_name", "last_name", "timezone", "locale"] as const;
const OWN = ["external_id", "email", ...KNOWN, "consent_status", "consent_at"] as const;
const RECIPIENT = [
  "subscriber_id",
  "external_id",
  "state",
  "reason",
  "channel",
  "variant_id",
  "at",
  "deferred_until",
] as const;
const EVENT = [
  "id",
  "event_name",
  "subscriber_id",
  "anonymous_id",
  "occurred_at",
  "received_at",
  "properties",
  "platform",
  "source",
] as const;
const SUPPRESSION = ["address", "kind", "reason", "source", "note", "suppressed_at"] as const;
const CAMPAIGN = ["campaign_id", "name", "status", "category", "created_at"] as const;
const FUNNEL = ["sent", "delivered", "failed", "opened", "opened_human", "clicked", "clicked_human"] as const;
const REPORT = [...CAMPAIGN, ...FUNNEL, "converted", "revenue_cents"] as const;

/**
 * A column of JSON for attributes without a column of their own: beyond the number of stored names, or with a name that
 * may be a path through another attribute or means another column. No value is lost by its name, or read as a consent.
 */
const OTHERS = "other_attributes";
const NOT_ATTRIBUTES: ReadonlySet<string> = new Set(["external_id", "email", "consent_status", "consent_at", OTHERS]);
const isAttributeColumn = (name: string): boolean =>
  !NOT_ATTRIBUTES.has(name) &&
  topicKeyOf(name) === undefined &&
  ![TOPIC_TIME, STATUS_OF, TIME_OF].some((prefix) => name.startsWith(prefix));

/** The columns of the file. An import reads those of subscribers as they are. */
export async function columnsOf(store: StoreReader, kind: ExportKind): Promise<string[]> {
  if (kind === "recipients") return [...RECIPIENT];
  if (kind === "events") return [...EVENT];
  if (kind === "report") return [...REPORT];
  if (kind === "suppressions") return [...SUPPRESSION];
  const [topics, names] = await Promise.all([listTopics(store), namesOf(store, "attributes")]);
  const known = new Set(names);
  const attributes = names.filter(
    (name) =>
      isAttributeColumn(name) &&
      attributesOfKey(name).every((attributeKey) => attributeKey === name || !known.has(attributeKey)),
  );
  const columns = [...OWN, ...topics.flatMap(({ key }) => [consentChannelOf(key), `${TOPIC_TIME}${key}`])];
  const ofChannels = otherChannels.flatMap((channel) => [STATUS_OF + channel, TIME_OF + channel]);
  const hasAll = names.length < MAX_NAMES.attributes && attributes.length === names.length;
  const others = hasAll ? [] : [OTHERS];
  return [...new Set([...columns, ...ofChannels, ...attributes, ...others])];
}

type Reader = (source: Source, position: string | undefined) => Promise<Page>;

const readers: Record<ExportKind, Reader> = {
  subscribers: readSubscribers,
  list: (source, position) => readMembers(source, "list", position),
  segment: (source, position) => readMembers(source, "segment", position),
  recipients: readRecipients,
  events: readEvents,
  report: readReports,
  suppressions: readSuppressions,
};

/** The page of rows at a position. @throws 404 if the exported resource was deleted */
export const readPage: Reader = (source, position) => readers[source.job.kind](source, position);

const filterOf = ({ filter }: ExportJob) => fromJson(filter);

async function subscriberRows(
  store: StoreReader,
  columns: readonly string[],
  profiles: readonly LivingProfile[],
): Promise<string[][]> {
  const addresses = await addressesOf(store, profiles);
  return profiles.map((profile, i) => subscriberCells(columns, profile, addresses[i] ?? {}));
}

function subscriberCells(columns: readonly string[], profile: LivingProfile, addresses: Addresses): string[] {
  const email = consentNow(profile, addresses, "email");
  const attributes = attributesOf(profile);
  const statuses = familyOf(profile, "c:");
  const times = familyOf(profile, "ct:").filter(([channel]) => topicKeyOf(channel) !== undefined);
  const ofChannels = otherChannels.flatMap((channel) => {
    const said = consentNow(profile, addresses, channel);
    return said ? [[STATUS_OF + channel, said.status] as const, [TIME_OF + channel, said.at] as const] : [];
  });
  const all = Object.entries(attributes);
  const others = all.filter(([name]) => !isAttributeColumn(name) || !columns.includes(name));
  const cells: Record<string, unknown> = {
    ...Object.fromEntries(all.filter(([name]) => isAttributeColumn(name))),
    ...(others.length > 0 && { [OTHERS]: Object.fromEntries(others) }),
    ...Object.fromEntries(statuses.filter(([channel]) => topicKeyOf(channel) !== undefined)),
    ...Object.fromEntries(times.map(([channel, at]) => [channel.replace(/^topic:/, TOPIC_TIME), at])),
    ...Object.fromEntries(ofChannels),
    external_id: profile.external_id,
    email: profile.email,
    consent_status: email?.status,
    consent_at: email?.at,
  };
  return columns.map((name) => cellOf(Object.hasOwn(cells, name) ? cells[name] : undefined));
}

const columnsIn = ({ columns }: ExportJob): string[] => (columns === undefined ? [] : fromJson(columns));

/** A position in a walk through all shards: the shard, and the key after which the next page begins. */
const FIRST_SHARD = `${SHARDS[0]}`;

function nextInShards(shard: string, after: string | undefined): string | undefined {
  const following = SHARDS[SHARDS.indexOf(shard) + 1];
  return after === undefined ? following : `${shard} ${after}`;
}

async function readSubscribers({ store, job }: Source, position = FIRST_SHARD): Promise<Page> {
  const [shard = "", after] = position.split(" ");
  const page = await audiencePage(store, shard, { after, limit: PAGE, eventual: true });
  const columns = columnsIn(job);
  const profiles = page.rows.flatMap((row) => (isProfileRow(row) ? (living(row) ?? []) : []));
  const rows = await subscriberRows(store, columns, profiles);
  return { rows, next: nextInShards(shard, page.next) };
}

/** Addresses of erased subscribers are left out. */
async function readSuppressions({ store }: Source, position = FIRST_SHARD): Promise<Page> {
  const [shard = "", after] = position.split(" ");
  const { items, next } = await suppressionsOfShard(store, shard, { after, limit: PAGE });
  const rows = items
    .filter(({ address }) => address !== null)
    .map((suppression) => SUPPRESSION.map((name) => cellOf(suppression[name])));
  return { rows, next: nextInShards(shard, next) };
}

async function readMembers({ store, job }: Source, kind: Group["kind"], after: string | undefined): Promise<Page> {
  const { list_id, segment_id } = filterOf(job);
  const group: Group = { kind, id: (kind === "list" ? list_id : segment_id) ?? "" };
  const { members, next } = await memberPage(store, group, { after, limit: PAGE });
  // The members of a list that is deleted in the meantime disappear one by one: the last page has those that remain.
  if (next === undefined && !(await groupExists(store, group))) throw notFound(kind);
  const ids = members.map(({ subscriber }) => subscriber);
  const profiles = await getProfiles(store, ids, { eventual: true });
  const columns = columnsIn(job);
  const living = profiles.flatMap((profile) => profile ?? []);
  const rows = await subscriberRows(store, columns, living);
  return { rows, next };
}

async function readRecipients({ store, job }: Source, position: string | undefined): Promise<Page> {
  const from = position === undefined ? undefined : v.parse(RecipientPosition, JSON.parse(position));
  const send = await getJob(store, filterOf(job).notification_id ?? "");
  const { items, next } = await listRecipients(store, send, {}, { from, limit: PAGE });
  const rows = items.map((recipient) => RECIPIENT.map((name) => cellOf(recipient[name])));
  return { rows, next: next && JSON.stringify(next) };
}

/** Events after the creation of the export are not in it. */
async function readEvents({ store, root, job }: Source, cursor: string | undefined): Promise<Page> {
  const { start: from, end: to = job.created_at } = filterOf(job);
  const { items, next_cursor } = await exportEvents(store, await root(), { from, to, cursor, limit: EVENTS });
  const rows = items.map((event) => EVENT.map((name) => cellOf(event[name])));
  return { rows, next: next_cursor || undefined };
}

async function readReports({ store, job }: Source, after: string | undefined): Promise<Page> {
  const { start = timestamp(0), end = job.created_at } = filterOf(job);
  const window = { start: Date.parse(start), end: Date.parse(end) };
  const { items, next } = await entityPage(store, CampaignItem, { after, limit: REPORTS }, { read: ({ id }) => id });
  const rows = await Promise.all(
    items.map(async (id) => {
      const campaign = await findCampaign(store, id);
      if (!campaign) return [];
      const { name, status, category, created_at } = campaign;
      const cells: Record<string, unknown> = { campaign_id: id, name, status, category, created_at };
      Object.assign(cells, await reportOf(store, campaign, window));
      return [REPORT.map((column) => cellOf(cells[column]))];
    }),
  );
  return { rows: rows.flat(), next };
}
