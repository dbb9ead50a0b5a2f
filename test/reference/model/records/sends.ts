// What the service keeps of sends: one interface for each kind of record.
import type { Body } from "../kit.ts";
import type { Device } from "./people.ts";
import type { Outcome } from "./plans.ts";

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
  deleted_at?: number;
  /** When it was switched on or off, or got credentials, last. */
  changed_at?: number;
  uploaded_at?: number;
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
  /** When it failed for good. */
  failed_at?: number;
  /** The end of quiet hours that it waits for. */
  waits?: number | null;
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
  /** When what quiet hours had put off was handed over, or given up. */
  went_out_at: number | null;
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
  /** The id under which holdout and variants are drawn. Empty: nobody is told it. */
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
  /** What it holds of the quota, and what it held first. */
  taken?: { at: number; sends: number; asked: number };
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
  /** The address of its subscriber when it came. */
  email: string | null;
  /** The report itself. */
  said: Body;
}
export interface Mail {
  to: string;
  subscriber_id: string;
  job_id: string;
  at: number;
}
export interface SentMessage extends Mail {
  channel: string;
  title: string;
  body: Body;
  /** Where the links of a mail lead (AMB-149). */
  links: string[];
  category: string;
  /** The statement that it asks to confirm. */
  confirms: string | undefined;
  /** The key of the topic of its send. */
  topic: string | undefined;
}
export interface Hook {
  id: string;
  target_url: string;
  events: string[];
  description: Body;
  active: boolean;
  /** When those in a row ended that failed last. */
  failures: number[];
  /** Those of the instant that switched it off, beside the one that did. */
  besides: number;
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
  /** It was due for an attempt at the instant in which its endpoint was switched off: it was made, or was not. */
  isOpen: boolean;
  hook_id: string;
  sequence: number;
  event_type: string;
  data: Body;
  created_at: number;
}
