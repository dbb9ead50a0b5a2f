// Devices: registered, recognized, moved between subscribers, limited, removed, erased (DEV-1 to DEV-3, D-DEV).

import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { addPeople, outsideAudit, wholeTable } from "../support/people.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

const register = (world: TestWorld, tenant: Tenant, body: object) =>
  world.call("POST /api/v1/devices", { as: tenant.sdk, body });

const listed = async (tenant: Tenant, id: string) =>
  (await tenant.call(`GET /api/v1/subscribers/${id}/devices`)).body.items;

const phone = (subscriber_id: string, more: object = {}) => ({
  subscriber_id,
  platform: "ios",
  token: "token-1",
  ...more,
});
const browser = {
  platform: "web",
  subscription: { endpoint: "https://push.example.com/1", expirationTime: null, keys: { p256dh: "BPk", auth: "aaa" } },
};

describe("registration", () => {
  it("answers 201 for a new device, 200 for a known one, and never returns the token (DEV-1, D-DEV)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    const more = { device_id: "phone", model: "iPhone16,2", locale: "de-DE", timezone: "Europe/Berlin" };
    const first = await register(world, tenant, phone(id, { ...more, os_version: "17.4.1", environment: "sandbox" }));
    expect(first.status).toBe(201);
    const now = new Date(world.clock.now()).toISOString();
    expect(first.body).toEqual({
      ...more,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      subscriber_id: id,
      platform: "ios",
      os_version: { major: 17, minor: 4, patch: 1 },
      app_version: null,
      sdk_version: null,
      push_enabled: true,
      environment: "sandbox",
      status: "active",
      created_at: now,
      updated_at: now,
      last_seen_at: now,
    });
    await world.advance(5 * SECOND);
    const again = await register(world, tenant, phone(id, { device_id: "phone", app_version: { major: 2 } }));
    expect(again.status).toBe(200);
    const later = new Date(world.clock.now()).toISOString();
    const changed = { app_version: { major: 2, minor: 0, patch: 0 }, updated_at: later, last_seen_at: later };
    expect(again.body).toEqual({ ...first.body, ...changed });
    expect(await listed(tenant, id)).toEqual([again.body]);
  });

  it("a device is known by its device_id, else by its token (D-DEV)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    const nameless = await register(world, tenant, phone(id));
    const named = await register(world, tenant, phone(id, { device_id: "a" }));
    const renewed = await register(world, tenant, phone(id, { device_id: "a", token: "token-2" }));
    const byToken = await register(world, tenant, phone(id, { token: "token-2" }));
    for (const { status, body } of [named, renewed, byToken])
      expect([status, body.id, body.device_id]).toEqual([200, nameless.body.id, "a"]);
    // The first token is free again: its next owner is another device.
    expect((await register(world, tenant, phone(id))).status).toBe(201);
    expect(await listed(tenant, id)).toHaveLength(2);
  });

  it("a token or a device_id that is registered for another subscriber moves to it (D-DEV)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    const { body: device } = await register(world, tenant, phone(ada, { device_id: "a", model: "old" }));
    const moved = await register(world, tenant, phone(bob, { device_id: "a", token: "token-2" }));
    expect([moved.status, moved.body.id, moved.body.model]).toEqual([200, device.id, "old"]);
    expect([await listed(tenant, ada), await listed(tenant, bob)]).toEqual([[], [moved.body]]);
    const back = await register(world, tenant, phone(ada, { token: "token-2" }));
    expect([back.status, back.body.id]).toEqual([200, device.id]);
    expect([await listed(tenant, ada), await listed(tenant, bob)]).toEqual([[back.body], []]);
  });

  it("one token is on one device only: the device that had it is removed (D-DEV)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    await register(world, tenant, phone(ada, { device_id: "a", token: "shared" }));
    const { body } = await register(world, tenant, phone(bob, { device_id: "b", token: "own" }));
    const taken = await register(world, tenant, phone(bob, { device_id: "b", token: "shared" }));
    expect([taken.status, taken.body.id]).toEqual([200, body.id]);
    expect([await listed(tenant, ada), await listed(tenant, bob)]).toEqual([[], [taken.body]]);
    // No row points to the removed device any more.
    const again = await register(world, tenant, phone(ada, { device_id: "a", token: "fresh" }));
    expect([again.status, await listed(tenant, bob)]).toEqual([201, [taken.body]]);
  });

  it("the same token of another platform, or of another workspace, is another device (D-DEV)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const [mine] = (await addPeople(world, tenant, 1)) as [string];
    const [theirs] = (await addPeople(world, other, 1)) as [string];
    expect((await register(world, tenant, phone(mine, { device_id: "a" }))).status).toBe(201);
    expect((await register(world, other, phone(theirs, { device_id: "a" }))).status).toBe(201);
    expect((await register(world, tenant, phone(mine, { platform: "android" }))).status).toBe(201);
    expect(await listed(tenant, mine)).toHaveLength(2);
  });

  it("a subscriber has at most 20 devices: the one seen longest ago is removed (D-DEV)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    const name = (n: number) => ({ device_id: `d${n}`, token: `token-${n}` });
    for (let n = 0; n < 20; n++) {
      await register(world, tenant, phone(id, name(n)));
      await world.advance(SECOND);
    }
    await register(world, tenant, phone(id, name(0)));
    await world.advance(SECOND);
    await register(world, tenant, phone(id, name(20)));
    const names = (await listed(tenant, id)).map((one: { device_id: string }) => one.device_id);
    expect(names).toHaveLength(20);
    expect([names.includes("d0"), names.includes("d1"), names.includes("d20")]).toEqual([true, false, true]);
    expect((await register(world, tenant, phone(id, name(1)))).status).toBe(201);
  });

  it("an external_id creates the subscriber as upsert does, and finds it the next time (D-DEV, AMB-107)", async () => {
    const { world, tenant } = await withTenant();
    const body = { external_id: "ada", platform: "android", token: "fcm" };
    const { body: device, status } = await register(world, tenant, body);
    const again = await register(world, tenant, body);
    expect([status, again.status, again.body.id]).toEqual([201, 200, device.id]);
    const upsert = { as: tenant.sdk, body: { external_id: "ada" } };
    expect((await world.call("POST /api/v1/subscribers/upsert", upsert)).body.id).toBe(device.subscriber_id);
  });

  it("a browser sends its PushSubscription unchanged (D-DEV)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    const { status, body } = await register(world, tenant, { subscriber_id: id, ...browser, push_enabled: false });
    expect([status, body.platform, body.push_enabled, body.status]).toEqual([201, "web", false, "disabled"]);
    expect(JSON.stringify(body)).not.toContain("push.example.com");
    const kept = await register(world, tenant, { subscriber_id: id, ...browser });
    expect([kept.status, kept.body.push_enabled]).toEqual([200, false]);
  });

  it.each([
    ["no subscriber", { subscriber_id: undefined }, "subscriber_id"],
    ["two ways to name one", { external_id: "ada" }, "subscriber_id"],
    ["an unknown subscriber", { subscriber_id: UNKNOWN }, "subscriber_id"],
    ["no token", { token: undefined }, "token"],
    ["a token too long", { token: "x".repeat(4_097) }, "token"],
    ["a browser without subscription", { platform: "web", token: undefined }, "subscription"],
    ["a browser with a token", { platform: "web", subscription: browser.subscription }, "token"],
    [
      "a plain endpoint",
      { ...browser, token: undefined, subscription: { ...browser.subscription, endpoint: "http://x" } },
      "subscription.endpoint",
    ],
    [
      "an endpoint that is no public host (ARC-16)",
      {
        ...browser,
        token: undefined,
        subscription: { ...browser.subscription, endpoint: "https://169.254.169.254/x" },
      },
      "subscription.endpoint",
    ],
    ["a phone with a subscription", { subscription: browser.subscription }, "subscription"],
    ["no version", { os_version: "new" }, "os_version"],
    ["an unknown zone", { timezone: "Mars/Olympus" }, "timezone"],
    ["an odd locale", { locale: "de_DE!" }, "locale"],
    ["a device_id too long", { device_id: "x".repeat(129) }, "device_id"],
  ])("answers 422 for %s, naming the field (D-DEV)", async (_, wrong, field) => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    const { status, body } = await register(world, tenant, phone(id, wrong));
    expect([status, Object.keys(body.fields)]).toEqual([422, [field]]);
  });

  it("a foreign or erased subscriber cannot have a device (D-DEV)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const [foreign] = (await addPeople(world, other, 1)) as [string];
    const [erased] = (await addPeople(world, tenant, 1)) as [string];
    await tenant.call(`DELETE /api/v1/subscribers/${erased}`);
    for (const id of [foreign, erased]) expect((await register(world, tenant, phone(id))).status).toBe(422);
  });

  it("two registrations at once leave one device (D-DEV)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    const answers = await Promise.all(
      [ada, bob, ada, bob].map((id) => register(world, tenant, phone(id, { device_id: "a" }))),
    );
    expect(answers.map(({ status }) => status).filter((status) => status > 201)).toEqual([]);
    const left = [...(await listed(tenant, ada)), ...(await listed(tenant, bob))];
    expect(left).toHaveLength(1);
  });
});

