// How the one table is made, for the stack and for the local service alike.
export const tableDefinition = {
  partitionKey: "pk",
  sortKey: "sk",
  timeToLive: "expires",
  stream: "NEW_AND_OLD_IMAGES",
  /** Partition and sort attribute of each are `<name>pk` and `<name>sk`; all are sparse. */
  indexes: [
    { name: "i1", projection: "ALL" },
    { name: "i2", projection: "ALL" },
    { name: "i3", projection: "KEYS_ONLY" },
  ],
  /** Only items that carry this wake the react worker. */
  reactAttribute: "react",
} as const;
