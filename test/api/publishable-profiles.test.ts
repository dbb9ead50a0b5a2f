// How large a profile grows by the publishable key.
import { describe, expect, it } from "vitest";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const keys = (from: number, to: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`k${from + n}`, value]));

const setting = async () => {
  const { world, tenant } = await withTenant();
  const upsert = async (attributes: object, more: object = {}) =>
    world.call("POST /api/v1/subscribers/upsert", {
      as: tenant.sdk,
      body: { external_id: "ada", attributes, ...more },
    });
  const byServer = async (attributes: object) =>
    world.call("POST /v1/subscribers/upsert", {
      as: await tenant.backend("subscribers:write"),
      body: { external_id: "ada", attributes },
    });
  return { upsert, byServer };
};

describe("a profile written with the publishable key", () => {
  it.each([
    ["65 attributes", keys(0, 65)],
    ["more than 16 KB", keys(0, 17, "x".repeat(1_000))],
  ])("a profile written with the publishable key is refused with %s (AMB-146)", async (_, attributes) => {
    const { upsert } = await setting();
    const answer = await upsert(attributes);

    expect(answer.status).toBe(422);
    expect(answer.body.fields?.attributes).toEqual(expect.any(String));
  });

  it("a profile written with the publishable key grows no further once it is full (AMB-146)", async () => {
    const { upsert } = await setting();

    expect((await upsert(keys(0, 64))).status).toBe(200);
    expect((await upsert(keys(64, 65))).status).toBe(422);
    expect((await upsert(keys(64, 65), { consent: { status: "opted_in" } })).status).toBe(422);
  });

  it.each([
    ["many keys at once", [keys(0, 60), keys(60, 65)]],
    ["a few keys each time", Array.from({ length: 9 }, (_, n) => keys(n * 8, n * 8 + 8))],
    ["long values", [keys(0, 10, "x".repeat(1_000)), keys(10, 17, "x".repeat(1_000))]],
  ])(
    "a profile written with the publishable key grows beyond its limits by no change, of %s (AMB-146)",
    async (_, changes) => {
      const { upsert } = await setting();

      for (const change of changes.slice(0, -1)) expect((await upsert(change)).status).toBe(200);
      expect((await upsert(changes.at(-1)!)).status).toBe(422);
    },
  );

  it("a profile written with the publishable key may be changed while it is full (AMB-146)", async () => {
    const { upsert } = await setting();
    await upsert(keys(0, 64));

    expect((await upsert(keys(0, 2, 2))).status).toBe(200);
    expect((await upsert({ k0: null })).status).toBe(200);
  });

  it("a profile written with the publishable key keeps what a server key wrote, which may be larger (AMB-146)", async () => {
    const { upsert, byServer } = await setting();

    expect((await byServer(keys(0, 150))).status).toBe(200);
    expect((await upsert(keys(0, 1, 2))).status).toBe(200);
    expect((await upsert(keys(0, 2, 3))).status).toBe(200);
    expect((await upsert({ another: 1 })).status).toBe(422);
  });
});
