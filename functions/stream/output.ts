// The output of a feed to its viewer. Server-sent events are one implementation; a WebSocket API or a service that
// publishes to subscribers could replace it without changing the feed (docs/decisions/0048).
import { timestamp } from "../../shared/kernel/clock.ts";
import { timeOfUuid } from "../../shared/kernel/ids.ts";
import { fromJson } from "../../shared/store/json-text.ts";
import type { MessageText } from "../../shared/store/sends/inbox/inbox-content.ts";

type Frame = ReturnType<typeof frameOf>;

export interface FeedOutput {
  /** Sent first: how long the viewer waits before it comes back, and where this feed begins. */
  begin(retryMs: number, position: string): void;
  /** A message, and the position after it, which begins with the id of the message. */
  message(frame: Frame, position: string): void;
  /** Where a later feed may continue. */
  position(position: string): void;
  keepalive(): void;
  /** How long the viewer waits before it comes back. */
  retry(ms: number): void;
}

/**
 * The end of a position that comes before a message: a client that resumes from it may hold data of a block that was
 * cut.
 */
const BEFORE_DATA = "~";

const isBeforeData = (lastEventId: string): boolean => lastEventId.endsWith(BEFORE_DATA);
export const withoutMark = (lastEventId: string): string =>
  isBeforeData(lastEventId) ? lastEventId.slice(0, -BEFORE_DATA.length) : lastEventId;

/**
 * Writes server-sent events (SSE-1 to SSE-3). Some clients store an id before its block has ended, and keep the data of
 * a cut block until the next connection (docs/decisions/0118). So the data comes between two ids, and the id tells
 * which case it is. After the first id the data is sent again, and the data that the client holds goes to an event
 * without listeners. After the second id the first empty line completes the block.
 * @param resumed the `Last-Event-ID` of the request
 */
export function serverSentEvents(write: (text: string) => void, resumed = ""): FeedOutput {
  let latest = "";
  return {
    begin: (ms, position) => {
      latest = position;
      if (isBeforeData(resumed)) write(`event: cut\nretry: ${ms}\nid: ${position}${BEFORE_DATA}\n\n`);
      else write(`retry: ${ms}\nid: ${position}\n\n`);
    },
    message: (frame, position) => {
      write(`id: ${latest}${BEFORE_DATA}\ndata: ${JSON.stringify(frame)}\nid: ${position}\n\n`);
      latest = position;
    },
    position: (position) => {
      write(`id: ${position}\n\n`);
      latest = position;
    },
    keepalive: () => write(": keepalive\n\n"),
    retry: (ms) => write(`retry: ${ms}\n\n`),
  };
}

/**
 * The frame of a message (SSE-6). Authored actions have a `title` in the inbox and a `label` here (AMB-1); the full
 * display is in `data`.
 */
export function frameOf(id: string, job: string, { content, data }: MessageText) {
  const { title, body, variant_id, format, image_url, actions = [], display } = content;
  return {
    id,
    notification_id: job,
    title,
    body,
    data: { ...(data && fromJson(data)), ...(variant_id && { variant_id }), ...(display && { display }) },
    sent_at: timestamp(timeOfUuid(id)),
    format: format ?? null,
    image_url: image_url ?? null,
    actions: actions.map((action) => ({ id: action.id, label: action.title, url: action.url })),
    display: display ? { trigger: display.trigger, frequency: display.frequency } : null,
  };
}
