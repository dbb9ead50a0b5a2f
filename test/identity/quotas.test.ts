// Quotas and caps of a plan.
import { beforeEach, describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { countSubscribers } from "../../shared/store/subscribers/subscribers.ts";
import { usageOf } from "../../shared/store/workspaces/usage.ts";
import { operating } from "../support/operating.ts";
import { wholeTable } from "../support/people.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { operate, upsert, upsertThree, send } = operating(() => world);

describe("quotas and caps", () => {
  it("a send that would pass the plan's quota is refused whole, with the numbers (ERR-3)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    await upsertThree(tenant);
    await operate({ tenant_id: tenant.id, usage: { sends: 99_998 } });
    const as = await tenant.dashboard();
    const { status, body } = await send(as);

    expect(status).toBe(402);
    expect(body.code).toBe("PAYMENT_REQUIRED");
    expect(body.message).toContain("99998 of 100000");
    expect((await world.call("GET /api/v1/notifications", { as })).body.items).toEqual([]);
    expect((await world.call("GET /api/v1/billing", { as })).body.usage.sends).toBe(99_998);
  });

  it.each([
    ["of its own that is one below", 99_999, "SEND_CAP_REACHED", "The workspace's own monthly send cap"],
    ["of its own that is one above", 100_001, "PAYMENT_REQUIRED", "The plan's quota"],
    ["of no number", null, "PAYMENT_REQUIRED", "The plan's quota"],
  ])(
    "a send that would pass a quota of 100,000 under a cap %s is refused by the lower of both (ERR-3, ERR-4)",
    async (_, monthly_send_cap, code, whose) => {
      const tenant = await world.tenant({ plan: "starter" });
      await upsertThree(tenant);
      await operate({ tenant_id: tenant.id, usage: { sends: 99_998 } });
      const as = await tenant.dashboard();
      await world.call("PATCH /api/v1/billing", { as, body: { monthly_send_cap } });

      const { body } = await send(as);

      expect(body).toMatchObject({ code, message: expect.stringContaining(whose) });
    },
  );

  it("a send that the quota refuses leaves nothing of its plan (ERR-3)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    await upsertThree(tenant);
    await operate({ tenant_id: tenant.id, usage: { sends: 99_998 } });
    const as = await tenant.dashboard();
    const planned = async () =>
      (await wholeTable(world)).map((row) => JSON.stringify(row)).filter((row) => row.includes('"recipients"'));

    expect((await send(as)).status).toBe(402);

    expect(await planned()).toEqual([]);
  });

  /** A dashboard of a workspace with three subscribers and a cap of its own. */
  const withCap = async (monthly_send_cap: number | null) => {
    const tenant = await world.tenant();
    await upsertThree(tenant);
    const as = await tenant.dashboard();
    const setCap = (cap: number | null) => world.call("PATCH /api/v1/billing", { as, body: { monthly_send_cap: cap } });
    await setCap(monthly_send_cap);
    return { as, setCap };
  };

  it("a send that would pass the workspace's own cap is refused with its own code, and the numbers (ERR-4)", async () => {
    const { as } = await withCap(2);

    expect(await send(as)).toMatchObject({
      status: 402,
      body: { code: "SEND_CAP_REACHED", message: expect.stringContaining("0 of 2") },
    });
  });

  it("the workspace's own cap counts what was sent (ERR-4)", async () => {
    const { as } = await withCap(4);

    expect((await send(as)).status).toBe(201);
    expect((await send(as)).body.message).toContain("3 of 4");
  });

  it("a cap of 0 stops sending (AMB-87)", async () => {
    const { as } = await withCap(0);

    expect((await send(as)).body.code).toBe("SEND_CAP_REACHED");
  });

  it("without its cap a workspace sends again (ERR-4)", async () => {
    const { as, setCap } = await withCap(0);

    expect((await setCap(null)).body.monthly_send_cap).toBeNull();
    expect((await send(as)).status).toBe(201);
  });

  it("a scheduled send that meets the cap at its time fails, and says so (ERR-4, NTF-20)", async () => {
    const tenant = await world.tenant();
    await upsertThree(tenant);
    const { id } = (await send(await tenant.dashboard(), { scheduled_at: "2026-11-20T13:00:00Z" })).body;
    await operate({ tenant_id: tenant.id, monthly_send_cap: 1 });
    await world.advance(3_700_000);
    const { body } = await tenant.call(`GET /api/v1/notifications/${id}`);

    expect(body.status).toBe("failed");
    expect(body.counts.delivered).toBe(0);
    expect(body.error).toContain("cap");
  });

  it("at the plan's number of subscribers no new one is added, known ones are still updated (ERR-15, AMB-40)", async () => {
    const tenant = await world.tenant({ plan: "free" });
    await fill(world, tenant, 950);
    const free = 1_000 - (await countSubscribers(tenant.store));
    const last = await Promise.all(Array.from({ length: free }, (_, n) => upsert(tenant, `s${n}`)));
    expect(last.map(({ status }) => status)).toEqual(Array(free).fill(200));
    await world.settle();
    await world.advance(60_000);
    const refused = await upsert(tenant, "one too many");
    expect(refused.status).toBe(429);
    expect(refused.body.code).toBe("QUOTA_EXCEEDED");
    expect(refused.body.message).toContain("1000 of 1000");
    expect((await upsert(tenant, "s7")).status).toBe(200);
    const { items } = (await tenant.call("GET /api/v1/subscribers?external_id=s7")).body;
    await tenant.call(`DELETE /api/v1/subscribers/${items[0].id}`);
    await world.settle();
    expect((await upsert(tenant, "just one more")).status).toBe(200);
  });

  it("a send that ends in the next month corrects the month in which it was taken (D-BILL)", async () => {
    const tenant = await world.tenant();
    await upsertThree(tenant);
    await tenant.call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 1, per: "week" }] });
    await world.advance(Date.parse("2026-11-30T12:00:00Z") - world.clock.now());
    await send(await tenant.dashboard());
    await world.settle();
    world.clock.jumpTo(Date.parse("2026-11-30T23:59:59Z"));
    await send(await tenant.dashboard());
    const usageIn = async (period: string) => (await usageOf(tenant.store, period)).sends;
    expect(await usageIn("2026-11")).toBe(6);

    world.clock.jumpTo(Date.parse("2026-12-01T00:00:01Z"));
    await world.settle();

    expect([await usageIn("2026-11"), await usageIn("2026-12")]).toEqual([3, 0]);
  });

  it.each([
    ["starter", [100_000, 1_000_000, 25_000, 1_073_741_824, 5, 300, 5, 90, 3]],
    ["premium", [10_000_000, 100_000_000, 2_000_000, 107_374_182_400, 200, 3_000, 100, null, 20]],
  ] as const)(
    "the bill of a %s workspace has each limit of its plan under its name (D-BILL, D-PLAN)",
    async (plan, [
      sends,
      events,
      subscribers,
      asset_bytes,
      dynamic_segments,
      requests_per_minute,
      team_members,
      lookback_days,
      event_conditions_per_rule,
    ]) => {
      const { body } = await (await world.tenant({ plan })).call("GET /api/v1/billing");

      expect(body.limits).toEqual({
        ...{ sends, events, subscribers, asset_bytes, dynamic_segments, requests_per_minute, team_members },
        ...{ lookback_days, event_conditions_per_rule },
      });
    },
  );

  it("a new period begins at zero", async () => {
    const tenant = await world.tenant();
    await upsertThree(tenant);
    await send(await tenant.dashboard());
    await world.advance(11 * 86_400_000);

    expect((await tenant.call("GET /api/v1/billing")).body.usage.sends).toBe(0);
  });
});
