// What a workspace is told of its quotas before they are used up.
import { beforeEach, describe, expect, it } from "vitest";
import { warnOfUsage } from "../../shared/store/workspaces/usage.ts";
import { operating } from "../support/operating.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { operate, upsertThree, send } = operating(() => world);

describe("warnings of a quota", () => {
  /** What a workspace near its quota of sends is told, and what the log says. */
  const nearQuota = async (sends: number) => {
    const tenant = await world.tenant({ plan: "starter" });
    await upsertThree(tenant);
    const as = await tenant.dashboard();
    const use = (used: number) => operate({ tenant_id: tenant.id, usage: { sends: used } });
    await use(sends);
    const annotations = async () => {
      const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#annotation` });
      return items.map(({ kind, text }) => `${kind}: ${text}`);
    };
    const logged = () => world.logs.filter(({ message }) => message === "a workspace nears a limit");
    return { tenant, as, use, annotations, logged };
  };

  it("a quota of which 80 percent are used is told of once (F25, D-BILL)", async () => {
    const { as, annotations } = await nearQuota(79_998);
    await send(as);
    await send(as);

    expect(await annotations()).toEqual([
      "quota_warning: 80% of the plan's sends are used: 80001 of 100000 in 2026-11.",
    ]);
  });

  it("a quota of which 95 percent are used is told of again (F25, D-BILL)", async () => {
    const { as, use, annotations } = await nearQuota(79_998);
    await send(as);
    await use(94_999);
    await send(as);

    expect(await annotations()).toHaveLength(2);
    expect(await annotations()).toContainEqual(expect.stringContaining("95%"));
  });

  it("a warning of a quota is logged with the workspace and the numbers (F25, D-HEALTH)", async () => {
    const { tenant, as, logged } = await nearQuota(79_998);
    await send(as);
    const whose = { tenant: tenant.id, metered: "sends", limit: 100_000, limit_of: "the plan's sends" };
    const line = { level: "warn", message: "a workspace nears a limit", period: "2026-11", ...whose };

    expect(logged()).toEqual([{ ...line, percent: 80, used: 80_001 }]);
  });

  it("billing shows the period with its usage, its limits and a forecast at the pace so far (F25, D-BILL)", async () => {
    const { as } = await nearQuota(95_002);

    expect((await world.call("GET /api/v1/billing", { as })).body).toMatchObject({
      usage: { sends: 95_002, subscribers: 3 },
      limits: { sends: 100_000, team_members: 5, requests_per_minute: 300 },
      period_start: "2026-11-01T00:00:00.000Z",
      period_end: "2026-12-01T00:00:00.000Z",
      forecast: { sends_at_period_end: Math.round((95_002 * 30) / 19.5) },
    });
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

  it("warns once of events, though an operator has set since what is used of sends (F25, D-BILL)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    const warn = () => warnOfUsage(tenant.store, "events", { plan: "starter", sendCap: null });
    await operate({ tenant_id: tenant.id, usage: { events: 800_000 } });
    await warn();
    await operate({ tenant_id: tenant.id, usage: { sends: 10 } });
    await warn();

    expect(world.logs.filter(({ message }) => message === "a workspace nears a limit")).toHaveLength(1);
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
    await upsertThree(tenant);
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
    expect(warned.map(({ percent, used, limit }) => `${percent}%: ${used} of ${limit}`)).toEqual([
      "95%: 3 of 3",
      "80%: 9 of 10",
      "95%: 12 of 12",
    ]);
  });

  it("warns of the plan where an own cap is beyond it or nears too (F25, D-BILL)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    await upsertThree(tenant);
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
    await upsertThree(tenant);
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
});
