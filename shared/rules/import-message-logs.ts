// Logs of text messages, as Twilio and others write them: of whom a row is depends on which way its message went, and a
// message of `STOP`, or one refused since the number had sent it, is an opt-out (AMB-132).
import { isOptOut } from "./chat-app-template-states.ts";
import { columnKey, perHeader } from "./import-names.ts";

export type LogColumn = "sender" | "receiver" | "direction" | "body" | "error";

const COLUMNS: readonly (readonly [LogColumn, RegExp])[] = [
  ["sender", /^(?:from|fromnumber|originator|sender|source(?:address|number)|msgfrom)$/],
  ["receiver", /^(?:to|tonumber|recipient|receiver|destination(?:address|number)?|msgto)$/],
  ["direction", /^(?:message|sms)?direction$/],
  ["body", /^(?:body|text|content|message(?:body|text|content)?)$/],
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

const INBOUND = /^(?:in|mo|inbound.*|incoming.*|received?)$/i;
const WORDS = /^(?:stop ?all|arr[eê]t|opt ?out|revoke)$/i;
/** Twilio's, of a number that had sent `STOP`. */
const STOPPED = "21610";

/** Who a message was from or to, beside us, and whether it is an opt-out; undefined for a row that says no direction. */
export function partyOf({
  direction,
  sender,
  receiver,
  body = "",
  error,
}: Partial<Record<LogColumn, string>>): { number: string | undefined; isOut: boolean } | undefined {
  if (direction === undefined) return undefined;
  const isInbound = INBOUND.test(direction);
  const text = body.trim().replace(/[.!]+$/, "");
  const isStop = isInbound && (isOptOut(text) || WORDS.test(text));
  return { number: isInbound ? sender : receiver, isOut: isStop || error === STOPPED };
}
