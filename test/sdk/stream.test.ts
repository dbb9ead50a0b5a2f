// The SDK's live stream against a service that breaks off, repeats itself, refuses and falls silent.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createBrowserClient } from "../../sdk/src/browser.ts";
import type { StreamOptions } from "../../sdk/src/stream.ts";
import type { StreamMessage } from "../../sdk/src/types.gen.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
const READER = "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60";

/** The id of a message of this second after the start. */
const idAt = (second: number) => {
  const hex = (START + second * 1_000).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};
const frame = (second: number) =>
  `id: ${idAt(second)}\ndata: ${JSON.stringify({ id: idAt(second), title: `m${second}` })}\n\n`;

type Reply = { pieces: string[]; open?: boolean } | { status: number; headers?: Record<string, string> };

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  vi.spyOn(Math, "random").mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** A stream over connections that reply in turn, the last one for ever; `inbox` is what polling finds. */
function listen(replies: Reply[], inbox: number[] = [], options: Partial<StreamOptions> = {}) {
  const calls: { path: string; resume: string | undefined; at: number }[] = [];
  const goodbyes: unknown[] = [];
  const service = { hasInbox: true };
  let streams = 0;
  const fetch = (async (url: string, { headers, signal, ...init }: RequestInit) => {
    const { "last-event-id": resume } = headers as Record<string, string>;
    const path = new URL(url).pathname;
    if (path.endsWith("/stream/close")) {
      goodbyes.push({ ...JSON.parse(String(init.body)), keepalive: init.keepalive });
      return new Response(null, { status: 204 });
    }
    calls.push({ path, resume, at: Date.now() - START });
    if (path.endsWith("/messages")) {
      if (!service.hasInbox) throw new TypeError("fetch failed");
      const messages = inbox.map((second) => ({
        id: idAt(second),
        notification_id: "n",
        status: "unread",
        created_at: "",
        expires_at: "",
        content: { title: `m${second}`, body: "b", actions: [{ id: "a", title: "Go", url: "https://x" }] },
      }));
      return new Response(JSON.stringify({ messages }));
    }
    const reply = replies[Math.min(streams++, replies.length - 1)]!;
    if ("status" in reply) return new Response('{"code":"X","message":"m"}', reply);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const piece of reply.pieces) controller.enqueue(new TextEncoder().encode(piece));
        if (!reply.open) controller.close();
        signal!.addEventListener("abort", () => reply.open && controller.error(signal!.reason));
      },
    });
    return new Response(body, { headers: { date: new Date(START).toUTCString(), "x-stream-id": `stream ${streams}` } });
  }) as typeof globalThis.fetch;
  const client = createBrowserClient({ baseUrl: "https://api.example.com", sdkKey: "sk_x", fetch });
  const messages: StreamMessage[] = [];
  const states: string[] = [];
  const errors: unknown[] = [];
  const stream = client.stream(READER, {
    onMessage: (message) => void messages.push(message),
    onState: (state) => void states.push(state),
    onError: (error) => void errors.push(error),
    ...options,
  });
  const titles = () => messages.map(({ title }) => title);
  return { stream, service, calls, goodbyes, messages, states, errors, titles };
}

it("the reader of a stream says goodbye to an open stream when it is closed, and when the page goes, once (AMB-122)", async () => {
  const page = new EventTarget();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  const { stream, goodbyes, calls } = listen([{ pieces: [frame(1)] }, { pieces: [], open: true }]);
  await vi.advanceTimersByTimeAsync(0);
  // The first stream has ended by itself.
  page.dispatchEvent(new Event("pagehide"));
  await vi.advanceTimersByTimeAsync(2_000);
  expect([calls.length, goodbyes]).toEqual([2, []]);
  page.dispatchEvent(new Event("pagehide"));
  stream.close();
  await stream.closed;
  page.dispatchEvent(new Event("pagehide"));
  await vi.advanceTimersByTimeAsync(0);
  expect(goodbyes).toEqual([{ subscriber_id: READER, stream_id: "stream 2", keepalive: true }]);
});

it("the reader of a stream shows each message once, in whatever pieces it comes", async () => {
  const text = `retry: 2000\n\n${frame(1)}: keepalive\n\n${frame(1)}${frame(2)}`;
  const { titles, stream, states } = listen([{ pieces: [...text], open: true }]);
  await vi.advanceTimersByTimeAsync(0);
  expect(titles()).toEqual(["m1", "m2"]);
  stream.close();
  await stream.closed;
  expect(states).toEqual(["connecting", "live", "closed"]);
});

it("the reader of a stream comes back after `retry:`, goes on from the last id, and does not repeat (SSE-4)", async () => {
  const { titles, calls, stream } = listen([
    { pieces: ["retry: 5000\n\n", frame(1), frame(2)] },
    { pieces: [frame(2), frame(3)], open: true },
  ]);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(calls).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(calls.map(({ resume, at }) => [resume, at])).toEqual([
    [undefined, 0],
    [idAt(2), 5_000],
  ]);
  expect(titles()).toEqual(["m1", "m2", "m3"]);
  stream.close();
});

