// The live stream of a subscriber's messages: resumes, backs off, delivers each once, falls back to the inbox.
import { errorOf, ServiceError } from "./errors.ts";
import { readEvents, type StreamEvent } from "./event-source.ts";
import { backoffMs } from "./retry.ts";
import { queryText, sleep } from "./transport.ts";
import type { Message, StreamMessage } from "./types.gen.ts";

export type StreamState = "connecting" | "live" | "polling" | "closed";

export interface StreamOptions {
  /** Called once per message. */
  onMessage(message: StreamMessage): void;
  onState?(state: StreamState): void;
  /** Called when the stream ends permanently (key rejected, no in-app in the plan), or when another callback threw. */
  onError?(error: unknown): void;
  /** Id of the last message seen, to resume from. */
  lastEventId?: string;
  /** Consecutive failures after which the inbox is polled as well; default 3. */
  pollAfterFailures?: number;
  /** Time between two polls of the inbox, in milliseconds; default 15,000. */
  pollMs?: number;
  /** Silence after which a connection counts as lost, in milliseconds; default 75,000 (over two keepalives). */
  silenceMs?: number;
}

export interface LiveStream {
  /** Ends the stream, here and in the service. When the page goes, the stream does so by itself. */
  close(): void;
  /** Resolves when the stream has ended, by `close` or permanently. */
  readonly closed: Promise<void>;
}

/** The parts of a client that the stream needs. */
export interface StreamDeps {
  root: string;
  fetch: typeof fetch;
  headers(): Promise<Record<string, string>>;
  listInbox(signal: AbortSignal): Promise<readonly Message[]>;
}

const RETRY_MS = 2_000;
const MAX_CACHED = 2_000;
const REMEMBERED_AFTER_FORGETTING = 1_000;

interface Progress {
  lastId: string | undefined;
  seen: Set<string>;
  retryMs: number;
  failures: number;
  /** Whether this attempt connected. If so, the service sets the time of the next one. */
  connected: boolean;
  /** Service time of the first connection: older messages existed before it. */
  since: number | undefined;
  /** The service's name of the open stream, to end it early. */
  streamId: string | undefined;
}

export function openStream(deps: StreamDeps, subscriber: string, options: StreamOptions): LiveStream {
  const over = new AbortController();
  const { lastEventId } = options;
  const progress: Progress = {
    lastId: lastEventId,
    seen: new Set(lastEventId === undefined ? [] : [lastEventId]),
    retryMs: RETRY_MS,
    failures: 0,
    connected: false,
    since: lastEventId === undefined ? undefined : timeOf(lastEventId),
    streamId: undefined,
  };
  const leave = () => sayGoodbye(deps, subscriber, progress);
  const page = pageOf(globalThis);
  page?.addEventListener("pagehide", leave);
  const closed = keepOpen(deps, subscriber, options, progress, over.signal)
    .catch((error: unknown) => {
      if (!over.signal.aborted) options.onError?.(error);
    })
    .finally(() => {
      page?.removeEventListener("pagehide", leave);
      tell(options, () => options.onState?.("closed"));
    });
  const close = () => {
    over.abort();
    leave();
  };
  return { close, closed };
}

/** A callback that throws is no failure of the connection. */
function tell({ onError }: StreamOptions, callback: () => void): void {
  try {
    callback();
  } catch (error) {
    onError?.(error);
  }
}

/** The window of a browser; undefined elsewhere. */
const pageOf = (surroundings: object): Pick<EventTarget, "addEventListener" | "removeEventListener"> | undefined =>
  "addEventListener" in surroundings ? (surroundings as EventTarget) : undefined;

/**
 * Tells the service that the viewer leaves, since it would not notice and hold the stream open. A page that comes back
 * from the browser's cache reconnects as after any lost connection. Without the goodbye the stream ends by itself.
 */
function sayGoodbye({ root, fetch, headers }: StreamDeps, subscriber: string, progress: Progress): void {
  const { streamId: stream_id } = progress;
  if (stream_id === undefined) return;
  progress.streamId = undefined;
  const body = JSON.stringify({ subscriber_id: subscriber, stream_id });
  Promise.resolve(headers())
    .then((authorization) =>
      fetch(`${root}/v1/in-app/stream/close`, {
        method: "POST",
        headers: { ...authorization, "content-type": "application/json" },
        body,
        keepalive: true,
      }),
    )
    .catch(() => undefined);
}

