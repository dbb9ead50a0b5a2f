// The order of a timeline, and what its sources are asked for.
import type { StoreReader } from "../context.ts";
import type { TimelineEntry } from "./timeline-entries.ts";

/** An entry with its place: entries are in the order of `at` and `id`. Names are added to those that a page shows. */
export interface PlacedEntry {
  at: string;
  id: string;
  entry: TimelineEntry;
}

/** Where a page begins: entries before this one. */
type Before = Pick<PlacedEntry, "at" | "id">;

export interface Bounds {
  subscriber: string;
  before: Before | undefined;
  limit: number;
}

export const isBefore = (one: Before, other: Before): boolean =>
  one.at < other.at || (one.at === other.at && one.id < other.id);

export type Source = (store: StoreReader, bounds: Bounds) => Promise<PlacedEntry[]>;

/** An entry without its time; its name may be added later. */
type UntimedEntry = {
  [K in TimelineEntry["kind"]]: Omit<Extract<TimelineEntry, { kind: K }>, "at" | "title"> & { title?: string };
}[TimelineEntry["kind"]];

export function placedAt(at: string, id: string, { title = "", ...rest }: UntimedEntry): PlacedEntry {
  const entry = { at, title, ...rest } as TimelineEntry;
  return { at, id: `${rest.kind}:${id}`, entry };
}
