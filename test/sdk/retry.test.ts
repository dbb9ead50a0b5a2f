// How the SDK's transport behaves towards a service that fails: retries, timeouts, keys, errors (ERR-21 to ERR-24).
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createBrowserClient } from "../../sdk/src/browser.ts";
import { createClient } from "../../sdk/src/client.ts";
import { ServiceError } from "../../sdk/src/errors.ts";
import { backoffMs } from "../../sdk/src/retry.ts";
import { clientOf, envelope, json, lost, mistake, outcome } from "./support/answers.ts";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const template = { name: "n", content: { title: "t", body: "b" } };
const send = { target: { type: "all" }, title: "t", body: "b" } as const;

describe("requests", () => {
  it("requests of the SDK go where the route says, with the first credential it takes", async () => {
    const { sent, client } = clientOf(() => json(200, { data: [], total: 0, page: 1 }));
    await client.templates.list({ page: 2, name: "a b" });
    await client.subscribers.listWithServerKey({ cursor: "c" });
    await client.subscribers.upsert({ external_id: "ada" });
    await client.inbox.readMessage("a/b", { subscriber_id: "s" });
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "GET https://api.example.com/api/v1/templates?page=2&name=a+b",
      "GET https://api.example.com/v1/subscribers?cursor=c",
      "POST https://api.example.com/api/v1/subscribers/upsert",
      "POST https://api.example.com/v1/in-app/messages/a%2Fb/read",
    ]);
    expect(sent.map(({ headers }) => headers.authorization ?? headers["x-sdk-key"])).toEqual([
      "Bearer token",
      "Bearer service_srv_x",
      "sk_x",
      "Bearer token",
    ]);
    expect(sent[2]!.body).toBe('{"external_id":"ada"}');
  });

  it("requests of the SDK are not made without a credential for them", async () => {
    const client = createClient({ baseUrl: "https://api.example.com", serverKey: "service_srv_x" });
    await expect(client.templates.list()).rejects.toThrow("needs one of these credentials: dashboard");
  });

  it("a client with nothing but a server key calls the backend's routes by the same names (BKS-2, BKS-3)", async () => {
    const urls: string[] = [];
    const fetch = (async (url: string) => {
      urls.push(url);
      return json(200, {});
    }) as typeof globalThis.fetch;
    const client = createClient({ baseUrl: "https://api.example.com", serverKey: "service_srv_x", fetch });
    await client.notifications.create({ external_ids: ["ada"], title: "t", body: "b" });
    await client.subscribers.upsert({ external_id: "ada" });
    await client.subscribers.list({ external_id: "ada" });
    expect(urls).toEqual([
      "https://api.example.com/v1/notifications",
      "https://api.example.com/v1/subscribers/upsert",
      "https://api.example.com/v1/subscribers?external_id=ada",
    ]);
  });

  it.each([undefined, null, "", ".", "..", {}])(
    "requests of the SDK are not made with %j in place of an id",
    async (id) => {
      const { sent, client } = clientOf(() => json(200, {}));
      await expect(client.templates.get(id as string)).rejects.toThrow(
        new TypeError(`GET /api/v1/templates/:id: id must be the text of an id, not ${JSON.stringify(id)}.`),
      );
      expect(sent).toEqual([]);
    },
  );

  it("requests of the SDK are not made without the list of an import, or the subscriber of a stream", async () => {
    const { sent, client } = clientOf(() => json(200, {}));
    const browser = createBrowserClient({ baseUrl: "https://api.example.com", sdkKey: "sk_x" });
    const missing = undefined as unknown as string;
    await expect(client.importCsv(missing, new Blob(["external_id\nada"]))).rejects.toThrow(
      "importCsv: listId must be",
    );
    expect(() => browser.stream(missing, { onMessage: () => undefined })).toThrow("stream: subscriberId must be");
    expect(sent).toEqual([]);
  });

  it.each([
    [{ timeout: 5 }, "there is no option timeout"],
    [5, "options must be an object, not 5"],
  ])("requests of the SDK are not made with the options %j", async (options, problem) => {
    const { sent, client } = clientOf(() => json(200, {}));
    await expect(client.templates.get("x", options as object)).rejects.toThrow(problem);
    expect(sent).toEqual([]);
  });

  it("requests of the SDK answer 204 with nothing", async () => {
    const { client } = clientOf(() => json(204, undefined));
    expect(await client.templates.delete("x")).toBeUndefined();
  });
});

