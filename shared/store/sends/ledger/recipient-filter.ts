// Which recipients of a send a filter wants, and which totals leave room for one.
import type { ChannelType } from "../../../rules/channel-types.ts";
import { UNCONFIRMED } from "../../../rules/reasons.ts";
import type { RecipientState } from "../../../rules/recipient-states.ts";
import type { RowOf } from "../../item.ts";
import type { ClaimItem, RangeItem } from "../audience/audience-items.ts";
import { tallyOf } from "../chunks/tallies.ts";
import { stoppedIn } from "../jobs/stopped.ts";
import type { ChannelOutcome } from "./channel-outcomes.ts";

export interface RecipientFilter {
  state?: RecipientState | undefined;
  reason?: string | undefined;
  channel?: string | undefined;
}

interface Shown {
  state: RecipientState;
  reason: string | null;
  channel: ChannelType | null;
  channels: readonly ChannelOutcome[];
}

type Totals = (RowOf<typeof ClaimItem> | RowOf<typeof RangeItem>) | undefined;

export const matches = (recipient: Shown, { state, reason, channel }: RecipientFilter): boolean =>
  (state === undefined || recipient.state === state) &&
  (reason === undefined || recipient.reason === reason) &&
  (channel === undefined || hasChannel(recipient, { state, channel }));

/** A recipient in a state counts for the channels that are in it too. */
const hasChannel = ({ channels, channel: shown }: Shown, { state, channel }: RecipientFilter): boolean =>
  shown === channel ||
  channels.some((attempt) => attempt.channel === channel && (state === undefined || attempt.state === state));

/** Whether totals leave room for a recipient of the filter. What is not closed may still hold any. */
export function mayHold(totals: Totals, { state, reason, channel }: RecipientFilter): boolean {
  if (!totals?.closed) return true;
  const { counts, skip_reasons, fail_reasons, delivered_by_channel } = tallyOf(totals);
  // The provider of a mail without an answer may later report that it arrived or bounced.
  const hasUnconfirmed = (fail_reasons[UNCONFIRMED] ?? 0) > 0;
  // A mail that came back later counts as delivered.
  const mayHaveBounced = hasUnconfirmed || (delivered_by_channel.email ?? 0) > 0;
  const hasReason = reason === undefined || (skip_reasons[reason] ?? 0) + (fail_reasons[reason] ?? 0) > 0;
  const delivered = (channel ? delivered_by_channel[channel] : counts.delivered) ?? 0;

  switch (state) {
    case undefined:
      return hasReason || mayHaveBounced;
    case "pending":
    case "deferred":
      return false;
    case "canceled":
      return stoppedIn(skip_reasons) > 0;
    case "bounced":
      return mayHaveBounced;
    case "skipped":
    case "failed":
    case "held_out":
      return hasReason && counts[state] > 0;
    case "uncertain":
      return hasReason && hasUnconfirmed;
    case "delivered":
      return hasReason && (hasUnconfirmed || delivered > 0);
  }
}
