// Subscribers whose attributes fill an item: what must never be refused still finds room.
import { describe, expect, it } from "vitest";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** A subscriber with as much as it takes, in ever smaller steps. */
async function filled(steps = [95_000, 30_000, 9_000, 2_000, 300]) {
  const { world, tenant } = await withTenant();
  const { call } = tenant;
  const id = (await tenant.upsert({ external_id: "ada", email: "ada@example.com" })) as string;
  let n = 0;
  for (const bytes of steps)
    while (
      (await call(`PATCH /api/v1/subscribers/${id}`, { attributes: { [`k${n}`]: "x".repeat(bytes) } })).status < 300
    )
      n++;
  const state = (body: object) => call(`POST /api/v1/subscribers/${id}/consents`, body);
  const bytes = async () => (await call(`GET /api/v1/subscribers/${id}`)).body.attributes.length as number;
  return { world, tenant, call, id, state, bytes };
}

describe("a subscriber with as many attributes as it can hold", () => {
  it("holds at least 350 KB of them (SUB-7)", async () => {
    const { bytes } = await filled();

    expect(await bytes()).toBeGreaterThan(350 * 1_024);
  });

  it("opts out of every channel and of a hundred topics (D-CONSENT, TPC-1)", async () => {
    const { call, state } = await filled();
    const topics = Array.from({ length: 100 }, (_, n) => `${"t".repeat(60)}${n}`);
    for (const key of topics) await call("POST /api/v1/topics", { key, name: key, default: "in" });

    for (const channel of ["email", "sms", "chat_app", ...topics.map((key) => `topic:${key}`)])
      expect((await state({ channel, status: "opted_out" })).status).toBe(201);
  });

  it("can be erased (SUB-8)", async () => {
    const { call, id } = await filled();

    expect((await call(`DELETE /api/v1/subscribers/${id}`)).status).toBe(204);
  });

  it("takes what makes it smaller, and then more again (SUB-7)", async () => {
    const { call, id } = await filled([95_000, 30_000]);
    const change = async (attributes: object) => (await call(`PATCH /api/v1/subscribers/${id}`, { attributes })).status;

    expect(await change({ more: "x".repeat(90_000) })).toBe(422);
    expect(await change({ k0: null })).toBe(200);
    expect(await change({ more: "x".repeat(90_000) })).toBe(200);
  });

  it("takes no more with a consent or an upsert either (SUB-7)", async () => {
    const { world, tenant, state } = await filled();
    const as = await tenant.backend("subscribers:write");
    const attributes = { more: "x".repeat(25_000) };
    const consent = { channel: "email", status: "opted_in" };
    const upsert = async (body: object) =>
      (await world.call("POST /v1/subscribers/upsert", { as, body: { external_id: "ada", ...body } })).status;

    expect([await upsert({ attributes }), await upsert({ attributes, consent })]).toEqual([422, 422]);
    expect((await state({ channel: "email", status: "opted_out" })).status).toBe(201);
  });
});
