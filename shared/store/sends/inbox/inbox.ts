// The durable inbox (INB): messages with what their reader did (docs/decisions/0003).
import * as v from "valibot";
import { Timestamp } from "../../../contract/schemas.ts";
import { DAY, HOUR, SECOND, timestamp, ttl } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import { timeOfUuid, uuidV7 } from "../../../kernel/ids.ts";
import type { Store, StoreReader } from "../../context.ts";
import { type Visibility, visibilityIn } from "../../experiences/visibility.ts";
import { type RowOf, ref, rowOf } from "../../item.ts";
import type { Key } from "../../model.ts";
import { pagesOf } from "../../table.ts";
import { readTexts } from "./inbox-content.ts";
import { MESSAGE_KEPT_MS, Message, MessageState, ReadAll } from "./inbox-items.ts";
import { SubscriberStream } from "./stream-items.ts";

/** INB-4. */
export const MESSAGE_LIFETIME_MS = 30 * DAY;

/** A row that is written later than this after its round began says when: its id alone would hide it from live streams. */
export const PROMPT_MS = 30 * SECOND;

export const inboxStatuses = ["unread", "read", "dismissed"] as const;
type InboxStatus = (typeof inboxStatuses)[number];

export const InboxMessage = v.object({
  id: v.string(),
  notification_id: v.string(),
  content: v.looseObject({ title: v.string(), body: v.string() }),
  status: v.picklist(inboxStatuses),
  created_at: Timestamp,
  expires_at: Timestamp,
  read_at: v.optional(Timestamp),
});
export type InboxMessage = v.InferOutput<typeof InboxMessage>;

export type MessageRow = RowOf<typeof Message>;

interface ReaderState {
  /** By message id. */
  states: Map<string, RowOf<typeof MessageState>>;
  /** Oldest first: a message was read by the first one at or above its id that it was visible to. */
  readAlls: readonly RowOf<typeof ReadAll>[];
}

const PAGE_ROWS = 100;

interface ListOptions {
  status?: InboxStatus | undefined;
  limit?: number;
  visibility?: Visibility;
  /** Only messages that are older than this one. */
  before?: string | undefined;
  /** Also those that have expired and are still stored. */
  withExpired?: boolean | undefined;
}

/** INB-6: newest first; expired, hidden and recalled ones are left out. `takes` may end the list before the limit. */
export async function listMessages(
  store: StoreReader,
  subscriber: string,
  { takes = () => true, ...wanted }: ListOptions & { limit: number; takes?: (message: InboxMessage) => boolean },
): Promise<InboxMessage[]> {
  const found: InboxMessage[] = [];
  for await (const seen of seenMessages(store, subscriber, wanted)) {
    const page = seen.slice(0, wanted.limit - found.length);
    const textOf = await readTexts(
      store,
      page.map(({ row }) => row),
    );
    for (const inboxMessage of page) {
      const message = messageOf(inboxMessage, textOf);
      if (!takes(message)) return found;
      found.push(message);
    }
    if (found.length >= wanted.limit) break;
  }
  return found;
}

/** The state of a message for its reader. */
interface SeenMessage {
  row: MessageRow;
  status: InboxStatus;
  readAt: string | undefined;
}

/** Page by page, newest first. A text is longer than its row, so those of messages that are passed by are not read. */
async function* seenMessages(
  store: StoreReader,
  subscriber: string,
  { status, limit = Number.POSITIVE_INFINITY, visibility = visibilityIn(store), before, withExpired }: ListOptions,
): AsyncGenerator<SeenMessage[]> {
  const since = store.clock.now() - (withExpired ? MESSAGE_KEPT_MS : MESSAGE_LIFETIME_MS);
  const oldest = lowestId(since);
  const reader = await readerState(store, subscriber, oldest);
  const to = before !== undefined && { to: `${PREFIX}${before}` };
  const range = { ...rangeFrom(oldest), ...to, newestFirst: true };
  let count = 0;
  const rowsAtOnce = () => (status === undefined ? limit - count : PAGE_ROWS);
  const read = (after?: Key) => store.query(Message, { subscriber }, { ...range, limit: rowsAtOnce(), after });
  for await (const { items } of pagesOf(read)) {
    await visibility.look(items);
    const seen = items
      .filter((row) => visibility.shows(row) && messageIdOf(row) !== before)
      .flatMap((row) => seenBy(row, reader, since) ?? [])
      .filter((message) => status === undefined || message.status === status);
    count += seen.length;
    yield seen;
  }
}

