// What became of one recipient of a send, or of one of its addresses.
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
