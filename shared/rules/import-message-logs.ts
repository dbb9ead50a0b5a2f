// Logs of messages, as Twilio and others write them, and inboxes of mail: of whom a row is depends on which way its message
// went, and a message of `STOP`, or one refused since the number had sent it, is an opt-out (AMB-132).
import { isOptOut } from "./chat-app-template-states.ts";
import { columnKey, perHeader } from "./import-names.ts";

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

/** Whether a column names who got a message: of one that came to us, ourselves. */
export const isReceiver = (name: string): boolean => columnOf(name) === "receiver";

export const isMessageLog = perHeader((header) => {
  const columns = header.map(columnOf);
  return (["sender", "receiver", "direction"] as const).every((one) => columns.includes(one));
});

export const logColumn = (name: string, header: readonly string[]): LogColumn | undefined =>
  isMessageLog(header) ? columnOf(name) : undefined;

const WRITTEN: readonly (LogColumn | undefined)[] = ["subject", "body", "keyword"];
const isWritten = (column: LogColumn | undefined): boolean => WRITTEN.includes(column);
const isOfMessages = perHeader((header) => {
  const columns = header.map(columnOf);
  return columns.includes("receiver") && columns.some(isWritten);
});

/** Of any other file: what somebody wrote to us, and the number or address that they wrote from. */
export function replyColumn(name: string, header: readonly string[]): LogColumn | undefined {
  const column = columnOf(name);
  return isWritten(column) || (column === "sender" && isOfMessages(header)) ? column : undefined;
}

const INBOUND = /^(?:in|mo|inbound.*|incoming.*|received?)$/i;
const WORDS =
  /^(?:stop ?all|arr[eê]t|opt ?out|revoke|abmelden|abbestellen|d[eé]sabonner|d[eé]sinscription|baja|cancella(?:rmi|mi)|uitschrijven|afmelden|wypisz)$/i;
/** Twilio's, of a number that had sent `STOP`. */
const STOPPED = "21610";

const isStop = (text: string): boolean => isOptOut(text) || WORDS.test(text);
/** What is an opt-out though nobody knows that it was an answer: `end` and `cancel` may be anything. */
const IS_ONE_ANYWHERE = /^(?:stop|unsubscribe)$/i;

/**
 * Who a message was from or to, beside us, and whether it is an opt-out. Of a row that says no direction, an opt-out alone is
 * known to have come to us, from its sender if it names one.
 * @returns undefined where nobody can tell
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
  const [type = "", ...texts] = [keyword, subject, body].map((one) => one.trim().replace(/[.!]+$/, ""));
  if (direction === undefined) {
    const isOne = (text: string) =>
      sender === undefined ? IS_ONE_ANYWHERE.test(text) || WORDS.test(text) : isStop(text);
    const isOut = isStop(type) || texts.some(isOne);
    return isOut ? { from: sender, isOut } : undefined;
  }
  const isInbound = INBOUND.test(direction);
  const isOut = (isInbound && [type, ...texts].some(isStop)) || error === STOPPED;
  return { from: isInbound ? sender : receiver, isOut };
}
