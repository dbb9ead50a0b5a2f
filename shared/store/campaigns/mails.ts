// The mails of a campaign: its row has only the names of mails that are too large for it (docs/decisions/0104).
import type { MailKeeping } from "../files/mails.ts";
import { abridged, type SaysByChannel } from "../sends/content/apart.ts";
import type { CampaignMessage } from "./items.ts";

const saidIn = ({ content, variant_b }: CampaignMessage): SaysByChannel => ({
  by_channel: content?.by_channel,
  variant_b,
});

const saying = <M extends CampaignMessage>(message: M, { by_channel, variant_b }: SaysByChannel = {}): M => ({
  ...message,
  ...(message.content && by_channel && { content: { ...message.content, by_channel } }),
  ...(message.variant_b && variant_b && { variant_b: { ...message.variant_b, ...variant_b } }),
});

/**
 * Messages with other forms of their mails: `keep` makes those of the campaign's row, `whole` and `asRead` bring back the
 * mails that are stored apart.
 */
export async function rewrittenMessages<M extends CampaignMessage>(
  rewrite: MailKeeping["keep" | "whole"],
  messages: readonly M[],
): Promise<M[]> {
  const rewritten = await rewrite(messages.map(saidIn));
  return messages.map((message, n) => saying(message, rewritten[n]));
}

/** A message as a list shows it. */
export const abridgedMessage = <M extends CampaignMessage>(message: M): M => ({
  ...message,
  ...(message.content && { content: abridged(message.content) }),
  ...(message.variant_b && { variant_b: abridged(message.variant_b) }),
});