/** Rows with an id from this time on, oldest first. */
export const messagesSince = (store: StoreReader, subscriber: string, sinceMs: number): Promise<MessageRow[]> =>
  store.queryAll(Message, { subscriber }, { ...rangeFrom(lowestId(sinceMs)), eventual: true });

export interface StreamRows {
  /** Oldest first. */
  messages: MessageRow[];
  streams: RowOf<typeof SubscriberStream>[];
}

/** Messages with an id from this time on, and the open streams: the poll of a live stream (0.5 RCU, one request). */
export async function streamRowsSince(store: StoreReader, subscriber: string, sinceMs: number): Promise<StreamRows> {
  const found: StreamRows = { messages: [], streams: [] };
  const range = { ...rangeFrom(lowestId(sinceMs)), to: `${SubscriberStream.prefix}~`, eventual: true };
  for await (const { items } of pagesOf((after?: Key) => store.queryRows(Message, { subscriber }, { ...range, after })))
    for (const row of items)
      if (row.sk.startsWith(PREFIX)) found.messages.push(rowOf(Message, row));
      else found.streams.push(rowOf(SubscriberStream, row));
  return found;
}

/** Messages with an id from one time to another, oldest first; to now without `to`. */
export const messagesBetween = (
  store: StoreReader,
  subscriber: string,
  { from, to }: { from: number; to: number | undefined },
): Promise<MessageRow[]> => {
  const range = rangeFrom(lowestId(from));
  const bounds = to === undefined ? range : { ...range, to: rangeFrom(lowestId(to)).from };
  return store.queryAll(Message, { subscriber }, { ...bounds, eventual: true });
};

const PREFIX = "I#";
const rangeFrom = (id: string) => ({ from: `${PREFIX}${id}`, to: `${PREFIX}~` });

/** The id of a message, which is the end of its sort key. */
export const messageIdOf = ({ sk }: Pick<Key, "sk">): string => sk.slice(PREFIX.length);

/** INB-7: every unread message becomes read, by one write however many they are. @returns how many. */
export async function readAll(store: Store, subscriber: string): Promise<number> {
  const visibility = visibilityIn(store);
  const unread: string[] = [];
  for await (const seen of seenMessages(store, subscriber, { status: "unread", visibility }))
    unread.push(...seen.map(({ row }) => messageIdOf(row)));
  const [newest] = unread;
  if (newest !== undefined) {
    const now = store.clock.now();
    // A hidden message was not seen: when it is shown again, it is unread.
    const except = visibility.hidden();
    const initial = {
      at: timestamp(now),
      expires: expiryOf(newest),
      recent: unread.filter((id) => isRecent(id, now)).slice(0, MAX_RECENT),
      ...(except.length > 0 && { except }),
    };
    const mark = await store.change(ReadAll, { subscriber, message: newest }, { initial });
    // Another request wrote it, which may have found fewer.
    const left = initial.recent.filter((id) => mark.recent?.includes(id) === false);
    for (const id of left) {
      const read = { read_at: initial.at, expires: expiryOf(id) };
      await store.change(MessageState, { subscriber, message: id }, { initial: read });
    }
  }
  return unread.length;
}

/** The first one after a message counts, unless the message was hidden at that time. */
const MAX_READ_ALLS = 20;

