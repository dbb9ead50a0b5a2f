// How many requests a minute a plan allows (LIM-1).
import { beforeEach, describe, expect, it } from "vitest";
import { planNames, plans } from "../../shared/rules/plans.ts";
import { operating } from "../support/operating.ts";
import { type Headers, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { upsert } = operating(() => world);

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

  it("the limit of requests a minute counts all callers of a workspace together, and none of another one (ARC-8, LIM-1)", async () => {
    const [tenant, other] = [await world.tenant({ plan: "free" }), await world.tenant({ plan: "free" })];
    const people = [await tenant.dashboard(), await tenant.dashboard("admin"), await tenant.dashboard("viewer")];
    const status = async (as: Headers) => (await world.call("GET /api/v1/me", { as })).status;

    for (let i = 0; i < 60; i++) expect(await status(people[i % 3]!)).toBe(200);
    expect(await status(people[1]!)).toBe(429);
    expect(await status(await other.dashboard())).toBe(200);
  });

  it("requests with an SDK key or a server key do not count for the requests a minute (LIM-3)", async () => {
    const tenant = await world.tenant({ plan: "free" });

    for (let i = 0; i < 70; i++) expect((await upsert(tenant, "same")).status).toBe(200);
    for (let i = 0; i < 70; i++)
      expect((await world.call("GET /v1/subscribers", { as: tenant.server })).status).toBe(200);
    expect((await tenant.call("GET /api/v1/me")).status).toBe(200);
  });

  it("each plan allows what the table of plans says (LIM-1, LIM-9, AMB-39, D-PLAN)", () => {
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