it("the reader of a stream reads the inbox when it comes back without an id, since the stream begins anew (AMB-122)", async () => {
  const inbox: number[] = [];
  const { titles, calls, stream } = listen(
    [{ pieces: ["retry: 2000\n\n"] }, { pieces: [frame(3)], open: true }],
    inbox,
  );
  inbox.push(-60, 1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(calls.map(({ path, resume }) => [path, resume])).toEqual([
    ["/v1/in-app/stream", undefined],
    ["/v1/in-app/stream", undefined],
    ["/v1/in-app/messages", undefined],
  ]);
  expect(titles()).toEqual(["m1", "m3"]);
  stream.close();
  await stream.closed;
});

it("the reader of a stream waits for Retry-After of a full service, then reads the inbox beside until there is a stream again", async () => {
  const full = { status: 503, headers: { "retry-after": "30" } };
  const { titles, calls, states, stream, messages } = listen(
    [{ pieces: [frame(1)] }, full, full, full, { pieces: [frame(20), frame(21)], open: true }],
    [20, 1, -50],
  );
  await vi.advanceTimersByTimeAsync(2_000 + 60_000);
  expect(titles()).toEqual(["m1", "m20"]);
  expect(messages[1]).toMatchObject({
    sent_at: "",
    actions: [{ id: "a", label: "Go", url: "https://x" }],
    display: null,
  });
  expect(states.at(-1)).toBe("polling");
  await vi.advanceTimersByTimeAsync(30_000);
  expect(titles()).toEqual(["m1", "m20", "m21"]);
  expect(states.at(-1)).toBe("live");
  expect(calls.filter(({ path }) => path.endsWith("/stream")).map(({ at }) => at)).toEqual([
    0, 2_000, 32_000, 62_000, 92_000,
  ]);
  stream.close();
});

it("the reader of a stream goes on from where the stream was, since the inbox shows only the newest of what came since", async () => {
  const down = { status: 500 };
  const again = { pieces: [2, 3, 4, 5].map(frame), open: true };
  const { titles, calls, stream } = listen([{ pieces: [frame(1)] }, down, down, down, again], [5, 4], {
    pollMs: 1_000,
  });
  await vi.advanceTimersByTimeAsync(60_000);

  expect(titles()).toEqual(["m1", "m4", "m5", "m2", "m3"]);
  expect(calls.filter(({ path }) => path.endsWith("/stream")).at(-1)!.resume).toBe(idAt(1));
  stream.close();
});

it("a stream that never connected takes stock by its first look into the inbox, and reports nothing", async () => {
  const inbox = [1];
  const { titles, stream } = listen([{ status: 500 }], inbox, { pollMs: 1_000 });
  await vi.advanceTimersByTimeAsync(500);
  expect(titles()).toEqual([]);
  inbox.unshift(5);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(titles()).toEqual(["m5"]);
  stream.close();
});

it("a stream that never connected tells nothing of what is old where its first look into the inbox fails too (AMB-122)", async () => {
  const inbox = [-50, -60];
  const { titles, stream, service } = listen([{ status: 500 }], inbox, { pollMs: 1_000 });
  service.hasInbox = false;
  await vi.advanceTimersByTimeAsync(5_000);
  service.hasInbox = true;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(titles()).toEqual([]);
  inbox.unshift(5);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(titles()).toEqual(["m5"]);
  stream.close();
});

it("a stream that comes back without a position connects anew where the inbox does not say what came meanwhile (AMB-122)", async () => {
  const { titles, stream, service } = listen([{ pieces: [] }, { pieces: [": keepalive\n\n"], open: true }], [1]);
  service.hasInbox = false;
  await vi.advanceTimersByTimeAsync(2_500);
  service.hasInbox = true;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(titles()).toEqual(["m1"]);
  stream.close();
});

it("the reader of a stream takes a silent connection for lost", async () => {
  const { calls, stream } = listen([{ pieces: ["retry: 1000\n\n"], open: true }]);
  const opened = () => calls.filter(({ path }) => path.endsWith("/stream")).length;
  await vi.advanceTimersByTimeAsync(74_000);
  expect(opened()).toBe(1);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(opened()).toBe(2);
  stream.close();
});

it("the reader of a stream ends permanently if the key is rejected", async () => {
  const { errors, states, stream, calls } = listen([{ status: 401 }]);
  await vi.advanceTimersByTimeAsync(60_000);
  await stream.closed;
  expect(errors).toMatchObject([{ name: "ServiceError", status: 401 }]);
  expect([states.at(-1), calls.length]).toEqual(["closed", 1]);
});

it("the reader of a stream goes on from an id that was kept", async () => {
  const { calls, stream } = listen([{ pieces: [], open: true }], [], { lastEventId: idAt(-9) });
  await vi.advanceTimersByTimeAsync(0);
  expect(calls[0]!.resume).toBe(idAt(-9));
  stream.close();
});

it("the reader of a stream hands on what `onState` throws, and stays connected", async () => {
  const onState = () => {
    throw new Error("of the page");
  };
  const { errors, stream, calls } = listen([{ pieces: [frame(1)], open: true }], [], { onState });
  await vi.advanceTimersByTimeAsync(10_000);
  expect([calls.length, errors.map(String)]).toEqual([1, ["Error: of the page", "Error: of the page"]]);
  stream.close();
});

it("the reader of a stream hands on what the reader throws, and goes on", async () => {
  const seen: string[] = [];
  const onMessage = ({ title }: StreamMessage) => {
    seen.push(title);
    throw new Error(title);
  };
  const { errors, stream, states } = listen([{ pieces: [frame(1), frame(2)], open: true }], [], { onMessage });
  await vi.advanceTimersByTimeAsync(0);
  expect([seen, errors.map(String), states.at(-1)]).toEqual([["m1", "m2"], ["Error: m1", "Error: m2"], "live"]);
  stream.close();
});
