// The partitions of one table or index: ranges of (hash of the partition key, sort key), each with a throughput of its own.
import { firstWhere } from "../first-where.ts";
import { MINUTE, SECOND } from "../time.ts";
import type { Sortable, StoredKey } from "./keys.ts";

export type Kind = "read" | "write";

export interface PartitionSettings {
  /** Partitions of a new table, and of each index. */
  partitions: number;
  /** Units per second of one partition. */
  write: number;
  read: number;
  /** How many seconds of unused throughput a partition keeps. */
  burstSeconds: number;
  /** A partition above this part of its throughput in `heatMinutes` of the last five minutes is split. */
  heat: number;
  heatMinutes: number;
  /** A larger partition is split, in bytes. */
  splitBytes: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

interface Gauge {
  second: number;
  units: number;
  peak: number;
  total: number;
}

interface Partition {
  /** The first place that belongs to it; it reaches to the next partition. */
  from: string;
  buckets: Record<Kind, Bucket>;
  gauges: Record<Kind, Gauge>;
  /** Units of the present minute, and of the minutes before it, newest last. */
  minute: number;
  now: Record<Kind, number>;
  before: Record<Kind, number>[];
  sample: string[];
  seen: number;
  highest: string;
  highestBefore: string;
  bytes: number;
  throttled: number;
}

/** One partition as its meter shows it. */
export interface PartitionFigures {
  /** The first place of its range: hash of the partition key, then the sort key. */
  from: string;
  /** Units of the second in which most were consumed. */
  peakWrite: number;
  peakRead: number;
  wcu: number;
  rcu: number;
  /** The partition's part of all write units of the table or index. */
  share: number;
  /** How many charges were refused. */
  throttled: number;
}

export interface Partitions {
  /** Whether the partition of this key has throughput left at `now`. A refusal is counted. */
  hasRoom(place: string, kind: Kind, now: number): boolean;
  /** Takes the units: a partition may go into debt, which it pays back before it admits more. */
  take(place: string, kind: Kind, units: number, now: number): void;
  giveBack(place: string, kind: Kind, units: number): void;
  /** Records that the stored bytes of an item changed. */
  grow(place: string, bytes: number): void;
  figures(): PartitionFigures[];
  splits(): number;
  /** Forgets the figures, not the partitions. */
  resetFigures(): void;
}

const HISTORY = 5;
const SAMPLE = 256;
const HASH_DIGITS = 14;
const KINDS: Kind[] = ["read", "write"];

/** The place of a key in the order of the partitions. */
export const placeOf = ({ pk, sk }: StoredKey): string => `${hashOf(textOf(pk))} ${textOf(sk)}`;

const textOf = (value: Sortable): string =>
  typeof value === "string" ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1");

/** 53 bits as hexadecimal text, so that places sort as text. */
function hashOf(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return (4294967296 * (0x1fffff & low) + (high >>> 0)).toString(16).padStart(HASH_DIGITS, "0");
}

/** The place at which the `nth` of `count` equal parts of the hash range begins. */
const boundary = (nth: number, count: number): string =>
  nth === 0
    ? ""
    : Math.floor((2 ** 53 / count) * nth)
        .toString(16)
        .padStart(HASH_DIGITS, "0");

/** @param draw a number from 0 to 1, for the sample of keys. */
export function openPartitions(settings: PartitionSettings, start: number, draw: () => number): Partitions {
  const fresh = (from: string, at = start, bytes = 0): Partition => ({
    from,
    buckets: {
      read: { tokens: settings.read * settings.burstSeconds, at },
      write: { tokens: settings.write * settings.burstSeconds, at },
    },
    gauges: { read: emptyGauge(), write: emptyGauge() },
    minute: Math.floor(at / MINUTE),
    now: { read: 0, write: 0 },
    before: [],
    sample: [],
    seen: 0,
    highest: "",
    highestBefore: "",
    bytes,
    throttled: 0,
  });
  const partitions = Array.from({ length: settings.partitions }, (_, n) => fresh(boundary(n, settings.partitions)));
  let splits = 0;

  const indexOf = (place: string): number => Math.max(0, firstWhere(partitions, ({ from }) => from > place) - 1);
  const at = (place: string) => partitions[indexOf(place)]!;

  const refill = (bucket: Bucket, rate: number, now: number) => {
    if (now <= bucket.at) return;
    bucket.tokens = Math.min(rate * settings.burstSeconds, bucket.tokens + (rate * (now - bucket.at)) / SECOND);
    bucket.at = now;
  };

  const split = (partition: Partition, now: number, median: string) => {
    const upper = fresh(median, now, partition.bytes / 2);
    partition.bytes /= 2;
    for (const half of [partition, upper]) Object.assign(half, { sample: [], seen: 0, before: [] });
    partitions.splice(partitions.indexOf(partition) + 1, 0, upper);
    splits++;
  };

  const splitForHeat = (partition: Partition, now: number) => {
    const isHot = KINDS.some(
      (kind) =>
        partition.before.filter((units) => units[kind] > settings.heat * settings[kind] * (MINUTE / SECOND)).length >=
        settings.heatMinutes,
    );
    const median = isHot ? medianOf(partition) : undefined;
    if (median !== undefined) split(partition, now, median);
  };

  /** Ends the minutes that have passed. */
  const turn = (partition: Partition, now: number) => {
    const minute = Math.floor(now / MINUTE);
    if (minute <= partition.minute) return;
    partition.before.push(partition.now);
    for (let idle = Math.min(minute - partition.minute - 1, HISTORY); idle > 0; idle--)
      partition.before.push({ read: 0, write: 0 });
    partition.before.splice(0, partition.before.length - HISTORY);
    partition.minute = minute;
    partition.now = { read: 0, write: 0 };
    splitForHeat(partition, now);
    partition.highestBefore = partition.highest;
    partition.sample = [];
    partition.seen = 0;
  };

  const sampled = (partition: Partition, place: string) => {
    partition.seen++;
    if (place > partition.highest) partition.highest = place;
    if (partition.sample.length < SAMPLE) partition.sample.push(place);
    else {
      const spot = Math.floor(draw() * partition.seen);
      if (spot < SAMPLE) partition.sample[spot] = place;
    }
  };

  return {
    hasRoom: (place, kind, now) => {
      turn(at(place), now);
      const partition = at(place);
      const bucket = partition.buckets[kind];
      refill(bucket, settings[kind], now);
      if (bucket.tokens > 0) return true;
      partition.throttled++;
      sampled(partition, place);
      return false;
    },
    take: (place, kind, units, now) => {
      const partition = at(place);
      const bucket = partition.buckets[kind];
      refill(bucket, settings[kind], now);
      bucket.tokens -= units;
      partition.now[kind] += units;
      sampled(partition, place);
      count(partition.gauges[kind], units, now);
    },
    giveBack: (place, kind, units) => {
      const partition = at(place);
      partition.buckets[kind].tokens += units;
      partition.now[kind] -= units;
      partition.gauges[kind].units -= units;
      partition.gauges[kind].total -= units;
    },
    grow: (place, bytes) => {
      const partition = at(place);
      partition.bytes += bytes;
      if (partition.bytes <= settings.splitBytes) return;
      const median = middleOf(partition);
      if (median !== undefined) split(partition, partition.buckets.write.at, median);
    },
    figures: () => {
      const all = partitions.reduce((sum, { gauges }) => sum + gauges.write.total, 0);
      return partitions.map(({ from, gauges, throttled }) => ({
        from,
        peakWrite: Math.max(gauges.write.peak, gauges.write.units),
        peakRead: Math.max(gauges.read.peak, gauges.read.units),
        wcu: gauges.write.total,
        rcu: gauges.read.total,
        share: all === 0 ? 0 : gauges.write.total / all,
        throttled,
      }));
    },
    splits: () => splits,
    resetFigures: () => {
      splits = 0;
      for (const partition of partitions) {
        partition.gauges = { read: emptyGauge(), write: emptyGauge() };
        partition.throttled = 0;
      }
    },
  };
}

const emptyGauge = (): Gauge => ({ second: 0, units: 0, peak: 0, total: 0 });

function count(gauge: Gauge, units: number, now: number): void {
  const second = Math.floor(now / SECOND);
  if (second !== gauge.second) {
    gauge.peak = Math.max(gauge.peak, gauge.units);
    gauge.second = second;
    gauge.units = 0;
  }
  gauge.units += units;
  gauge.total += units;
}

/** Where to split for heat, unless one item has over half of the load, or the load is on ever higher keys. */
function medianOf(partition: Partition): string | undefined {
  const { sample, highestBefore } = partition;
  const median = middleOf(partition);
  if (median === undefined) return undefined;
  const ofOne = Math.max(...countsOf(sample).values());
  if (ofOne * 2 > sample.length) return undefined;
  const above = sample.filter((place) => place > highestBefore).length;
  return highestBefore !== "" && above >= sample.length * 0.9 ? undefined : median;
}

function middleOf({ sample, from }: Partition): string | undefined {
  const median = sample.toSorted((a, b) => (a < b ? -1 : 1))[sample.length >> 1];
  return median !== undefined && median > from ? median : undefined;
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
