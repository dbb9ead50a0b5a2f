// Whether a subscriber is in a topic: the newest choice, else the topic's default (TPC-2, TPC-3).

export const topicDefaults = ["in", "out"] as const;
type TopicDefault = (typeof topicDefaults)[number];

/** The topic of a send, as it was when the send was made. */
export interface SendTopic {
  key: string;
  default: TopicDefault;
}

/** A subscriber's answer about a channel or topic. */
export const consentStatuses = ["opted_in", "opted_out", "pending", "unknown", "suppressed"] as const;
export type ConsentStatus = (typeof consentStatuses)[number];

const PREFIX = "topic:";

/** The name of a topic's choice among the consents of a subscriber. */
export const consentChannelOf = (key: string): `topic:${string}` => `${PREFIX}${key}`;

/** The key of the topic that a consent is about; undefined for a consent of a channel. */
export const topicKeyOf = (channel: string): string | undefined =>
  channel.startsWith(PREFIX) ? channel.slice(PREFIX.length) : undefined;

/** Whether a subscriber is in a topic. @param consents the newest status by channel and topic */
export function isInTopic(
  consents: Readonly<Record<string, string | undefined>>,
  { key, default: byDefault }: SendTopic,
): boolean {
  const chosen = consents[consentChannelOf(key)];
  return chosen === undefined ? byDefault === "in" : chosen === "opted_in";
}
