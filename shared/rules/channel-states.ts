// States of a channel and the moves between them (CHN-8 to CHN-11): the table is the condition of the write.

export const channelStatuses = ["pending", "active", "invalid"] as const;
export type ChannelStatus = (typeof channelStatuses)[number];

export const channelMoves = {
  /** Credentials were uploaded, or their verification was asked for: the cycle begins anew. */
  queue: { from: ["pending", "active", "invalid"], to: "pending" },
  /** The provider takes the credentials. */
  accept: { from: ["pending"], to: "active" },
  /** The provider does not take the credentials. */
  refuse: { from: ["pending"], to: "invalid" },
} as const satisfies Record<string, { from: readonly ChannelStatus[]; to: ChannelStatus }>;