describe("cost", () => {
  /** As large as the publishable key may make a profile. */
  const large = async (tenant: Tenant) => {
    const attributes = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`a${n}`, "x".repeat(260)]));
    const body = { external_id: "large", attributes };
    return await tenant.upsert(body);
  };
  const unitsOf = async (world: TestWorld, tenant: Tenant, body: object) => {
    world.dynamodb.resetMeter();
    expect((await register(world, tenant, body)).status).toBeLessThan(300);
    const { wcu, rcu } = world.dynamodb.meter();
    return wcu + rcu;
  };

  it("a registration costs no more for a profile of 16 KB than to read it, and a refresh does not read it (D2)", async () => {
    const { world, tenant } = await withTenant();
    const id = await large(tenant);
    const [small] = (await addPeople(world, tenant, 1)) as [string];
    await register(world, tenant, phone(small, { token: "warm" }));
    const named = (subscriber: string, n: number) => phone(subscriber, { token: `t${n}`, device_id: `d${n}` });
    const ofSmall = await unitsOf(world, tenant, named(small, 1));
    const ofLarge = await unitsOf(world, tenant, named(id, 2));
    expect(ofLarge - ofSmall).toBeLessThanOrEqual(4);
    expect(ofLarge).toBeLessThanOrEqual(20);
    expect(await unitsOf(world, tenant, named(id, 2))).toBeLessThanOrEqual(5);
  });

  it("a device that takes the name of one and the address of another costs at most 40 units, with a token of a phone (D2)", async () => {
    const { world, tenant } = await withTenant();
    const id = await large(tenant);
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    const token = (letter: string) => letter.repeat(200);
    await register(world, tenant, phone(ada, { token: token("a"), device_id: "a" }));
    await register(world, tenant, phone(bob, { token: token("b"), device_id: "b" }));
    for (let n = 0; n < 20; n++)
      await register(world, tenant, phone(id, { token: token("c") + n, device_id: `c${n}` }));
    expect(await unitsOf(world, tenant, phone(id, { token: token("a"), device_id: "b" }))).toBeLessThanOrEqual(40);
  });

  it("a device that is registered while its subscriber is erased does not outlive the erasure (D-DEV, SUB-9)", async () => {
    const world = await fresh();
    const tenant = await world.tenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    const { body: device } = await register(world, tenant, phone(id, { device_id: "a" }));
    const itsRows = async () =>
      outsideAudit(await wholeTable(world)).filter((row) => JSON.stringify(row).includes(device.id));
    const written = await itsRows();
    expect(written).toHaveLength(3);
    await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    await world.settle();
    expect(await itsRows()).toEqual([]);
    // As a registration leaves them that read the profile before it was a tombstone.
    for (const Item of written) await world.dynamodb.operate("PutItem", { TableName: world.env.TABLE_NAME, Item });
    await world.advance(3 * MINUTE);
    await world.settle();
    expect(await itsRows()).toEqual([]);
  });
});

