// The whole data model on one screen: every item of the one table, its key and its one writer.
//
// A tenant's items begin `T#<tenant>#`; items without a tenant (platform) begin with their kind.
// Cost: 1 WCU a write unless said; (i1..i4) = also carries that sparse index, +1 WCU when the index view changes.
import { createHash } from "node:crypto";
import { type Key, MINUTE_MS, type TenantId } from "./model.ts";

const key = (pk: string, sk = pk): Key => ({ pk, sk });
const of = (tenant: TenantId, rest: string) => `T#${tenant}#${rest}`;
const hash = (text: string) => createHash("sha256").update(text).digest("hex");

/** Subscribers lie in 16 shards by the first bits of their id (docs/decisions/0021#subscriber-shards). */
export const SHARDS = [..."0123456789abcdef"];
export const shardOf = (subscriber: string): string => subscriber[0]!;

/** Counters of conversions lie in 4 parts, so that one source's burst is not one hot item. */
export const CONVERSION_SHARDS = ["0", "1", "2", "3"];

/**
 * Due rows of one minute lie in 8 buckets, so that a mass delay is not one hot partition (docs/decisions/0021#timers).
 */
export const DUE_SHARDS = 8;
export const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS);

export const platformKeys = {
  /** status, plan, name, settings, kind, caps; a tombstone once purged · auth, agency, team, account, billing, operator, purge */
  tenant: (tenant: string) => key(`TENANT#${tenant}`),
  /** user id, password hash · auth */
  user: (email: string) => key(`USER#${hash(email.toLowerCase())}`),
  /** role of a user in a workspace, under the workspace · auth, account */
  member: (tenant: string, user: string) => key(`TENANT#${tenant}`, `MEMBER#${user}`),
  /** the same the other way round: the workspaces of a user · auth, account */
  membership: (user: string, tenant: string) => key(`MEMBER#${user}`, `TENANT#${tenant}`),
  /** a client's workspace under its agency, oldest first · agency */
  client: (agency: string, tenant: string) => key(`TENANT#${agency}`, `CLIENT#${tenant}`),
  /** a server or agent key by its hash: tenant, scopes, revoked_at · account */
  credential: (secret: string) => key(`KEY#${hash(secret)}`),
  /** a refresh family: current hash, previous one for 10 s · auth */
  refresh: (family: string) => key(`REFRESH#${family}`),
  /** single use, 7 days; found by its token, listed under its workspace, one per address · account, auth */
  invitation: (token: string) => key(`INVITE#${hash(token)}`),
  invited: (tenant: string, email: string) => key(`TENANT#${tenant}`, `INVITED#${email && hash(email.toLowerCase())}`),
  /** a counter of one window; the only write a refused request may leave · serve, auth */
  limit: (kind: string, who: string, window: number) => key(`LIMIT#${kind}#${who}#${window}`),
  /** something that happens later, put just before the state it belongs to · whoever sets the timer */
  due: (at: number, id: string) => key(dueBucket(minuteOf(at), dueShard(id)), `${String(at).padStart(15, "0")}#${id}`),
  /** how far the sweep has looked · due */
  sweep: () => key("SWEEP"),
  /** root secrets (SDK-key roots, id key, cursor key), KMS-encrypted, made on first use · secrets */
  secrets: () => key("SECRETS"),
  /** a public key that verifies dashboard tokens · auth */
  jwk: (kid: string) => key("JWK", kid),
  /** the workspace of a channel whose provider calls back, by the path of the call · channels */
  callback: (channel: string) => key(`CALLBACK#${channel}`),
  /** one open live stream, counted against the concurrency limit · stream */
  openStream: (connection: string) => key("STREAMS", connection),
};

export const dueShard = (id: string): number => Number.parseInt(hash(id).slice(0, 8), 16) % DUE_SHARDS;
export const dueBucket = (minute: number, shard: number): string => `DUE#${minute}#${shard}`;

