// What a feed tells its viewer. Server-sent events are one implementation; a WebSocket API or a service that publishes to
// subscribers would be another, and the feed would not change (docs/decisions/0048).

import { timestamp } from "../../shared/kernel/clock.ts";
import { timeOfUuid } from "../../shared/kernel/ids.ts";
import { fromJson } from "../../shared/store/json-text.ts";
import type { MessageText } from "../../shared/store/sends/inbox/inbox-content.ts";

export type Frame = ReturnType<typeof frameOf>;

export interface FeedOutput {
  /** A message, and the position after it, which begins with the id of the message. */
  message(frame: Frame, position: string): void;
  /** Where a later feed may continue. */
  position(position: string): void;
  keepalive(): void;
  /** How long the viewer waits before it comes back. */
  retry(ms: number): void;
}

/**
 * SSE-1 to SSE-3. The id of a message comes after its data, because some clients keep an id before its block has ended: cut in
 * between, they get the message again instead of never.
 */
export const serverSentEvents = (write: (text: string) => void): FeedOutput => ({
  message: (frame, position) => write(`data: ${JSON.stringify(frame)}\nid: ${position}\n\n`),
  position: (position) => write(`id: ${position}\n\n`),
  keepalive: () => write(": keepalive\n\n"),
  retry: (ms) => write(`retry: ${ms}\n\n`),
});

/** SSE-6. Authored actions keep `title` in the inbox and are `label` here (AMB-1); the full display is in `data`. */
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
