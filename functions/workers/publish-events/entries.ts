// What happened, as entries of the event bus: one for each outbound event, and one for many events that were received.
import { createHash } from "node:crypto";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { uuidV7 } from "../../../shared/kernel/ids.ts";
import { type BusEntry, MAX_BYTES, sizeOf } from "./bus.ts";
import type { OutboundEvent, ReceivedEvents } from "./published.ts";

/** The detail type of events that were received. */
export const EVENTS_RECEIVED = "events.received";

/** EventBridge bills an entry by each 64 KB. */
const PACK_BYTES = 60 * 1_024;

export const outboundEntry = ({ origin, at, envelope }: OutboundEvent): BusEntry => {
  const entry = { positions: [origin.position], detailType: envelope.event_type, at, detail: JSON.stringify(envelope) };
  if (sizeOf(entry) <= MAX_BYTES) return entry;
  return { ...entry, detail: JSON.stringify({ ...envelope, data: {}, data_too_large: true }) };
};

/** Events of the same workspace share entries, in their order. */
export function receivedEntries(received: readonly ReceivedEvents[]): BusEntry[] {
  const byTenant = Map.groupBy(received, ({ origin }) => origin.tenant);
  return [...byTenant].flatMap(([tenant, rows]) => {
    const events = rows.flatMap(({ origin, events }) =>
      events.map((event) => ({ position: origin.position, id: event.id, at: origin.at, json: JSON.stringify(event) })),
    );
    return packed(events).map((pack) => receivedEntry(tenant, pack));
  });
}

interface PackedEvent {
  position: string;
  id: string;
  at: number;
  json: string;
}
type Pack = [PackedEvent, ...PackedEvent[]];

function packed(events: readonly PackedEvent[]): Pack[] {
  const packs: Pack[] = [];
  let room = 0;
  for (const event of events) {
    const size = Buffer.byteLength(event.json) + 1;
    const open = packs.at(-1);
    if (open && size <= room) open.push(event);
    else {
      packs.push([event]);
      room = PACK_BYTES;
    }
    room -= size;
  }
  return packs;
}

function receivedEntry(tenant: string, pack: Pack): BusEntry {
  const [{ at }] = pack;
  const id = uuidV7(
    at,
    createHash("sha256")
      .update(pack.map((event) => event.id).join())
      .digest(),
  );
  const envelope = { id, event_type: EVENTS_RECEIVED, tenant_id: tenant, timestamp: timestamp(at) };
  const events = pack.map(({ json }) => json).join();
  const detail = `${JSON.stringify(envelope).slice(0, -1)},"data":{"events":[${events}]}}`;
  return { positions: pack.map(({ position }) => position), detailType: EVENTS_RECEIVED, at, detail };
}
