// Shards: what would be one hot partition is spread over several.

/** Rows about subscribers are spread over 16 shards by the first digit of their id (docs/decisions/0021#subscriber-shards). */
export const SHARDS = [..."0123456789abcdef"];
export const shardOf = (subscriber: string): string => subscriber.charAt(0);

/** The counter of a subscriber is one of 256, by the first two digits of its id: creations rarely meet at one item. */
export const counterShardOf = (subscriber: string): string => subscriber.slice(0, 2);

/** Counters of conversions are spread over 4 shards, so that a burst of one source does not heat one item. */
export const CONVERSION_SHARDS = ["0", "1", "2", "3"];
