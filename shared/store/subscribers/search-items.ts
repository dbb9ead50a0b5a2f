// The stored form of the search for subscribers by the beginning of a name.
import { item } from "../item.ts";
import { shardOf } from "../shards.ts";

/** `x`: external id, `e`: email address, `n`: last name. */
type SearchField = "x" | "e" | "n";

export const SearchEntry = item({
  about: "A name of a subscriber, normalized, in a shard of the subscribers: a query finds it by its beginning.",
  pk: ({ subscriber }: { subscriber: string }) => `FIND#${shardOf(subscriber)}`,
  sk: ({ text, field, subscriber }: { text: string; field: SearchField; subscriber: string }) =>
    `${text}#${field}#${subscriber}`,
  row: {},
  writers: ["react", "erase"],
  personal: "removed",
});
