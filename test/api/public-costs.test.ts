// The dearest calls by the publishable key and by links of mails that random requests do not reach: they need a state that only a
// series of calls makes (docs/decisions/0112).
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { dearCallOf } from "../../docs/generate/costs.ts";
import { HOUR } from "../../shared/kernel/clock.ts";
import { mailing } from "../support/mails.ts";
import { addPeople } from "../support/people.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const MAX_DEVICES = 20;
const LONGEST_TOKEN = 4_096;
const PHONE_TOKEN = 300;
const LONGEST_DETAIL = 128;
const MAX_TOPICS = 100;
/** Of a call with the publishable key, and more where it states a consent. */
const [KEY_UNITS, CONSENT_UNITS] = [40, 15];
/** Of the page to unsubscribe, and of its button, which also marks the mail. */
const [PAGE_UNITS, OPT_OUT_UNITS] = [6, 48];
/** Of a page of an inbox: how many messages it has at most, and how much of its answer is a unit. */
const [INBOX_PAGE, ANSWERED_BYTES] = [100, 8_192];
/** Of a choice of a topic, and of an event. */
const [TOPIC_UNITS, EVENT_UNITS] = [3, 8];

/** As large as the publishable key may make a profile: 16 KB. */
const attributes = Object.fromEntries(Array.from({ length: 52 }, (_, n) => [`a${n}`, `${n}`.padEnd(295, "x")]));
const model = "model".padEnd(LONGEST_DETAIL, "x");
const nameOf = (name: string) => name.padEnd(LONGEST_DETAIL, "x");

async function unitsOf(world: TestWorld, call: () => Promise<{ status: number }>): Promise<number> {
  world.dynamodb.resetMeter();
  const { status } = await call();
  expect(status).toBeLessThan(300);
  const { wcu, rcu } = world.dynamodb.meter();
  return wcu + rcu;
}

/** Three users with all the devices that they may have, and a fourth whose devices can be taken. */
async function manyDevices(tokenCharacters: number) {
  const { world, tenant } = await withTenant();
  const [other = "", ...ids] = await addPeople(world, tenant, 4);
  const tokenOf = (name: string) => name.padEnd(tokenCharacters, "x");
  const registration = (subscriber_id: string, name: string, token = name) => ({
    as: tenant.sdk,
    body: { subscriber_id, platform: "ios", token: tokenOf(token), device_id: nameOf(name), model },
  });
  const register = (...given: Parameters<typeof registration>) =>
    world.call("POST /api/v1/devices", registration(...given));
  for (const id of ids) for (let n = 0; n < MAX_DEVICES; n++) await register(id, `own-${id}-${n}`);
  for (let n = 0; n < MAX_DEVICES / 2; n++) await register(other, `moved-${n}`);
  for (let n = 0; n < MAX_DEVICES / 2; n++) await register(other, `former-${n}`);
  return { world, tenant, ids, tokenOf, register };
}

describe("devices", () => {
  it.each([
    { of: "a phone", characters: PHONE_TOKEN, most: 40 },
    { of: "the greatest length", characters: LONGEST_TOKEN, most: dearCallOf("POST /api/v1/devices")!.units },
  ])(
    "a registration that displaces three devices with tokens of $of costs $most units at most (D2)",
    async ({ characters, most }) => {
      const { world, ids, register } = await manyDevices(characters);
      const units = await unitsOf(world, () => register(ids[0]!, "moved-0", "former-0"));
      expect(units).toBeLessThanOrEqual(most);
    },
  );

  it("a batch of Segment's libraries registers one device, however many it names (D2)", async () => {
    const { world, tenant, ids, tokenOf } = await manyDevices(LONGEST_TOKEN);
    const users = ids.map((_, n) => `user-${n}`);
    for (const external_id of users) await tenant.upsert({ external_id, attributes });
    const phone = (n: number) => ({ id: nameOf(`moved-${n}`), type: "ios", token: tokenOf(`former-${n}`), model });
    const batch = users.flatMap((userId, user) => [
      { type: "identify", userId, traits: { plan: "pro" } },
      ...[0, 1, 2].map((n) => ({
        type: "track",
        event: "opened",
        userId,
        context: { device: phone(3 * user + n) },
      })),
    ]);
    const units = await unitsOf(world, () => world.call("POST /v1/segment/batch", { as: tenant.sdk, body: { batch } }));
    expect(units).toBeLessThanOrEqual(dearCallOf("POST /v1/batch")!.units + EVENT_UNITS * batch.length);
  });
});

