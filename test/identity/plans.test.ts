// Plans: requests per minute and features; the limits of publishable keys.
import { beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { planNames } from "../../shared/rules/plans.ts";
import { operating } from "../support/operating.ts";
import { requests } from "../support/requests.ts";
import { type Headers, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { operate, send } = operating(() => world);

it("where anybody may register, the operator gives plans that are larger than that of new workspaces (D-BILL, D-PLAN)", async () => {
  world = await testWorld({ env: { STRANGERS: "1", DEFAULT_PLAN: "free" } });
  const tenant = await world.tenant({ plan: "free" });
  const take = async (plan: string) => (await tenant.call("PUT /api/v1/billing/plan", { plan })).status;
  expect(await take("starter")).toBe(403);

  await operate({ tenant_id: tenant.id, plan: "pro" });

  const statuses = [];
  for (const plan of ["premium", "growth", "pro", "free"]) statuses.push(await take(plan));
  expect(statuses).toEqual([403, 200, 403, 200]);
});

it("a plan that the operator takes away while a workspace asks for it again is gone (D-BILL, D-PLAN)", async () => {
  const reading = requests({ of: "api-billing", operation: "GetItem", naming: "TENANT#" });
  world = await testWorld({ env: { STRANGERS: "1", DEFAULT_PLAN: "free" }, hooks: reading.hooks });
  const tenant = await world.tenant({ plan: "enterprise" });
  const as = await tenant.dashboard();
  reading.next(() => operate({ tenant_id: tenant.id, plan: "free" }));

  const { status } = await world.call("PUT /api/v1/billing/plan", { as, body: { plan: "enterprise" } });

  expect([status, reading.isAwaited()]).toEqual([403, false]);
  expect((await tenant.call("GET /api/v1/billing")).body.plan).toBe("free");
});

it("of many reasons to reject, the first in order is reported (ERR-2, ERR-19, ERR-6, ERR-9, ERR-5, ERR-20, ERR-13, docs/decisions/0021#order-of-checks)", async () => {
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
  it.each(["free", "starter"] as const)(
    "smart mode is refused with 403 on the plan %s (SMA-1, ERR-20)",
    async (plan) => {
      const as = await (await world.tenant({ plan })).dashboard();

      const { status, body } = await send(as, { channel_arbitration_mode: "smart" });

      expect([status, body]).toEqual([403, { error: "feature_not_available", feature: "smart_channel" }]);
    },
  );

  it.each(planNames.filter((plan) => !["free", "starter"].includes(plan)))(
    "the plan %s has smart mode (SMA-1)",
    async (plan) => {
      const as = await (await world.tenant({ plan })).dashboard();

      expect((await send(as, { channel_arbitration_mode: "smart" })).status).toBe(201);
    },
  );

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
  const ONLY_ADDRESSES = { SDK_REQUESTS_PER_ADDRESS: "100", SDK_REQUESTS_PER_KEY: "0" };

  /** A world with these limits, and how many of so many requests of an address are refused in it. */
  async function limited(env: Record<string, string>) {
    world = await testWorld({ env });
    const tenant = await world.tenant();
    const path = "/v1/in-app/messages?subscriber_id=00000000-0000-4000-8000-000000000000";
    const refusedOf = async (times: number, sourceIp: string, headers: Headers = tenant.sdk) => {
      let refused = 0;
      for (let n = 0; n < times; n++) {
        const request = { method: "GET", path, headers, body: Buffer.alloc(0), sourceIp };
        const answer = await world.gateway.handle(request);
        if (answer.status !== 429) continue;
        refused++;
        expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
      }
      return refused;
    };
    return { tenant, refusedOf };
  }

  /** What happens to so many requests, one after another. */
  const statusesOf = async (times: number, request: (n: number) => Promise<{ status: number }>) => {
    const statuses: number[] = [];
    for (let n = 0; n < times; n++) statuses.push((await request(n)).status);
    return statuses;
  };
  /** 15 KB: as many write units as 15 small profiles. */
  const LARGE = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`a${n}`, "x".repeat(1_000)]));

  it("requests with a publishable key are limited per address, for a minute, where the deployment says so (OPS-2, LIM-3, ERR-16)", async () => {
    const { refusedOf } = await limited(ONLY_ADDRESSES);

    expect(await refusedOf(149, "203.0.113.1")).toBe(0);
    expect(await refusedOf(3, "203.0.113.1")).toBe(3);
    await world.advance(MINUTE);

    expect(await refusedOf(3, "203.0.113.1")).toBe(0);
  });

  it("requests with a publishable key are limited per key, from however many addresses they come (OPS-2, LIM-3)", async () => {
    const { refusedOf } = await limited({ SDK_REQUESTS_PER_ADDRESS: "100", SDK_REQUESTS_PER_KEY: "200" });
    expect(await refusedOf(149, "203.0.113.1")).toBe(0);
    expect(await refusedOf(50, "203.0.113.2")).toBe(0);

    expect(await refusedOf(60, "203.0.113.3")).toBeGreaterThan(0);
  });

  it("limits of publishable keys hold for no other workspace's key, and for no other credential (OPS-2, LIM-3)", async () => {
    const { tenant, refusedOf } = await limited({ SDK_REQUESTS_PER_ADDRESS: "20", SDK_REQUESTS_PER_KEY: "40" });
    for (const address of ["203.0.113.1", "203.0.113.2", "203.0.113.3"]) await refusedOf(40, address);
    expect(await refusedOf(1, "203.0.113.4")).toBe(1);

    expect(await refusedOf(20, "203.0.113.4", (await world.tenant()).sdk)).toBe(0);
    expect(await refusedOf(3, "203.0.113.1", await tenant.dashboard())).toBe(0);
  });

  it("requests with a publishable key are limited in write units too: a few large ones as many small ones (AMB-146)", async () => {
    const { tenant } = await limited(ONLY_ADDRESSES);
    const statuses = await statusesOf(30, (n) =>
      world.call("POST /api/v1/subscribers/upsert", {
        as: tenant.sdk,
        body: { external_id: `p${n}`, attributes: LARGE },
      }),
    );

    expect(statuses[0]).toBe(200);
    expect(statuses.at(-1)).toBe(429);
  });

  it.each([
    ["large", LARGE, 429],
    ["small", {}, 200],
  ])(
    "requests with a publishable key count what they really write: small changes of a %s profile (AMB-146, D2)",
    async (_, attributes, last) => {
      const { tenant } = await limited(ONLY_ADDRESSES);
      const upsert = (change: object) =>
        world.call("POST /api/v1/subscribers/upsert", {
          as: tenant.sdk,
          body: { external_id: "p", attributes: change },
        });
      expect((await upsert(attributes)).status).toBe(200);
      await world.advance(MINUTE);

      const statuses = await statusesOf(60, (n) => upsert({ n }));

      expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200));
      expect(statuses.at(-1)).toBe(last);
    },
  );

  it("requests with a publishable key count what they really write: changes that the table refuses, as it bills them (AMB-146, D2)", async () => {
    const { tenant } = await limited(ONLY_ADDRESSES);
    const upsert = (attributes: object) =>
      world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id: "p", attributes } });
    expect((await upsert(LARGE)).status).toBe(200);
    await world.advance(MINUTE);

    // Each is refused by its condition, which reads the whole profile, and would make it too large.
    const statuses = await statusesOf(60, () => upsert({ more: "x".repeat(1_600) }));

    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(422));
    expect(statuses.at(-1)).toBe(429);
  });

  /** A workspace with a subscriber who has eight messages of 40 KB. */
  async function withLongInbox(body = "x".repeat(40_000)) {
    const { tenant } = await limited(ONLY_ADDRESSES);
    const id = await tenant.upsert({ external_id: "p" });
    for (let n = 0; n < 8; n++)
      await tenant.call("POST /api/v1/notifications", { subscriberIds: [id], title: "A", body });
    await world.settle();
    await world.advance(MINUTE);
    return (query = "") => world.call(`GET /v1/in-app/messages?subscriber_id=${id}${query}`, { as: tenant.sdk });
  }

  it("requests with a publishable key count what they answer: an inbox of long messages as its transfer costs (D2)", async () => {
    const read = await withLongInbox();
    const statuses = await statusesOf(15, () => read());
    expect(statuses.slice(0, 9)).toEqual(Array(9).fill(200));
    expect(statuses.at(-1)).toBe(429);
  });

  it("requests with a publishable key count what they read: messages of texts of their own that are passed by (D2)", async () => {
    const read = await withLongInbox(`${"x".repeat(40_000)}{{ subscriber.external_id }}`);

    const statuses = await statusesOf(60, () => read("&limit=1&status=read"));

    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(200));
    expect(statuses.at(-1)).toBe(429);
  });

  it("requests with a publishable key that answer little are many, however long the texts of the inbox are (D2)", async () => {
    const read = await withLongInbox();

    expect(await statusesOf(90, () => read("&limit=1&status=read"))).toEqual(Array(90).fill(200));
  });

  it("changes by the links of mails are limited by address, and nobody else's are (AMB-146, D2)", async () => {
    await limited(ONLY_ADDRESSES);
    const opt = (sourceIp: string) =>
      world.gateway.handle({ method: "POST", path: "/u/made-up", headers: {}, body: Buffer.alloc(0), sourceIp });

    const statuses = await statusesOf(151, () => opt("203.0.113.1"));

    expect([statuses[0], statuses.at(-1)]).toEqual([404, 429]);
    expect((await opt("203.0.113.2")).status).toBe(404);
  });

  it("requests with a publishable key are not limited by a limit of 0 (OPS-2)", async () => {
    const { refusedOf } = await limited({ SDK_REQUESTS_PER_ADDRESS: "0", SDK_REQUESTS_PER_KEY: "0" });

    expect(await refusedOf(50, "203.0.113.1")).toBe(0);
  });
});
