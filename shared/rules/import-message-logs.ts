// Logs of messages, as Twilio and others write them, and mail inboxes. The direction of a message decides who the
// person of a row is. A message `STOP`, or one that was refused because the number had sent `STOP`, is an opt-out
// (AMB-132).
import { isOptOut } from "./chat-app-template-states.ts";
import { columnKey, isOfSends, perHeader } from "./import-names.ts";
import type { ColumnType } from "./import-values.ts";

export type LogColumn = "sender" | "receiver" | "direction" | "subject" | "body" | "keyword" | "error";

const COLUMNS: readonly (readonly [LogColumn, RegExp])[] = [
  [
    "sender",
    /^(?:(?:from|von|de)(?:e?mail)?(?:address|adresse|number)?|originator|sender(?:e?mail)?(?:address)?|source(?:address|number)|msgfrom)$/,
  ],
  [
    "receiver",
    /^(?:(?:to|an|a)(?:e?mail)?(?:address|adresse|number)?|recipient(?:e?mail)?(?:address)?|receiver|destination(?:address|number)?|msgto)$/,
  ],
  ["subject", /^(?:subject|betreff|objet|asunto|oggetto)$/],
  ["direction", /^(?:message|sms)?direction$/],
  [
    "body",
    /^(?:body|text|content|message(?:body|text|content)?|(?:last)?(?:reply|response|inboundmessage)|(?:sms|inbound)?keyword)$/,
  ],
  ["keyword", /^optouttype$/],
  ["error", /^error(?:code)?$/],
];

const columnOf = (name: string): LogColumn | undefined => {
  const key = columnKey(name);
  return COLUMNS.find(([, form]) => form.test(key))?.[0];
};

/** Whether a column names the receiver of a message: for an inbound one, this is a number of ours. */
export const isReceiver = (name: string): boolean => columnOf(name) === "receiver";

/** Beside a `Direction`, these may be places of a journey or a department. */
const MAY_BE_PLACE = /^(?:von|de|an|a)$/;
export const isMessageLog = perHeader((header) => {
  const columns = header.map(columnOf);
  const isSure = columns.some(isWritten) || !header.some((name) => MAY_BE_PLACE.test(columnKey(name)));
  return isSure && (["sender", "receiver", "direction"] as const).every((column) => columns.includes(column));
});

export const logColumn = (name: string, header: readonly string[]): LogColumn | undefined =>
  isMessageLog(header) ? columnOf(name) : undefined;

const WRITTEN: readonly (LogColumn | undefined)[] = ["subject", "body", "keyword"];
const isWritten = (column: LogColumn | undefined): boolean => WRITTEN.includes(column);
const isOfMessages = perHeader((header) => {
  const columns = header.map(columnOf);
  return columns.includes("receiver") && columns.some(isWritten);
});

/** The role of a column in any other file: the text of a message to us, and the number or address of its sender. */
export function replyColumn(name: string, header: readonly string[]): LogColumn | undefined {
  const column = columnOf(name);
  // In a mail that we sent, it is ours.
  if (column === "subject" && isOfSends(header)) return undefined;
  return isWritten(column) || (column === "sender" && isOfMessages(header)) ? column : undefined;
}

/** What became of messages: in a report on those that we sent to one person, the senders are ours. */
const OF_DELIVERY = /status|bounce|deliver|error|event|^reason$/;
const isOfDelivery = perHeader((header) => header.some((name) => OF_DELIVERY.test(columnKey(name))));

/** What the senders and the receivers of an inbox may be. A private mailbox writes to people of a company, as its customer. */
const INBOXES: readonly (readonly [senders: readonly ColumnType[], receivers: readonly ColumnType[]])[] = [
  [["phone"], ["same_phone"]],
  [
    ["address", "one_domain"],
    ["same_address", "same_private"],
  ],
  [["address", "same_private"], ["one_domain"]],
];

/**
 * Whether a column names the authors: in an inbox without a direction every message has the same receiver, or receivers
 * of one company, who are of us. @param types the types of the columns
 */
export function isAuthor(name: string, i: number, header: readonly string[], types: readonly ColumnType[]): boolean {
  const type = types[i];
  if (columnOf(name) !== "sender" || type === undefined || isMessageLog(header)) return false;
  if (!isOfMessages(header) || isOfDelivery(header)) return false;

  const receivers = header.flatMap((other, n) => (isReceiver(other) ? (types[n] ?? []) : []));
  return INBOXES.some(([from, to]) => from.includes(type) && receivers.some((receiver) => to.includes(receiver)));
}

const INBOUND = /^(?:in|mo|inbound.*|incoming.*|received?)$/i;
const WORDS =
  /^(?:stop ?all|arr[eê]t|opt ?out|revoke|abmelden|abbestellen|d[eé]sabonner|d[eé]sinscription|baja|cancella(?:rmi|mi)|uitschrijven|afmelden|wypisz)$/i;
/** Twilio's error code for a number that had sent `STOP`. */
const STOPPED = "21610";

const isStop = (text: string): boolean => isOptOut(text) || WORDS.test(text);
/** Whether a text is an opt-out in any context: `end` and `cancel` may be about anything. */
const isStopAnywhere = (text: string): boolean => /^(?:stop|unsubscribe)$/i.test(text) || WORDS.test(text);

/**
 * The other party of a message, and whether it is an opt-out. In a row without a direction only an opt-out is known to
 * be inbound, from its sender if it names one. @returns undefined if the party is unknown
 */
export function partyOf({
  direction,
  sender,
  receiver,
  subject = "",
  body = "",
  keyword = "",
  error,
}: Partial<Record<LogColumn, string>>): { from: string | undefined; isOut: boolean } | undefined {
  const [type, title, text] = [keyword, subject, body].map((field) => field.trim().replace(/[.!]+$/, "")) as [
    string,
    string,
    string,
  ];
  if (direction === undefined) {
    const isOne = sender === undefined ? isStopAnywhere(text) : isStop(text);
    const isOut = isStop(type) || isStopAnywhere(title) || isOne;
    return isOut ? { from: sender, isOut } : undefined;
  }
  const isInbound = INBOUND.test(direction);
  const isOut = (isInbound && (isStop(type) || isStopAnywhere(title) || isStop(text))) || error === STOPPED;
  return { from: isInbound ? sender : receiver, isOut };
}
