// The durable inbox. Message rows are immutable; what the reader did lies in rows of its own, so that a
// redelivered write can never undo a read (docs/decisions/0003).

import { createHash } from "node:crypto";
import { DAY, SECOND, timeOfUuid, timestamp, uuidV7 } from "../../clock.ts";
import { notFound } from "../../http/errors.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { type Visibility, visibilityIn } from "../experiences/visibility.ts";
import { keys } from "../keys.ts";
import type { Item, Key, TenantId, Value } from "../model.ts";
import { allItems } from "../pages.ts";

/** INB-4. */
export const MESSAGE_LIFETIME_MS = 30 * DAY;

/** A row that is written later than this after its claim says when: its id alone would hide it from live streams. */
export const PROMPT_MS = 30 * SECOND;

export const inboxStatuses = ["unread", "read", "dismissed"] as const;
export type InboxStatus = (typeof inboxStatuses)[number];

export interface InboxMessage {
  id: string;
  notification_id: string;
  content: { [name: string]: Value };
  status: InboxStatus;
  created_at: string;
  expires_at: string;
  read_at?: string;
}

/** The id of a send to one inbox: the time of the claim and a hash of (job, subscriber), so a repeat has the same id. */
export function messageId(at: number, job: string, subscriber: string): string {
  return uuidV7(at, createHash("sha256").update(`${job}:${subscriber}`).digest());
}

export interface Delivery {
  subscriber: string;
  content: { [name: string]: Value };
  /** Custom values of the send, for the stream's frame. */
  data?: string | undefined;
  /** The experience that it belongs to, which may be hidden or recalled. */
  experience?: string | undefined;
  /** The chunk it comes from, for an erasure. */
  place?: string | undefined;
  /** When it is written, where that is long after the claim. */
  late_at?: number | undefined;
}

/** The immutable row of one delivery (its own ledger entry, docs/decisions/0013). `at` is the time of the claim. */
export function messageRow(tenant: TenantId, job: string, at: number, delivery: Delivery): Item {
  const { subscriber, content, data, experience, place, late_at } = delivery;
  const id = messageId(at, job, subscriber);
  return {
    ...keys.message(tenant, subscriber, id),
    job,
    content: JSON.stringify(content),
    ...(data !== undefined && { data }),
    ...(experience !== undefined && { experience }),
    ...(place !== undefined && { place }),
    ...(late_at !== undefined && { late_at }),
    expires: Math.ceil((at + MESSAGE_LIFETIME_MS) / SECOND),
  };
}

interface Marks {
  /** By message id. */
  states: Map<string, Item>;
  /** Read-all marks, oldest first: a message was read by the first mark at or above its id that it was seen under. */
  readAlls: { upTo: string; at: string; except: string[] }[];
}

const PAGE_ROWS = 100;

interface ListOptions {
  status?: InboxStatus | undefined;
  limit: number;
  takes?: (message: InboxMessage) => boolean;
  visibility?: Visibility;
}

/** INB-6: newest first; expired, hidden and recalled ones are not listed. `takes` may close the list before the limit. */
export async function listMessages(
  store: StoreReader,
  subscriber: string,
  { status, limit, takes = () => true, visibility = visibilityIn(store) }: ListOptions,
): Promise<InboxMessage[]> {
  const oldest = oldestId(store);
  const marks = await readMarks(store, subscriber, oldest);
  const found: InboxMessage[] = [];
  let after: Key | undefined;
  do {
    const page = await store.query({
      ...rangeFrom(store.tenant, subscriber, oldest),
      newestFirst: true,
      limit: status === undefined ? limit - found.length : PAGE_ROWS,
      after,
    });
    await visibility.look(page.items);
    for (const row of page.items.filter(visibility.shows)) {
      const message = messageOf(store, row, marks);
      if (!message || (status !== undefined && message.status !== status)) continue;
      if (!takes(message)) return found;
      found.push(message);
    }
    after = page.next;
  } while (after && found.length < limit);
  return found.slice(0, limit);
}

/** Rows with an id from this time on, oldest first: what a live stream polls (0.5 RCU when there is nothing). */
export const messagesSince = (store: StoreReader, subscriber: string, sinceMs: number): Promise<Item[]> =>
  allItems(store, { ...rangeFrom(store.tenant, subscriber, lowestId(sinceMs)), eventual: true });

const rangeFrom = (tenant: TenantId, subscriber: string, id: string) => ({
  pk: keys.person(tenant, subscriber),
  from: `I#${id}`,
  to: "I#~",
});

