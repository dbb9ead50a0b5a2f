// Reads `text/event-stream` from a response, piece by piece.

export interface StreamEvent {
  id: string | undefined;
  data: string | undefined;
  /** Milliseconds to wait before the next connection, if the service sent it. */
  retryMs: number | undefined;
}

/** The events of a body. A comment is returned as an event without data, so that keepalives are seen. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (;;) {
        const end = /\r\n\r\n|\n\n|\r\r/.exec(text);
        if (!end) break;
        yield eventOf(text.slice(0, end.index));
        text = text.slice(end.index + end[0].length);
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): StreamEvent {
  const event: StreamEvent = { id: undefined, data: undefined, retryMs: undefined };
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") event.id = value;
    if (field === "data") event.data = event.data === undefined ? value : `${event.data}\n${value}`;
    if (field === "retry" && /^\d+$/.test(value)) event.retryMs = Number(value);
  }
  return event;
}
