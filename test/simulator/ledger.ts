// Requests of clients and their responses: the promises that the invariants check.
import type { QuietHours } from "../../shared/rules/quiet-hours.ts";
import type { Campaign } from "./marketers.ts";
import type { Tenant } from "./tenants.ts";

export interface Person {
  tenant: string;
  id: string;
  external_id: string;
  /** Text found nowhere else: in the e-mail address, the external id and an attribute. */
  canary: string;
  /** The input of filters; unknown for a subscriber that was created again. */
  tier?: string;
  platform?: string | undefined;
  /** From when on every audience must hold it: its upsert was acknowledged. */
  since: number;
  /** An erasure has begun. */
  erasingSince?: number;
  /** The erasure was acknowledged. */
  erasedAt?: number;
}

export interface Send {
  tenant: string;
  /** The name of the job: one per request of a client. */
  label: string;
  startedAt: number;
  ids: string[] | undefined;
  scheduledAt: number | undefined;
  holdout: number;
  splitShare: number | undefined;
  /** Only those of this tier, and with a device of this platform. */
  tier: string | undefined;
  platform: string | undefined;
  /** The list or segment that it goes to. */
  group?: string | undefined;
  /** The key of its topic. */
  topic?: string | undefined;
  /** One class of channels after the other, until one reaches the subscriber. */
  smart: boolean;
  channels: readonly string[] | undefined;
  /** The planned size is exact in the answer. */
  small: boolean;
  /** Its template, channel and schedule are not changed meanwhile. */
  mustComplete: boolean;
  /** Ids answered with 200 or 201. */
  jobs: Set<string>;
  sent: number | undefined;
  /** The status of a refusal, if the request was refused. */
  refused?: number;
}

/** An acknowledgment to a reader: the message was read, dismissed, or included in a read-all. */
export interface Mark {
  person: string;
  message: string;
  kind: "read" | "dismissed" | "read-all";
  read_at?: string | undefined;
  /** When the answer came. */
  at: number;
}

/** An inbox as a reader saw it. */
export interface InboxListing {
  person: string;
  /** When the request set out. */
  startedAt: number;
  at: number;
  messages: { id: string; status: string; read_at?: string }[];
}

/** What a client has of an inbox by listing it and by its live streams. */
export interface Listener {
  person: string;
  /** When its first stream and its last one began, and when the last one ended. */
  from: number;
  lastFrom: number;
  until: number;
  has: Set<string>;
}

/** A webhook endpoint that was there before the story. */
export interface Hook {
  tenant: string;
  id: string;
  url: string;
  events: readonly string[];
  /** Times at which deliveries were sent again: alone, or by a replay of the whole log so far. */
  reopenings: { delivery?: string; at: number }[];
}

/** A list or segment, as those who fill it know it. */
export interface Members {
  /** When a subscriber certainly belongs to it, and when perhaps; absent: never. */
  sure: Map<string, { from: number; to: number }>;
  maybe: Set<string>;
}

/** An in-app experience, as its author knows it. */
export interface Experience {
  tenant: string;
  id: string;
  endsAt: number | undefined;
  /** An end was acknowledged. */
  endedAt?: number;
  /** When a pause or an end was first asked for: whether it took place is unknown where it was not answered. */
  hidingAskedAt?: number;
  /** From an acknowledged pause or end until a resumption was asked for. */
  hidings: { from: number; to: number | undefined }[];
}

/** A file that was accepted for import. */
export interface Import {
  tenant: string;
  id: string;
  list: string;
}

/** A topic of sends, and who chose what, one choice after the other. */
export interface Topic {
  isInByDefault: boolean;
  /** By subscriber. `doneAt`: when the choice was acknowledged, infinite until then. */
  choices: Map<string, { isIn: boolean; from: number; doneAt: number }[]>;
}

/** A server key, and when its revocation was acknowledged. */
export interface ServerKey {
  tenant: string;
  id: string;
  revokedAt?: number;
}

/** How a workspace treats its people. */
interface Manners {
  quiet: QuietHours | undefined;
  /** Marketing a day, of all classes. */
  cap: number | undefined;
}

