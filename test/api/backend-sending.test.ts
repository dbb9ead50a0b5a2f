// What a backend does with a server key: its users, its sends, and its own ids for both (BKS).
import { expect, it } from "vitest";
import type { Scope } from "../../shared/contract/roles.ts";
import { jobOf, post } from "../support/notify.ts";
import { addPeople, reachedOf } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const TEXTS = { title: "Hello", body: "World" };

it("each route wants its own scope, a key without scopes has none of them, management stays closed (BKS-1, ATH-R7)", async () => {
  const { world, tenant } = await withTenant();
  const [id = ""] = await addPeople(world, tenant, 1);
  const scheduled = { target: { type: "all" }, ...TEXTS, scheduled_at: "2027-01-01T00:00:00Z" };
  const job = (await post(world, tenant, scheduled)).body.id;
  const routes: [string, Scope, object?][] = [
    ["POST /v1/subscribers/upsert", "subscribers:write", { external_id: "p0" }],
    [`GET /v1/subscribers/${id}`, "subscribers:read"],
    ["GET /v1/subscribers?external_id=p0", "subscribers:read"],
    ["POST /v1/notifications", "messages:send", { external_ids: ["p0"], ...TEXTS }],
    [`GET /v1/notifications/${job}`, "messages:read"],
    [`POST /v1/notifications/${job}/cancel`, "messages:send"],
  ];
  const scopes = ["subscribers:read", "subscribers:write", "messages:read", "messages:send"] as const;
  const opened = await Promise.all(
    scopes.map(async (scope) => {
      const as = await tenant.backend(scope);
      const wanted = routes.filter(([, one]) => one !== scope);
      const refused = await Promise.all(wanted.map(([route, , body]) => world.call(route, { as, body })));
      return refused.map(({ status }) => status).filter((status) => status !== 403);
    }),
  );
  expect(opened.flat()).toEqual([]);
  const bare = tenant.server;
  const statuses = [];
  for (const [route, , body] of routes) statuses.push((await world.call(route, { as: bare, body })).status);
  expect(statuses).toEqual([403, 200, 200, 403, 403, 403]);
  const whole = await tenant.backend(...scopes);
  const answers = [];
  for (const [route, , body] of routes) answers.push((await world.call(route, { as: whole, body })).status);
  expect(answers).toEqual([200, 200, 200, 201, 200, 200]);
  const management = routes.map(([route]) => route.replace(" /v1/", " /api/v1/"));
  for (const route of management) expect((await world.call(route, { as: whole, body: {} })).status).toBe(401);
});

it("a backend's upsert is the one of the client, and it reads what it wrote, in its own workspace only (BKS-2)", async () => {
  const { world, tenant } = await withTenant();
  const as = await tenant.backend("subscribers:write", "subscribers:read");
  const body = { external_id: "ada", email: "ada@example.com", attributes: { tier: "gold" } };
  const { body: made } = await world.call("POST /v1/subscribers/upsert", { as, body });
  expect(made).toMatchObject({ external_id: "ada", email: "ada@example.com", attributes: '{"tier":"gold"}' });
  expect((await world.call(`GET /v1/subscribers/${made.id}`, { as })).body).toMatchObject(made);
  expect((await world.call("GET /v1/subscribers?external_id=ada", { as })).body.items).toEqual([made]);
  const again = await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id: "ada" } });
  expect(again.body.id).toBe(made.id);
  const other = await (await world.tenant()).backend("subscribers:read");
  expect((await world.call(`GET /v1/subscribers/${made.id}`, { as: other })).status).toBe(404);
});

