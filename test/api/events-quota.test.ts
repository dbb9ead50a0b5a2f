// The quota of events: exact to the last event, and under faults neither lost nor counted twice.
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { releaseQuota, takeEvents } from "../../shared/store/events/usage.ts";
import { AnnotationItem } from "../../shared/store/insights/annotation-items.ts";
import { usageOf } from "../../shared/store/workspaces/usage.ts";
import { setUsage } from "../../shared/store/workspaces/usage-correction.ts";
import { exportAll, ingest, paidEvents, someEvents } from "../support/events.ts";
import { quickStore } from "../support/people.ts";
import { patiently } from "../support/stores.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

describe("quota", () => {
  /** A workspace whose quota takes ten more events, and events with keys from `from` on. */
  const withTenLeft = async () => {
    const { world, tenant } = await withTenant({ plan: "free" });
    await setUsage(quickStore(world, tenant), { events: 99_990 });
    const post = (from: number, count: number) =>
      ingest(world, tenant, { events: someEvents(count, (n) => ({ idempotency_key: `key ${from + n}` })) });
    return { world, tenant, post };
  };

  it("the last event of the quota is taken, and the next is not (AMB-40)", async () => {
    const { tenant, post } = await withTenLeft();

    expect((await post(0, 10)).status).toBe(202);
    expect((await post(10, 1)).status).toBe(402);
    expect(await paidEvents(tenant)).toBe(100_000);
  });

  it("a batch beyond the quota of events is refused whole, with the numbers, and stores nothing (ERR-3)", async () => {
    const { world, tenant, post } = await withTenLeft();
    await post(0, 7);

    expect(await post(7, 4)).toMatchObject({
      status: 402,
      body: { code: "PAYMENT_REQUIRED", message: expect.stringContaining("99997 of 100000") },
    });
    await world.advance(SECOND);
    expect(await exportAll(world, tenant)).toHaveLength(7);
  });

  it("events that come again cost nothing of the quota (AMB-40)", async () => {
    const { world, tenant, post } = await withTenLeft();
    const statuses = [];
    for (const count of [7, 10, 10]) statuses.push((await post(0, count)).status);

    expect(statuses).toEqual([202, 202, 202]);
    await world.advance(SECOND);
    expect(await exportAll(world, tenant)).toHaveLength(10);
    expect(await paidEvents(tenant)).toBe(100_000);
  });

  it("concurrent requests use the whole quota of events and no more (AMB-40)", async () => {
    const { world, tenant } = await withTenant({ plan: "free" });
    const store = quickStore(world, tenant);
    await setUsage(store, { events: 99_900 });
    const allowance = { plan: "free", sendCap: null } as const;
    const takes = Array.from({ length: 40 }, () =>
      takeEvents(store, 3, allowance, world.clock.now()).then(
        () => 3,
        () => 0,
      ),
    );
    const taken = (await patiently(world, Promise.all(takes))).reduce((sum: number, n) => sum + n, 0);
    expect((await usageOf(store)).events).toBe(99_900 + taken);
    while (
      await takeEvents(store, 1, allowance, world.clock.now()).then(
        () => true,
        () => false,
      )
    );
    expect((await usageOf(store)).events).toBe(100_000);
    await releaseQuota(store, 5, world.clock.now());
    expect((await usageOf(store)).events).toBe(99_995);
  });

  it("events that could not be stored go back to the month that they were taken from, though it is over (D-BILL)", async () => {
    let pass = () => {};
    const unprocessed = (operation: string, count: number) => {
      if (operation !== "BatchWriteItem") return 0;
      pass();
      return count;
    };
    const { world, tenant } = await withTenant({ faults: { unprocessed } });
    world.clock.jumpTo(Date.parse("2026-11-30T23:59:59Z"));
    pass = () => world.clock.jumpTo(Math.max(world.clock.now(), Date.parse("2026-12-01T00:00:01Z")));

    expect((await patiently(world, ingest(world, tenant, { events: someEvents(3) }))).status).toBe(503);

    const store = quickStore(world, tenant);
    expect([await usageOf(store, "2026-11"), await usageOf(store)]).toMatchObject([{ events: 0 }, { events: 0 }]);
  });

  it("at 80 and at 95% of the quota of events there is one annotation each (F25)", async () => {
    const { world, tenant } = await withTenant({ plan: "free" });
    const store = quickStore(world, tenant);
    const warnings = async () => (await store.queryAll(AnnotationItem, {})).map(({ text }) => text);
    await setUsage(store, { events: 79_999 });
    for (let n = 0; n < 3; n++) {
      await ingest(world, tenant, { events: someEvents(1) });
      await world.advance(MINUTE);
    }
    const first = "80% of the plan's events are used: 80000 of 100000 in 2026-11.";
    expect(await warnings()).toEqual([first]);
    await setUsage(store, { events: 95_000 });
    await ingest(world, tenant, { events: someEvents(1) });
    expect(await warnings()).toEqual([first, expect.stringMatching(/^95%/)]);
  });
});