describe("choices", () => {
  it("a choice of all topics on the page of a mail, of a profile of 16 KB, costs what docs/access.md says (D2)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    await tenant.upsert({ external_id: "ada", attributes });
    const keys = Array.from({ length: MAX_TOPICS }, (_, n) => `topic-${n}`);
    for (const key of keys) await tenant.call("POST /api/v1/topics", { key, name: key });
    const { mail: receipt } = await mail({ topic: keys[0], category: "transactional" });
    const path = new URL(/^Your preferences: (.*)$/m.exec(receipt.text)![1]!).pathname;
    const raw = Buffer.from(keys.map((key) => `shown=${key}`).join("&"));
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const units = await unitsOf(world, () => world.call(`POST ${path}`, { headers, raw }));
    expect(units).toBeLessThanOrEqual(dearCallOf("POST /p/:token")!.units + TOPIC_UNITS * MAX_TOPICS);

    const chosen = Object.fromEntries(keys.map((key) => [key, "opted_in"]));
    const put = { as: tenant.sdk, body: { external_id: "ada", topics: chosen } };
    const byKey = await unitsOf(world, () => world.call("PUT /v1/preferences", put));
    expect(byKey).toBeLessThanOrEqual(KEY_UNITS + CONSENT_UNITS + TOPIC_UNITS * MAX_TOPICS);
  });

  it("a page of the longest topics is limited by address in what it answers, and the images of mails are not (D2)", async () => {
    const { world, tenant } = await withTenant({ env: { SDK_REQUESTS_PER_ADDRESS: "50" } });
    const { mail } = await mailing(world, tenant);
    for (let n = 0; n < MAX_TOPICS; n++) {
      const [key, name, description] = [`topic-${n}`, '"'.repeat(128), '"'.repeat(500)];
      await tenant.call("POST /api/v1/topics", { key, name, description });
    }
    const { mail: receipt } = await mail({ topic: "topic-0", category: "transactional" });
    const page = new URL(/^Your preferences: (.*)$/m.exec(receipt.text)![1]!).pathname;
    const units = await unitsOf(world, () => world.call(`GET ${page}`));
    expect(units).toBeLessThanOrEqual(dearCallOf("GET /p/:token")!.units);

    const statuses: number[] = [];
    for (let n = 0; n < 9; n++) statuses.push((await world.call(`GET ${page}`)).status);

    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429]);
    expect((await world.call("GET /o/made-up")).status).toBe(404);
  });

  it("the page of an opt-out and the opt-out itself read no list of topics, and the profile at half the price (D2)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    await tenant.upsert({ external_id: "ada", attributes });
    for (let n = 0; n < MAX_TOPICS; n++) {
      const [key, description] = [`topic-${n}`, "x".repeat(200)];
      await tenant.call("POST /api/v1/topics", { key, name: key, description });
    }
    const { mail: receipt } = await mail({ topic: "topic-0" });
    const page = await unitsOf(world, () => world.call(`GET ${receipt.unsubscribe}`));
    const optOut = await unitsOf(world, () => world.call(`POST ${receipt.unsubscribe}`));
    expect([page <= PAGE_UNITS, optOut <= OPT_OUT_UNITS]).toEqual([true, true]);
  });

  it("a consent with a change that nearly fills a profile costs 55 units at most, and its length (D2)", async () => {
    const { world, tenant } = await withTenant();
    await tenant.upsert({
      external_id: "ada",
      attributes: Object.fromEntries(Object.entries(attributes).slice(0, 30)),
    });
    const consent = { channel: "sms", status: "opted_in", source: "form" };
    const body = { external_id: "ada", attributes, consent };
    const upsert = () => world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body });
    expect(await unitsOf(world, upsert)).toBeLessThanOrEqual(KEY_UNITS + CONSENT_UNITS);
  });

  it.each([
    ["with attributes", { plan: "pro" }],
    ["alone", {}],
  ])("a consent that is older than the one that there is, %s, is written at the first try (D2)", async (_, more) => {
    const { world, tenant } = await withTenant();
    const id = await tenant.upsert({ external_id: "ada", attributes });
    const consent = { channel: "email", status: "opted_in", source: "form" };
    const upsert = (said: object, given: object) => () =>
      world.call("POST /api/v1/subscribers/upsert", {
        as: tenant.sdk,
        body: { external_id: "ada", attributes: given, consent: { ...consent, ...said } },
      });
    await upsert({}, {})();
    const older = upsert({ status: "opted_out", consented_at: "2026-01-01T00:00:00Z" }, more);
    expect(await unitsOf(world, older)).toBeLessThanOrEqual(KEY_UNITS + CONSENT_UNITS);
    const { items } = (await tenant.call(`GET /api/v1/subscribers/${id}/consents`)).body;
    expect(items.map(({ status }: { status: string }) => status).sort()).toEqual(["opted_in", "opted_out"]);
  });
});

