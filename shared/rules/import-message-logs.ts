// Logs of text messages, as Twilio and others write them: of whom a row is depends on which way its message went, and a
// message of `STOP`, or one refused since the number had sent it, is an opt-out (AMB-132).
import { isOptOut } from "./chat-app-template-states.ts";
import { columnKey, perHeader } from "./import-names.ts";

export type LogColumn = "sender" | "receiver" | "direction" | "body" | "keyword" | "error";

const COLUMNS: readonly (readonly [LogColumn, RegExp])[] = [
  ["sender", /^(?:from|fromnumber|originator|sender|source(?:address|number)|msgfrom)$/],
  ["receiver", /^(?:to|tonumber|recipient|receiver|destination(?:address|number)?|msgto)$/],
  ["direction", /^(?:message|sms)?direction$/],
  ["body", /^(?:body|text|content|message(?:body|text|content)?|(?:last)?(?:reply|response|inboundmessage))$/],
  ["keyword", /^optouttype$/],
  ["error", /^error(?:code)?$/],
];

const columnOf = (name: string): LogColumn | undefined => {
  const key = columnKey(name);
  return COLUMNS.find(([, form]) => form.test(key))?.[0];
};

export const isMessageLog = perHeader((header) => {
  const columns = header.map(columnOf);
  return (["sender", "receiver", "direction"] as const).every((one) => columns.includes(one));
});

export const logColumn = (name: string, header: readonly string[]): LogColumn | undefined =>
  isMessageLog(header) ? columnOf(name) : undefined;

const isWritten = (column: LogColumn | undefined): boolean => column === "body" || column === "keyword";
const isOfMessages = perHeader((header) => {
  const columns = header.map(columnOf);
  return columns.includes("receiver") && columns.some(isWritten);
});

/** Of any other file: what somebody wrote to us, and the number that they wrote from. */
export function replyColumn(name: string, header: readonly string[]): LogColumn | undefined {
  const column = columnOf(name);
  return isWritten(column) || (column === "sender" && isOfMessages(header)) ? column : undefined;
}

const INBOUND = /^(?:in|mo|inbound.*|incoming.*|received?)$/i;
const WORDS = /^(?:stop ?all|arr[eê]t|opt ?out|revoke)$/i;
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
  body = "",
  keyword = "",
  error,
}: Partial<Record<LogColumn, string>>): { number: string | undefined; isOut: boolean } | undefined {
  const [text, type] = [body, keyword].map((one) => one.trim().replace(/[.!]+$/, "")) as [string, string];
  if (direction === undefined) {
    const isOut =
      isStop(type) || (sender === undefined ? IS_ONE_ANYWHERE.test(text) || WORDS.test(text) : isStop(text));
    return isOut ? { number: sender, isOut } : undefined;
  }
  const isInbound = INBOUND.test(direction);
  const isOut = (isInbound && (isStop(text) || isStop(type))) || error === STOPPED;
  return { number: isInbound ? sender : receiver, isOut };
}
