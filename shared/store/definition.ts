// How the one table is made, for the stack and for the local service alike.
export const tableDefinition = {
  partitionKey: "pk",
  sortKey: "sk",
  timeToLive: "expires",
  stream: "NEW_AND_OLD_IMAGES",
  /** By the prefix of their attributes, `<prefix>pk` and `<prefix>sk`; all are sparse. */
  indexes: {
    i1: { name: "events-by-time", projection: "ALL" },
    i2: { name: "subscribers-by-age", projection: "KEYS_ONLY" },
    i3: { name: "subscribers-by-phone", projection: "KEYS_ONLY" },
  },
  /** Only items that carry this trigger the react worker. */
  reactAttribute: "react",
} as const;
