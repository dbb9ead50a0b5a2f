// Entries of the event bus. An entry holds many events of one workspace and type, because AWS bills an entry by each 64
// KB. A request holds as many entries as the limits allow.
import { filledParts } from "../../../shared/rules/chunks.ts";
import { isSandbox } from "../../../shared/store/sandbox/sandbox.ts";
import type { OutboundEvent, ReceivedEvents } from "./published.ts";

/** The source of an entry, for the rules of the bus. */
export const SOURCE = "engagement-messaging";

/** The limits of one PutEvents request. */
const MAX_ENTRIES = 10;
const MAX_BYTES = 256 * 1_024;
/** The bytes that AWS counts for the time of an entry. */
const TIME_BYTES = 14;

export interface BusEntry {
  /** The sequence numbers of its records in the stream. */
  positions: readonly string[];
  events: number;
  detailType: string;
  /** Milliseconds. */
  at: number;
  /** JSON. */
  detail: string;
}

const EVENTS_RECEIVED = "events.received";

/** The most bytes of the events of an entry. EventBridge bills an entry by each 64 KB. */
const PACK_BYTES = 60 * 1_024;
/** The bytes of an entry beside its events. */
const FRAME_BYTES = 1_024;

/** One event, which may share an entry with others of its workspace and type. */
interface Packable {
  tenant: string;
  type: string;
  position: string;
  /** Milliseconds. */
  at: number;
  json: string;
}

/** Packs events into entries. The events of an entry are in the order of their writing. */
export function busEntries(outbound: readonly OutboundEvent[], received: readonly ReceivedEvents[]): BusEntry[] {
  const all = [...outbound.map(packableOfOutbound), ...received.flatMap(packablesOfReceived)];
  return [...Map.groupBy(all, ({ tenant, type }) => `${tenant} ${type}`).values()]
    .flatMap((events) => filledParts(events, bytesOf, { size: PACK_BYTES }))
    .map(entryOf);
}

function packableOfOutbound({ origin: { tenant, position }, at, envelope }: OutboundEvent): Packable {
  const json = JSON.stringify(envelope);
  const isTooLarge = Buffer.byteLength(json) + FRAME_BYTES + TIME_BYTES + SOURCE.length > MAX_BYTES;
  const fitting = isTooLarge ? JSON.stringify({ ...envelope, data: {}, data_too_large: true }) : json;
  return { tenant, type: envelope.event_type, position, at, json: fitting };
}

const packablesOfReceived = ({ origin: { tenant, position, at }, events }: ReceivedEvents): Packable[] =>
  events.map((event) => ({ tenant, type: EVENTS_RECEIVED, position, at, json: JSON.stringify(event) }));

/** The bytes of an event, with the comma after it. */
const bytesOf = ({ json }: Packable): number => Buffer.byteLength(json) + 1;

function entryOf(pack: [Packable, ...Packable[]]): BusEntry {
  const [{ tenant, type, at }] = pack;
  const about = { event_type: type, tenant_id: tenant, sandbox: isSandbox(tenant) };
  const events = pack.map(({ json }) => json).join();
  const detail = `${JSON.stringify(about).slice(0, -1)},"events":[${events}]}`;
  return { positions: pack.map(({ position }) => position), events: pack.length, detailType: type, at, detail };
}

export const eventsOf = (entries: readonly BusEntry[]): number => entries.reduce((sum, { events }) => sum + events, 0);

/** The bytes that AWS bills for an entry. */
const billedBytesOf = ({ detailType, detail }: Pick<BusEntry, "detailType" | "detail">): number =>
  TIME_BYTES + SOURCE.length + Buffer.byteLength(detailType) + Buffer.byteLength(detail);

/** The entries in order, in requests within the limits. */
export const requestsOf = (entries: readonly BusEntry[]): BusEntry[][] =>
  filledParts(entries, billedBytesOf, { size: MAX_BYTES, count: MAX_ENTRIES });
