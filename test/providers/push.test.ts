// The content of a push (D-PUSH), shared connections to Apple, and service time during requests.
import { constants, performServerHandshake, type ServerHttp2Session } from "node:http2";
import { describe, expect, it } from "vitest";
import type { SinkRequest } from "../../local/providers/sink.ts";
import { openEgress } from "../../shared/egress/egress.ts";
import type { Outcome } from "../../shared/providers/provider.ts";
import { openProviders } from "../../shared/providers/providers.ts";
import { answeringNetwork, onLines } from "../support/networks.ts";
import { addresses, JOB, SUBSCRIBER, sendBy } from "../support/provider-messages.ts";
import { START, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const providersOf = (world: TestWorld) => openProviders(world.depsFor("test"));
const outbox = async (world: TestWorld) => (await world.call("GET /_local/outbox")).body.items;

describe("iOS", () => {
  it("an alert in a thread, one a job, with the notification's ids in its data (D-PUSH)", async () => {
    const world = await fresh();
    const data = { screen: "sale", notification_id: "forged", aps: { badge: 99 } };
    await sendBy(providersOf(world), "ios", { data, variant: "a", category: "transactional" });
    const [item] = await outbox(world);
    expect(item.payload).toEqual({
      screen: "sale",
      notification_id: JOB,
      subscriber_id: SUBSCRIBER,
      variant_id: "a",
      aps: {
        alert: { title: "Hello Ada", body: "The sale begins – today." },
        sound: "default",
        "thread-id": "transactional",
      },
    });
    expect(item.headers).toMatchObject({
      host: "api.push.apple.com",
      "apns-topic": "com.example.app",
      "apns-push-type": "alert",
      "apns-collapse-id": JOB,
      "apns-priority": "10",
      "apns-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it("the same message has the same apns-id, another device another (D-PUSH)", async () => {
    const world = await fresh();
    const providers = providersOf(world);
    for (const target of ["device-1", "device-1", "device-2"]) await sendBy(providers, "ios", { target });
    const [first, second, third] = (await outbox(world)).map((item: { headers: object }) => item.headers);
    expect([first["apns-id"], first["apns-id"]]).toEqual([
      second["apns-id"],
      expect.not.stringMatching(third["apns-id"]),
    ]);
  });

  it("a push to iOS goes to the environment of the device, else of the credentials (D-DEV)", async () => {
    const world = await fresh();
    const providers = providersOf(world);
    await sendBy(providers, "ios", { address: { ...addresses.ios, environment: "sandbox" } });
    await sendBy(providers, "ios", {}, { environment: "sandbox" });
    expect((await outbox(world)).map((item: { headers: { host: string } }) => item.headers.host)).toEqual([
      ...["api.sandbox.push.apple.com", "api.sandbox.push.apple.com"],
    ]);
  });

  it("a provider token is reused for less than an hour", async () => {
    const world = await fresh();
    const providers = providersOf(world);
    for (const minutes of [0, 49, 2, 60]) {
      await world.advance(minutes * 60_000);
      expect(await sendBy(providers, "ios")).toMatchObject({ kind: "accepted" });
    }
    const tokens = (await outbox(world)).map(
      (item: { headers: { authorization: string } }) => item.headers.authorization,
    );
    expect([tokens[0] === tokens[1], new Set(tokens).size]).toEqual([true, 3]);
  });

  it.each(["ios", "android"] as const)(
    "%s: more than 4 KB beside the text is refused before it is sent",
    async (channel) => {
      const world = await fresh();
      const sent = await sendBy(providersOf(world), channel, { data: { long: "é".repeat(2_048) } });
      expect(sent).toEqual({ kind: "rejected", reason: "payload_too_large" });
      expect((await world.call("GET /_local/meter")).body.providers.requests).toBe(0);
    },
  );

  it.each(["ios", "android", "web_push"] as const)(
    "%s: a text that is too long is cut between two characters, and said so (D-PUSH)",
    async (channel) => {
      const world = await fresh();
      const family = "👩‍👩‍👧";
      const sent = await sendBy(providersOf(world), channel, { body: family.repeat(400) });
      expect(sent).toMatchObject({ kind: "accepted", isShortened: true });
      const { payload } = (await outbox(world))[0];
      const body: string = (payload.aps?.alert ?? payload.notification ?? payload).body;
      expect(body).toBe(`${family.repeat((body.length - 1) / family.length)}…`);
      expect(body.length).toBeGreaterThan(100 * family.length);
    },
  );
});

it("Android: a message goes without the values under names that Google keeps to itself (D-PUSH)", async () => {
  const world = await fresh();
  const data = { from: "shop", message_type: "sale", "google.a": 1, gcm_id: 2, screen: "sale" };

  expect(await sendBy(providersOf(world), "android", { data })).toMatchObject({ kind: "accepted" });

  const ids = { notification_id: JOB, subscriber_id: SUBSCRIBER };
  expect((await outbox(world))[0].payload.data).toEqual({ screen: "sale", ...ids });
});

it("Android: a notification with its tag, collapsed by job, and data in strings (D-PUSH)", async () => {
  const world = await fresh();
  await sendBy(providersOf(world), "android", { data: { n: 5, deep: { a: [1] }, s: "x" } });
  expect((await outbox(world))[0].payload).toEqual({
    token: addresses.android.token,
    notification: { title: "Hello Ada", body: "The sale begins – today." },
    data: { n: "5", deep: '{"a":[1]}', s: "x", notification_id: JOB, subscriber_id: SUBSCRIBER },
    android: { collapse_key: JOB, priority: "HIGH", notification: { tag: JOB } },
  });
});

it.each([
  ["plain text", "Sale at 5€ [today]", undefined],
  ["another alphabet", "Ğ sale", "unicode"],
  ["emoji", "Sale 🎉", "unicode"],
])("an SMS of %s (CRD-6)", async (_, body, type) => {
  const world = await fresh();
  await sendBy(providersOf(world), "sms", { body });
  const [item] = await outbox(world);
  expect(item.payload).toMatchObject({ from: "Shop", to: "4915112345678", text: `Hello Ada\n${body}` });
  expect([item.payload.type, item.payload.api_secret, item.to]).toEqual([type, undefined, "+4915112345678"]);
});

describe("HTTP/2", () => {
  const ask = { purpose: "ios", url: "https://api.push.apple.com/3/device/x", http2: true } as const;

  it("concurrent requests share one connection, until it was idle for a minute", async () => {
    const world = await fresh();
    const asked: SinkRequest[] = [];
    const network = answeringNetwork((request) => {
      asked.push(request);
      return { status: 200 };
    });
    const client = openEgress({ clock: world.clock, network });
    const all = await Promise.all(Array.from({ length: 200 }, () => client.request(ask)));
    expect(all.every((exchange) => exchange.kind === "answered")).toBe(true);
    expect([asked.length, network.connects.length]).toEqual([200, 1]);
    await world.advance(61_000);
    await client.request(ask);
    expect(network.connects).toHaveLength(2);
  });

  it("a refused stream was not sent; a closed session is replaced", async () => {
    const world = await fresh();
    const sessions: ServerHttp2Session[] = [];
    const network = onLines((line) => {
      const session = performServerHandshake(line);
      sessions.push(session);
      session.on("error", () => undefined);
      session.on("stream", (stream) => {
        stream.on("error", () => undefined);
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
      });
    });
    const client = openEgress({ clock: world.clock, network });
    expect(await client.request(ask)).toMatchObject({ kind: "not_sent", isRefused: false });
    sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR);
    sessions[0]?.destroy();
    // The end of the session must first arrive over the connection.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(await client.request(ask)).toMatchObject({ kind: "not_sent" });
    expect(sessions).toHaveLength(2);
  });
});

it("no service time passes while providers answer, nor real time while they do not (D-PROV)", async () => {
  const world = await fresh();
  const outcomes: Outcome[] = [];
  const channels = ["ios", "android", "web_push", "email", "sms", "chat_app"] as const;
  const create = () => {
    const providers = providersOf(world);
    return async () => {
      outcomes.push(...(await Promise.all(channels.map((channel) => sendBy(providers, channel)))));
    };
  };
  world.host.register({ name: "sender", timeoutSeconds: 60, create });
  const send = async () => {
    const sending = world.host.invoke("sender", {});
    await world.settle();
    await sending;
  };
  await send();
  expect(outcomes.map(({ kind: status }) => status)).toEqual(channels.map(() => "accepted"));
  expect(world.clock.now()).toBe(START);
  for (const channel of channels) await world.call("POST /_local/faults", { body: { channel, outcome: "timeout" } });
  outcomes.length = 0;
  await send();
  expect(outcomes.map(({ kind: status }) => status)).toEqual(channels.map(() => "unknown"));
  expect(world.clock.now()).toBe(START + 10_000);
});