it("a backend sends once per idempotency key, sees its send as the dashboard does, and cancels it (BKS-3)", async () => {
  const { world, tenant } = await withTenant();
  const [id = ""] = await addPeople(world, tenant, 1);
  const as = await tenant.backend("messages:send", "messages:read");
  const headers = { "idempotency-key": "order-7" };
  const body = { external_ids: ["p0"], ...TEXTS };
  const first = await world.call("POST /v1/notifications", { as, headers, body });
  const second = await world.call("POST /v1/notifications", { as, headers, body });
  expect([first.status, second.status, second.headers["idempotent-replayed"]]).toEqual([201, 200, "true"]);
  expect(second.body).toEqual(first.body);
  const others = { ...body, external_ids: ["p1"] };
  expect((await world.call("POST /v1/notifications", { as, headers, body: others })).status).toBe(409);
  await world.settle();
  expect(await reachedOf(world, tenant, [id])).toEqual([id]);
  const shown = await world.call(`GET /v1/notifications/${first.body.id}`, { as });
  expect(shown.body).toEqual(await jobOf(tenant, first.body.id));
  const foreign = await (await world.tenant()).backend("messages:send", "messages:read");
  expect((await world.call(`GET /v1/notifications/${first.body.id}`, { as: foreign })).status).toBe(404);
  const later = { ...body, scheduled_at: "2026-11-21T12:00:00Z" };
  const { body: waiting } = await world.call("POST /v1/notifications", { as, body: later });
  expect((await world.call(`POST /v1/notifications/${waiting.id}/cancel`, { as: foreign })).status).toBe(404);
  expect((await world.call(`POST /v1/notifications/${waiting.id}/cancel`, { as })).body.status).toBe("canceled");
});

it("external ids name recipients; the answer lists the ones of no subscriber by the name they were given (BKS-4, BKS-5)", async () => {
  const { world, tenant } = await withTenant();
  const ids = await addPeople(world, tenant, 3);
  const erased = await tenant.call(`DELETE /api/v1/subscribers/${ids[1]}`);
  expect(erased.status).toBe(204);
  await world.settle();
  const [again = ""] = await addPeople(world, tenant, 1, () => ({ external_id: "p1" }));
  expect(again).not.toBe(ids[1]);
  const as = await tenant.backend("messages:send", "messages:read");
  const asked = { external_ids: ["p0", "p1", "p0", "stranger", "__proto__"], ...TEXTS };
  const now = await world.call("POST /v1/notifications", { as, body: asked });
  expect(now.body).toEqual({ id: expect.any(String), sent: 2, unknown: 2, unknown_ids: ["stranger", "__proto__"] });
  await world.settle();
  expect(await reachedOf(world, tenant, [...ids, again])).toEqual([ids[0], again]);
  expect((await jobOf(tenant, now.body.id)).skip_reasons).toEqual({ unknown_subscriber: 2 });

  const many = Array.from({ length: 1_200 }, (_, n) => `stranger ${n}`);
  const large = await post(world, tenant, { external_ids: ["p2", ...many] });
  expect([large.status, large.body]).toMatchObject([201, { sent: 1, unknown: 1_200, unknown_ids: many.slice(0, 100) }]);

  const { status, body } = await post(world, tenant, { external_ids: ["p0"], subscriberIds: [ids[0]] });
  expect([status, body.fields.target]).toEqual([
    422,
    "exactly one of target, subscriberIds and external_ids is required",
  ]);
  const beyond = Array.from({ length: 10_001 }, (_, n) => `${n}`);
  expect((await post(world, tenant, { external_ids: beyond })).status).toBe(422);
});

it("a scheduled send reaches a subscriber who was created after it, and the preview takes external ids too (BKS-4)", async () => {
  const { world, tenant } = await withTenant();
  const scheduled = { external_ids: ["p0"], scheduled_at: "2026-11-20T13:00:00Z" };
  const { body } = await post(world, tenant, scheduled);
  expect(body).toMatchObject({ sent: 0, unknown: 1, unknown_ids: ["p0"] });
  const [id = ""] = await addPeople(world, tenant, 1);
  const preview = await tenant.call("POST /api/v1/notifications/preview", { external_ids: ["p0", "nobody"], ...TEXTS });
  expect(preview.body.counts).toMatchObject({ total: 2, sent: 1, skipped: 1 });
  await world.advance(3_600_000);
  expect(await reachedOf(world, tenant, [id])).toEqual([id]);
});