describe("retries", () => {
  it.each([500, 503])("%s is tried again, with growing waits (ERR-21)", async (status) => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    const { sent, client } = clientOf(envelope(status, "X"), envelope(status, "X"), envelope(status, "X"), () =>
      json(201, { id: "1" }),
    );
    expect(await outcome(client.templates.create(template))).toEqual({ id: "1" });
    expect(sent.map(({ at }) => at)).toEqual([0, 250, 750, 1_750]);
  });

  it("a retried request stops after three more (ERR-21)", async () => {
    const { sent, client } = clientOf(envelope(503, "SERVICE_UNAVAILABLE"));
    expect(await outcome(client.templates.list())).toMatchObject({
      status: 503,
      code: "SERVICE_UNAVAILABLE",
      requestId: "r-1",
    });
    expect(sent).toHaveLength(4);
  });

  it("429 waits for Retry-After, and with jitter for repeats (ERR-22)", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const limited = () => json(429, { error: "rate limit exceeded", retry_after: 7 }, { "retry-after": "7" });
    const { sent, client } = clientOf(limited, limited, () => json(200, {}));
    await outcome(client.templates.list());
    expect(sent.map(({ at }) => at)).toEqual([0, 7_125, 14_375]);
  });

  it("a Retry-After longer than anyone waits is thrown (ERR-22)", async () => {
    const { sent, client } = clientOf(envelope(429, "RATE_LIMITED", { "retry-after": "3600" }));
    expect(await outcome(client.templates.list())).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 3_600 });
    expect(sent).toHaveLength(1);
  });

  it.each([
    [400, "BAD_REQUEST"],
    [401, "UNAUTHORIZED"],
    [403, "FORBIDDEN"],
    [404, "NOT_FOUND"],
    [409, "CONFLICT"],
    [422, "VALIDATION_ERROR"],
  ])("%s %s is not tried again (ERR-23)", async (status, code) => {
    const { sent, client } = clientOf(envelope(status, code));
    expect(await outcome(client.templates.list())).toMatchObject({ name: "ServiceError", status, code });
    expect(sent).toHaveLength(1);
  });

  it.each([
    [429, "QUOTA_EXCEEDED"],
    [402, "PAYMENT_REQUIRED"],
    [402, "SEND_CAP_REACHED"],
  ])("%s %s is never tried again (ERR-24)", async (status, code) => {
    const { sent, client } = clientOf(envelope(status, code, { "retry-after": "1" }));
    expect(await outcome(client.notifications.create(send))).toMatchObject({ status, code });
    expect(sent).toHaveLength(1);
  });

  it("without an answer, only what is safe to repeat is repeated", async () => {
    const unsafe = clientOf(lost);
    expect(await outcome(unsafe.client.templates.create(template))).toMatchObject({ status: 0, code: "NETWORK_ERROR" });
    expect(unsafe.sent).toHaveLength(1);
    const safe = clientOf(lost, () => json(200, { id: "1" }));
    expect(await outcome(safe.client.templates.get("x"))).toEqual({ id: "1" });
  });

  it("without an answer, a change of what was seen is not repeated: its own success would refuse it", async () => {
    const { sent, client } = clientOf(lost);
    const campaign = { name: "Spring", messages: [] };
    const ended = await outcome(client.campaigns.replace("x", campaign, { ifVersion: 3 }));
    expect(ended).toMatchObject({ status: 0, code: "NETWORK_ERROR" });
    expect(sent).toHaveLength(1);
  });

  const circle: Record<string, unknown> = {};
  circle.itself = circle;
  it.each([
    ["a body that is no JSON", {}, circle, /circular/],
    ["a header that no request can have", { accessToken: "two\nlines" }, template, /invalid header value/],
    ["an address that is none", { baseUrl: "api.example.com" }, template, /URL/],
  ])("%s is a TypeError, and no request", async (_, settings, body, problem) => {
    const fetch = vi.fn(async () => json(200, {}));
    const client = createClient({ baseUrl: "https://api.example.com", accessToken: "token", fetch, ...settings });
    const error = await outcome(client.templates.create(body as typeof template));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(problem);
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each([
    ["at once", () => mistake(new TypeError("a mistake"))],
    ["later", async () => mistake(new ReferenceError("a mistake"))],
    ["nothing", async () => undefined as unknown as Response],
  ])("a `fetch` of the caller that throws a mistake %s is not an unreachable service", async (_, fetch) => {
    const client = createClient({ baseUrl: "https://api.example.com", accessToken: "token", fetch });
    expect(await outcome(client.templates.list())).not.toBeInstanceOf(ServiceError);
  });

  it("a send carries one idempotency key through all its attempts (AMB-94)", async () => {
    const { sent, client } = clientOf(lost, envelope(503, "X"), () => json(201, { id: "1", sent: 1 }));
    await outcome(client.notifications.create(send));
    const [first, ...more] = sent.map(({ headers }) => headers["idempotency-key"]);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(more).toEqual([first, first]);
    await outcome(client.notifications.create(send, { idempotencyKey: "mine" }));
    await outcome(client.notifications.create({ ...send, idempotency_key: "in the body" }));
    expect(sent.slice(3).map(({ headers }) => headers["idempotency-key"])).toEqual(["mine", undefined]);
  });

  it("the caller's signal ends a wait", async () => {
    const { sent, client } = clientOf(envelope(503, "X", { "retry-after": "30" }));
    const over = new AbortController();
    setTimeout(() => over.abort(new Error("enough")), 1_000);
    expect(await outcome(client.templates.list({}, { signal: over.signal }))).toMatchObject({ message: "enough" });
    expect(sent).toHaveLength(1);
  });

  it("back-off grows, is jittered and has a longest wait", () => {
    expect([0, 1, 2, 20].map((n) => backoffMs(n, 1))).toEqual([250, 500, 1_000, 20_000]);
    expect(backoffMs(5, 0)).toBe(0);
  });
});

