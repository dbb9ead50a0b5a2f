// The key of a block of events in one text: `<day>#<shard>#<time of its first event>#<batch>`.
const DAY_CHARACTERS = "2026-11-20".length;
const SHARD_CHARACTERS = 2;

export interface BlockKey {
  day: string;
  shard: string;
  at: string;
}

export const blockText = ({ day, shard, at }: BlockKey): string => `${day}#${shard}#${at}`;

export function blockKey(text: string): BlockKey {
  const shardFrom = DAY_CHARACTERS + 1;
  const atFrom = shardFrom + SHARD_CHARACTERS + 1;
  return {
    day: text.slice(0, DAY_CHARACTERS),
    shard: text.slice(shardFrom, shardFrom + SHARD_CHARACTERS),
    at: text.slice(atFrom),
  };
}

/** The name of a block's batch, which its rows in histories have too. */
export const batchOf = ({ at }: BlockKey): string => at.slice(at.indexOf("#") + 1);

/** The classes of blocks by the time that their events span, in milliseconds; each has partitions of its own. */
const SPANS: Record<string, number> = { p: 10_000, q: 600_000, r: 3_600_000 };
export const MAX_SPAN_MS = 3_600_000;

/** Partitions of a day and class: blocks are few, so that exports read few partitions. */
const SHARDS_PER_CLASS = 4;

/** The partition of a block. @param n chooses one of the partitions of the class */
export function blockShard(spanMs: number, n: number): string {
  const [name = "r"] = Object.entries(SPANS).find(([, max]) => spanMs <= max) ?? [];
  return `${name}${n % SHARDS_PER_CLASS}`;
}

/** The longest time that the events of a block in this partition span; undefined for a partition without blocks. */
export const spanOf = (shard: string): number | undefined => SPANS[shard.charAt(0)];
