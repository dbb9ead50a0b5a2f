// Plans: requests per minute, features, quotas, caps, warnings; the bill.
import { beforeEach, describe, expect, it } from "vitest";
import { planNames, plans } from "../../shared/rules/plans.ts";
import { operating } from "../support/operating.ts";
import { type Headers, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { operate, upsert, send } = operating(() => world);

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

  it("the limit of requests a minute is exact under concurrency (LIM-1)", async () => {
    const as = await (await world.tenant({ plan: "free" })).dashboard();
    const answers = await Promise.all(Array.from({ length: 100 }, () => world.call("GET /api/v1/me", { as })));

    expect(answers.filter(({ status }) => status === 200).length).toBe(60);
  });

  it("the limit of requests a minute counts all callers of a workspace together; another workspace has its own minute (ARC-8, LIM-1)", async () => {
    const [tenant, other] = [await world.tenant({ plan: "free" }), await world.tenant({ plan: "free" })];
    const people = [await tenant.dashboard(), await tenant.dashboard("admin"), await tenant.dashboard("viewer")];
    const status = async (as: Headers) => (await world.call("GET /api/v1/me", { as })).status;

    for (let i = 0; i < 60; i++) expect(await status(people[i % 3]!)).toBe(200);
    expect(await status(people[1]!)).toBe(429);
    expect(await status(await other.dashboard())).toBe(200);
  });

  it("SDK-key and server-key requests are not counted (LIM-3)", async () => {
    const tenant = await world.tenant({ plan: "free" });

    for (let i = 0; i < 70; i++) expect((await upsert(tenant, "same")).status).toBe(200);
    for (let i = 0; i < 70; i++)
      expect((await world.call("GET /v1/subscribers", { as: tenant.server })).status).toBe(200);
    expect((await tenant.call("GET /api/v1/me")).status).toBe(200);
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

    expect(status).toBe(403);
    expect(body).toEqual({
      error: "channel_type_not_permitted",
      allowed: ["ios", "android", "web_push", "email"],
      upgrade_required: true,
    });
  });
});

describe("requests with a publishable key", () => {
  const env = { SDK_REQUESTS_PER_ADDRESS: "100", SDK_REQUESTS_PER_KEY: "200" };

  it("requests with a publishable key are limited per address and per key, where the deployment says so, for a minute (OPS-2, LIM-3, ERR-16)", async () => {
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

  it("requests with a publishable key are limited in write units too: a few large ones as many small ones (AMB-146)", async () => {
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

  it("count what they really write: small changes of a large profile as much as it (AMB-146, D2)", async () => {
    world = await testWorld({ env: { SDK_REQUESTS_PER_ADDRESS: "100", SDK_REQUESTS_PER_KEY: "0" } });
    const { sdk } = await world.tenant();
    const attributes = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`a${n}`, "x".repeat(1_000)]));
    const upsert = async (body: object) =>
      (await world.call("POST /api/v1/subscribers/upsert", { as: sdk, body: { external_id: "p", ...body } })).status;
    expect(await upsert({ attributes })).toBe(200);
    await world.advance(60_000);
    const statuses: number[] = [];
    for (let n = 0; n < 40; n++) statuses.push(await upsert({ attributes: { n } }));
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(200));
    expect(statuses.at(-1)).toBe(429);
    await world.advance(60_000);
    const small: number[] = [];
    for (let n = 0; n < 60; n++) small.push(await upsert({ external_id: "q", attributes: { n } }));
    expect(small.filter((status) => status === 429)).toEqual([]);
  });

  it("count what they answer: an inbox of long messages as its transfer costs (D2)", async () => {
    world = await testWorld({ env: { SDK_REQUESTS_PER_ADDRESS: "100", SDK_REQUESTS_PER_KEY: "0" } });
    const { sdk, call, upsert } = await world.tenant();
    const id = await upsert({ external_id: "p" });
    for (let n = 0; n < 8; n++)
      await call("POST /api/v1/notifications", { subscriberIds: [id], title: "A", body: "x".repeat(40_000) });
    await world.settle();
    await world.advance(60_000);
    const statuses: number[] = [];
    for (let n = 0; n < 15; n++)
      statuses.push((await world.call(`GET /v1/in-app/messages?subscriber_id=${id}`, { as: sdk })).status);
    expect(statuses.slice(0, 9)).toEqual(Array(9).fill(200));
    expect(statuses.at(-1)).toBe(429);
    await world.advance(60_000);
    const short: number[] = [];
    for (let n = 0; n < 90; n++)
      short.push(
        (await world.call(`GET /v1/in-app/messages?subscriber_id=${id}&limit=1&status=read`, { as: sdk })).status,
      );
    expect(short.filter((status) => status === 429)).toEqual([]);
  });

  it("changes by the links of mails are limited by address, and nobody else's are (AMB-146, D2)", async () => {
    world = await testWorld({ env: { SDK_REQUESTS_PER_ADDRESS: "100", SDK_REQUESTS_PER_KEY: "0" } });
    const opt = async (sourceIp: string) => {
      const request = { method: "POST", path: "/u/made-up", headers: {}, body: Buffer.alloc(0), sourceIp };
      return (await world.gateway.handle(request)).status;
    };
    const statuses: number[] = [];
    for (let n = 0; n < 151; n++) statuses.push(await opt("203.0.113.1"));

    expect(statuses[0]).toBe(404);
    expect(statuses.at(-1)).toBe(429);
    expect(await opt("203.0.113.2")).toBe(404);
  });

  it("requests with a publishable key are not limited by a limit of 0 (OPS-2)", async () => {
    world = await testWorld({ env: { SDK_REQUESTS_PER_ADDRESS: "0", SDK_REQUESTS_PER_KEY: "0" } });
    const { sdk } = await world.tenant();
    const request = () => world.call("POST /v1/events", { as: sdk, body: { events: [] } });

    for (let n = 0; n < 50; n++) expect((await request()).status).not.toBe(429);
  });
});
