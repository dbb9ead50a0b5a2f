// The states of one recipient of a send, and of one of its addresses.
export const recipientStates = [
  "pending",
  "deferred",
  "delivered",
  "failed",
  "uncertain",
  "bounced",
  "skipped",
  "held_out",
  "canceled",
] as const;
export type RecipientState = (typeof recipientStates)[number];
