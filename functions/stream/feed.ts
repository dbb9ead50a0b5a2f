// The core of the live stream: polls the inbox past a cursor and writes frames. It does not depend on Lambda.
import { isUuid } from "../../shared/contract/schemas.ts";
import { HOUR, MINUTE, SECOND, ttl } from "../../shared/kernel/clock.ts";
import type { Deps } from "../../shared/kernel/deps.ts";
import { notFound } from "../../shared/kernel/errors.ts";
import { timeOfUuid, uuidV7 } from "../../shared/kernel/ids.ts";
import type { RequestRetries } from "../../shared/kernel/retries.ts";
import { chunksOf } from "../../shared/rules/chunks.ts";
import { present } from "../../shared/store/conditions.ts";
import type { Platform, Store } from "../../shared/store/context.ts";
import { visibilityIn } from "../../shared/store/experiences/visibility.ts";
import { type ConditionOf, keyOf } from "../../shared/store/item.ts";
import { happened } from "../../shared/store/refusals.ts";
import {
  MESSAGE_LIFETIME_MS,
  type MessageRow,
  messageIdOf,
  type StreamRows,
  streamRowsSince,
} from "../../shared/store/sends/inbox/inbox.ts";
import { readTexts } from "../../shared/store/sends/inbox/inbox-content.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { SubscriberStream } from "../../shared/store/sends/inbox/stream-items.ts";
import { Profile } from "../../shared/store/subscribers/items.ts";
import { getProfile } from "../../shared/store/subscribers/subscribers.ts";
import { WorkspaceItem } from "../../shared/store/workspaces/items.ts";
import { admitStream, countStream, type Viewer } from "./admission.ts";
import { type FeedOutput, frameOf, withoutMark } from "./output.ts";

const POLL_MS = SECOND;
/** A small write soon after each burst: Lambda's response stream may hold one back until the next. */
const FLUSH_MS = 5;
const KEEPALIVE_MS = 30 * SECOND;
/** The stream ends cleanly after this time: if its client left, it occupies its environment until then (AMB-122). */
const LIFETIME_MS = 90 * SECOND;
/** The id of a message contains the time of its claim; the row may be written this much later (docs/decisions/0003). */
const OVERLAP_MS = 60 * SECOND;
/**
 * A recovery run can write messages up to an hour late. The first poll and the one after each keepalive look back this
 * far.
 */
const LATEST_MS = HOUR;
/** Streams of one subscriber; the newest stay open. */
const MAX_PER_SUBSCRIBER = 3;
/** Two keepalives and some slack: a stream that has not renewed its lease by then counts as closed. */
const LEASE_MS = 2 * KEEPALIVE_MS + 5 * SECOND;
/** Texts read at once: a client may resume from long ago, and a text may have 50 KB. */
const TEXTS_AT_ONCE = 20;
const RETRY_MS = 2 * SECOND;
const RETRY_DISPLACED_MS = 5 * MINUTE;
export interface Feed {
  deps: Pick<Deps, "clock" | "ids" | "writeSignal"> & {
    store: Store;
    platform: Platform;
    /** Retries: the opening and each poll may pause as long as a request of the API. */
    retries: Pick<RequestRetries, "begin">;
  };
  subscriber: string;
  /** The id of the stream, also for its viewer. A later stream has a greater one. */
  connection: string;
  viewer: Viewer;
  /** How many streams may be open; 0: no known limit, and streams are not counted. */
  limit: number;
  endsAt: number;
  /** The time of the newest id that was sent. */
  cursor: number;
  /** When the stream began: a message written since is new to the client, however old its id is. */
  since: number;
  /** When the last poll began; before the first one, where the stream resumes. Everything visible then was sent. */
  polledAt: number;
  /** Messages that were sent, or that existed before a fresh stream began, by the digests of their ids. */
  seen: Map<string, Pick<MessageRow, "sk" | "late_at">>;
}

/** Requires a subscriber that exists. @throws 404 */
export async function requireReader(store: Store, subscriber: string): Promise<void> {
  if (!(await getProfile(store, subscriber))) throw notFound("subscriber");
}

/**
 * Opens a stream and takes its lease.
 * @throws 404 for an unknown subscriber, 503 or 429 near a limit of open streams (SSE-5)
 */
export async function openFeed(
  { streamLimit: limit, ...deps }: Feed["deps"] & { streamLimit: number },
  subscriber: string,
  { address, lastEventId }: { address: string; lastEventId: string | undefined },
): Promise<Feed> {
  const now = deps.clock.now();
  const position = positionFrom(lastEventId);
  const resumeAt = position && Math.min(position.at, now);
  await requireReader(deps.store, subscriber);
  const feed: Feed = {
    deps,
    subscriber,
    connection: deps.ids.uuidAt(now),
    viewer: { tenant: deps.store.tenant, address },
    limit,
    endsAt: now + LIFETIME_MS,
    cursor: resumeAt ?? now,
    since: resumeAt ?? now,
    polledAt: resumeAt ?? now,
    seen: new Map(position?.seen.map((digest) => [digest, { sk: "" }])),
  };
  if (limit > 0) await admitStream(deps, feed.viewer, limit);
  if (resumeAt === undefined) for (const row of (await rowsOf(feed, LATEST_MS)).messages) remember(feed, row);
  await renewLease(feed);
  return feed;
}

