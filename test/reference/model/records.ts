// What the service keeps, one interface for each kind of record.
import type { Body } from "./kit.ts";

export interface Subscriber {
  id: string;
  external_id: string;
  email: string | null;
  attributes: Record<string, Body>;
  created_at: number;
  updated_at: number;
}
export interface Consent {
  id: string;
  subscriber_id: string;
  channel: string;
  status: string;
  express: boolean;
  consented_at: number;
  source: Body;
  evidence: Body;
  recorded_at: number;
  order: number;
}
export interface Device {
  id: string;
  subscriber_id: string;
  platform: string;
  token: string;
  device_id: string | null;
  fields: Record<string, Body>;
  push_enabled: boolean;
  status: string;
  created_at: number;
  updated_at: number;
}
export interface List {
  id: string;
  name: string;
  description: string | null;
  double_opt_in: boolean;
  created_at: number;
}
export interface Membership {
  of: string;
  subscriber_id: string;
  entered_at: number;
}
export interface Template {
  id: string;
  name: string;
  content: Body;
  created_at: number;
}
export interface Channel {
  id: string;
  type: string;
  name: string;
  active: boolean;
  status: string;
  verified_at: number | null;
  verification_error: Body;
  credentials: boolean;
  created_at: number;
}
export interface Topic {
  key: string;
  name: string;
  description: string | null;
  default: string;
  double_opt_in: boolean;
  created_at: number;
  updated_at: number;
}
/** One delivery of one recipient: to a mailbox, a number, a device or an inbox. */
export interface Delivery {
  channel: Channel;
  class: string;
  device: Device | null;
  to: string;
  state: "pending" | "delivered" | "failed" | "bounced" | "skipped";
  reason: string | null;
  attempts: number[];
  delivered_at: number | null;
}
export interface Recipient {
  subscriber_id: string;
  external_id: string | null;
  state: string;
  /** The reasons that are all true; the answer is one of them. */
  reasons: string[];
  variant: "a" | "b" | null;
  deliveries: Delivery[];
  /** Classes not tried yet, best first (SMA-6). */
  fallbacks: string[];
  deferred_until: number | null;
  at: number;
  /** Drawn for one side or the other at the dispatch, whatever came of it. */
  isAssigned: boolean;
  /** What would reach it, before caps were asked. */
  planned: Delivery[];
  /** Its recipient called the mail spam. */
  hasComplained: boolean;
  hasUnsubscribed: boolean;
  /** What its step counted, of a send of a journey. */
  outcome: Outcome | null;
}
export interface Job {
  id: string;
  /** The id under which holdout and variants are drawn. */
  unit: string;
  status: string;
  spec: Body;
  source: { type: string; id: string | null };
  sent: number;
  /** Of the workspace at its dispatch: caps that it counts for, quiet hours. */
  settings: Body;
  recipients: Recipient[];
  error: Body;
  scheduled_at: number | null;
  created_at: number;
  dispatched_at: number | null;
  completed_at: number | null;
  held: boolean;
  /** What goes on when it is held no longer. */
  stopped: (() => void)[];
  unknown: string[];
  /** What it holds of the quota. */
  taken?: { at: number; sends: number };
  /** The title of its content when it was dispatched. */
  title?: string;
  arbitration: { class: string; source: string }[];
  fallback_steps: number;
  suppressed_devices: number;
}
export interface InboxMessage {
  id: string;
  subscriber_id: string;
  notification_id: string;
  content: Body;
  status: string;
  created_at: number;
  read_at: number | null;
  hidden: boolean;
  recalled: boolean;
}
/** An app of a person that reads the stream, and goes on where it was. */
export interface Reader {
  subscriber_id: string;
  began_at: number;
  /** Null: not connected. */
  opened_at: number | null;
  /** Ids of messages: told, told or not, passed by while they were hidden. */
  told: string[];
  free: string[];
  gone: string[];
}
export interface Interaction {
  job_id: string;
  interaction: string;
  platform: string;
  occurred_at: number;
  subscriber_id: string | null;
  variant_id: string | null;
  received_at: number;
  /** The report itself. */
  said: Body;
}
export interface Event {
  id: string;
  event_name: string;
  subscriber_id: string | null;
  anonymous_id: string | null;
  erased: boolean;
  platform: Body;
  properties: Body;
  occurred_at: number;
  received_at: number;
  source: string;
  idempotency_key: string | null;
  order: number;
  /** The definitions that were in force whenever it was looked at. */
  conversions: Definition[];
}
export interface Segment {
  id: string;
  name: string;
  is_dynamic: boolean;
  needs_recompute: boolean;
  rule: Body;
  created_at: number;
  updated_at: number;
}
export interface Campaign {
  id: string;
  name: string;
  status: string;
  before_archive: string | null;
  spec: Body;
  messages: Body[];
  created_at: number;
  updated_at: number;
}
export interface Schedule {
  id: string;
  spec: Body;
  active: boolean;
  switched_off_by: string | null;
  next_run_at: number | null;
  created_at: number;
}
export interface Journey {
  id: string;
  name: string;
  status: string;
  version: number;
  definitions: Body[];
  /** That which was activated last. */
  active: Body | null;
  paused_at: number;
  created_at: number;
  updated_at: number;
  refused: Record<string, number>;
}
export interface Run {
  id: string;
  journey_id: string;
  version: number;
  subscriber_id: string;
  status: string;
  step: string | null;
  /** When it came to that step, in its own time (AMB-136). */
  since: number;
  /** A wait does not begin to end before: what came late is sent late. */
  from: number;
  /** The end of the delay or wait that it is in. */
  until: number | null;
  /** What moved it last, if an event did. */
  mover: Event | null;
  entered_at: number;
  ended_at: number | null;
  trigger: Event | null;
  used: Event[];
}
export interface Outcome {
  journey_id: string;
  version: number;
  step: string;
  outcome: string;
}
export interface Definition {
  event_name: string;
  value_property: string | null;
  window_seconds: number;
}
export interface Experience {
  id: string;
  status: string;
  spec: Body;
  job_id: string | null;
  held_back: boolean;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
}
export interface Hook {
  id: string;
  target_url: string;
  events: string[];
  description: Body;
  active: boolean;
  /** When those in a row ended that failed last. */
  failures: number[];
  disabled_at: number | null;
  created_at: number;
  sequence: number;
}
export interface HookDelivery {
  id: string;
  attempts: { at: number; status: number }[];
  /** Attempts since it was sent last. */
  tries: number;
  outcome: string;
  hook_id: string;
  sequence: number;
  event_type: string;
  data: Body;
  created_at: number;
}
export interface Import {
  id: string;
  list_id: string;
  status: string;
  body: Body;
  created_at: number;
  processed_rows: number;
  total_rows: number | null;
  failed_rows: number;
  consent_summary: Record<string, number>;
  phone_summary: Record<string, number>;
  topic_summary: Record<string, Record<string, number>>;
  unknown_topics: string[];
  /** The addresses that its rows suppress. */
  suppresses: string[];
  failed: boolean;
}
export interface Export {
  id: string;
  kind: string;
  filter: Body;
  status: string;
  rows: Body[];
  created_at: number;
  completed_at: number | null;
  /** Somebody was erased since, whom it may name. */
  isForgotten: boolean;
}
/** A call that the audit trail has: an entry of its own, or one of the sends of a quarter-hour. */
export interface Called {
  kind: "call" | "send";
  at: number;
  route: string;
  actor: string;
  role: string | null;
  status: number;
  /** Of several faults, any of them. */
  code: Body;
}
export interface Annotation {
  id: string;
  occurred_at: number;
  ends_at: number | null;
  text: string | null;
  source: string;
  kind: string;
  visibility: string;
  ref_id: string | null;
  created_at: number;
}
export interface Sent {
  channel: string;
  to: string;
  subscriber_id: string;
  job_id: string;
  title: string;
  body: Body;
  at: number;
  /** Where the links of a mail lead (AMB-149). */
  links: string[];
  category: string;
  /** The statement that it asks to confirm. */
  confirms: string | undefined;
}
/** What holds for an address (AMB-128). `key`: the address itself, which the API forgets after an erasure. */
export interface Address {
  id: string;
  kind: "email" | "phone";
  address: string | null;
  key: string;
  reason: string | null;
  source: Body;
  note: string | null;
  suppressed_at: number;
  optedOut: Record<string, number>;
  /** When its owner was asked to confirm. */
  asked: number[];
}
