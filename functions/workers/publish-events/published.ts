// The events in a batch of changes: outbound events, and events that workspaces sent.
import { createHash } from "node:crypto";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { type TenantId, uuidV7 } from "../../../shared/kernel/ids.ts";
import type { Envelope, WebhookEvent } from "../../../shared/rules/webhook-events.ts";
import { type Change, type Changes, isNew } from "../../../shared/store/changes.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import { type ExportedEvent, eventOf, packedEventOf, type StoredEvent } from "../../../shared/store/events/events.ts";
import { EventBlock, EventItem } from "../../../shared/store/events/items.ts";
import { unpackEvents } from "../../../shared/store/events/packing.ts";
import type { Occurrence } from "../../../shared/store/webhooks/deliveries.ts";
import { occurrenceSources } from "../../../shared/store/webhooks/occurrences.ts";

/** The origin of an event: its workspace, its place in the stream, and when it was written. */
export type Origin = Pick<Change, "tenant" | "position" | "at">;

/** An outbound event, as a webhook would get it. */
export interface OutboundEvent {
  origin: Origin;
  /** Milliseconds. */
  at: number;
  envelope: Envelope;
}

/** The events of one row: a single event, or a block. */
export interface ReceivedEvents {
  origin: Origin;
  events: ExportedEvent[];
}

/** Every outbound event, whether or not a webhook subscribes to it. */
export async function outboundEvents(
  changes: Changes,
  storeOf: (tenant: TenantId) => StoreReader,
): Promise<OutboundEvent[]> {
  const events = await Promise.all(
    occurrenceSources(changes).map(async ({ change, occurrences }) => {
      const found = await occurrences(storeOf(change.tenant as TenantId));
      return found.map((event) => outboundEvent(originOf(change), event));
    }),
  );
  return events.flat();
}

function outboundEvent(origin: Origin, { event, key, at, data }: Occurrence): OutboundEvent {
  const { tenant } = origin;
  const id = idOf(at, tenant, event, key);
  return { origin, at, envelope: { id, event_type: event, tenant_id: tenant, timestamp: timestamp(at), data } };
}

/** The id of an event, the same however often it is published. */
const idOf = (at: number, tenant: string, event: WebhookEvent, key: string): string =>
  uuidV7(at, createHash("sha256").update(`${tenant}:${event}:${key}`).digest());

/** Events that workspaces sent (EVT), as they came. Later changes by an erasure or a repeat are not published again. */
export const receivedEvents = (changes: Changes): ReceivedEvents[] => [
  ...changes
    .of(EventBlock, "block")
    .filter(isNew)
    .map(({ after, ...change }) => ({
      origin: originOf(change),
      events: unpackEvents(after.events).map((event) => exported(packedEventOf(event, after))),
    })),
  ...changes
    .where(EventItem, ({ sk, event_name }) => sk === "e" && event_name !== undefined)
    .filter(isNew)
    .map(({ after, ...change }) => ({ origin: originOf(change), events: [exported(eventOf(after))] })),
];

const originOf = ({ tenant, position, at }: Origin): Origin => ({ tenant, position, at });

function exported({ actor, historical: _, ...event }: StoredEvent): ExportedEvent {
  const subscriber_id = actor?.kind === "subscriber" ? actor.id : null;
  const anonymous_id = actor?.kind === "anonymous" ? actor.id : null;
  return { ...event, subscriber_id, anonymous_id };
}