/** INB-8, INB-9: reading keeps a dismissal, dismissing sets no read_at (AMB-37). @throws 404. */
export async function markMessage(
  store: Store,
  subscriber: string,
  id: string,
  action: "read" | "dismissed",
): Promise<InboxMessage> {
  const key = { subscriber, message: id };
  const [[row, state], { items: readAlls }] = await Promise.all([
    store.getEach([ref(Message, key), ref(MessageState, key)]),
    store.query(ReadAll, { subscriber }, { from: `${READ_ALL}${id}`, to: READ_ALL_END, limit: MAX_READ_ALLS }),
  ]);
  const visibility = visibilityIn(store);
  if (row) await visibility.look([row]);

  const since = store.clock.now() - MESSAGE_LIFETIME_MS;
  const seenAfter = (found: typeof state) =>
    row && visibility.shows(row)
      ? seenBy(row, { states: new Map(found && [[id, found]]), readAlls }, since)
      : undefined;
  const current = seenAfter(state);
  if (!row || !current) throw notFound("message");

  const textOf = await readTexts(store, [row]);
  const isDone = action === "read" ? current.readAt !== undefined : current.status === "dismissed";
  if (isDone) return messageOf(current, textOf);

  const now = timestamp(store.clock.now());
  const initial = { ...(action === "read" ? { read_at: now } : { dismissed_at: now }), expires: expiryOf(id) };
  const changed = await store.change(MessageState, key, { initial });
  return messageOf(seenAfter(changed) ?? current, textOf);
}

const STATE = "IS#";
const READ_ALL = "IW#";
const READ_ALL_END = `${READ_ALL}~`;

/** The rows of both kinds are next to each other, so that one query reads them. */
async function readerState(store: StoreReader, subscriber: string, oldest: string): Promise<ReaderState> {
  const states: ReaderState["states"] = new Map();
  const readAlls: RowOf<typeof ReadAll>[] = [];
  const range = { from: `${STATE}${oldest}`, to: READ_ALL_END };
  const read = (after?: Key) => store.queryRows(MessageState, { subscriber }, { ...range, after });
  for await (const { items } of pagesOf(read))
    for (const row of items)
      if (row.sk.startsWith(STATE)) states.set(row.sk.slice(STATE.length), rowOf(MessageState, row));
      else readAlls.push(rowOf(ReadAll, row));
  return { states, readAlls };
}

/** @returns undefined for a message of this time or an earlier one, in milliseconds */
function seenBy(row: MessageRow, { states, readAlls }: ReaderState, since: number): SeenMessage | undefined {
  const id = messageIdOf(row);
  if (timeOfUuid(id) <= since) return undefined;
  const { read_at, dismissed_at } = states.get(id) ?? {};
  const readAllAt = readAlls.find((mark) => covers(mark, row))?.at;
  const isBefore = dismissed_at === undefined || (readAllAt !== undefined && readAllAt <= dismissed_at);
  const readAt = read_at ?? (isBefore ? readAllAt : undefined);
  return { row, status: statusOf(dismissed_at, readAt), readAt };
}

function messageOf({ row, status, readAt }: SeenMessage, textOf: Awaited<ReturnType<typeof readTexts>>): InboxMessage {
  const id = messageIdOf(row);
  const created = timeOfUuid(id);
  return {
    id,
    notification_id: row.job,
    content: textOf(row).content,
    status,
    created_at: timestamp(created),
    expires_at: timestamp(created + MESSAGE_LIFETIME_MS),
    ...(readAt !== undefined && { read_at: readAt }),
  };
}

function statusOf(dismissedAt: string | undefined, readAt: string | undefined): InboxMessage["status"] {
  if (dismissedAt !== undefined) return "dismissed";
  return readAt === undefined ? "unread" : "read";
}

/** A message may be written so long after its round began, by a slow worker or by one that continues for another. */
const RECENT_MS = HOUR;
/** The most named messages, the newest ones: a mark costs at most 3 WCU. */
const MAX_RECENT = 60;
const isRecent = (id: string, at: number): boolean => timeOfUuid(id) > at - RECENT_MS;

/** Whether a message was among those that were read at once. */
function covers({ sk, at, except = [], recent }: RowOf<typeof ReadAll>, row: MessageRow): boolean {
  const id = messageIdOf(row);
  if (sk.slice(READ_ALL.length) < id || (row.experience !== undefined && except.includes(row.experience))) return false;
  // The inbox showed it no more by then.
  if (timeOfUuid(id) <= Date.parse(at) - MESSAGE_LIFETIME_MS) return false;
  const [last] = recent?.length === MAX_RECENT ? recent.slice(-1) : [];
  return !recent || recent.includes(id) || !isRecent(id, Date.parse(at)) || (last !== undefined && id < last);
}

export const lowestId = (at: number): string => uuidV7(Math.max(0, at), Buffer.alloc(10));
const expiryOf = (id: string) => ttl(timeOfUuid(id) + MESSAGE_KEPT_MS);
