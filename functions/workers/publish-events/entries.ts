// What happened, as entries of the event bus: of one workspace and one type many in an entry, because AWS bills an entry by each 64 KB.
import { filledParts } from "../../../shared/rules/chunks.ts";
import { isSandbox } from "../../../shared/store/sandbox/sandbox.ts";
import type { OutboundEvent, ReceivedEvents } from "./published.ts";
import { type BusEntry, MAX_BYTES, SOURCE, TIME_BYTES } from "./requests.ts";

/** The detail type of events that were received. */
const EVENTS_RECEIVED = "events.received";

/** Of the events of an entry. EventBridge bills an entry by each 64 KB. */
const PACK_BYTES = 60 * 1_024;
/** What an entry has beside its events. */
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

/** Each event is in one entry. Those of an entry are in the order in which they were written. */
export function busEntries(outbound: readonly OutboundEvent[], received: readonly ReceivedEvents[]): BusEntry[] {
  const all = [...outbound.map(packableOfOutbound), ...received.flatMap(packablesOfReceived)];
  return [...Map.groupBy(all, ({ tenant, type }) => `${tenant} ${type}`).values()]
    .flatMap((events) => filledParts(events, sizeOf, { size: PACK_BYTES }))
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

/** With the comma behind it. */
const sizeOf = ({ json }: Packable): number => Buffer.byteLength(json) + 1;

function entryOf(pack: [Packable, ...Packable[]]): BusEntry {
  const [{ tenant, type, at }] = pack;
  const about = { event_type: type, tenant_id: tenant, sandbox: isSandbox(tenant) };
  const events = pack.map(({ json }) => json).join();
  const detail = `${JSON.stringify(about).slice(0, -1)},"events":[${events}]}`;
  return { positions: pack.map(({ position }) => position), events: pack.length, detailType: type, at, detail };
}
