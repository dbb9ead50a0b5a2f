// Devices that go: removed and erased, and what a registration costs (DEV-2, DEV-3, D-DEV).
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { browser, phone, withDevices } from "../support/devices.ts";
import { outsideAudit, wholeTable } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import type { Answer, Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const setting = withDevices(worlds());

describe("removal", () => {
  it.each(["sdk", "dashboard"] as const)("a device is removed by the %s, once (D-DEV, AMB-74)", async (credential) => {
    const { world, tenant, ada, register, devicesOf } = await setting();
    const { body: device } = await register(phone(ada, { device_id: "a" }));
    const as = credential === "sdk" ? tenant.sdk : await tenant.dashboard();
    const remove = () => world.call(`DELETE /api/v1/devices/${device.id}?subscriber_id=${ada}`, { as });

    expect((await remove()).status).toBe(204);

    expect((await remove()).status).toBe(404);
    expect(await devicesOf(ada)).toEqual([]);
  });

  it("a device is not removed in the name of another subscriber: 404 (D-DEV)", async () => {
    const { world, tenant, ada, bob, register, devicesOf } = await setting();
    const { body: device } = await register(phone(ada));

    const route = `DELETE /api/v1/devices/${device.id}?subscriber_id=${bob}`;

    expect((await world.call(route, { as: tenant.sdk })).status).toBe(404);
    expect(await devicesOf(ada)).toHaveLength(1);
  });

  it("the device_id and the token of a removed device are free for another subscriber (D-DEV)", async () => {
    const { world, tenant, ada, bob, register } = await setting();
    const { body: device } = await register(phone(ada, { device_id: "a" }));
    await world.call(`DELETE /api/v1/devices/${device.id}?subscriber_id=${ada}`, { as: tenant.sdk });

    expect((await register(phone(bob, { device_id: "a" }))).status).toBe(201);
  });
});

describe("erasure", () => {
  it("an erasure removes a subscriber's devices and every row that points to them (DEV-2, SUB-9)", async () => {
    const { world, tenant, ada, bob, register } = await setting();
    await register(phone(ada, { device_id: "a", token: "canary-token" }));
    await register(browser(ada));

    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.settle();

    const rows = outsideAudit(await wholeTable(world)).filter(({ sk }) => sk.S !== ada);
    const left = JSON.stringify(rows);
    for (const trace of [ada, "canary-token", "push.example.com"]) expect(left).not.toContain(trace);
    expect((await register(phone(bob, { device_id: "a" }))).status).toBe(201);
  });

  it("a device that is registered while its subscriber is erased does not outlive the erasure (D-DEV, SUB-9)", async () => {
    const { world, tenant, ada, register } = await setting();
    const { body: device } = await register(phone(ada, { device_id: "a" }));
    const itsRows = async () =>
      outsideAudit(await wholeTable(world)).filter((row) => JSON.stringify(row).includes(device.id));
    const written = await itsRows();
    expect(written).toHaveLength(3);
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.settle();

    // As a registration leaves them that read the profile before it was a tombstone.
    for (const Item of written) await world.dynamodb.operate("PutItem", { TableName: world.env.TABLE_NAME, Item });
    await world.advance(3 * MINUTE);

    expect(await itsRows()).toEqual([]);
  });
});

describe("cost", () => {
  /** As large as the publishable key may make a profile. */
  const large = (tenant: Tenant) => {
    const attributes = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`a${n}`, "x".repeat(260)]));
    return tenant.upsert({ external_id: "large", attributes });
  };
  /** Capacity units of a call. */
  const unitsOf = async (world: TestWorld, call: () => Promise<Answer>) => {
    const { wcu, rcu } = await spent(world, async () => expect((await call()).status).toBeLessThan(300));
    return wcu + rcu;
  };
  const named = (subscriber: string, n: number) => phone(subscriber, { token: `t${n}`, device_id: `d${n}` });

  it("a registration costs no more for a profile of 16 KB than to read it (D2)", async () => {
    const { world, tenant, ada, register } = await setting();
    const id = await large(tenant);
    await register(phone(ada, { token: "warm" }));

    const ofSmall = await unitsOf(world, () => register(named(ada, 1)));
    const ofLarge = await unitsOf(world, () => register(named(id, 2)));

    expect(ofLarge - ofSmall).toBeLessThanOrEqual(4);
    expect(ofLarge).toBeLessThanOrEqual(20);
  });

  it("a refresh of a device does not read the profile (D2)", async () => {
    const { world, tenant, register } = await setting();
    const id = await large(tenant);
    await register(named(id, 2));

    expect(await unitsOf(world, () => register(named(id, 2)))).toBeLessThanOrEqual(5);
  });

  it("a device that takes the name of one and the address of another costs at most 40 units (D2)", async () => {
    const { world, tenant, ada, bob, register } = await setting();
    const id = await large(tenant);
    const token = (letter: string) => letter.repeat(200);
    await register(phone(ada, { token: token("a"), device_id: "a" }));
    await register(phone(bob, { token: token("b"), device_id: "b" }));
    for (let n = 0; n < 20; n++) await register(phone(id, { token: token("c") + n, device_id: `c${n}` }));

    const taken = phone(id, { token: token("a"), device_id: "b" });

    expect(await unitsOf(world, () => register(taken))).toBeLessThanOrEqual(40);
  });
});
