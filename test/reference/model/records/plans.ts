// Plans and the audit trail as the service keeps them: one interface for each kind of record.
import type { Body } from "../kit.ts";
import type { Event } from "./people.ts";
import type { Recipient } from "./sends.ts";

export interface Segment {
  id: string;
  name: string;
  is_dynamic: boolean;
  needs_recompute: boolean;
  rule: Body;
  created_at: number;
  updated_at: number;
  /** When its members were last computed, all at once. */
  computed_at: number | null;
}
export interface Campaign {
  id: string;
  name: string;
  status: string;
  before_archive: string | null;
  /** AMB-138: by job that the last resume let go, when it goes out; `null`: skipped. */
  moved: Record<string, number | null>;
  spec: Body;
  messages: Body[];
  approval?: Approval | undefined;
  created_at: number;
  updated_at: number;
}
/** A release that was asked for. */
export interface Approval {
  id: string;
  status: string;
  by: string;
  at: number;
  times: (number | null)[];
  asked: string;
  note?: string;
}
export interface Schedule {
  id: string;
  spec: Body;
  active: boolean;
  switched_off_by: string | null;
  next_run_at: number | null;
  /** A tick that was more than an hour late. */
  missed_at?: number;
  created_at: number;
}
export interface Journey {
  id: string;
  name: string;
  status: string;
  version: number;
  definitions: Body[];
  /** The numbers of those of them that were ever active. */
  activated: Set<number>;
  /** That which was activated last. */
  active: Body | null;
  paused_at: number;
  /** When its last pause ended; 0 before. */
  resumed_at: number;
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
  /** The message before its delay or wait, if that waits for the end of quiet hours. */
  message: Recipient | null;
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
/** A call that the audit trail has: an entry of its own, or one of the sends of a quarter-hour. */
export interface AuditedCall {
  kind: "call" | "send";
  at: number;
  route: string;
  actor: string;
  role: string | null;
  status: number;
  /** Of several faults, any of them. */
  code: Body;
}