export const keys = {
  // What an audience page reads (docs/decisions/0021#subscriber-shards): profiles and devices of one shard, together.
  /** profile with attributes `a:<key>`, newest consent, weekly channel counters; tombstone once erased (i3, i4) · subscribers */
  subscriber: (t: TenantId, id: string) => key(of(t, `S${shardOf(id)}`), id),
  /** platform, token or subscription, versions parsed, status; beside the profile of its subscriber · devices, deliver */
  device: (t: TenantId, id: string, device: string) => key(of(t, `S${shardOf(id)}`), `${id}#D#${device}`),
  /** which device of whom has this device_id, or this token: one at most · devices */
  deviceBy: (t: TenantId, mark: "name" | "token", text: string) => key(of(t, `DB#${hash(`${mark}:${text}`)}`)),
  audience: (t: TenantId, shard: string) => of(t, `S${shard}`),

  // The rest of a subscriber.
  person: (t: TenantId, id: string) => of(t, `U#${id}`),
  /** immutable; the id is the time of the claim and a hash of (job, subscriber): redelivery writes the same row · deliver */
  message: (t: TenantId, id: string, message: string) => key(keys.person(t, id), `I#${message}`),
  /** what the reader did with a message: read_at, dismissed_at · inbox */
  messageState: (t: TenantId, id: string, message: string) => key(keys.person(t, id), `IS#${message}`),
  /** every message up to this id, unread at that time, was read then · inbox */
  readMark: (t: TenantId, id: string, message: string) => key(keys.person(t, id), `IW#${message}`),
  /** an address of a send and what became of it: the ledger row and the touch of attribution · deliver */
  touch: (t: TenantId, id: string, at: string, job: string, target: string) =>
    key(keys.person(t, id), `R#${at}#${job}#${target}`),
  /** what a person got of capped messages in a day or week, where the workspace has caps · deliver */
  sendCount: (t: TenantId, id: string, per: string, window: string) => key(keys.person(t, id), `F#${per}#${window}`),
  consent: (t: TenantId, id: string, consent: string) => key(keys.person(t, id), `C#${consent}`),
  membershipOfList: (t: TenantId, id: string, list: string) => key(keys.person(t, id), `L#${list}`),
  membershipOfSegment: (t: TenantId, id: string, segment: string) => key(keys.person(t, id), `G#${segment}`),
  /** when a window of a dynamic segment's rule next ends for this subscriber: the timer that is set · segment workers */
  segmentCheck: (t: TenantId, id: string) => key(keys.person(t, id), "GC"),
  /** a run of a journey: where it stands, guarded by `seq` · step-journey */
  run: (t: TenantId, id: string, journey: string, run: string) => key(keys.person(t, id), `J#${journey}#${run}`),
  /** whether a run of a journey is active for this subscriber, and when the last one began: guards entry · step-journey */
  runHead: (t: TenantId, id: string, journey: string) => key(keys.person(t, id), `JH#${journey}`),
  aliasOfSubscriber: (t: TenantId, id: string, anonymous: string) => key(keys.person(t, id), `A#${anonymous}`),
  alias: (t: TenantId, anonymous: string) => key(of(t, `A#${anonymous}`)),
  /** where a webhook payload with this subscriber's data lies, for its erasure · react */
  webhookPayload: (t: TenantId, id: string, webhook: string, delivery: string) =>
    key(keys.person(t, id), `V#${webhook}#${delivery}`),
  /** an open live stream of this subscriber: the newest three stay · stream */
  stream: (t: TenantId, id: string, connection: string) => key(keys.person(t, id), `ST#${connection}`),

  // Sends (docs/decisions/0002): job ← range ← chunk; totals close upwards, one guarded write each.
  job: (t: TenantId, job: string) => key(of(t, "JOB"), job),
  jobParts: (t: TenantId, job: string) => of(t, `J#${job}`),
  /** ids given by the caller, up to 1,000 a row, written before the job · notifications */
  given: (t: TenantId, job: string, n: number) => key(keys.jobParts(t, job), `A#${pad(n)}`),
  /** planning position and closed chunks of one shard (or of the given ids) · fan-out, deliver */
  range: (t: TenantId, job: string, range: string) => key(keys.jobParts(t, job), `R#${range}`),
  /** up to 200 recipients and where the next chunk begins; only an erasure changes it, naming nobody · fan-out */
  chunk: (t: TenantId, job: string, range: string, n: number) => key(keys.jobParts(t, job), `C#${range}#${pad(n)}`),
  /** ids of a chunk's skipped recipients by reason, 30 days: nothing else would find them for an erasure · fan-out */
  skipped: (t: TenantId, job: string, range: string, n: number) => key(keys.jobParts(t, job), `X#${range}#${pad(n)}`),
  /** group claim of a chunk: owner, lease, group under way, outcome · deliver */
  claim: (t: TenantId, job: string, range: string, n: number) => key(keys.jobParts(t, job), `K#${range}#${pad(n)}`),
  // Interactions with a job: rows and counters in partitions of their own by the digest, so a burst has no hot key.
  /** an interaction, once however often it is reported · notifications */
  interaction: (t: TenantId, job: string, digest: string) =>
    key(keys.interactionRows(t, job, digest.slice(0, 2)), `I#${digest}`),
  interactionRows: (t: TenantId, job: string, part: string) => of(t, `JI#${job}#${part}`),
  /** interactions of a job in 16 shards, changed together with the rows · notifications */
  interactions: (t: TenantId, job: string, shard: string) => key(of(t, `JN#${job}#${shard}`), "n"),
  /** how far a recipient has gone with a job: each stage once, so that recipients are counted and not reports · notifications */
  engagement: (t: TenantId, id: string, job: string) => key(keys.person(t, id), `E#${job}`),
  /** first opens of a day by the hour · notifications */
  hours: (t: TenantId, shard: string, day: string) => key(of(t, `HOURS#${shard}`), day),
  // Conversions (D-ATTRIB): a row each, and counters by job and by day that change together with it.
  /** a conversion and whom it counts for, once; it names nobody · attribute */
  conversion: (t: TenantId, day: string, place: string) => key(keys.conversions(t, day), place),
  conversions: (t: TenantId, day: string) => of(t, `CV#${day}`),
  /** sums of a day by campaign, journey or channel; of a journey also what was sent and opened · attribute, fan-out, deliver, notifications */
  conversionDay: (t: TenantId, group: string, day: string, id: string, shard: string) =>
    key(keys.conversionDays(t, group), `${day}#${id}#${shard}`),
  conversionDays: (t: TenantId, group: string) => of(t, `CVD#${group}`),
  /** sums of a job, treated and held out, in 4 shards · attribute */
  jobConversions: (t: TenantId, job: string, shard: string) => key(keys.jobParts(t, job), `V#${shard}`),
  /** that a subscriber has converted after a job or source: distinct counts · attribute */
  converted: (t: TenantId, id: string, mark: string) => key(keys.person(t, id), `X#${mark}`),

  /** an idempotency key of the last 24 hours · notifications */
  idempotency: (t: TenantId, text: string) => key(of(t, `IDEM#${hash(text)}`)),

  // Authored things: one row each, and a compact catalogue row that is also its unique name
  // (docs/decisions/0021#page-lists).
  entity: (t: TenantId, kind: Kind, id: string) => key(of(t, kind), id),
  entities: (t: TenantId, kind: Kind) => of(t, kind),
  entry: (t: TenantId, kind: Kind, name: string) => key(of(t, `${kind}:names`), name),
  entries: (t: TenantId, kind: Kind) => of(t, `${kind}:names`),
  /** the status of a thing whose name may repeat, for lists, totals and the inbox: experiences, assets · its group */
  listed: (t: TenantId, kind: Kind, id: string) => key(of(t, `${kind}:ids`), id),
  /** bytes and number of stored assets: claimed before the object is written · assets */
  stored: (t: TenantId) => key(of(t, "STORED")),
  /** a row of a thing that has parts: campaign messages, journey versions, import chunks, webhook deliveries */
  part: (t: TenantId, kind: Kind, id: string, sk: string) => key(of(t, `${kind}#${id}`), sk),
  /** the runs of a journey in 16 shards: whose each is, and its status · step-journey */
  journeyRun: (t: TenantId, journey: string, run: string) => key(keys.journeyRuns(t, journey, run.at(-1) ?? ""), run),
  journeyRuns: (t: TenantId, journey: string, shard: string) => of(t, `journey#${journey}#${shard}`),
  /** runs by status, active runs and outcomes by step, in 8 shards, changed together with the runs · step-journey */
  journeyCount: (t: TenantId, journey: string, shard: number) => key(of(t, `journey#${journey}#n${shard}`)),
  /** what an active journey begins with and listens to · journeys */
  activeJourney: (t: TenantId, journey: string) => key(of(t, "ACTIVE"), journey),
  // Members of lists and segments: a row under the subscriber, one in a shard of the list, a counter per shard.
  member: (t: TenantId, kind: Grouping, id: string, subscriber: string) =>
    key(keys.members(t, kind, id, shardOf(subscriber)), subscriber),
  members: (t: TenantId, kind: Grouping, id: string, shard: string) => of(t, `${kind}#${id}#${shard}`),
  /** how many members a shard has, changed together with their rows · lists, imports, segment workers */
  memberCount: (t: TenantId, kind: Grouping, id: string, shard: string) =>
    key(keys.memberCounts(t, kind), `${id}#${shard}`),
  memberCounts: (t: TenantId, kind: Grouping) => of(t, `${kind}:counts`),
  /** how far the computation of a segment has come in a shard of the subscribers · recompute-segment */
  fill: (t: TenantId, segment: string, part: string) => key(of(t, `FILL#${segment}`), part),
  /** how many dynamic segments there are, against the plan's cap · segments */
  dynamicSegments: (t: TenantId) => key(of(t, "DYNAMIC")),
  /** a deleted list or segment whose members are still to go · lists, segments */
  deletedMemberships: (t: TenantId, kind: Grouping, id: string) => key(of(t, "DISBAND"), `${kind}#${id}`),
  /** something that names a list, so that the list must stay while it is to come · whoever names it */
  use: (t: TenantId, kind: Kind, id: string, user: string) => key(keys.uses(t, kind, id), user),
  uses: (t: TenantId, kind: Kind, id: string) => of(t, `${kind}#${id}:uses`),
  /** sealed, write-only, replaced as a whole · channels */
  credentials: (t: TenantId, channel: string) => key(keys.channelParts(t, channel), "credentials"),
  /** a chat-app template: draft, review, verdict · channels, inbound */
  chatAppTemplate: (t: TenantId, channel: string, id: string) => key(keys.channelParts(t, channel), `T#${id}`),
  channelParts: (t: TenantId, channel: string) => of(t, `channel#${channel}`),
  /** names seen in attributes or events, one conditional add for an unseen one · react */
  names: (t: TenantId, of_: "attributes" | "events") => key(of(t, "NAMES"), of_),
  /** who reacts to events, and a version that every change of it bumps · segments, journeys, conversions */
  watcher: (t: TenantId, who: string) => key(of(t, "WATCHERS"), who),
  watchVersion: (t: TenantId) => key(of(t, "WATCHED")),
  /** shards of days that hold events, for sparse exports · events */
  eventDay: (t: TenantId, day: string, shard: string) => key(of(t, "DAYS"), `${day}#${shard}`),
  /** an event by id, the id derived from the idempotency key when given (i1 export, i2 history) · events, erase */
  event: (t: TenantId, id: string) => key(of(t, `E#${id}`), "e"),
  /** sends of a billing period, reserved before they are used · notifications, fan-out */
  usage: (t: TenantId, period: string) => key(of(t, "USAGE"), period),
  /** events of a billing period, in shards that each have their share of the quota · events */
  usageOfEvents: (t: TenantId, period: string, shard: number) => key(of(t, `USAGE#${shard}`), period),
  /** deliveries and answers by channel class and week: deliveries in one shard, answers by subscriber · deliver */
  prior: (t: TenantId, shard: string) => key(of(t, `PRIOR#${shard}`)),
  /** subscribers of a shard: how many; soft, rewritten by recount · react */
  count: (t: TenantId, of_: string, shard: string) => key(of(t, `COUNT#${of_}`), shard),
  counts: (t: TenantId, of_: string) => of(t, `COUNT#${of_}`),
};

/** What has members. */
export type Grouping = "list" | "segment";

export type Kind =
  | "template"
  | "channel"
  | "list"
  | "segment"
  | "campaign"
  | "schedule"
  | "journey"
  | "experience"
  | "asset"
  | "webhook"
  | "import"
  | "annotation"
  | "conversion"
  | "server-key"
  | "agent-key";

/** Partition keys of the sparse indexes that `definition.ts` names. */
export const indexes = {
  /** events of a (tenant, day, shard) by occurred_at#id; an erased one stays · whole rows */
  i1: (t: TenantId, day: string, shard: string) => of(t, `D#${day}#${shard}`),
  /** events of an actor, `S#<subscriber>` or `A#<anonymous id>`, by event_name#occurred_at; who is erased is out of it · whole rows */
  i2: (t: TenantId, actor: string) => of(t, `H#${actor}`),
  /** subscribers of a shard by created_at#id, newest first · keys only */
  i3: (t: TenantId, shard: string) => of(t, `N${shard}`),
  /** subscribers by the phone number of their attributes, for those who answer from it · keys only */
  i4: (t: TenantId, phone: string) => of(t, `P#${hash(phone)}`),
};

const pad = (n: number) => String(n).padStart(7, "0");