describe("errors", () => {
  /** A service that answers what `answers` says, and nothing else. */
  const silent = (answers: (url: string) => Response | undefined = () => undefined) => {
    vi.useRealTimers();
    const fetch = (async (url: string, { signal }: RequestInit) =>
      answers(url) ??
      new Promise((_, reject) =>
        signal!.addEventListener("abort", () => reject(signal!.reason)),
      )) as typeof globalThis.fetch;
    return { baseUrl: "https://api.example.com", accessToken: "t", fetch, maxRetries: 0 };
  };

  it("a request that takes too long is a TIMEOUT", async () => {
    const client = createClient({ ...silent(), timeoutMs: 20 });
    await expect(client.templates.list()).rejects.toMatchObject({ status: 0, code: "TIMEOUT" });
  });

  it("the upload of a large file has as long as the caller says", async () => {
    const upload = { upload_id: "u", url: "https://files.example.com/", fields: {} };
    const client = createClient(silent((url) => (url.endsWith("/uploads") ? json(201, upload) : undefined)));
    const file = new Blob(["x".repeat(4_000_001)]);
    await expect(client.importCsv("list", file, { timeoutMs: 50 })).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it.each([
    [403, { error: "in_app_not_permitted", message: "m", upgrade_required: true }, "FEATURE_NOT_AVAILABLE"],
    [413, { message: "Request Entity Too Large" }, "BODY_TOO_LARGE"],
    [502, "<html>", "HTTP_502"],
  ])("%s %j reads as %s %s", async (status, body, code) => {
    const { client } = clientOf(() => (typeof body === "string" ? new Response(body, { status }) : json(status, body)));
    expect(await outcome(client.templates.list())).toMatchObject({ status, code, body });
  });

  it("fields are handed on", async () => {
    const { client } = clientOf(() =>
      json(422, { code: "VALIDATION_ERROR", message: "m", fields: { name: "is required" } }),
    );
    const error = await outcome(client.templates.create(template));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ fields: { name: "is required" } });
  });
});
