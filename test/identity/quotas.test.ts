// Quotas and caps of a plan.
import { beforeEach, describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { countSubscribers } from "../../shared/store/subscribers/subscribers.ts";
import { usageOf, warnOfUsage } from "../../shared/store/workspaces/usage.ts";
import { operating } from "../support/operating.ts";
import { wholeTable } from "../support/people.ts";
import { type Tenant, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { operate, upsert, send } = operating(() => world);

describe("quotas and caps", () => {
  const three = async (tenant: Tenant) => {
    for (const id of ["a", "b", "c"]) await upsert(tenant, id);
    await world.settle();
  };

  it("a send that would pass the plan's quota is refused whole, with the numbers (ERR-3)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    await three(tenant);
    await operate({ tenant_id: tenant.id, usage: { sends: 99_998 } });
    const as = await tenant.dashboard();
    const { status, body } = await send(as);

    expect(status).toBe(402);
    expect(body.code).toBe("PAYMENT_REQUIRED");
    expect(body.message).toContain("99998 of 100000");
    expect((await world.call("GET /api/v1/notifications", { as })).body.items).toEqual([]);
    expect((await world.call("GET /api/v1/billing", { as })).body.usage.sends).toBe(99_998);
  });

  it("a send that the quota refuses leaves nothing of its plan (ERR-3)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    await three(tenant);
    await operate({ tenant_id: tenant.id, usage: { sends: 99_998 } });
    const as = await tenant.dashboard();
    const planned = async () =>
      (await wholeTable(world)).map((row) => JSON.stringify(row)).filter((row) => row.includes('"recipients"'));

    expect((await send(as)).status).toBe(402);

    expect(await planned()).toEqual([]);
  });

  it("the workspace's own cap refuses with its own code; a cap of 0 stops sending (ERR-4, AMB-87)", async () => {
    const tenant = await world.tenant();
    await three(tenant);
    const as = await tenant.dashboard();
    const cap = (monthly_send_cap: number | null) =>
      world.call("PATCH /api/v1/billing", { as, body: { monthly_send_cap } });
    await cap(2);
    expect((await send(as)).body.message).toContain("0 of 2");
    expect((await cap(4)).body.monthly_send_cap).toBe(4);
    expect((await send(as)).status).toBe(201);
    const refused = await send(as);
    expect(refused.status).toBe(402);
    expect(refused.body.code).toBe("SEND_CAP_REACHED");
    expect(refused.body.message).toContain("3 of 4");
    await cap(0);
    expect((await send(as)).body.code).toBe("SEND_CAP_REACHED");
    await cap(null);
    expect((await send(as)).status).toBe(201);
  });

  it("a scheduled send that meets the cap at its time fails, and says so (ERR-4, NTF-20)", async () => {
    const tenant = await world.tenant();
    await three(tenant);
    const { id } = (await send(await tenant.dashboard(), { scheduled_at: "2026-11-20T13:00:00Z" })).body;
    await operate({ tenant_id: tenant.id, monthly_send_cap: 1 });
    await world.advance(3_700_000);
    const { body } = await tenant.call(`GET /api/v1/notifications/${id}`);

    expect(body.status).toBe("failed");
    expect(body.counts.delivered).toBe(0);
    expect(body.error).toContain("cap");
  });

  it("warns once at 80 and once at 95 percent, by annotation and log, and forecasts (F25, D-BILL)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    await three(tenant);
    const as = await tenant.dashboard();
    const annotations = async () => {
      const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#annotation` });
      return items.map(({ kind, text }) => `${kind}: ${text}`);
    };
    await operate({ tenant_id: tenant.id, usage: { sends: 79_998 } });
    await send(as);
    await send(as);
    expect(await annotations()).toEqual([
      "quota_warning: 80 % of the plan's sends are used: 80001 of 100000 in 2026-11.",
    ]);
    const logged = () => world.logs.filter(({ message }) => message === "a workspace nears a limit");
    const whose = { tenant: tenant.id, metered: "sends", limit: 100_000, limit_of: "the plan's sends" };
    const line = { level: "warn", message: "a workspace nears a limit", period: "2026-11", ...whose };
    expect(logged()).toEqual([{ ...line, percent: 80, used: 80_001 }]);
    await operate({ tenant_id: tenant.id, usage: { sends: 94_999 } });
    await send(as);
    expect((await annotations()).length).toBe(2);
    expect(logged().slice(1)).toEqual([{ ...line, percent: 95, used: expect.any(Number) }]);
    await operate({ tenant_id: tenant.id, usage: { sends: 95_002 } });
    const { body } = await world.call("GET /api/v1/billing", { as });
    expect(body.usage).toMatchObject({ sends: 95_002, subscribers: 3 });
    expect(body.limits).toMatchObject({ sends: 100_000, team_members: 5, requests_per_minute: 300 });
    expect(body.period_start).toBe("2026-11-01T00:00:00.000Z");
    expect(body.period_end).toBe("2026-12-01T00:00:00.000Z");
    expect(body.forecast.sends_at_period_end).toBe(Math.round((95_002 * 30) / 19.5));
  });

  it("warns again of the same shares once an operator has set what is used (F25, D-BILL)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    const allowance = { plan: "starter", sendCap: 90_000 } as const;
    for (let n = 0; n < 2; n++) {
      await operate({ tenant_id: tenant.id, usage: { sends: 80_000, events: 800_000 } });
      for (const metered of ["sends", "events", "sends", "events"] as const)
        await warnOfUsage(tenant.store, metered, allowance);
    }

    const warned = world.logs.filter(({ message }) => message === "a workspace nears a limit");
    const limits = ["the plan's sends", "the workspace's own monthly send cap", "the plan's events"];
    expect(warned.map(({ limit_of }) => limit_of)).toEqual([...limits, ...limits]);
  });

  it("warns once, however many find out at the same moment (F25, D-BILL)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    await operate({ tenant_id: tenant.id, usage: { sends: 81_000 } });
    const allowance = { plan: "starter", sendCap: null } as const;
    await Promise.all(Array.from({ length: 5 }, () => warnOfUsage(tenant.store, "sends", allowance)));

    expect((await tenant.rows.query({ pk: `T#${tenant.id}#annotation` })).items).toHaveLength(1);
    expect(world.logs.filter(({ message }) => message === "a workspace nears a limit")).toHaveLength(1);
  });

  it("a cap that was raised warns at its own shares (F25, D-BILL)", async () => {
    const tenant = await world.tenant();
    await three(tenant);
    const as = await tenant.dashboard();
    for (const [monthly_send_cap, times] of [
      [3, 1],
      [10, 2],
      [12, 1],
    ] as const) {
      await operate({ tenant_id: tenant.id, monthly_send_cap });
      for (let n = 0; n < times; n++) await send(as);
    }

    const warned = world.logs.filter(({ message }) => message === "a workspace nears a limit");
    expect(warned.map(({ percent, used, limit }) => `${percent} %: ${used} of ${limit}`)).toEqual([
      "95 %: 3 of 3",
      "80 %: 9 of 10",
      "95 %: 12 of 12",
    ]);
  });

  it("warns of the plan where an own cap is beyond it or nears too (F25, D-BILL)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    await three(tenant);
    const as = await tenant.dashboard();
    const warned = () =>
      world.logs.flatMap((line) => (line.message === "a workspace nears a limit" ? [[line.percent, line.limit]] : []));
    await operate({ tenant_id: tenant.id, monthly_send_cap: 200_000, usage: { sends: 79_998 } });
    await send(as);
    expect(warned()).toEqual([[80, 100_000]]);

    await operate({ tenant_id: tenant.id, monthly_send_cap: 100_000, usage: { sends: 94_999 } });
    await send(as);

    expect(warned().slice(1)).toEqual([
      [95, 100_000],
      [95, 100_000],
    ]);
  });

  it("warns of the workspace's own cap too, and of no cap that forbids sending (F25, D-BILL)", async () => {
    const tenant = await world.tenant();
    await three(tenant);
    const as = await tenant.dashboard();
    const warnings = () => world.logs.filter(({ message }) => message === "a workspace nears a limit");
    await operate({ tenant_id: tenant.id, monthly_send_cap: 0 });
    await send(as);
    expect(warnings()).toEqual([]);
    await operate({ tenant_id: tenant.id, monthly_send_cap: 10 });
    for (let n = 0; n < 4; n++) await send(as);
    expect(warnings()).toEqual([
      expect.objectContaining({ percent: 80, used: 9, limit: 10, limit_of: "the workspace's own monthly send cap" }),
    ]);
    await operate({ tenant_id: tenant.id, monthly_send_cap: null });
    await send(as);
    expect(warnings()).toHaveLength(1);
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
    await three(tenant);
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
    await three(tenant);
    await send(await tenant.dashboard());
    await world.advance(11 * 86_400_000);

    expect((await tenant.call("GET /api/v1/billing")).body.usage.sends).toBe(0);
  });
});
