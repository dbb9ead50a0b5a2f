// Server keys and their scopes: shown once, revoked at once; and the SDK key, which does not change.
import { describe, expect, it } from "vitest";
import { wholeTable } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting() {
  const { world, tenant } = await withTenant();
  const owner = await tenant.dashboard();
  const create = (body: object, as = owner) => world.call("POST /api/v1/server-keys", { as, body });
  return { world, tenant, owner, create };
}

it.each([
  ["server-keys", "KEY#"],
  ["agent-keys", "AGENT#"],
])("a creation of %s that fails half-way lists none that opens nothing (ATH-2, D-MCP)", async (keys, pk) => {
  const writes = requests({ of: "api-account", operation: "PutItem", naming: `"pk":{"S":"${pk}` });
  const { tenant } = await withTenant({ hooks: writes.hooks });
  const listed = async () => (await tenant.call(`GET /api/v1/${keys}`)).body.items;
  const before = await listed();
  writes.fail();

  expect((await tenant.call(`POST /api/v1/${keys}`, { name: "Orders" })).status).toBe(500);

  expect(await listed()).toEqual(before);
});

it.each(["server-keys", "agent-keys"])(
  "%s are listed newest first, a hundred a page (D-SCOPE, D-MCP)",
  async (keys) => {
    const { tenant } = await withTenant();
    const path = `/api/v1/${keys}`;
    const made: string[] = [];
    for (let n = 0; n < 101; n++) made.unshift((await tenant.call(`POST ${path}`, { name: `Key ${n}` })).body.id);

    const { items, next_cursor } = (await tenant.call(`GET ${path}`)).body;
    const last = (await tenant.call(`GET ${path}?cursor=${next_cursor}`)).body;

    const listed = [...items, ...last.items].map(({ id }: { id: string }) => id).slice(0, made.length);
    expect([items.length, listed, last.next_cursor]).toEqual([100, made, ""]);
  },
);

describe("server keys", () => {
  it("a server key has a prefix by which it is known, and holds events:write by default (ATH-2, ATH-R3)", async () => {
    const { create } = await setting();
    const { status, body } = await create({ name: "ingest" });

    expect(status).toBe(201);
    expect(body.key).toMatch(/^service_srv_[A-Za-z0-9_-]{32}$/);
    expect(body).toMatchObject({ prefix: body.key.slice(0, 16), scopes: ["events:write"] });
  });

  it("a server key is shown once, and listed without it (ATH-R3)", async () => {
    const { world, owner, create } = await setting();
    const { key: _, ...made } = (await create({ name: "ingest" })).body;
    const { items } = (await world.call("GET /api/v1/server-keys", { as: owner })).body;

    expect(items).toContainEqual({ ...made, last_used_at: null, revoked_at: null });
  });

  it("a server key is stored as a hash (GEN-4)", async () => {
    const { world, create } = await setting();
    const { key } = (await create({ name: "ingest" })).body;

    expect(JSON.stringify(await wholeTable(world))).not.toContain(key);
  });

  it("a server key may have scopes beside that to write events (ATH-R11)", async () => {
    const { create } = await setting();
    expect((await create({ name: "x", scopes: ["subscribers:read"] })).status).toBe(201);
  });

  it("server keys give no more than their maker holds: a developer, who may not send, gives no right to send (ATH-R5, BKS-1)", async () => {
    const { tenant, create } = await setting();
    const developer = await tenant.dashboard("developer");
    const scopes = ["subscribers:write", "messages:read"];
    expect((await create({ name: "x", scopes }, developer)).status).toBe(201);
    const { status, body } = await create({ name: "x", scopes: [...scopes, "messages:send"] }, developer);
    expect(status).toBe(403);
    expect(body.code).toBe("FORBIDDEN");
    expect((await create({ name: "x", scopes: ["messages:send"] }, await tenant.dashboard("admin"))).status).toBe(201);
  });

  it("a key without explicit scopes passes on the surfaces of rule 4, one with others does not (ATH-R4, AMB-27)", async () => {
    const { world, create } = await setting();
    const bare = (await create({ name: "a" })).body.key;
    const narrow = (await create({ name: "b", scopes: ["events:read"] })).body.key;
    const list = (key: string) => world.call("GET /v1/subscribers", { as: { authorization: `Bearer ${key}` } });

    expect((await list(bare)).status).toBe(200);
    expect((await list(narrow)).body.code).toBe("FORBIDDEN");
  });

  it("whoami says whose key it is (HOK-9, D-WHOAMI)", async () => {
    const { world } = await setting();
    const shop = await world.tenant({ plan: "pro", name: "Shop" });
    const { status, body } = await world.call("GET /v1/whoami", { as: shop.server });

    expect(status).toBe(200);
    expect(body).toEqual({
      name: "Shop / default",
      tenant_id: shop.id,
      tenant_name: "Shop",
      plan: "pro",
      key: {
        id: expect.any(String),
        type: "server",
        name: "default",
        prefix: shop.serverKey.slice(0, 16),
        scopes: ["events:write"],
        created_at: "2026-11-20T12:00:00.000Z",
      },
    });
  });

  it("server keys are revoked at once, and for good: the list says since when (ATH-2)", async () => {
    const { world, tenant, create } = await setting();
    const { id, key } = (await create({ name: "zap" })).body;
    const ask = () => world.call("GET /v1/whoami", { as: { authorization: `Bearer ${key}` } });
    expect((await ask()).status).toBe(200);
    expect((await tenant.call(`DELETE /api/v1/server-keys/${id}`)).status).toBe(204);
    expect((await ask()).status).toBe(401);
    await world.advance(60_000);
    expect((await tenant.call(`DELETE /api/v1/server-keys/${id}`)).status).toBe(204);
    const { items } = (await tenant.call("GET /api/v1/server-keys")).body;
    expect(items.find((item: { id: string }) => item.id === id).revoked_at).toBe("2026-11-20T12:00:00.000Z");
  });

  const withReadKey = async () => {
    const { world, tenant, create } = await setting();
    const { id, key } = (await create({ name: "zap", scopes: ["subscribers:read"] })).body;
    const as = { authorization: `Bearer ${key}` };
    const call = async (route: string) => (await world.call(route, { as })).status;
    const usedAt = async () => {
      const { items } = (await tenant.call("GET /api/v1/server-keys")).body;
      return items.find((item: { id: string }) => item.id === id).last_used_at;
    };
    return { world, call, usedAt };
  };

  it("a refused call is no use of a key (D-SCOPE)", async () => {
    const { call, usedAt } = await withReadKey();

    expect(await call("GET /v1/hooks")).toBe(403);
    expect(await call("GET /v1/subscribers?limit=0")).toBe(422);
    expect(await usedAt()).toBeNull();
  });

  it("the list says when a key was last used, to the hour (D-SCOPE)", async () => {
    const { world, call, usedAt } = await withReadKey();
    const times = [];
    for (const ms of [0, 3_599_000, 1_000]) {
      await world.advance(ms);
      expect(await call("GET /v1/subscribers")).toBe(200);
      times.push(await usedAt());
    }

    expect(times).toEqual(["2026-11-20T12:00:00.000Z", "2026-11-20T12:00:00.000Z", "2026-11-20T13:00:00.000Z"]);
  });
});
