// Entries of the event bus, and how many of them a request of PutEvents takes.
import { filledParts } from "../../../shared/rules/chunks.ts";

/** What an entry names as its source, for the rules of the bus. */
export const SOURCE = "engagement-messaging";

/** Limits of PutEvents, of one request. */
const MAX_ENTRIES = 10;
export const MAX_BYTES = 256 * 1_024;
/** What AWS counts for the time of an entry. */
export const TIME_BYTES = 14;

export interface BusEntry {
  /** The sequence numbers of the records that it follows from. */
  positions: readonly string[];
  /** How many events it has. */
  events: number;
  detailType: string;
  /** Milliseconds. */
  at: number;
  /** JSON. */
  detail: string;
}

export const eventsOf = (entries: readonly BusEntry[]): number => entries.reduce((sum, { events }) => sum + events, 0);

/** What AWS counts for an entry, in bytes. */
const sizeOf = ({ detailType, detail }: Pick<BusEntry, "detailType" | "detail">): number =>
  TIME_BYTES + SOURCE.length + Buffer.byteLength(detailType) + Buffer.byteLength(detail);

/** The entries in their order, by requests that keep to the limits. */
export const requestsOf = (entries: readonly BusEntry[]): BusEntry[][] =>
  filledParts(entries, sizeOf, { size: MAX_BYTES, count: MAX_ENTRIES });
