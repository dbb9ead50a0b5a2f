// Devices that register: recognized, moved between subscribers, limited (DEV-1, D-DEV).
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { markInvalid } from "../../shared/store/subscribers/devices.ts";
import { browser, phone, subscription, withDevices } from "../support/devices.ts";
import { requests } from "../support/requests.ts";
import { type Answer, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const setting = withDevices(worlds());

function expectSame(answer: Answer, device: { id: string }): void {
  expect(answer.status).toBe(200);
  expect(answer.body.id).toBe(device.id);
}

describe("registration", () => {
  it("a new device is answered 201 with what was said of it, never its token (DEV-1, D-DEV)", async () => {
    const { world, ada, register, devicesOf } = await setting();
    const said = { device_id: "phone", model: "iPhone16,2", locale: "de-DE", timezone: "Europe/Berlin" };

    const { status, body } = await register(phone(ada, { ...said, os_version: "17.4.1", environment: "sandbox" }));

    const now = new Date(world.clock.now()).toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({
      ...said,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      subscriber_id: ada,
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
    expect(await devicesOf(ada)).toEqual([body]);
  });

  it("a known device is answered 200 with what changed, and the rest stays (DEV-1, D-DEV)", async () => {
    const { world, ada, register, devicesOf } = await setting();
    const { body: first } = await register(phone(ada, { device_id: "phone", model: "iPhone16,2" }));
    await world.advance(5 * SECOND);

    const again = await register(phone(ada, { device_id: "phone", app_version: { major: 2 } }));

    const now = new Date(world.clock.now()).toISOString();
    const changed = { app_version: { major: 2, minor: 0, patch: 0 }, updated_at: now, last_seen_at: now };
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first, ...changed });
    expect(await devicesOf(ada)).toEqual([again.body]);
  });

  it("a device is known by its token, and takes a device_id (D-DEV)", async () => {
    const { ada, register } = await setting();
    const { body: nameless } = await register(phone(ada));

    const named = await register(phone(ada, { device_id: "a" }));

    expectSame(named, nameless);
    expect(named.body.device_id).toBe("a");
  });

  it("an iPhone is known by its token in whichever case its digits are written (DEV-1, D-DEV)", async () => {
    const { ada, register, devicesOf } = await setting();
    const token = "740f4707bebcf74f";
    const { body: device } = await register(phone(ada, { token: token.toUpperCase() }));

    expectSame(await register(phone(ada, { token })), device);

    expect(await devicesOf(ada)).toHaveLength(1);
  });

  it("a device is known by its device_id when its token is a new one, and the old token is free (D-DEV)", async () => {
    const { ada, register, devicesOf } = await setting();
    const { body: device } = await register(phone(ada, { device_id: "a" }));

    expectSame(await register(phone(ada, { device_id: "a", token: "token-2" })), device);

    expectSame(await register(phone(ada, { token: "token-2" })), device);
    expect((await register(phone(ada))).status).toBe(201);
    expect(await devicesOf(ada)).toHaveLength(2);
  });

  it.each([
    ["device_id", { device_id: "a", token: "token-2" }],
    ["token", {}],
  ])("a device moves to the subscriber who registers its %s (D-DEV)", async (_, known) => {
    const { ada, bob, register, devicesOf } = await setting();
    const { body: device } = await register(phone(ada, { device_id: "a", model: "old" }));

    const moved = await register(phone(bob, known));

    expectSame(moved, device);
    expect(moved.body.model).toBe("old");
    expect(await devicesOf(ada)).toEqual([]);
    expect(await devicesOf(bob)).toEqual([moved.body]);
  });

  it("one token is on one device only: the device that had it is removed (D-DEV)", async () => {
    const { ada, bob, register, devicesOf } = await setting();
    await register(phone(ada, { device_id: "a", token: "shared" }));
    const { body: device } = await register(phone(bob, { device_id: "b", token: "own" }));

    const taken = await register(phone(bob, { device_id: "b", token: "shared" }));

    expectSame(taken, device);
    expect(await devicesOf(ada)).toEqual([]);
    expect(await devicesOf(bob)).toEqual([taken.body]);
  });

  it("the device_id of a removed device is free for another (D-DEV)", async () => {
    const { ada, bob, register, devicesOf } = await setting();
    await register(phone(ada, { device_id: "a", token: "shared" }));
    await register(phone(bob, { device_id: "b", token: "shared" }));

    expect((await register(phone(ada, { device_id: "a", token: "fresh" }))).status).toBe(201);

    expect(await devicesOf(bob)).toHaveLength(1);
  });

  it("the same token of another platform is another device (D-DEV)", async () => {
    const { ada, register, devicesOf } = await setting();
    await register(phone(ada));

    expect((await register(phone(ada, { platform: "android" }))).status).toBe(201);

    expect(await devicesOf(ada)).toHaveLength(2);
  });

  it("the same token and device_id in another workspace are another device (D-DEV)", async () => {
    const { world, ada, register, devicesOf } = await setting();
    const other = await world.tenant();
    const theirs = await other.upsert({ external_id: "ada" });
    await register(phone(ada, { device_id: "a" }));

    expect((await register(phone(theirs, { device_id: "a" }), other)).status).toBe(201);

    expect(await devicesOf(ada)).toHaveLength(1);
  });

  it("a subscriber has at most 20 devices: the one seen longest ago is removed (D-DEV)", async () => {
    const { world, ada, register, devicesOf } = await setting();
    const see = async (n: number) => {
      const { status } = await register(phone(ada, { device_id: `d${n}`, token: `token-${n}` }));
      await world.advance(SECOND);
      return status;
    };
    for (let n = 0; n < 20; n++) await see(n);
    await see(0);

    await see(20);

    const names = (await devicesOf(ada)).map((one: { device_id: string }) => one.device_id);
    expect(names).toHaveLength(20);
    expect(names).toContain("d0");
    expect(names).not.toContain("d1");
    expect(await see(1)).toBe(201);
  });

  it("a device that comes with the token of one of 20 takes its place, and removes no other (D-DEV)", async () => {
    const { world, ada, bob, register, devicesOf } = await setting();
    await register(phone(bob, { device_id: "tablet", token: "of-bob" }));
    for (let n = 0; n < 20; n++) {
      await register(phone(ada, { device_id: `d${n}`, token: `token-${n}` }));
      await world.advance(SECOND);
    }

    expect((await register(phone(ada, { device_id: "tablet", token: "token-5" }))).status).toBe(200);

    const names = (await devicesOf(ada)).map((one: { device_id: string }) => one.device_id);
    const kept = Array.from({ length: 20 }, (_, n) => `d${n}`).filter((name) => name !== "d5");
    expect(names.sort()).toEqual([...kept, "tablet"].sort());
  });

  it("an external_id creates the subscriber as upsert does, and finds it the next time (D-DEV, AMB-107)", async () => {
    const { tenant, register } = await setting();
    const body = { external_id: "ada", platform: "android", token: "fcm" };

    const first = await register(body);

    expect(first.status).toBe(201);
    expectSame(await register(body), first.body);
    expect(await tenant.upsert({ external_id: "ada" })).toBe(first.body.subscriber_id);
  });

  it("a browser sends its PushSubscription unchanged, and no answer has its endpoint (D-DEV)", async () => {
    const { ada, register } = await setting();

    const { status, body } = await register(browser(ada));

    expect(status).toBe(201);
    expect(body).toMatchObject({ platform: "web", push_enabled: true });
    expect(JSON.stringify(body)).not.toContain("push.example.com");
  });

  it("a device that wants no push stays so until it says otherwise (D-DEV)", async () => {
    const { ada, register } = await setting();

    const { body } = await register({ ...browser(ada), push_enabled: false });

    expect(body).toMatchObject({ push_enabled: false, status: "disabled" });
    expect((await register(browser(ada))).body.push_enabled).toBe(false);
  });

  it("a device that switches pushes off at the moment of another registration of it stays so (D-DEV)", async () => {
    const writing = requests({ of: "api-devices", operation: "PutItem" });
    const { ada, register } = await setting({ hooks: writing.hooks });
    await register(phone(ada));
    writing.next(() => register(phone(ada, { push_enabled: false })));

    const { body } = await register(phone(ada, { locale: "de" }));

    expect(writing.isAwaited()).toBe(false);
    expect(body).toMatchObject({ push_enabled: false, locale: "de" });
  });

  it("a device whose token is refused while it switches pushes off is invalid rather than disabled (D-DEV)", async () => {
    const { tenant, ada, register } = await setting();
    const off = { ...phone(ada), push_enabled: false };
    const { body } = await register(off);

    await markInvalid(tenant.store, { ...body, platform: off.platform, token: off.token });

    const { items } = (await tenant.call(`GET /api/v1/subscribers/${ada}/devices`)).body;
    expect(items).toMatchObject([{ status: "invalid", push_enabled: false }]);
  });

  const onWeb = (endpoint: string) => ({
    platform: "web",
    token: undefined,
    subscription: { ...subscription, endpoint },
  });
  const untouched = shared((own) => withDevices(own)());
  it.each([
    ["no subscriber", { subscriber_id: undefined }, "subscriber_id"],
    ["two ways to name one", { external_id: "ada" }, "subscriber_id"],
    ["an unknown subscriber", { subscriber_id: UNKNOWN }, "subscriber_id"],
    ["no token", { token: undefined }, "token"],
    ["a browser without subscription", { platform: "web", token: undefined }, "subscription"],
    ["a browser with a token", { platform: "web", subscription }, "token"],
    ["a plain endpoint", onWeb("http://x"), "subscription.endpoint"],
    ["an endpoint that is no public host (ARC-16)", onWeb("https://169.254.169.254/x"), "subscription.endpoint"],
    ["a phone with a subscription", { subscription }, "subscription"],
    ["no version", { os_version: "new" }, "os_version"],
    ["an unknown zone", { timezone: "Mars/Olympus" }, "timezone"],
    ["an odd locale", { locale: "de_DE!" }, "locale"],
  ])("a device is refused with 422 for %s (D-DEV)", async (_, wrong, field) => {
    const { ada, register } = await untouched();

    const { status, body } = await register(phone(ada, wrong));

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual([field]);
  });

  it("a device is refused with 422 for an erased subscriber (D-DEV)", async () => {
    const { tenant, ada, register } = await setting();
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);

    expect((await register(phone(ada))).status).toBe(422);
  });

  it("registrations of one device at once leave one device (D-DEV)", async () => {
    const { ada, bob, register, devicesOf } = await setting();

    const answers = await Promise.all([ada, bob, ada, bob].map((id) => register(phone(id, { device_id: "a" }))));

    for (const { status } of answers) expect(status).toBeLessThan(300);
    expect([...(await devicesOf(ada)), ...(await devicesOf(bob))]).toHaveLength(1);
  });
});
