// Events packed by column and deflated: some 40 bytes each, where a row of its own takes some 400.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Value } from "../model.ts";

export interface PackedEvent {
  id: string;
  event_name: string;
  /** See `actorText`; null after the actor was erased. */
  actor: string | null;
  platform: string | null;
  properties: { [name: string]: Value };
  /** RFC 3339 in UTC with milliseconds. */
  occurred_at: string;
  isKeyed: boolean;
}

interface Columns {
  /** 32 hexadecimal digits each. */
  ids: string;
  /** The time of the first one in milliseconds, and for each the milliseconds after it. */
  since: number;
  times: number[];
  /** Distinct values, and for each event the position of its own. */
  names: string[];
  name: number[];
  actors: (string | null)[];
  actor: number[];
  platforms: (string | null)[];
  platform: number[];
  /** 0 for an event without properties. */
  properties: ({ [name: string]: Value } | 0)[];
  keyed: (0 | 1)[];
}

const ID_DIGITS = 32;

/** A text below this length is deflated with less memory: to the same bytes, in two thirds of the time. */
const SMALL = 1_024;
const FOR_SMALL = { windowBits: 10, memLevel: 2 };

/** Packs events. @param events of any number, in any order, which is kept */
export function packEvents(events: readonly PackedEvent[]): Uint8Array {
  const moments = events.map(({ occurred_at }) => Date.parse(occurred_at));
  const since = Math.min(...moments);
  const [names, name] = distinct(events.map(({ event_name }) => event_name));
  const [actors, actor] = distinct(events.map((event) => event.actor));
  const [platforms, platform] = distinct(events.map((event) => event.platform));
  const columns: Columns = {
    ids: events.map(({ id }) => id.replaceAll("-", "")).join(""),
    since,
    times: moments.map((moment) => moment - since),
    names,
    name,
    actors,
    actor,
    platforms,
    platform,
    properties: events.map(({ properties }) => (Object.keys(properties).length > 0 ? properties : 0)),
    keyed: events.map(({ isKeyed }) => (isKeyed ? 1 : 0)),
  };
  const text = JSON.stringify(columns);
  return deflateRawSync(text, text.length <= SMALL ? FOR_SMALL : {});
}

/** The length of packed events as JSON. */
export const unpackedBytes = (packed: Uint8Array): number => inflateRawSync(packed).length;

/** The events that `packEvents` packed, in their order. */
export function unpackEvents(packed: Uint8Array): PackedEvent[] {
  const columns: Columns = JSON.parse(inflateRawSync(packed).toString());
  const { ids, since, times, names, name, actors, actor, platforms, platform, properties, keyed } = columns;
  return times.map((time, i) => ({
    id: uuidIn(ids, i * ID_DIGITS),
    event_name: names[name[i] ?? 0] ?? "",
    actor: actors[actor[i] ?? 0] ?? null,
    platform: platforms[platform[i] ?? 0] ?? null,
    properties: properties[i] || {},
    occurred_at: new Date(since + time).toISOString(),
    isKeyed: keyed[i] === 1,
  }));
}

function distinct<T>(values: readonly T[]): [distinct: T[], positions: number[]] {
  const positions = new Map<T, number>();
  const places = values.map((value) => {
    const position = positions.get(value) ?? positions.size;
    positions.set(value, position);
    return position;
  });
  return [[...positions.keys()], places];
}

function uuidIn(digits: string, start: number): string {
  const part = (from: number, to: number) => digits.slice(start + from, start + to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}
