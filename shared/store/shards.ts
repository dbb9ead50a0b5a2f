// Shards: what would be one hot partition is spread over several.

/** Rows about subscribers are spread over 16 shards by the first digit of their id (docs/decisions/0021#subscriber-shards). */
export const SHARDS = [..."0123456789abcdef"];
export const shardOf = (subscriber: string): string => subscriber.charAt(0);

/** Counters of conversions are spread over 4 shards, so that a burst of one source does not heat one item. */
export const CONVERSION_SHARDS = ["0", "1", "2", "3"];