export interface Ledger {
  tenants: Map<string, Tenant>;
  people: Map<string, Person>;
  sends: Map<string, Send>;
  byJob: Map<string, Send>;
  /** Jobs whose cancellation was asked for: maybe before the request that made the job was answered. */
  cancelsAsked: Set<string>;
  /** Acknowledged cancellations, by job. */
  canceled: Map<string, number>;
  marks: Mark[];
  /** Reads and dismissals that were asked for: of one message, or of all that were there. `until`: when the answer came. */
  touches: { person: string; message: string | undefined; until: number }[];
  listings: InboxListing[];
  listeners: Listener[];
  keys: ServerKey[];
  hooks: Map<string, Hook>;
  /** By list or segment. */
  members: Map<string, Members>;
  imports: Import[];
  experiences: Map<string, Experience>;
  /** Inboxes as they were shown while experiences came and went. */
  peeks: { person: string; startedAt: number; at: number; ids: string[] }[];
  /** Schedules and lists that were switched off or deleted permanently since then. */
  stopped: Map<string, number>;
  /** Uses of a server key: when they set out, and how they ended. */
  uses: { key: ServerKey; at: number; status: number }[];
  campaigns: Map<string, Campaign>;
  /** By key: one workspace has them. */
  topics: Map<string, Topic>;
  /** Workspaces whose number of subscribers is made up. */
  pretended: Set<string>;
  /** By workspace, when its deletion was acknowledged. */
  deleted: Map<string, number>;
  /** By workspace, from when on it is suspended; absent while it is not. */
  suspended: Map<string, number>;
  everSuspended: Set<string>;
  /** Workspaces whose messages every provider refuses permanently. */
  refusing: Set<string>;
  braked: Set<string>;
  /** By workspace, what its channels may hand over a second, and how many messages a chunk has. */
  rates: Map<string, { perSecond: number; chunk: number }>;
  /** By workspace, what its providers take a second. */
  limits: Map<string, number>;
  /** By workspace, the number of sends it may make. */
  caps: Map<string, number>;
  /** By workspace, the quiet hours and the daily cap that it has. */
  manners: Map<string, Manners>;
  /** Subscribers whose quiet hours are in another zone than UTC. */
  zones: Map<string, string>;
  /** When each inbox row was written, by message. */
  writtenAt: Map<string, number>;
  /** Inbox rows ever written: by job, by subscriber, the id of the message. */
  delivered: Map<string, Map<string, string>>;
  /** Jobs with a recipient that a provider refused for now. */
  putOff: Set<string>;
  /** Subscribers that a provider may have reached, by job. */
  pushed: Map<string, Set<string>>;
  /** Where webhooks of sandboxes would be posted to. */
  sandboxHooks: Set<string>;
  /** Looks at the clocks of sandboxes: the time, the latest end of a move that was seen before, and one that this look saw. */
  clocks: { tenant: string; now: number; seen: number; end: number }[];
}

export const openLedger = (): Ledger => ({
  tenants: new Map(),
  people: new Map(),
  sends: new Map(),
  byJob: new Map(),
  cancelsAsked: new Set(),
  canceled: new Map(),
  marks: [],
  touches: [],
  listings: [],
  listeners: [],
  keys: [],
  hooks: new Map(),
  members: new Map(),
  imports: [],
  experiences: new Map(),
  peeks: [],
  stopped: new Map(),
  uses: [],
  campaigns: new Map(),
  topics: new Map(),
  pretended: new Set(),
  deleted: new Map(),
  suspended: new Map(),
  everSuspended: new Set(),
  refusing: new Set(),
  braked: new Set(),
  rates: new Map(),
  limits: new Map(),
  caps: new Map(),
  manners: new Map(),
  zones: new Map(),
  writtenAt: new Map(),
  delivered: new Map(),
  putOff: new Set(),
  pushed: new Map(),
  sandboxHooks: new Set(),
  clocks: [],
});

/** Whether a send must have reached this person, or held it out: there before it began and never erased. */
export function mustHold(send: Send, person: Person): boolean {
  const from = Math.max(send.startedAt, send.scheduledAt ?? 0);
  const isIn = send.ids ? send.ids.includes(person.id) : true;
  return (
    person.tenant === send.tenant &&
    isIn &&
    fits(send, person) === true &&
    person.erasingSince === undefined &&
    person.since < from
  );
}

/** Whether the filters of a send include a subscriber; undefined if that is unknown. */
export function fits({ tier, platform }: Send, person: Person): boolean | undefined {
  if (tier === undefined && platform === undefined) return true;
  if (person.tier === undefined) return undefined;
  return (tier ?? person.tier) === person.tier && (platform ?? person.platform) === person.platform;
}

/** Whether a subscriber is in the group that a send goes to, all the while from its start on. */
export function isSurelyIn({ members }: Ledger, { group, startedAt, scheduledAt = 0 }: Send, person: string): boolean {
  if (group === undefined) return true;
  const span = members.get(group)?.sure.get(person);
  return span !== undefined && span.from < Math.max(startedAt, scheduledAt) && span.to === Number.POSITIVE_INFINITY;
}
