// The messages of a subscriber, kept up to date by one live stream that all elements of a page share.
import type { BrowserClient } from "../browser.ts";
import type { StreamState } from "../stream.ts";
import type { NotificationsCreateInteractionBody as Interaction, Message } from "../types.gen.ts";

export interface Action {
  id: string;
  title: string;
  /** Empty: it dismisses the message. */
  url: string;
}

export interface Display {
  trigger?: "immediate" | "session_start" | "event";
  trigger_event?: string;
  frequency?: "once" | "once_per_session";
  priority?: number;
  screens?: string[];
}

/** A message with what an author may add to it. */
export interface FeedMessage extends Omit<Message, "content"> {
  content: Message["content"] & {
    format?: "banner" | "modal" | "inbox_only" | "card" | "fullscreen";
    image_url?: string;
    actions?: Action[];
    display?: Display;
    variant_id?: string;
  };
}

/** An action of the user often leads to another page, which would cancel the request. */
const LEAVING = { keepalive: true };

type Listener = (feed: Feed, arrived: readonly FeedMessage[]) => void;

export interface Feed {
  /** Newest first, without dismissed ones. */
  readonly messages: readonly FeedMessage[];
  readonly unread: number;
  readonly state: StreamState;
  /** Calls the listener now and after each change, with the messages that are new. @returns a function that ends it */
  subscribe(listener: Listener): () => void;
  read(id: string): Promise<void>;
  readAll(): Promise<void>;
  dismiss(id: string): Promise<void>;
  /** Reports what the subscriber did. It is not awaited: a report that is lost must not hold the page up. */
  report(message: FeedMessage, interaction: Interaction["interaction"], action_id?: string): void;
  close(): void;
}

export interface FeedOptions {
  /** Messages to keep (default 50). */
  limit?: number;
  onError?(error: unknown): void;
}

/** Work that is asked for while it is under way is done once more afterwards. */
function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void) {
  let running: Promise<void> | undefined;
  let isStale = false;
  const run = async () => {
    try {
      while (isStale) {
        isStale = false;
        await work();
      }
    } catch (error) {
      onError(error);
    } finally {
      running = undefined;
    }
  };
  const refresh = (): Promise<void> => {
    isStale = true;
    running ??= run();
    return running;
  };
  return { refresh, isRunning: () => running !== undefined };
}

type Mark = (message: FeedMessage) => FeedMessage;

const marked =
  (status: FeedMessage["status"], ids: readonly string[]): Mark =>
  (message) =>
    ids.includes(message.id) && message.status !== "dismissed" ? { ...message, status } : message;

/** Changes that are shown before the service has made them. */
function openChanges(onError: (error: unknown) => void) {
  const pending = new Set<Mark>();
  return {
    /** The messages with these changes applied. */
    on: (messages: readonly FeedMessage[]) => [...pending].reduce((list, mark) => list.map(mark), messages),
    /** Shows the change at once, and takes it back if the service refuses it. */
    make: async (
      mark: Mark,
      work: () => Promise<unknown>,
      { refresh, isRunning, show }: ReturnType<typeof oneAtATime> & { show(): void },
    ): Promise<void> => {
      pending.add(mark);
      show();
      try {
        await work();
      } catch (error) {
        onError(error);
        pending.delete(mark);
        return refresh();
      }
      // A list that is being read may be older than the change.
      if (isRunning()) void refresh().finally(() => pending.delete(mark));
      else pending.delete(mark);
    },
  };
}

/** The newest messages; where dismissed ones take the places of others, the others are asked for. */
async function newestOf(
  { inbox }: Pick<BrowserClient, "inbox">,
  query: { subscriber_id: string; limit: number },
): Promise<FeedMessage[]> {
  const list = async (status?: "unread" | "read") =>
    (await inbox.listMessages({ ...query, ...(status && { status }) })).messages as FeedMessage[];
  const found = await list();
  if (found.length < query.limit || found.every(({ status }) => status !== "dismissed")) return found;
  const others = (await Promise.all([list("unread"), list("read")])).flat();
  return others.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, query.limit);
}

/** Opens the feed of a subscriber: `openFeed(client, id)`. It stays open until `close()`. */
export function openFeed(
  client: Pick<BrowserClient, "inbox" | "notifications" | "stream">,
  subscriberId: string,
  { limit = 50, onError = () => undefined }: FeedOptions = {},
): Feed {
  const listeners = new Set<Listener>();
  const subscriber = { subscriber_id: subscriberId };
  let messages: readonly FeedMessage[] = [];
  let state: StreamState = "connecting";
  let isClosed = false;

  const tell = (arrived: readonly FeedMessage[] = []) => {
    for (const listener of listeners) listener(feed, arrived);
  };
  const change = (next: readonly FeedMessage[]) => {
    const known = new Set(messages.map(({ id }) => id));
    messages = changes.on(next).filter(({ status }) => status !== "dismissed");
    tell(messages.filter(({ id }) => !known.has(id)));
  };
  const changes = openChanges(onError);
  const list = oneAtATime(async () => {
    const found = await newestOf(client, { ...subscriber, limit });
    if (!isClosed) change(found);
  }, onError);
  const optimistic = (mark: Mark, work: () => Promise<unknown>) =>
    changes.make(mark, work, { ...list, show: () => change(messages) });
  const feed: Feed = {
    get messages() {
      return messages;
    },
    get unread() {
      return messages.filter(({ status }) => status === "unread").length;
    },
    get state() {
      return state;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      listener(feed, messages);
      return () => listeners.delete(listener);
    },
    read: (id) => optimistic(marked("read", [id]), () => client.inbox.readMessage(id, subscriber, LEAVING)),
    readAll: () =>
      optimistic(
        marked(
          "read",
          messages.map(({ id }) => id),
        ),
        () => client.inbox.readMessages(subscriber),
      ),
    dismiss: (id) => optimistic(marked("dismissed", [id]), () => client.inbox.dismissMessage(id, subscriber, LEAVING)),
    report: ({ notification_id: job_id, content: { variant_id } }, interaction, action_id) => {
      const about = { job_id, interaction, platform: "web" as const, occurred_at: new Date().toISOString() };
      client.notifications
        .createInteraction(
          { ...about, ...subscriber, ...(variant_id && { variant_id }), ...(action_id && { action_id }) },
          LEAVING,
        )
        .catch(onError);
    },
    close: () => {
      isClosed = true;
      stream.close();
      listeners.clear();
    },
  };
  const stream = client.stream(subscriberId, {
    onMessage: () => void list.refresh(),
    onState: (next) => {
      state = next;
      // Reads the messages that came before the stream was open, or while it was interrupted.
      if (next === "live") void list.refresh();
      else tell();
    },
    onError,
  });
  void list.refresh();
  return feed;
}
