// Records of the archive: one flat form for every kind of event, for one table of Athena.
import type { Outcome } from "./outcomes.ts";
import type { Origin, OutboundEvent, ReceivedEvents } from "./published.ts";

/** One line of the archive. A missing value is null, so that all lines have the same fields. */
export interface ArchiveRecord {
  /** An id that is the same for the same event, however often it is stored. */
  id: string;
  /** A received event, the outcome of a message, or an event for webhooks. */
  kind: "event" | "outcome" | "outbound";
  /** The name of the event, the state of the message, or the type of the outbound event. */
  type: string;
  /** RFC 3339, in UTC. */
  occurred_at: string;
  subscriber_id: string | null;
  anonymous_id: string | null;
  job_id: string | null;
  channel: string | null;
  reason: string | null;
  /** The rest as JSON: the properties of an event, or the payload of an outbound one. */
  data: string;
}

export interface ArchivedRecord {
  origin: Origin;
  record: ArchiveRecord;
}

const NONE = { subscriber_id: null, anonymous_id: null, job_id: null, channel: null, reason: null };

export const recordsOfReceived = ({ origin, events }: ReceivedEvents): ArchivedRecord[] =>
  events.map(({ id, event_name, occurred_at, subscriber_id, anonymous_id, ...rest }) => ({
    origin,
    record: {
      ...NONE,
      id,
      kind: "event",
      type: event_name,
      occurred_at,
      subscriber_id,
      anonymous_id,
      data: JSON.stringify(rest),
    },
  }));

export function recordOfOutcome({
  origin,
  id,
  state,
  at,
  subscriber,
  job,
  channel,
  reason,
  details,
}: Outcome): ArchivedRecord {
  const record: ArchiveRecord = {
    ...NONE,
    id,
    kind: "outcome",
    type: state,
    occurred_at: at,
    subscriber_id: subscriber,
    job_id: job,
    channel: channel ?? null,
    reason: reason ?? null,
    data: JSON.stringify(details),
  };
  return { origin, record };
}

export function recordOfOutbound({ origin, envelope }: OutboundEvent): ArchivedRecord {
  const { id, event_type: type, timestamp: occurred_at, data } = envelope;
  const text = (name: string) => (typeof data[name] === "string" ? data[name] : null);
  const record: ArchiveRecord = {
    ...NONE,
    id,
    kind: "outbound",
    type,
    occurred_at,
    subscriber_id: text("subscriber_id"),
    job_id: text("job_id"),
    channel: text("channel"),
    reason: text("reason"),
    data: JSON.stringify(type === "subscriber.created" ? {} : data),
  };
  return { origin, record };
}
