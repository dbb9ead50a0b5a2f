// The consent to messages for a list, kept among the consents of a subscriber (AMB-129).

const PREFIX = "list:";

export const listChannelOf = (list: string): `list:${string}` => `${PREFIX}${list}`;

/** The id of the list that a consent is about; undefined for a consent of something else. */
export const listIdOf = (channel: string): string | undefined =>
  channel.startsWith(PREFIX) ? channel.slice(PREFIX.length) : undefined;

/** The list of a send's target, if it has one. */
export const listOfTarget = (target: { type: string; list_id?: string } | null | undefined): string | undefined =>
  target?.type === "list" ? target.list_id : undefined;