/**
 * Sends what is new until the stream's time is over, its viewer has left, or newer streams of the subscriber replace
 * it.
 * @param mayGoOn called repeatedly while earlier messages are sent; if it returns false, the viewer comes back later
 */
export async function runFeed(feed: Feed, output: FeedOutput, mayGoOn: () => Promise<boolean>): Promise<void> {
  const { clock, writeSignal, store, retries } = feed.deps;
  const { pk: inbox } = keyOf(Message, store.tenant, { subscriber: feed.subscriber, message: "" });
  let keepaliveAt = clock.now() + KEEPALIVE_MS;
  let lookBack = LATEST_MS;
  let isBehind = true;
  const positionNow = () => positionAfter(feed, uuidV7(feed.polledAt, NO_TAIL));
  /** When the position is written again; undefined: nothing was written since. */
  let positionAt: number | undefined = clock.now() + FLUSH_MS;
  output.begin(RETRY_MS, positionNow());
  while (clock.now() < feed.endsAt) {
    retries.begin();
    const written = writeSignal?.(inbox);
    feed.polledAt = clock.now();
    const { messages, streams } = await rowsOf(feed, lookBack);
    if (hasViewerLeft(feed, streams)) return;
    // Only digests are known of the messages that the client named; the row says how long a digest must be kept.
    for (const row of messages) if (isSeenIn(feed)(row)) remember(feed, row);
    const fresh = messages.filter(isNewIn(feed));
    lookBack = OVERLAP_MS;
    const visibility = visibilityIn(store);
    await visibility.look(fresh);
    for (const batch of chunksOf(fresh, TEXTS_AT_ONCE)) {
      const textOf = await readTexts(store, batch);
      for (const row of batch) {
        const id = messageIdOf(row);
        remember(feed, row);
        feed.cursor = Math.max(feed.cursor, timeOfUuid(id));
        // A hidden or recalled message is not sent (D-INBOXRECALL); the inbox has it once it is shown again.
        if (!visibility.shows(row)) continue;
        // Some clients store only ids that come with data.
        output.message(frameOf(id, row.job, textOf(row)), positionAfter(feed, id));
        positionAt ??= clock.now() + FLUSH_MS;
      }
      if (isBehind && !(await mayGoOn())) return output.retry(MINUTE);
    }
    isBehind = false;
    if (clock.now() >= keepaliveAt) {
      output.keepalive();
      positionAt ??= clock.now() + FLUSH_MS;
      if (feed.limit > 0) await countStream(feed.deps, feed.viewer, feed.limit);
      keepaliveAt += KEEPALIVE_MS;
      lookBack = LATEST_MS;
      // The client reconnects, and the new request is refused with the reason (ERR-6, ERR-7).
      if (!(await isWorkspaceOpen(feed))) return;
      if (isDisplaced(feed, streams)) return output.retry(RETRY_DISPLACED_MS);
      const isKept = await keepLease(feed);
      if (!isKept) return output.retry(RETRY_DISPLACED_MS);
    }
    if (positionAt !== undefined) await clock.sleep(Math.max(1, positionAt - clock.now()), written);
    if (positionAt !== undefined && clock.now() >= positionAt) {
      output.position(positionNow());
      positionAt = undefined;
    }
    const until = Math.min(keepaliveAt, feed.endsAt);
    await clock.sleep(Math.max(1, Math.min(POLL_MS, until - clock.now())), written);
  }
  output.position(positionNow());
}

/** Removes the lease of a stream. If this fails, it expires. */
export async function closeFeed({ deps: { store, retries }, subscriber, connection }: Feed): Promise<void> {
  retries.begin();
  await store.remove(SubscriberStream, { subscriber, connection });
}

/** Rows past the cursor that have not expired (INB-4): a client may resume from an id of any age. */
const rowsOf = ({ deps: { store, clock }, subscriber, cursor }: Feed, lookBack: number) =>
  streamRowsSince(store, subscriber, Math.max(cursor - lookBack, clock.now() - MESSAGE_LIFETIME_MS + 1));

function remember({ seen }: Feed, { sk, late_at }: MessageRow): void {
  seen.set(digestOf(messageIdOf({ sk })), late_at === undefined ? { sk } : { sk, late_at });
}

/**
 * The position where a later stream continues: a time, and the digests of sent messages that it would see again.
 * @param id the id of that time: of the last poll, or of the last message, because those after it have greater ids
 */
