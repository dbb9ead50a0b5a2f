// Webhook endpoints in both groups: creation, limits, samples, the log, redelivery and replay (HOK, D-HOOKS).
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { receiver } from "../support/receiver.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

const target_url = "https://hooks.example.com/in";
const create = (world: TestWorld, tenant: Tenant, body: object = {}) =>
  world.call("POST /v1/hooks", { as: tenant.server, body: { target_url, events: ["subscriber.created"], ...body } });

describe("server keys: /v1/hooks", () => {
  it("the secret is shown at creation and never again (HOK-1, HOK-2, HOK-6)", async () => {
    const { world, tenant } = await withTenant();
    const made = await create(world, tenant, { events: ["subscriber.created", "notification.terminal"] });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      target_url,
      events: ["subscriber.created", "notification.terminal"],
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
    });
    const listed = await world.call("GET /v1/hooks", { as: tenant.server });
    expect(listed.body).toEqual([
      { id: made.body.id, target_url, events: ["subscriber.created", "notification.terminal"] },
    ]);
    const other = await create(world, tenant);
    expect(other.body.secret).not.toBe(made.body.secret);
  });

  it.each([
    ["http://example.com/", "target_url"],
    ["example.com", "target_url"],
    ["https://", "target_url"],
    ["https://127.0.0.1/", "target_url"],
    ["https://[::1]/", "target_url"],
    ["https://169.254.169.254/latest/meta-data", "target_url"],
    ["https://localhost/", "target_url"],
    ["https://example.com:8443/", "target_url"],
    ["https://user:secret@example.com/", "target_url"],
  ])("refuses %s (HOK-3, ARC-16)", async (url, field) => {
    const { world, tenant } = await withTenant();
    const refused = await create(world, tenant, { target_url: url });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({ code: "VALIDATION_ERROR", fields: { [field]: expect.any(String) } });
  });

  it("the scheme of a target may be in capitals (RFC 3986) (HOK-2)", async () => {
    const { world, tenant } = await withTenant();
    const made = await create(world, tenant, { target_url: "HTTPS://Hooks.Example.com/In" });
    expect([made.status, made.body.target_url]).toEqual([201, "https://hooks.example.com/In"]);
  });

  it.each([[["subscriber.deleted"]], [[]], ["subscriber.created"], [undefined]])(
    "refuses the events %j (HOK-3)",
    async (events) => {
      const { world, tenant } = await withTenant();
      expect((await create(world, tenant, { events })).status).toBe(422);
    },
  );

  it("ten endpoints in both groups together, also with twelve concurrent requests (HOK-5, LIM-5, AMB-30, AMB-100)", async () => {
    const { world, tenant } = await withTenant();
    const answers = await Promise.all(Array.from({ length: 12 }, () => create(world, tenant)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 422, 422]);
    const body = { target_url, events: ["subscriber.created"] };
    const refused = await tenant.call("POST /api/v1/webhooks", body);
    expect(refused).toMatchObject({ status: 422, body: { code: "VALIDATION_ERROR" } });
    const { id } = answers.find(({ status }) => status === 201)!.body;
    expect((await world.call(`DELETE /v1/hooks/${id}`, { as: tenant.server })).status).toBe(204);
    expect((await tenant.call("POST /api/v1/webhooks", body)).status).toBe(201);
  });

  it("a deleted endpoint is gone, and a second deletion is 404 (HOK-7, AMB-31)", async () => {
    const { world, tenant } = await withTenant();
    const { id } = (await create(world, tenant)).body;
    expect((await world.call(`DELETE /v1/hooks/${id}`, { as: tenant.server })).status).toBe(204);
    expect((await world.call(`DELETE /v1/hooks/${id}`, { as: tenant.server })).status).toBe(404);
    expect((await world.call("GET /v1/hooks", { as: tenant.server })).body).toEqual([]);
  });

  it.each([
    ["subscriber.created", ["subscriber_id", "external_id", "email", "attributes", "created"]],
    ["notification.dispatched", ["job_id", "target_size_estimate", "scheduled_at"]],
    ["notification.terminal", ["job_id", "status", "delivered", "failed", "total"]],
    ["notification.interaction", ["job_id", "interaction_type", "platform", "variant_id"]],
  ])("the sample of %s is its data without the envelope (HOK-8, AMB-105)", async (event, fields) => {
    const { world, tenant } = await withTenant();
    const { body } = await world.call(`GET /v1/hooks/samples/${event}`, { as: tenant.server });
    expect(body).toHaveLength(1);
    expect(Object.keys(body[0])).toEqual(fields);
  });

  it("an unknown event type has no sample (HOK-8, AMB-31)", async () => {
    const { world, tenant } = await withTenant();
    expect((await world.call("GET /v1/hooks/samples/nothing", { as: tenant.server })).status).toBe(404);
  });
});

