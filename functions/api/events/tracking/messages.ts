// Reads the messages of Segment's libraries: one message or a batch, with the write key in a header or in the body.
import { gunzipSync } from "node:zlib";
import * as v from "valibot";
import { badRequest } from "../../../../shared/kernel/errors.ts";
import { isJsonObject, withoutUndefined } from "../../../../shared/kernel/objects.ts";
import { SERVER_BODY_BYTES } from "../../../../shared/rules/event-limits.ts";

export const messageTypes = ["identify", "track", "page", "screen", "group", "alias"] as const;
type MessageType = (typeof messageTypes)[number];

/** The last part of a call's path: a message type, its first letter (as browsers write it), or a batch. */
export const calls = [...messageTypes, "i", "t", "p", "s", "g", "a", "batch", "b", "import", "m"] as const;
type CallName = (typeof calls)[number];

const batchNames: Readonly<Record<string, CallName>> = { b: "batch", import: "batch" };
const typeOf = (call: string): MessageType | undefined =>
  messageTypes.find((type) => type === call || type[0] === call);

/** Treats a field of the wrong type as absent, so that one bad value does not lose the message. */
const lenient = <T>(schema: v.GenericSchema<unknown, T>) => v.fallback(v.optional(schema), undefined);
const Id = lenient(v.pipe(v.union([v.string(), v.number()]), v.transform(String)));
const Text = lenient(v.string());
const Fields = lenient(v.record(v.string(), v.any()));

const Context = lenient(
  v.object({
    traits: Fields,
    locale: Text,
    timezone: Text,
    library: lenient(v.object({ name: Text })),
    device: lenient(v.object({ id: Text, type: Text, model: Text, token: Text })),
    os: lenient(v.object({ version: Text })),
    app: lenient(v.object({ version: Text })),
  }),
);

const Message = v.object({
  type: lenient(v.picklist(messageTypes)),
  userId: Id,
  anonymousId: Id,
  messageId: Text,
  timestamp: Text,
  originalTimestamp: Text,
  sentAt: Text,
  event: Text,
  name: Text,
  category: Text,
  groupId: Id,
  previousId: Id,
  properties: Fields,
  traits: Fields,
  context: Context,
  integrations: Fields,
});
export type Message = v.InferOutput<typeof Message>;

interface ReadMessages {
  messages: Message[];
  /** Messages that are too large, too deep, or not objects. */
  unreadable: number;
  /** Messages of a batch beyond the limit. */
  tooMany: number;
}

/** The limits of Segment's own API. */
const MAX_BODY_BYTES = SERVER_BODY_BYTES;
export const MAX_MESSAGE_BYTES = 32_768;
const MAX_DEPTH = 20;

/**
 * Parses the body of a request.
 * @param encoding its `Content-Encoding`; only gzip is unpacked
 * @throws 400 if it is too large, or not a JSON object
 */
export function jsonOf(raw: Buffer, encoding: string | undefined): Record<string, unknown> {
  const bytes = encoding === "gzip" ? inflated(raw) : raw;
  if (bytes.length > MAX_BODY_BYTES) throw badRequest(`The body has more than ${MAX_BODY_BYTES} bytes.`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw badRequest("The body is not valid JSON.");
  }
  if (!isJsonObject(value)) throw badRequest("The body is no JSON object.");
  return value;
}

function inflated(raw: Buffer): Buffer {
  try {
    return gunzipSync(raw, { maxOutputLength: MAX_BODY_BYTES });
  } catch {
    throw badRequest(`The body is not gzip of at most ${MAX_BODY_BYTES} bytes.`);
  }
}

/**
 * The messages of a call.
 * @param max the most messages taken from a batch
 * @throws 400 for a single message that is unreadable
 */
export function messagesOf(call: CallName, body: Record<string, unknown>, max: number): ReadMessages {
  const type = typeOf(call);
  if ((batchNames[call] ?? call) !== "batch") {
    const sent = readAll([{ ...body, type: type ?? "" }]);
    if (sent.unreadable > 0)
      throw badRequest(`A message has at most ${MAX_MESSAGE_BYTES} bytes and ${MAX_DEPTH} levels.`);
    return sent;
  }

  const { batch, sentAt, context, integrations } = body;
  if (!Array.isArray(batch)) throw badRequest("batch must be a list of messages.");
  const shared = withoutUndefined({ sentAt, context, integrations });
  const first = batch.slice(0, max).map((message) => (isJsonObject(message) ? { ...shared, ...message } : message));
  return { ...readAll(first), tooMany: batch.length - first.length };
}

function readAll(raw: readonly unknown[]): ReadMessages {
  const messages = raw
    .filter(
      (message) =>
        isJsonObject(message) && !isDeep(message) && Buffer.byteLength(JSON.stringify(message)) <= MAX_MESSAGE_BYTES,
    )
    .map((message) => v.parse(Message, message));
  return { messages, unreadable: raw.length - messages.length, tooMany: 0 };
}

/** Whether a value is nested deeply enough to overflow code that recurses into it. */
function isDeep(value: unknown): boolean {
  let layer = [value];
  for (let depth = 0; depth < MAX_DEPTH && layer.length > 0; depth++)
    layer = layer.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  return layer.length > 0;
}