describe("removal", () => {
  it.each(["sdk", "dashboard"] as const)(
    "a logout removes the device: 204, then 404 (%s) (D-DEV, AMB-74)",
    async (kind) => {
      const { world, tenant } = await withTenant();
      const [id, other] = (await addPeople(world, tenant, 2)) as [string, string];
      const { body } = await register(world, tenant, phone(id, { device_id: "a" }));
      const as = kind === "sdk" ? tenant.sdk : await tenant.dashboard();
      const remove = (of: string) => world.call(`DELETE /api/v1/devices/${body.id}?subscriber_id=${of}`, { as });
      expect((await remove(other)).status).toBe(404);
      expect([(await remove(id)).status, (await remove(id)).status]).toEqual([204, 404]);
      expect(await listed(tenant, id)).toEqual([]);
      expect((await register(world, tenant, phone(other, { device_id: "a" }))).status).toBe(201);
    },
  );

  it("an erased subscriber's devices are removed with their pointers (DEV-2, SUB-9)", async () => {
    const { world, tenant } = await withTenant();
    const [id, other] = (await addPeople(world, tenant, 2)) as [string, string];
    await register(world, tenant, phone(id, { device_id: "a", token: "canary-token" }));
    await register(world, tenant, { subscriber_id: id, ...browser });
    await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    await world.settle();
    const rows = outsideAudit(await wholeTable(world))
      .filter(({ sk }) => sk.S !== id)
      .map((row) => JSON.stringify(row));
    for (const trace of [id, "canary-token", "push.example.com"])
      expect(rows.filter((row) => row.includes(trace))).toEqual([]);
    expect((await register(world, tenant, phone(other, { device_id: "a" }))).status).toBe(201);
  });
});
