// Plans: requests per minute, features, quotas, caps, warnings; the bill.
import { beforeEach, describe, expect, it } from "vitest";
import { planNames, plans } from "../../shared/rules/plans.ts";
import { warnOfUsage } from "../../shared/store/workspaces/usage.ts";
import { type Headers, type Tenant, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const operate = (event: object) => world.host.invoke("operator", event) as Promise<Record<string, never>>;
const upsert = (tenant: Tenant, external_id: string) =>
  world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id } });
const send = (as: Headers, body: object = {}) =>
  world.call("POST /api/v1/notifications", { as, body: { target: { type: "all" }, title: "t", body: "b", ...body } });

describe("requests per minute", () => {
  it("the 61st request of a free workspace's minute is refused, with the seconds to wait (LIM-1, LIM-2, ERR-19)", async () => {
    const as = await (await world.tenant({ plan: "free" })).dashboard();
    await world.advance(12_300);
    const answers = [];
    for (let i = 0; i < 61; i++) answers.push(await world.call("GET /api/v1/templates", { as }));
    expect(answers.map(({ status }) => status)).toEqual([...Array(60).fill(200), 429]);
    const refused = answers.at(-1)!;
    expect(refused.body).toEqual({ error: "rate limit exceeded", retry_after: 48 });
    expect(refused.headers["retry-after"]).toBe("48");
    expect(Object.keys(refused.headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
    await world.advance(48_000);
    expect((await world.call("GET /api/v1/templates", { as })).status).toBe(200);
  });

  it("is exact under concurrency (LIM-1)", async () => {
    const as = await (await world.tenant({ plan: "free" })).dashboard();
    const answers = await Promise.all(Array.from({ length: 100 }, () => world.call("GET /api/v1/me", { as })));
    expect(answers.filter(({ status }) => status === 200).length).toBe(60);
  });

  it("counts all callers of a workspace together; another workspace has its own minute (ARC-8, LIM-1)", async () => {
    const [tenant, other] = [await world.tenant({ plan: "free" }), await world.tenant({ plan: "free" })];
    const people = [await tenant.dashboard(), await tenant.dashboard("admin"), await tenant.dashboard("viewer")];
    const status = async (as: Headers) => (await world.call("GET /api/v1/me", { as })).status;
    for (let i = 0; i < 60; i++) expect(await status(people[i % 3]!)).toBe(200);
    expect([await status(people[1]!), await status(await other.dashboard())]).toEqual([429, 200]);
  });

  it("SDK-key and server-key requests are not counted (LIM-3)", async () => {
    const tenant = await world.tenant({ plan: "free" });
    for (let i = 0; i < 70; i++) expect((await upsert(tenant, "same")).status).toBe(200);
    for (let i = 0; i < 70; i++)
      expect((await world.call("GET /v1/subscribers", { as: tenant.server })).status).toBe(200);
    expect((await world.call("GET /api/v1/me", { as: await tenant.dashboard() })).status).toBe(200);
  });

  it("the ladder (LIM-1, LIM-9, AMB-39, D-PLAN)", () => {
    const ladder = planNames.map((name) => {
      const { requestsPerMinute, dynamicSegments, eventConditionsPerRule, lookbackDays, teamMembers } = plans[name];
      const { sends, events, subscribers, assetBytes, channelTypes, features } = plans[name];
      return [
        ...[name, requestsPerMinute, dynamicSegments, eventConditionsPerRule, lookbackDays, teamMembers],
        ...[sends, events, subscribers, assetBytes / 1_048_576, channelTypes.length, features.length],
      ];
    });
    expect(ladder).toEqual([
      ["free", 60, 0, 1, 30, 2, 10_000, 100_000, 1_000, 50, 4, 0],
      ["starter", 300, 5, 3, 90, 5, 100_000, 1_000_000, 25_000, 1_024, 5, 2],
      ["growth", 600, 20, 5, 180, 10, 500_000, 5_000_000, 100_000, 5_120, 6, 3],
      ["pro", 1_000, 50, 10, 365, 25, 2_000_000, 20_000_000, 500_000, 20_480, 7, 3],
      ["premium", 3_000, 200, 20, null, 100, 10_000_000, 100_000_000, 2_000_000, 102_400, 7, 4],
      ["enterprise", 10_000, 1_000, 50, null, 1_000, 100_000_000, 1_000_000_000, 20_000_000, 1_048_576, 7, 5],
    ]);
  });
});

it("docs/decisions/0021#order-of-checks ERR-2 ERR-19 ERR-6 ERR-9 ERR-5 ERR-20 ERR-13 of many reasons to reject, the first in order is reported", async () => {
  const tenant = await world.tenant({ plan: "free" });
  const route = "POST /api/v1/schedules";
  const answers: string[] = [];
  const ask = async (as: Headers) => {
    const { status, body } = await world.call(route, { as, body: { cron_expression: "nonsense" } });
    answers.push(`${status} ${body.code ?? body.error}`);
  };
  await operate({ tenant_id: tenant.id, status: "suspended" });
  const narrow = await tenant.dashboard("analyst", { readOnly: true });
  for (let n = 0; n < 60; n++) await world.call("GET /api/v1/me", { as: narrow });
  await ask({ authorization: "Bearer garbage" });
  await ask(narrow);
  await world.advance(60_000);
  await ask(narrow);
  await operate({ tenant_id: tenant.id, status: "active" });
  await ask(narrow);
  await ask(await tenant.dashboard("analyst"));
  await ask(await tenant.dashboard());
  await operate({ tenant_id: tenant.id, plan: "premium" });
  await ask(await tenant.dashboard());
  expect(answers).toEqual([
    "401 UNAUTHORIZED",
    "429 rate limit exceeded",
    "403 TENANT_SUSPENDED",
    "403 READ_ONLY_TOKEN",
    "403 FORBIDDEN",
    "403 PLAN_FEATURE_UNAVAILABLE",
    "422 VALIDATION_ERROR",
  ]);
});

describe("features", () => {
  it("in-app delivery is refused on a plan without it, in its own body (GEN-10, INX-1, ERR-20)", async () => {
    const tenant = await world.tenant({ plan: "free" });
    const { body, status } = await world.call("GET /v1/in-app/messages?subscriber_id=x", { as: tenant.sdk });
    expect(status).toBe(403);
    expect(body).toEqual({ error: "in_app_not_permitted", message: expect.any(String), upgrade_required: true });
  });

  it("smart mode needs Growth or higher (SMA-1, ERR-20)", async () => {
    for (const plan of planNames) {
      const as = await (await world.tenant({ plan })).dashboard();
      const { status, body } = await send(as, { channel_arbitration_mode: "smart" });
      if (["free", "starter"].includes(plan))
        expect([status, body]).toEqual([403, { error: "feature_not_available", feature: "smart_channel" }]);
      else expect(status).toBe(201);
    }
  });

  it("a send over a channel type that the plan lacks names the allowed ones (CHN-13)", async () => {
    const as = await (await world.tenant({ plan: "free" })).dashboard();
    const { id } = (await world.call("GET /api/v1/channels", { as })).body.channels[0];
    const { status, body } = await send(as, { channel_ids: [id] });
    expect([status, body]).toEqual([
      403,
      { error: "channel_type_not_permitted", allowed: ["ios", "android", "web_push", "email"], upgrade_required: true },
    ]);
  });
});

describe("requests with a publishable key", () => {
  const env = { SDK_REQUESTS_PER_ADDRESS: "100", SDK_REQUESTS_PER_KEY: "200" };

  it("are limited per address and per key, where the deployment says so, for a minute (OPS-2, LIM-3, ERR-16)", async () => {
    world = await testWorld({ env });
    const tenant = await world.tenant();
    const requests = async (times: number, sourceIp: string, headers = tenant.sdk) => {
      const path = "/v1/in-app/messages?subscriber_id=00000000-0000-4000-8000-000000000000";
      const answers: number[] = [];
      for (let n = 0; n < times; n++) {
        const request = { method: "GET", path, headers, body: Buffer.alloc(0), sourceIp };
        const { status, headers: answered } = await world.gateway.handle(request);
        answers.push(status);
        if (status === 429) expect(Number(answered["retry-after"])).toBeGreaterThan(0);
      }
      return answers.filter((status) => status === 429).length;
    };
    expect(await requests(149, "203.0.113.1")).toBe(0);
    expect(await requests(3, "203.0.113.1")).toBe(3);
    expect(await requests(50, "203.0.113.2")).toBe(0);
    expect(await requests(60, "203.0.113.3")).toBeGreaterThan(0);
    // Another workspace has a key of its own, and another credential is not limited.
    expect(await requests(40, "203.0.113.4", (await world.tenant()).sdk)).toBe(0);
    expect(await requests(3, "203.0.113.1", await tenant.dashboard())).toBe(0);
    await world.advance(60_000);
    expect(await requests(3, "203.0.113.1")).toBe(0);
  });

  it("are limited in write units too: a few large ones as many small ones (AMB-146)", async () => {
    world = await testWorld({ env: { SDK_REQUESTS_PER_ADDRESS: "100", SDK_REQUESTS_PER_KEY: "0" } });
    const { sdk } = await world.tenant();
    const attributes = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`a${n}`, "x".repeat(1_000)]));
    const statuses: number[] = [];
    for (let n = 0; n < 30; n++) {
      const body = { external_id: `p${n}`, attributes };
      statuses.push((await world.call("POST /api/v1/subscribers/upsert", { as: sdk, body })).status);
    }
    expect(statuses[0]).toBe(200);
    expect(statuses.at(-1)).toBe(429);
  });

  it("are not limited by a limit of 0 (OPS-2)", async () => {
    world = await testWorld({ env: { SDK_REQUESTS_PER_ADDRESS: "0", SDK_REQUESTS_PER_KEY: "0" } });
    const { sdk } = await world.tenant();
    const request = () => world.call("POST /v1/events", { as: sdk, body: { events: [] } });
    for (let n = 0; n < 50; n++) expect((await request()).status).not.toBe(429);
  });
});

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
    expect([status, body.code]).toEqual([402, "PAYMENT_REQUIRED"]);
    expect(body.message).toContain("99998 of 100000");
    expect((await world.call("GET /api/v1/notifications", { as })).body.items).toEqual([]);
    expect((await world.call("GET /api/v1/billing", { as })).body.usage.sends).toBe(99_998);
  });

  it("the workspace's own cap refuses with its own code; a cap of 0 stops sending (ERR-4, AMB-87)", async () => {
    const tenant = await world.tenant();
    await three(tenant);
    const as = await tenant.dashboard();
    const cap = (monthly_send_cap: number | null) =>
      world.call("PATCH /api/v1/billing", { as, body: { monthly_send_cap } });
    expect((await cap(4)).body.monthly_send_cap).toBe(4);
    expect((await send(as)).status).toBe(201);
    const refused = await send(as);
    expect([refused.status, refused.body.code]).toEqual([402, "SEND_CAP_REACHED"]);
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
    const { body } = await world.call(`GET /api/v1/notifications/${id}`, { as: await tenant.dashboard() });
    expect([body.status, body.counts.delivered]).toEqual(["failed", 0]);
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
    expect([body.period_start, body.period_end]).toEqual(["2026-11-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"]);
    expect(body.forecast.sends_at_period_end).toBe(Math.round((95_002 * 30) / 19.5));
  });

  it("warns once, however many find out at the same moment (F25, D-BILL)", async () => {
    const tenant = await world.tenant({ plan: "starter" });
    await operate({ tenant_id: tenant.id, usage: { sends: 81_000 } });
    const allowance = { plan: "starter", sendCap: null } as const;
    await Promise.all(Array.from({ length: 5 }, () => warnOfUsage(tenant.store, "sends", allowance)));
    expect((await tenant.rows.query({ pk: `T#${tenant.id}#annotation` })).items).toHaveLength(1);
    expect(world.logs.filter(({ message }) => message === "a workspace nears a limit")).toHaveLength(1);
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
    for (let i = 0; i < 1_000; i += 50) {
      const some = Array.from({ length: 50 }, (_, n) => upsert(tenant, `s${i + n}`));
      expect((await Promise.all(some)).every(({ status }) => status === 200)).toBe(true);
      await world.settle();
    }
    await world.advance(60_000);
    const refused = await upsert(tenant, "one too many");
    expect([refused.status, refused.body.code]).toEqual([429, "QUOTA_EXCEEDED"]);
    expect(refused.body.message).toContain("1000 of 1000");
    expect((await upsert(tenant, "s7")).status).toBe(200);
    const as = await tenant.dashboard();
    const { items } = (await world.call("GET /api/v1/subscribers?external_id=s7", { as })).body;
    await world.call(`DELETE /api/v1/subscribers/${items[0].id}`, { as });
    await world.settle();
    expect((await upsert(tenant, "just one more")).status).toBe(200);
  });

  it("a new period begins at zero", async () => {
    const tenant = await world.tenant();
    await three(tenant);
    await send(await tenant.dashboard());
    await world.advance(11 * 86_400_000);
    expect((await world.call("GET /api/v1/billing", { as: await tenant.dashboard() })).body.usage.sends).toBe(0);
  });
});