/** INB-7: every unread message becomes read, with one write however many they are. @returns how many. */
export async function readAll(store: Store, subscriber: string): Promise<number> {
  const visibility = visibilityIn(store);
  const unread = await listMessages(store, subscriber, {
    ...{ status: "unread", limit: Number.POSITIVE_INFINITY },
    visibility,
  });
  const newest = unread[0]?.id;
  if (newest !== undefined) {
    // What is hidden was not seen: shown again, it is unread.
    const except = visibility.hidden();
    const initial = {
      at: timestamp(store.clock.now()),
      expires: expiryOf(newest),
      ...(except.length > 0 && { except }),
    };
    await store.update(keys.readMark(store.tenant, subscriber, newest), { initial });
  }
  return unread.length;
}

/** INB-8, INB-9: reading keeps a dismissal, dismissing sets no read_at (AMB-37). @throws 404. */
export async function markMessage(
  store: Store,
  subscriber: string,
  id: string,
  mark: "read" | "dismissed",
): Promise<InboxMessage> {
  const [[row, state], { items }] = await Promise.all([
    store.getAll([keys.message(store.tenant, subscriber, id), keys.messageState(store.tenant, subscriber, id)]),
    store.query({
      pk: keys.person(store.tenant, subscriber),
      from: keys.readMark(store.tenant, subscriber, id).sk,
      to: keys.readMark(store.tenant, subscriber, "~").sk,
      limit: MARKS_LOOKED_AT,
    }),
  ]);
  const visibility = visibilityIn(store);
  if (row) await visibility.look([row]);
  const readAlls = items.map(readAllOf);
  const isSeen = row && visibility.shows(row);
  const current = isSeen && messageOf(store, row, { states: new Map(state && [[id, state]]), readAlls });
  if (!row || !current) throw notFound("message");
  const done = mark === "read" ? current.read_at !== undefined : current.status === "dismissed";
  if (done) return current;
  const initial = { [`${mark}_at`]: timestamp(store.clock.now()), expires: expiryOf(id) };
  const changed = await store.update(keys.messageState(store.tenant, subscriber, id), { initial });
  return messageOf(store, row, { states: new Map([[id, changed]]), readAlls })!;
}

const STATE = "IS#";
const READ_ALL = "IW#";

/** Of the marks above a message the first one tells, unless the message was hidden at that time. */
const MARKS_LOOKED_AT = 20;

const readAllOf = ({ sk, at, except = [] }: Item) => ({
  ...{ upTo: sk.slice(READ_ALL.length), at: String(at), except: except as string[] },
});

async function readMarks(store: StoreReader, subscriber: string, oldest: string): Promise<Marks> {
  const marks: Marks = { states: new Map(), readAlls: [] };
  const range = { pk: keys.person(store.tenant, subscriber), from: `${STATE}${oldest}`, to: `${READ_ALL}~` };
  for (const item of await allItems(store, range))
    if (item.sk.startsWith(STATE)) marks.states.set(item.sk.slice(STATE.length), item);
    else marks.readAlls.push(readAllOf(item));
  return marks;
}

function messageOf(store: StoreReader, row: Item, { states, readAlls }: Marks): InboxMessage | undefined {
  const id = row.sk.slice("I#".length);
  const created = timeOfUuid(id);
  const expires = created + MESSAGE_LIFETIME_MS;
  if (expires <= store.clock.now()) return undefined;
  const state = states.get(id);
  const dismissedAt = state?.dismissed_at as string | undefined;
  const readAll = readAlls.find(({ upTo, except }) => upTo >= id && !except.includes(String(row.experience)))?.at;
  const readAt =
    state?.read_at ?? (dismissedAt === undefined || (readAll && readAll <= dismissedAt) ? readAll : undefined);
  return {
    id,
    notification_id: String(row.job),
    content: JSON.parse(String(row.content)),
    status: dismissedAt !== undefined ? "dismissed" : readAt !== undefined ? "read" : "unread",
    created_at: timestamp(created),
    expires_at: timestamp(expires),
    ...(readAt !== undefined && { read_at: String(readAt) }),
  };
}

/** The lowest message id of a time. */
export const lowestId = (at: number): string => uuidV7(Math.max(0, at), Buffer.alloc(10));
const oldestId = (store: StoreReader) => lowestId(store.clock.now() - MESSAGE_LIFETIME_MS);
const expiryOf = (id: string) => Math.ceil((timeOfUuid(id) + MESSAGE_LIFETIME_MS) / SECOND);