describe("durability", () => {
  it("events that the table leaves unprocessed are written before the response (EVT-11)", async () => {
    let left = 6;
    const unprocessed = (operation: string, count: number) =>
      operation === "BatchWriteItem" && left-- > 0 ? count - 1 : 0;
    const { world, tenant } = await withTenant({ faults: { unprocessed } });
    const answer = await patiently(world, ingest(world, tenant, { events: someEvents(60) }));
    expect(answer.body).toEqual({ accepted: 60 });
    await world.advance(SECOND);
    expect(await exportAll(world, tenant)).toHaveLength(60);
  });

  it("a batch of events that could not be stored whole is 503, and a retry with the same keys stores it whole and counts it once (EVT-11)", async () => {
    let broken = false;
    const unprocessed = (operation: string, count: number) =>
      broken && operation === "BatchWriteItem" ? Math.min(count, 20) : 0;
    const { world, tenant } = await withTenant({ faults: { unprocessed } });
    await ingest(world, tenant, { events: someEvents(1) });
    const batch = { events: someEvents(25, (n) => ({ idempotency_key: `key ${n}` })) };
    broken = true;
    const refused = await patiently(world, ingest(world, tenant, batch));
    expect(refused.status).toBe(503);
    expect(refused.body.code).toBe("SERVICE_UNAVAILABLE");
    broken = false;
    const stored = (await exportAll(world, tenant)).length;
    expect(stored).toBeLessThan(26);
    expect(await paidEvents(tenant)).toBe(stored);
    expect((await ingest(world, tenant, batch)).body).toEqual({ accepted: 25 });
    await world.advance(SECOND);
    expect(await exportAll(world, tenant)).toHaveLength(26);
    expect(await paidEvents(tenant)).toBe(26);
  });
});

describe("credentials", () => {
  const withShortKey = async () => {
    const { world, tenant } = await withTenant();
    const { body: made } = await tenant.call("POST /api/v1/server-keys", { name: "short" });
    const as = { authorization: `Bearer ${made.key}` };
    const send = async () =>
      (await world.call("POST /v1/events", { as, body: { event_name: "x", anonymous_id: "y" } })).status;
    const revoke = () => tenant.call(`DELETE /api/v1/server-keys/${made.id}`);
    return { world, as, send, revoke };
  };

  it("a revoked key ingests no more events after a minute, and its use does not extend the minute (ATH-R6)", async () => {
    const { world, send, revoke } = await withShortKey();
    await send();
    await revoke();
    const statuses = [];
    for (const ms of [30 * SECOND, 29_900, 200]) {
      await world.advance(ms);
      statuses.push(await send());
    }

    expect(statuses).toEqual([202, 202, 401]);
  });

  it.each([
    ["GET /v1/events/export", undefined, 200],
    ["POST /v1/events/identify", {}, 422],
  ])("a revoked key is refused at once by %s (ATH-R6)", async (route, body, before) => {
    const { world, as, revoke } = await withShortKey();
    const call = async () => (await world.call(route, { as, ...(body && { body }) })).status;
    expect(await call()).toBe(before);
    await revoke();

    expect(await call()).toBe(401);
  });
});
