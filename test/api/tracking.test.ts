// What libraries of Segment send is taken as subscribers, events, devices and anonymous ids (CLI-1).
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { exportAll } from "../support/events.ts";
import { journeySetting } from "../support/journeys.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
let setting: Awaited<ReturnType<typeof journeySetting>>;
let keys: { server: string; sdk: string };

const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` });

const send = async (call: string, body: object, headers: Record<string, string> = basic(keys.server)) => {
  const answer = await setting.world.call(`POST /v1/segment/${call}`, { headers, body });
  await setting.world.settle();
  return answer;
};

const events = () => exportAll(setting.world, setting.tenant, { to: timestamp(START + HOUR) });

const subscriberOf = async (external_id: string) => {
  const list = await setting.call(`GET /api/v1/subscribers?external_id=${external_id}`);
  const [one] = list.body.items;
  return one && { ...one, attributes: JSON.parse(one.attributes) };
};

beforeEach(async () => {
  setting = await journeySetting(await fresh());
  const { server, sdk } = setting.tenant;
  keys = { server: String(server.authorization).slice("Bearer ".length), sdk: String(sdk["x-sdk-key"]) };
});

describe("messages", () => {
  it("identify makes a subscriber of the user id, with its traits as attributes (CLI-1)", async () => {
    const traits = { email: "ada@example.com", firstName: "Ada", phone: "+44 20 7946 0018", plan: "pro", seats: 3 };
    const answer = await send("identify", { userId: "ada", traits, context: { locale: "en_GB" } });

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, accepted: 1 });
    expect(await subscriberOf("ada")).toMatchObject({
      email: "ada@example.com",
      attributes: { first_name: "Ada", phone: "+442079460018", plan: "pro", seats: 3, locale: "en-GB" },
    });
  });

  it("what identify says wins over the traits that its context has (CLI-1)", async () => {
    await send("identify", { userId: "ada", traits: { plan: "pro" }, context: { traits: { plan: "free", seats: 3 } } });

    expect(await subscriberOf("ada")).toMatchObject({ attributes: { plan: "pro", seats: 3 } });
  });

  it("track stores the event under its name, of a subscriber that it creates (CLI-1)", async () => {
    await send("track", { userId: "ada", event: "Order Completed", properties: { total: 9.5 }, messageId: "m-1" });
    const { id } = await subscriberOf("ada");

    expect(await events()).toMatchObject([
      { event_name: "Order Completed", subscriber_id: id, properties: { total: 9.5 } },
    ]);
  });

  it("a message that is sent again stores nothing more (CLI-1)", async () => {
    const message = { userId: "ada", event: "Order Completed", messageId: "m-1" };
    await send("track", message);
    await send("track", message);

    expect(await events()).toHaveLength(1);
  });

  it.each([
    ["page", { name: "Pricing", properties: { path: "/pricing" } }, { name: "Pricing", path: "/pricing" }],
    ["screen", { name: "Home" }, { name: "Home" }],
    ["group", { groupId: "acme", traits: { seats: 5 } }, { group_id: "acme", seats: 5 }],
    ["alias", { previousId: "anon-1" }, { previous_id: "anon-1" }],
  ])("%s is stored as an event of that name (CLI-1)", async (call, message, properties) => {
    await send(call, { userId: "ada", ...message });

    expect(await events()).toMatchObject([{ event_name: call, properties }]);
  });

  it("an anonymous id beside a user id gives its events to the subscriber (CLI-1)", async () => {
    await send("track", { anonymousId: "anon-1", event: "Viewed" });
    await send("identify", { userId: "ada", anonymousId: "anon-1" });
    const { id } = await subscriberOf("ada");
    const rule = { event: { name: "Viewed" } };
    const { body } = await setting.call("POST /api/v1/segments/preview", rule);

    expect(body.sample_subscriber_ids).toEqual([id]);
  });

  it("the token of a phone is a device of the subscriber (CLI-1)", async () => {
    const device = { id: "d-1", type: "iOS", token: "740f4707bebcf74f", model: "iPhone14,2" };
    await send("identify", { userId: "ada", context: { device, os: { version: "17.4.1" } } });
    const { id } = await subscriberOf("ada");
    const { body } = await setting.call(`GET /api/v1/subscribers/${id}/devices`);

    expect(body.items).toMatchObject([{ platform: "ios", device_id: "d-1", model: "iPhone14,2" }]);
  });

  it("a journey that an event starts is started by a track (CLI-1)", async () => {
    const { active, runs, send: step } = setting;
    const id = await active({ start: "hello", steps: { hello: { id: "hello", type: "send", ...step("Hello") } } });
    await send("track", { userId: "ada", event: "signed_up" });

    expect(await runs(id)).toMatchObject([{ status: "completed" }]);
  });

  it("a wrong clock of the device is corrected by sentAt (CLI-1)", async () => {
    const early = timestamp(START - 30 * HOUR);
    const message = { type: "track", anonymousId: "a", event: "x", timestamp: early };
    const before = { originalTimestamp: timestamp(START - 31 * HOUR), timestamp: timestamp(START - HOUR) };
    await send("batch", { sentAt: early, batch: [message, { ...message, ...before }] });

    expect(await events()).toMatchObject([{ occurred_at: before.timestamp }, { occurred_at: timestamp(START) }]);
  });
});

describe("batches", () => {
  it("a message whose original time cannot be read has its other time (CLI-1)", async () => {
    const early = timestamp(START - HOUR);
    const message = { type: "track", anonymousId: "a", event: "x", originalTimestamp: "yesterday", timestamp: early };
    await send("batch", { batch: [message] });
    expect(await events()).toMatchObject([{ occurred_at: early }]);
  });

  it("a batch takes messages of all types, and counts what it leaves out (CLI-1)", async () => {
    const batch = [
      { type: "identify", userId: "ada", traits: { plan: "pro", long: "x".repeat(5_000) } },
      { type: "track", userId: "ada", event: "Bought" },
      { type: "track", event: "Nobody" },
      { type: "track", userId: "ada" },
      { type: "track", userId: "ada", event: "$internal" },
      { type: "track", userId: "ada", event: "Elsewhere", integrations: { All: false } },
      { type: "track", userId: "ada", event: "Long ago", timestamp: "2020-01-01T00:00:00Z" },
      "nonsense",
    ];

    expect((await send("batch", { batch })).body).toEqual({
      success: true,
      accepted: 2,
      dropped: {
        ...{ no_id: 1, no_event_name: 1, reserved_event_name: 1, excluded: 1, too_old: 1 },
        unreadable: 1,
      },
      shortened: 1,
    });
    expect((await events()).map(({ event_name }) => event_name)).toEqual(["Bought"]);
  });

  it("what a message of a batch says itself wins over what the batch says for all (CLI-1)", async () => {
    const track = { type: "track", userId: "ada" };
    const batch = [
      { ...track, event: "Here", integrations: { All: true } },
      { ...track, event: "Elsewhere" },
    ];
    const { body } = await send("batch", { batch, integrations: { All: false } });

    expect(body).toMatchObject({ accepted: 1, dropped: { excluded: 1 } });
    expect((await events()).map(({ event_name }) => event_name)).toEqual(["Here"]);
  });

  it("a phone that two users of a batch were on is the one's who was on it last (CLI-1)", async () => {
    const on = (userId: string, token: string) => ({
      type: "identify",
      userId,
      context: { device: { type: "ios", token } },
    });
    await send("batch", { batch: [on("bob", "aa01"), on("bob", "aa02"), on("ada", "aa02")] });
    const devicesOf = async (id: string) =>
      (await setting.call(`GET /api/v1/subscribers/${(await subscriberOf(id)).id}/devices`)).body.items.length;

    expect([await devicesOf("bob"), await devicesOf("ada")]).toEqual([1, 1]);
  });

  it("a batch is understood where a library is given the address of the service alone (CLI-1)", async () => {
    const body = { batch: [{ type: "track", userId: "ada", event: "Bought" }] };
    const answer = await setting.world.call("POST /v1/batch", { headers: basic(keys.server), body });

    expect(answer.status).toBe(200);
    expect(answer.body.accepted).toBe(1);
  });

  it.each([30, 500])("a message that is nested %d levels deep is left out, and counted (CLI-1)", async (depth) => {
    const deep = JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
    const batch = [
      { type: "track", userId: "ada", event: "Deep", properties: deep },
      { type: "track", userId: "ada", event: "Bought" },
    ];

    expect((await send("batch", { batch })).body).toMatchObject({ accepted: 1, dropped: { unreadable: 1 } });
  });

  it("a batch is understood in gzip (CLI-1)", async () => {
    const raw = gzipSync(JSON.stringify({ batch: [{ type: "track", userId: "ada", event: "Bought" }] }));
    const headers = { ...basic(keys.server), "content-encoding": "gzip", "content-type": "application/json" };
    const answer = await setting.world.call("POST /v1/segment/v1/batch", { headers, raw });

    expect(answer.status).toBe(200);
    expect(answer.body.accepted).toBe(1);
  });

  it("values over the limits of events are cut or left out, and counted (CLI-1)", async () => {
    const properties = Object.fromEntries(Array.from({ length: 55 }, (_, n) => [`p${n}`, n]));
    const answer = await send("track", {
      userId: "a",
      event: "x",
      properties: { long: "y".repeat(300), ...properties },
    });
    expect(answer.body).toMatchObject({ accepted: 1, shortened: 1, omitted: 6 });
    const [{ properties: stored }] = await events();
    expect(stored.long.length).toBe(256);
    expect(Object.keys(stored).length).toBe(50);
  });
});

describe("refusals, with the statuses of that API", () => {
  const track = { userId: "ada", event: "x" };
  const longBatch = () => Buffer.from(JSON.stringify({ batch: [], context: { note: "é".repeat(300_000) } }));
  const inflating = () => gzipSync(Buffer.alloc(2_000_000, " "));

  it.each([
    ["an unknown key", 401, () => send("track", track, basic(`service_srv_${"x".repeat(32)}`))],
    ["no key", 401, () => send("track", track, {})],
    ["an unknown call", 404, () => send("nonsense", track)],
    ["a body that is no JSON", 400, () => rawly(Buffer.from("{"))],
    ["gzip that inflates beyond 500 KB", 400, () => rawly(inflating(), { "content-encoding": "gzip" })],
    ["a body whose letters are more than 500 KB in UTF-8", 400, () => rawly(longBatch())],
    ["a batch that is no list", 400, () => send("batch", { batch: {} })],
    [
      "a message over 32 KB by itself",
      400,
      () => send("track", { ...track, properties: { long: "x".repeat(33_000) } }),
    ],
  ])("%s is a %d (CLI-1)", async (_, status, sending) => {
    const answer = await sending();

    expect(answer.status).toEqual(status);
    expect(typeof answer.body.code).toBe("string");
  });

  const rawly = (raw: Buffer, headers = {}) =>
    setting.world.call("POST /v1/segment/batch", { headers: { ...basic(keys.server), ...headers }, raw });
});

describe("in a browser", () => {
  it("the write key may lie in the body, and the answer may be read by any page (CLI-1)", async () => {
    const body = { writeKey: keys.sdk, userId: "ada", event: "Viewed" };
    const answer = await send("t", body, { "content-type": "text/plain" });

    expect(answer.status).toBe(200);
    expect(answer.headers["access-control-allow-origin"]).toBe("*");
    expect(await events()).toMatchObject([{ event_name: "Viewed" }]);
  });

  it("the key may be in Basic authentication, which a preflight allows (CLI-1)", async () => {
    const headers = { origin: "https://shop.example", "access-control-request-method": "POST" };
    const answer = await setting.world.call("OPTIONS /v1/segment/t", { headers });

    expect(answer.status).toBe(204);
    expect(answer.headers["access-control-allow-headers"]).toEqual(expect.stringContaining("authorization"));
  });

  it("the settings of a key lead the library to this service, and those of no key are a 404 (CLI-1)", async () => {
    const { world } = setting;
    const answer = await world.call(`GET /v1/projects/${keys.sdk}/settings`);

    expect(answer.body.integrations["Segment.io"].apiHost).toMatch(/\/v1\/segment$/);
    expect(answer.headers["access-control-allow-origin"]).toBe("*");
    expect((await world.call("GET /v1/projects/sk_none/settings")).status).toBe(404);
  });

  it("a batch by the publishable key is taken up to 50 messages, and what is beyond is counted (CLI-1)", async () => {
    const batch = Array.from({ length: 53 }, (_, n) => ({ type: "track", userId: "ada", event: `Viewed ${n}` }));
    const answer = await send("batch", { batch }, basic(keys.sdk));

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, accepted: 50, dropped: { too_many: 3 } });
  });

  it("a batch by the publishable key is of three users at most, because each costs writes (AMB-146)", async () => {
    const batch = Array.from({ length: 10 }, (_, n) => ({ type: "track", userId: `u${n % 5}`, event: "Viewed" }));
    const answer = await send("batch", { batch }, basic(keys.sdk));

    expect(answer.body).toMatchObject({ accepted: 6, dropped: { too_many_users: 4 } });
    expect(await subscriberOf("u2")).toEqual(expect.anything());
    expect(await subscriberOf("u3")).toBeUndefined();
  });

  it("a workspace that demands signed ids refuses a user id without its hash (CLI-1)", async () => {
    await setting.call("POST /api/v1/identity-keys", {});
    await setting.call("PATCH /api/v1/workspace", { identity_required: true });
    const named = await send("track", { userId: "ada", event: "x" }, basic(keys.sdk));
    const unnamed = await send("track", { anonymousId: "a", event: "x" }, basic(keys.sdk));

    expect(named.status).toBe(403);
    expect(unnamed.status).toBe(200);
  });
});
