// Everything the service knows, in plain arrays. The clock is a number.
import type { SendPlan } from "./agents.ts";
import { type Body, notFound } from "./kit.ts";
import type * as people from "./records/people.ts";
import type * as plans from "./records/plans.ts";
import type * as sends from "./records/sends.ts";

import type { Token } from "./sessions.ts";

interface Timer {
  at: number;
  order: number;
  run: () => void;
}
export interface Fault {
  channel: string;
  outcome: string;
  times: number | undefined;
  subscriber_id: string | undefined;
}

export interface World {
  now: number;
  /** Rulings 3: the split, over the ids that the product gave. */
  bucket: (purpose: string, unit: string, subscriber: string) => number;
  /** Asks the owner of an address to confirm a statement. */
  askOwner: (subscriber: people.Subscriber, row: people.Consent) => void;
  made: Record<string, number>;
  order: number;
  plan: string;
  plan_changed_at: number;
  settings: Body;
  monthly_send_cap: number | null;
  /** The times at which sends were accepted. */
  spent: { at: number; sends: number }[];
  subscribers: people.Subscriber[];
  consents: people.Consent[];
  addresses: people.Address[];
  devices: people.Device[];
  lists: people.List[];
  memberships: people.Membership[];
  templates: sends.Template[];
  channels: sends.Channel[];
  topics: people.Topic[];
  jobs: sends.Job[];
  inbox: sends.InboxMessage[];
  readers: sends.Reader[];
  interactions: sends.Interaction[];
  events: people.Event[];
  aliases: { anonymous_id: string; subscriber_id: string; linked_at: number }[];
  /** Anonymous ids of erased people: requests that were under way are theirs. */
  forgotten: { anonymous_id: string; until: number; isAll: boolean }[];
  /** Ids of erased people. */
  erased: string[];
  segments: plans.Segment[];
  members: people.Membership[];
  campaigns: plans.Campaign[];
  schedules: plans.Schedule[];
  journeys: plans.Journey[];
  runs: plans.Run[];
  outcomes: plans.Outcome[];
  definitions: plans.Definition[];
  experiences: plans.Experience[];
  hooks: sends.Hook[];
  hookDeliveries: sends.HookDelivery[];
  /** Whether workers ended while it went on: what they did came late. */
  isStorm?: boolean;
  /** What receivers of webhooks answer. */
  receiver: number;
  imports: people.Import[];
  exports: people.Export[];
  calls: plans.AuditedCall[];
  annotations: { at: number; record: Body }[];
  /** By limit and period: the use from which on a warning was given. */
  warned: Record<string, number>;
  outbox: sends.SentMessage[];
  /** Mails whose provider did not answer. */
  unanswered: sends.Mail[];
  timers: Timer[];
  faults: Fault[];
  /** Whose times are used up: when, and by which send. */
  usedFaults: { fault: Fault; at: number; by: string | undefined }[];
  /** What was previewed, by which a send may draw. */
  previews: { id: string; said: string; at: number }[];
  plans: SendPlan[];
  tokens: Token[];
  keys: { request: string; answer: Body; fingerprint: string; at: number }[];
}

const LISTS = [
  ...["spent", "subscribers", "consents", "addresses", "devices", "lists", "memberships", "templates", "channels"],
  ...["topics", "jobs", "inbox", "readers", "interactions", "events", "aliases", "forgotten", "erased", "segments"],
  ...["members", "campaigns", "schedules", "journeys", "runs", "outcomes", "definitions", "experiences", "hooks"],
  ...["hookDeliveries", "imports", "exports", "calls", "outbox", "unanswered", "timers", "faults", "usedFaults"],
  ...["previews", "plans", "tokens", "keys", "annotations"],
];

export function createWorld(now: number, bucket: World["bucket"]): World {
  const settings = { timezone: "UTC", email_consent_mode: "opt_out", quiet_hours: null };
  return {
    ...(Object.fromEntries(LISTS.map((name) => [name, []])) as unknown as World),
    ...{ now, bucket, askOwner: () => undefined, made: {}, warned: {}, order: 0, receiver: 204 },
    ...{ plan: "enterprise", plan_changed_at: 0, monthly_send_cap: null },
    settings: { ...settings, frequency_caps: [], double_opt_in: false, approval_required: false },
  };
}

/** GEN-3: identifiers of our own. The harness maps them to the product's. */
export function newId(world: World, kind: string): string {
  world.made[kind] = (world.made[kind] ?? 0) + 1;
  return `#${kind}-${world.made[kind]}`;
}

/** Runs something at a time, after all that was asked for earlier at that time. */
export function at(world: World, time: number, run: () => void): void {
  world.timers.push({ at: time, order: world.order++, run });
}

/** Everything that is due up to `now`, in order of its due time. */
export function runDue(world: World, now: number): void {
  for (;;) {
    const due = world.timers.filter((timer) => timer.at <= now);
    if (due.length === 0) break;
    const next = due.reduce((a, b) => (b.at < a.at || (b.at === a.at && b.order < a.order) ? b : a));
    world.timers.splice(world.timers.indexOf(next), 1);
    world.now = Math.max(world.now, next.at);
    next.run();
  }
  world.now = now;
}

export const found = <T extends { id: string }>(items: T[], id: unknown): T | undefined =>
  items.find((item) => item.id === id);

/** The record of that id. @throws 404 */
export const existing = <T extends { id: string }>(items: T[], id: unknown): T => found(items, id) ?? notFound();
