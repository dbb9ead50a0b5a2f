// The core of the live stream: polls the inbox past a cursor, writes frames, knows nothing of Lambda.
import { HOUR, MINUTE, SECOND, timeOfUuid, timestamp } from "../../shared/clock.ts";
import type { Capability, Deps } from "../../shared/deps.ts";
import { ApiError } from "../../shared/http/errors.ts";
import { isUuid } from "../../shared/http/schemas.ts";
import type { Platform, Store } from "../../shared/resources.ts";
import { type Condition, present } from "../../shared/store/conditions.ts";
import { visibilityIn } from "../../shared/store/experiences/visibility.ts";
import { keys, platformKeys } from "../../shared/store/keys.ts";
import type { Item, Value } from "../../shared/store/model.ts";
import { onConditionFailed } from "../../shared/store/refusals.ts";
import { MESSAGE_LIFETIME_MS, messagesSince } from "../../shared/store/sends/inbox.ts";

const POLL_MS = SECOND;
const KEEPALIVE_MS = 30 * SECOND;
/** A clean end before the platform's 15 minutes. */
const LIFETIME_MS = 14 * MINUTE;
/** A message's id is as old as its claim; it may be written this much later (docs/decisions/0003). */
const OVERLAP_MS = 60 * SECOND;
/** What a worker that fell left to the next is later still, and says so: looked for at first and with each keepalive. */
const LATEST_MS = HOUR;
/** Streams of one subscriber; the newest stay. */
const MAX_PER_SUBSCRIBER = 3;
/** Two keepalives: after that a stream that says nothing is taken for gone. */
const LEASE_MS = 2 * KEEPALIVE_MS + 5 * SECOND;
const RETRY_MS = 2 * SECOND;
const RETRY_DISPLACED_MS = 5 * MINUTE;
/** Streams kept free of the limit, so that the platform never answers in our place. */
const SPARE_STREAMS = 1;

/**
 * How many streams may be open at once in the whole service; 0 where nothing is known of a limit
 * (docs/decisions/0021#live-streams).
 */
export const streamLimit: Capability<"streamLimit", number> = {
  as: "streamLimit",
  env: ["STREAM_CONCURRENCY"],
  grants: [],
  open: ({ env }) => {
    const limit = Number(env.STREAM_CONCURRENCY ?? 0);
    return () => limit;
  },
};

export interface Feed {
  deps: Pick<Deps, "clock" | "writeSignal"> & { store: Store; platform: Platform };
  subscriber: string;
  connection: string;
  limited: boolean;
  endsAt: number;
  /** Ids from this time on are looked at. */
  cursor: number;
  /** Where it began: what was written since, however old its id, is new to the client. */
  since: number;
  /** Ids that were sent, or were there before a fresh stream began. */
  seen: Set<string>;
}

/** Takes a place for a stream. @throws 503 where the limit of open streams is near (SSE-5). */
export async function openFeed(
  { streamLimit: limit, ...deps }: Feed["deps"] & Pick<Deps, "ids"> & { streamLimit: number },
  subscriber: string,
  lastEventId: string | undefined,
): Promise<Feed> {
  const now = deps.clock.now();
  const resumeAt = lastEventId && isUuid(lastEventId) ? Math.min(timeOfUuid(lastEventId), now) : undefined;
  const feed: Feed = {
    deps,
    subscriber,
    connection: deps.ids.uuidAt(now),
    limited: limit > 0,
    endsAt: now + LIFETIME_MS,
    cursor: resumeAt ?? now,
    since: resumeAt ?? now,
    seen: new Set(resumeAt === undefined ? [] : [lastEventId!]),
  };
  if (feed.limited) {
    const { items } = await deps.platform.query({ pk: platformKeys.openStream("").pk });
    if (items.filter(isLive(now)).length >= limit - SPARE_STREAMS)
      throw new ApiError("SERVICE_UNAVAILABLE", "Too many live streams are open. The inbox still works.", {
        headers: { "retry-after": "30" },
      });
  }
  if (resumeAt === undefined) for (const { sk } of await rowsOf(feed, LATEST_MS)) feed.seen.add(idOf(sk));
  await renewLease(feed);
  return feed;
}