describe("dashboard: /api/v1/webhooks", () => {
  async function setting() {
    let now = () => 0;
    const outside = receiver(() => now());
    const world = await fresh({ network: outside.network });
    now = () => world.clock.now();
    const tenant = await world.tenant();
    const body = { target_url, events: ["subscriber.created"], description: "CRM" };
    const made = (await tenant.call("POST /api/v1/webhooks", body)).body;
    const upsert = (external_id: string) =>
      world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id } });
    const at = (path: string) => `/api/v1/webhooks/${made.id}${path}`;
    return { world, tenant, as: () => tenant.dashboard(), outside, made, upsert, at };
  }

  it("one collection in both groups, with the same endpoints (D-HOOKS, AMB-100)", async () => {
    const { world, tenant, as, made, at } = await setting();
    const { secret, ...record } = made;
    expect(record).toEqual({
      id: expect.any(String),
      target_url,
      events: ["subscriber.created"],
      description: "CRM",
      active: true,
      consecutive_failures: 0,
      disabled_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await world.call("GET /api/v1/webhooks", { as: await as() })).body).toEqual({ items: [record] });
    expect((await world.call(`GET ${at("")}`, { as: await as() })).body).toEqual(record);
    expect((await world.call("GET /v1/hooks", { as: tenant.server })).body).toMatchObject([{ id: made.id }]);
    expect(secret).toMatch(/^whsec_/);
  });

  it("changes the given fields, and delivers nothing to a disabled endpoint (D-HOOKS)", async () => {
    const { world, as, outside, upsert, at } = await setting();
    const body = { active: false, description: null, target_url: "https://other.example.com/" };
    const changed = await world.call(`PATCH ${at("")}`, { as: await as(), body });
    expect(changed.body).toMatchObject({ active: false, description: null, target_url: "https://other.example.com/" });
    await upsert("u1");
    await world.settle();
    expect(outside.received).toHaveLength(0);
    await world.call(`PATCH ${at("")}`, { as: await as(), body: { active: true } });
    await upsert("u2");
    await world.settle();
    expect(outside.received.map(({ to }) => to)).toEqual(["other.example.com"]);
    const inside = { target_url: "https://10.0.0.1/" };
    expect((await world.call(`PATCH ${at("")}`, { as: await as(), body: inside })).status).toBe(422);
  });

  it("what an endpoint asks for holds from its change on, whatever was read before (D-HOOKS)", async () => {
    const { world, tenant, as, outside, upsert, at } = await setting();
    const told = async (external_id: string) => {
      const before = outside.received.length;
      await upsert(external_id);
      await world.settle();
      return outside.received.length - before;
    };
    const change = async (body: object) => world.call(`PATCH ${at("")}`, { as: await as(), body });
    expect(await told("first")).toBe(1);
    await change({ events: ["notification.terminal"] });
    expect(await told("second")).toBe(0);
    await change({ events: ["subscriber.created"] });
    expect(await told("third")).toBe(1);
    await change({ active: false });
    expect(await told("fourth")).toBe(0);
    await change({ active: true });
    await create(world, tenant);
    expect(await told("fifth")).toBe(2);
    await world.call(`DELETE ${at("")}`, { as: await as() });
    expect(await told("sixth")).toBe(1);
  });

  it("a test delivery is sent and is in the log (D-HOOKS)", async () => {
    const { world, as, outside, at } = await setting();
    const sent = await world.call(`POST ${at("/test")}`, { as: await as(), body: { event: "notification.terminal" } });
    expect(sent.status).toBe(202);
    await world.settle();
    expect(outside.received[0]!.headers["x-service-delivery"]).toBe(sent.body.delivery_id);
    const { items } = (await world.call(`GET ${at("/deliveries")}`, { as: await as() })).body;
    expect(items).toMatchObject([{ id: sent.body.delivery_id, outcome: "delivered", attempt_count: 1 }]);
    await world.call(`PATCH ${at("")}`, { as: await as(), body: { active: false } });
    const refused = await world.call(`POST ${at("/test")}`, {
      as: await as(),
      body: { event: "notification.terminal" },
    });
    expect(refused.status).toBe(409);
  });

  it("the log is paged newest first and filtered by outcome and type (D-HOOKS)", async () => {
    const { world, as, outside, upsert, at } = await setting();
    outside.answer(({ body }) => (JSON.parse(body).data.external_id === "u2" ? 400 : 200));
    for (let n = 0; n < 5; n++) {
      await upsert(`u${n}`);
      await world.advance(MINUTE);
    }
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const query = `?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
      const { items, next_cursor } = (await world.call(`GET ${at(`/deliveries${query}`)}`, { as: await as() })).body;
      seen.push(
        ...items.map(({ payload }: { payload: { data: { external_id: string } } }) => payload.data.external_id),
      );
      cursor = next_cursor;
      if (!cursor) break;
    }
    expect(seen).toEqual(["u4", "u3", "u2", "u1", "u0"]);
    const failed = await world.call(`GET ${at("/deliveries?outcome=failed")}`, { as: await as() });
    expect(failed.body.items).toHaveLength(1);
    const others = await world.call(`GET ${at("/deliveries?event_type=notification.terminal")}`, { as: await as() });
    expect(others.body.items).toEqual([]);
    expect((await world.call(`GET ${at("/deliveries?cursor=x.y")}`, { as: await as() })).status).toBe(422);
  });

  it("a redelivery keeps id and body and adds up to four more attempts (AMB-104)", async () => {
    const { world, as, outside, upsert, at } = await setting();
    outside.answer(() => 500);
    await upsert("u1");
    await world.advance(HOUR);
    const [first] = (await world.call(`GET ${at("/deliveries")}`, { as: await as() })).body.items;
    outside.answer((_, n) => (n === 6 ? 200 : 500));
    const again = await world.call(`POST ${at(`/deliveries/${first.id}/redeliver`)}`, { as: await as() });
    expect(again).toMatchObject({ status: 202, body: { delivery_id: first.id } });
    await world.advance(HOUR);
    const [second] = (await world.call(`GET ${at("/deliveries")}`, { as: await as() })).body.items;
    expect(second).toMatchObject({ id: first.id, outcome: "delivered", attempt_count: 6, payload: first.payload });
    expect(new Set(outside.received.map(({ body }) => body)).size).toBe(1);
    const missing = await world.call(`POST ${at(`/deliveries/${world.ids.uuid()}/redeliver`)}`, { as: await as() });
    expect(missing.status).toBe(404);
  });

  it("after an hour of downtime one replay delivers everything that failed, once each (F11, D-HOOKS)", async () => {
    const { world, as, outside, upsert, at } = await setting();
    await upsert("before");
    await world.advance(MINUTE);
    const from = timestamp(world.clock.now());
    outside.answer(() => "hang up");
    for (let n = 0; n < 12; n++) await upsert(`u${n}`);
    await world.advance(HOUR);
    const to = timestamp(world.clock.now());
    outside.answer(() => 200);
    outside.received.length = 0;
    const body = { from, to, outcome: "failed" };
    const replay = await world.call(`POST ${at("/replay")}`, { as: await as(), body });
    expect(replay).toMatchObject({ status: 202, body: { queued: 12 } });
    await world.settle();
    expect(outside.received).toHaveLength(12);
    const failed = await world.call(`GET ${at("/deliveries?outcome=failed")}`, { as: await as() });
    expect(failed.body.items).toEqual([]);
    const backwards = await world.call(`POST ${at("/replay")}`, { as: await as(), body: { from: to, to: from } });
    expect(backwards.status).toBe(422);
  });
});