async function keepOpen(
  deps: StreamDeps,
  subscriber: string,
  options: StreamOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { pollAfterFailures = 3, pollMs = 15_000 } = options;
  while (!signal.aborted) {
    tell(options, () => options.onState?.(progress.failures >= pollAfterFailures ? "polling" : "connecting"));
    let wait: number;
    progress.connected = false;
    try {
      await listen(deps, subscriber, options, progress, signal);
      wait = progress.retryMs + backoffMs(0, Math.random());
    } catch (error) {
      if (signal.aborted) return;
      const refused = error instanceof ServiceError ? error : undefined;
      if (refused && refused.status >= 400 && refused.status < 500 && refused.status !== 429) throw error;
      progress.failures++;
      const asked = progress.connected ? progress.retryMs : (refused?.retryAfterSeconds ?? 0) * 1_000;
      wait = asked + backoffMs(progress.failures, Math.random());
    }
    if (progress.failures >= pollAfterFailures) {
      tell(options, () => options.onState?.("polling"));
      // If the inbox cannot be read either, the next attempt reads it again.
      await poll(deps, options, progress, signal).catch(() => undefined);
      wait = Math.max(wait, pollMs);
    }
    await sleep(wait, signal);
  }
}

/** One connection, until it ends. */
async function listen(
  deps: StreamDeps,
  subscriber: string,
  options: StreamOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { silenceMs = 75_000 } = options;
  const lost = new AbortController();
  const watch = () => setTimeout(() => lost.abort(new Error("The stream fell silent.")), silenceMs);
  let silence = watch();
  try {
    const response = await deps.fetch(`${deps.root}/v1/in-app/stream?${queryText({ subscriber_id: subscriber })}`, {
      headers: {
        ...(await deps.headers()),
        accept: "text/event-stream",
        ...(progress.lastId !== undefined && { "last-event-id": progress.lastId }),
      },
      signal: AbortSignal.any([signal, lost.signal]),
    });
    if (!response.ok) throw await errorOf(response);
    if (!response.body) throw new TypeError("This fetch cannot stream.");
    progress.failures = 0;
    progress.connected = true;
    progress.streamId = response.headers.get("x-stream-id") ?? undefined;
    const isResumed = progress.since !== undefined;
    progress.since ??= Date.parse(response.headers.get("date") ?? "") || undefined;
    tell(options, () => options.onState?.("live"));
    // A connection that broke before its first id left no position: what came since the first one is in the inbox.
    if (isResumed && progress.lastId === undefined) await poll(deps, options, progress, signal);
    for await (const event of readEvents(response.body)) {
      clearTimeout(silence);
      silence = watch();
      take(event, options, progress);
    }
    // The stream ended by itself, so there is none to end in the service.
    progress.streamId = undefined;
  } finally {
    clearTimeout(silence);
    lost.abort();
  }
}

function take({ id, data, retryMs }: StreamEvent, options: StreamOptions, progress: Progress): void {
  if (retryMs !== undefined) progress.retryMs = retryMs;
  if (data !== undefined) show(JSON.parse(data) as StreamMessage, options, progress);
  if (id !== undefined) progress.lastId = id;
}

function show(message: StreamMessage, options: StreamOptions, progress: Progress): void {
  const { seen } = progress;
  if (seen.has(message.id)) return;
  seen.add(message.id);
  if (seen.size > MAX_CACHED)
    for (const id of [...seen].slice(0, seen.size - REMEMBERED_AFTER_FORGETTING)) seen.delete(id);
  tell(options, () => options.onMessage(message));
}

/**
 * Messages that arrived without a stream. If there was no connection before, the first poll only records their ids.
 * @throws ServiceError if the inbox cannot be read
 */
async function poll(deps: StreamDeps, options: StreamOptions, progress: Progress, signal: AbortSignal): Promise<void> {
  const messages = await deps.listInbox(signal);
  const { since } = progress;
  if (since === undefined) {
    for (const { id } of messages) progress.seen.add(id);
    progress.since = messages.length > 0 ? timeOf(messages[0]!.id) : 0;
    return;
  }
  const fresh = messages.filter(({ id }) => timeOf(id) >= since).sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const message of fresh) show(shown(message), options, progress);
}

/** The time in a message's id, in milliseconds. */
const timeOf = (id: string): number => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);

interface AuthoredContent {
  format?: string;
  image_url?: string;
  actions?: { id: string; title: string; url: string }[];
  display?: { trigger: string; frequency: string };
}

/** A message of the inbox in the form of the stream. */
function shown({ id, notification_id, content, created_at }: Message): StreamMessage {
  const { format, image_url, actions = [], display } = content as AuthoredContent;
  return {
    id,
    notification_id,
    title: content.title,
    body: content.body,
    data: {},
    sent_at: created_at,
    format: format ?? null,
    image_url: image_url ?? null,
    actions: actions.map((action) => ({ id: action.id, label: action.title, url: action.url })),
    display: display ? { trigger: display.trigger, frequency: display.frequency } : null,
  };
}