/** Writes frames until the stream's time is over or newer streams of the subscriber have taken its place. */
export async function runFeed(feed: Feed, write: (text: string) => void): Promise<void> {
  const { clock, writeSignal, store } = feed.deps;
  const partition = keys.person(store.tenant, feed.subscriber);
  let keepaliveAt = clock.now() + KEEPALIVE_MS;
  let lookBack = LATEST_MS;
  write(`retry: ${RETRY_MS}\n\n`);
  while (clock.now() < feed.endsAt) {
    const written = writeSignal?.(partition);
    const fresh = (await rowsOf(feed, lookBack)).filter(isNewIn(feed));
    lookBack = OVERLAP_MS;
    const visibility = visibilityIn(store);
    await visibility.look(fresh);
    for (const row of fresh) {
      const id = idOf(row.sk);
      feed.seen.add(id);
      feed.cursor = Math.max(feed.cursor, timeOfUuid(id));
      // Hidden or recalled (D-INBOXRECALL): the stream tells what comes, the inbox what is there.
      if (!visibility.shows(row)) continue;
      write(`id: ${id}\ndata: ${JSON.stringify(frameOf(id, row))}\n\n`);
    }
    if (clock.now() >= keepaliveAt) {
      write(": keepalive\n\n");
      keepaliveAt += KEEPALIVE_MS;
      lookBack = LATEST_MS;
      // Whoever comes back at once is told why (ERR-6, ERR-7).
      if (!(await isWorkspaceOpen(feed))) return;
      if ((await isDisplaced(feed)) || !(await keepPosition(feed)))
        return void write(`retry: ${RETRY_DISPLACED_MS}\n\n`);
    }
    await clock.sleep(Math.max(1, Math.min(POLL_MS, keepaliveAt - clock.now())), written);
  }
}

/** Gives the place back. What fails here heals by itself when the lease is over. */
export async function closeFeed({ deps: { store, platform }, subscriber, connection, limited }: Feed): Promise<void> {
  await store.remove(keys.stream(store.tenant, subscriber, connection));
  if (limited) await platform.remove(platformKeys.openStream(connection));
}

/** Rows past the cursor that have not expired (INB-4): a client may come back with an id of any age. */
const rowsOf = ({ deps: { store, clock }, subscriber, cursor }: Feed, lookBack: number) =>
  messagesSince(store, subscriber, Math.max(cursor - lookBack, clock.now() - MESSAGE_LIFETIME_MS + 1));

/** Not sent yet, and of an id or a time of writing that the client cannot know. */
const isNewIn =
  ({ seen, cursor, since }: Feed) =>
  ({ sk, late_at }: Item) =>
    !seen.has(idOf(sk)) && (timeOfUuid(idOf(sk)) >= cursor - OVERLAP_MS || Number(late_at ?? 0) >= since - OVERLAP_MS);

const idOf = (sk: string) => sk.slice("I#".length);

const isLive = (now: number) => (item: Item) => Number(item.lease) > now;

async function isWorkspaceOpen({ deps: { store, platform } }: Feed): Promise<boolean> {
  const workspace = await platform.get(platformKeys.tenant(store.tenant), { eventual: true });
  return workspace?.status === "active";
}

/** @returns false if the place is gone because the subscriber was erased meanwhile: nothing is written for it again. */
async function keepPosition(feed: Feed): Promise<boolean> {
  if (await renewLease(feed, present())) return true;
  const { store } = feed.deps;
  const profile = await store.get(keys.subscriber(store.tenant, feed.subscriber));
  return !profile?.erased_at && renewLease(feed);
}

/** @returns false if the condition did not hold. */
async function renewLease(
  { deps: { store, platform, clock }, subscriber, connection, limited }: Feed,
  when?: Condition,
): Promise<boolean> {
  const lease = clock.now() + LEASE_MS;
  const row = { lease, expires: Math.ceil(lease / SECOND) };
  const isThere = await store.put({ ...keys.stream(store.tenant, subscriber, connection), ...row }, when).then(
    () => true,
    onConditionFailed(() => false),
  );
  if (isThere && limited) await platform.put({ ...platformKeys.openStream(connection), ...row });
  return isThere;
}

/** Whether as many newer streams of the subscriber are open as may be. */
async function isDisplaced({ deps: { store, clock }, subscriber, connection }: Feed): Promise<boolean> {
  const { pk, sk } = keys.stream(store.tenant, subscriber, "");
  const { items } = await store.query({ pk, prefix: sk });
  const newer = items.filter(isLive(clock.now())).filter((item) => item.sk > sk + connection);
  return newer.length >= MAX_PER_SUBSCRIBER;
}

interface Content {
  title: string;
  body: string;
  variant_id?: string;
  format?: string;
  image_url?: string;
  actions?: { id: string; title: string; url: string }[];
  display?: { trigger: string; frequency: string };
}

/** SSE-6. Authored actions keep `title` in the inbox and are `label` here (AMB-1); the full display is in `data`. */
function frameOf(id: string, row: Item): { [name: string]: Value } {
  const {
    title,
    body,
    variant_id,
    format,
    image_url,
    actions = [],
    display,
  } = JSON.parse(String(row.content)) as Content;
  const data = row.data === undefined ? {} : JSON.parse(String(row.data));
  return {
    id,
    notification_id: String(row.job),
    title,
    body,
    data: { ...data, ...(variant_id && { variant_id }), ...(display && { display }) },
    sent_at: timestamp(timeOfUuid(id)),
    format: format ?? null,
    image_url: image_url ?? null,
    actions: actions.map((action) => ({ id: action.id, label: action.title, url: action.url })),
    display: display ? { trigger: display.trigger, frequency: display.frequency } : null,
  };
}
