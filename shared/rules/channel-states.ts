// States of a channel and the transitions between them (CHN-8 to CHN-11).

export const channelStatuses = ["pending", "active", "invalid"] as const;
type ChannelStatus = (typeof channelStatuses)[number];

export const channelMoves = {
  /** Credentials were uploaded, or their verification was requested. */
  queue: { from: ["pending", "active", "invalid"], to: "pending" },
  /** The provider accepts the credentials. */
  accept: { from: ["pending"], to: "active" },
  /** The provider refuses the credentials. */
  refuse: { from: ["pending"], to: "invalid" },
} as const satisfies Record<string, { from: readonly ChannelStatus[]; to: ChannelStatus }>;