describe("events", () => {
  /** 100 KB that cannot be deflated. */
  const large = (n: number) => ({
    event_name: "opened",
    anonymous_id: "visitor",
    idempotency_key: `large-${n}`,
    properties: { texts: Array.from({ length: 400 }, () => randomBytes(188).toString("base64url")) },
  });

  async function withLargeEvents() {
    const { world, tenant } = await withTenant();
    const send = (...events: object[]) => world.call("POST /v1/events", { as: tenant.sdk, body: { events } });
    const all = Array.from({ length: 5 }, (_, n) => large(n));
    for (const event of all) await send(event);
    return { world, tenant, send, all };
  }

  it("a repeat of large events costs no more than one of small ones (D2)", async () => {
    const { world, send, all } = await withLargeEvents();
    const repeats = all.map(({ properties: _, ...event }) => event);
    const units = await unitsOf(world, () => send(...repeats));
    expect(units).toBeLessThanOrEqual(EVENT_UNITS * repeats.length);
  });

  it("events of fifty people with profiles of 16 KB, each with a key and far from the others, cost 8 units each at most (D2)", async () => {
    const { world, tenant } = await withTenant();
    const ids: string[] = [];
    for (let n = 0; n < 50; n++) ids.push(await tenant.upsert({ external_id: `user-${n}`, attributes }));
    const now = world.clock.now();
    const events = ids.map((subscriber_id, n) => ({
      event_name: `opened ${n}`,
      subscriber_id,
      idempotency_key: `key-${n}`,
      occurred_at: new Date(now - n * HOUR * 0.9).toISOString(),
    }));
    const send = () => world.call("POST /v1/events", { as: tenant.sdk, body: { events } });
    expect(await unitsOf(world, send)).toBeLessThanOrEqual(KEY_UNITS + EVENT_UNITS * events.length);
    expect(await unitsOf(world, send)).toBeLessThanOrEqual(KEY_UNITS + EVENT_UNITS * events.length);
  });

  it("a library of Segment that says who a visitor is reads nothing of what the visitor did (D2)", async () => {
    const { world, tenant } = await withLargeEvents();
    const batch = [{ type: "identify", userId: "ada", anonymousId: "visitor" }];
    const units = await unitsOf(world, () => world.call("POST /v1/batch", { as: tenant.sdk, body: { batch } }));
    expect(units).toBeLessThanOrEqual(KEY_UNITS);
  });
});

it("a list of an inbox by status, and the reading of all, read no text of a message that they pass by (D2)", async () => {
  const { world, tenant } = await withTenant();
  const [id = ""] = await addPeople(world, tenant, 1);
  for (let n = 0; n < 20; n++)
    await tenant.call("POST /api/v1/notifications", { subscriberIds: [id], title: `${n}`, body: "x".repeat(9_000) });
  await world.settle();
  const as = tenant.sdk;
  const units = async (status: string) =>
    unitsOf(world, () => world.call(`GET /v1/in-app/messages?subscriber_id=${id}&status=${status}`, { as }));

  expect(await units("unread")).toBeGreaterThan(30);
  expect(await units("read")).toBeLessThan(10);
  const readAll = () => world.call("POST /v1/in-app/messages/read", { as, body: { subscriber_id: id } });
  expect(await unitsOf(world, readAll)).toBeLessThan(15);
});

it.each([
  { of: "barely long texts", characters: 750 },
  { of: "texts of a little more than 4 KB", characters: 4_000 },
])("a page of an inbox of $of costs what docs/access.md says (D2)", async ({ characters }) => {
  const { world, tenant } = await withTenant();
  const [id = ""] = await addPeople(world, tenant, 1);
  for (let n = 0; n < INBOX_PAGE; n++)
    await tenant.call("POST /api/v1/notifications", {
      subscriberIds: [id],
      title: `${n}`,
      body: "x".repeat(characters),
    });
  await world.settle();
  const path = `GET /v1/in-app/messages?subscriber_id=${id}&limit=${INBOX_PAGE}`;

  const units = await unitsOf(world, () => world.call(path, { as: tenant.sdk }));

  const answered = (INBOX_PAGE * characters) / ANSWERED_BYTES;
  expect(units).toBeLessThanOrEqual(dearCallOf("GET /v1/in-app/messages")!.units + answered);
});
