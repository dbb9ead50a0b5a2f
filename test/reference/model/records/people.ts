// What the service keeps of people: one interface for each kind of record.
import type { Body } from "../kit.ts";
import type { Definition } from "./plans.ts";

export interface Subscriber {
  id: string;
  external_id: string;
  email: string | null;
  attributes: Record<string, Body>;
  created_at: number;
  updated_at: number;
  /** The `updated_at` that an import without journeys left: while it is that, what it changed starts none (AMB-133). */
  quiet_at?: number;
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
  /** The owner of the address has confirmed it. */
  isConfirmed: boolean;
  recorded_at: number;
  order: number;
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
  lifted_at?: number;
  lifted_because?: string | null;
  optedOut: Record<string, number>;
  /** When its owner was asked to confirm. */
  asked: number[];
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
export interface Topic {
  key: string;
  name: string;
  description: string | null;
  default: string;
  double_opt_in: boolean;
  created_at: number;
  updated_at: number;
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
  /** AMB-134: it starts no journey. */
  historical: boolean;
  idempotency_key: string | null;
  order: number;
  /** Whenever it was looked at: the definition in force, its value, and when messages had reached its person by then. */
  looks: { definition: Definition; revenue: number; at: number; touches: Set<number> }[];
}
export interface Import {
  id: string;
  list_id: string;
  status: string;
  body: Body;
  created_at: number;
  processed_rows: number;
  total_rows: number | null;
  /** The lines of its rejected rows. */
  rejected: number[];
  consent_summary: Record<string, number>;
  phone_summary: Record<string, number>;
  topic_summary: Record<string, Record<string, number>>;
  unknown_topics: string[];
  /** The addresses that its rows suppress. */
  suppresses: string[];
  failed: boolean;
  /** How many people a dry run would create. */
  created: number;
}
export interface Export {
  id: string;
  kind: string;
  filter: Body;
  status: string;
  rows: Body[];
  created_at: number;
  completed_at: number | null;
  /** Of which moment it is, is open. */
  isForgotten: boolean;
  /** A person that it may name was erased since. */
  isErased: boolean;
}