function positionAfter({ seen, since }: Feed, id: string): string {
  const from = timeOfUuid(id) - OVERLAP_MS;
  // Only digests are known of the messages that an earlier stream sent: they were sent before this one began.
  const isSeenAgain = ({ sk, late_at = 0 }: Pick<MessageRow, "sk" | "late_at">) =>
    sk === "" ? since >= from : timeOfUuid(messageIdOf({ sk })) >= from || late_at >= from;
  const again = [...seen].flatMap(([digest, row]) => (isSeenAgain(row) && digest !== digestOf(id) ? [digest] : []));
  return formatPosition(id, again);
}

const isSeenIn =
  ({ seen }: Feed) =>
  (row: MessageRow): boolean =>
    seen.has(digestOf(messageIdOf(row)));

/** Whether a message was not sent yet, and has an id or a time of writing that the client cannot know. */
const isNewIn =
  ({ seen, cursor, since }: Feed) =>
  ({ sk, late_at = 0 }: MessageRow): boolean => {
    const id = messageIdOf({ sk });
    return !seen.has(digestOf(id)) && (timeOfUuid(id) >= cursor - OVERLAP_MS || late_at >= since - OVERLAP_MS);
  };

const isLive =
  (now: number) =>
  ({ lease }: { lease: number }): boolean =>
    lease > now;

async function isWorkspaceOpen({ deps: { store, platform } }: Feed): Promise<boolean> {
  const workspace = await platform.get(WorkspaceItem, { tenant: store.tenant }, { eventual: true });
  return workspace?.status === "active";
}

/**
 * Whether its goodbye is among the streams. The read is eventual, so a goodbye is seen at the next poll or the one
 * after.
 */
const hasViewerLeft = ({ deps: { store }, subscriber, connection }: Feed, streams: StreamRows["streams"]): boolean => {
  const ownKey = keyOf(SubscriberStream, store.tenant, { subscriber, connection }).sk;
  return streams.some(({ sk, left }) => sk === ownKey && left === true);
};

/**
 * Renews the lease.
 * @returns false if the lease was removed because the subscriber was erased: no row may be written for it again
 */
async function keepLease(feed: Feed): Promise<boolean> {
  const isRenewed = await renewLease(feed, present());
  if (isRenewed) return true;
  const profile = await feed.deps.store.get(Profile, { id: feed.subscriber });
  return !profile?.erased_at && renewLease(feed);
}

/** @returns false if the condition failed. */
async function renewLease(
  { deps: { store, clock }, subscriber, connection }: Feed,
  when?: ConditionOf<typeof SubscriberStream>,
): Promise<boolean> {
  const lease = clock.now() + LEASE_MS;
  const set = { lease, expires: ttl(lease) };
  return happened(store.change(SubscriberStream, { subscriber, connection }, { set }, when));
}

/** Whether the subscriber has the most newer streams open, by the last poll. */
function isDisplaced(
  { deps: { store, clock }, subscriber, connection }: Feed,
  streams: StreamRows["streams"],
): boolean {
  const ownKey = keyOf(SubscriberStream, store.tenant, { subscriber, connection }).sk;
  const newer = streams.filter(isLive(clock.now())).filter(({ sk }) => sk > ownKey);
  return newer.length >= MAX_PER_SUBSCRIBER;
}

/** The last digits of a message's id: they are drawn from a hash. */
const DIGEST = 12;
/** Digests of one position. With more, messages of the last minute may be sent again. */
const MAX_DIGESTS = 60;
const UUID = 36;
/** A position that is the time of a poll has no message: its digest matches none. */
const NO_TAIL = new Uint8Array(10);
const NO_MESSAGE = "0".repeat(DIGEST);

/** The digest of a message in a position. @param id of the message */
const digestOf = (id: string): string => id.slice(-DIGEST);

/** `<uuid of the time>`, and `.<digests>` where messages of the last minute were sent already. */
const formatPosition = (uuid: string, seen: readonly string[]): string =>
  seen.length === 0 ? uuid : `${uuid}.${seen.slice(-MAX_DIGESTS).join("")}`;

/** The position of a `Last-Event-ID`, which may also be the id of a message; undefined if it is neither. */
function positionFrom(marked = ""): { at: number; seen: string[] } | undefined {
  const lastEventId = withoutMark(marked);
  const uuid = lastEventId.slice(0, UUID);
  const digests = lastEventId.slice(UUID + 1);
  const isValid = lastEventId.length === UUID || /^\.([0-9a-f]{12}){1,60}$/.test(lastEventId.slice(UUID));
  if (!isValid || !isUuid(uuid)) return undefined;
  // The newest one comes last: if there are too many, the first ones are dropped.
  const seen = [...(digests.match(/.{12}/g) ?? []), digestOf(uuid)].filter((digest) => digest !== NO_MESSAGE);
  return { at: timeOfUuid(uuid), seen };
}
