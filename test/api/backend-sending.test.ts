// What a backend does with a server key: its users, its sends, and its own ids for both (BKS).
import { describe, expect, it } from "vitest";
import type { Scope } from "../../shared/contract/roles.ts";
import { HOUR } from "../../shared/kernel/clock.ts";
import { inMs, jobOf, post } from "../support/notify.ts";
import { addPeople, reachedOf } from "../support/people.ts";
import type { Headers } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
const TEXTS = { title: "Hello", body: "World" };
const FOR_P0 = { external_ids: ["p0"], ...TEXTS };

/** A workspace with as many subscribers, and a backend that may send and read sends. */
async function setting(count = 1) {
  const { world, tenant, ids } = await withPeople(count);
  const as = await tenant.backend("messages:send", "messages:read");
  const send = (body: object, headers = {}) => world.call("POST /v1/notifications", { as, headers, body });
  const reached = () => reachedOf(world, tenant, ids);
  return { world, tenant, ids, as, send, reached };
}

const scopes: Scope[] = ["subscribers:read", "subscribers:write", "messages:read", "messages:send"];

it.each<[route: string, scope: Scope, withoutScopes: number, body?: object]>([
  ["POST /v1/subscribers/upsert", "subscribers:write", 403, { external_id: "p0" }],
  ["GET /v1/subscribers/:person", "subscribers:read", 200],
  ["GET /v1/subscribers?external_id=p0", "subscribers:read", 200],
  ["POST /v1/notifications", "messages:send", 403, FOR_P0],
  ["GET /v1/notifications/:job", "messages:read", 403],
  ["POST /v1/notifications/:job/cancel", "messages:send", 403],
])("%s wants the scope %s, and answers %i to a key without (BKS-1, ATH-R7)", async (route, scope, bare, body) => {
  const { world, tenant, ids } = await setting();
  const job = (await post(world, tenant, { target: { type: "all" }, scheduled_at: inMs(world, HOUR) })).body.id;
  const path = route.replace(":person", ids[0]!).replace(":job", job);
  const statusWith = async (as: Headers) => (await world.call(path, { as, ...(body && { body }) })).status;

  for (const other of scopes.filter((one) => one !== scope))
    expect(await statusWith(await tenant.backend(other)), other).toBe(403);
  expect(await statusWith(tenant.server)).toBe(bare);
  expect(await statusWith(await tenant.backend(scope))).toBeLessThan(300);
});

describe("users", () => {
  const ADA = { external_id: "ada", email: "ada@example.com", attributes: { tier: "gold" } };

  it("a backend reads the subscriber that it upserted, by its id and by its own (BKS-2)", async () => {
    const { world, tenant } = await withTenant();
    const as = await tenant.backend("subscribers:write", "subscribers:read");

    const { body: made } = await world.call("POST /v1/subscribers/upsert", { as, body: ADA });

    expect(made).toMatchObject({ external_id: "ada", email: "ada@example.com", attributes: '{"tier":"gold"}' });
    expect((await world.call(`GET /v1/subscribers/${made.id}`, { as })).body).toMatchObject(made);
    expect((await world.call("GET /v1/subscribers?external_id=ada", { as })).body.items).toEqual([made]);
  });

  it("the subscriber of a backend's upsert is the one of the client's (BKS-2)", async () => {
    const { world, tenant } = await withTenant();
    const as = await tenant.backend("subscribers:write");

    const { body } = await world.call("POST /v1/subscribers/upsert", { as, body: ADA });

    expect(await tenant.upsert({ external_id: "ada" })).toBe(body.id);
  });
});

describe("sends", () => {
  const once = { "idempotency-key": "order-7" };

  it("a repeat of a backend's send is answered with the first, and reaches nobody again (BKS-3)", async () => {
    const { world, tenant, ids, send, reached } = await setting();
    const first = await send(FOR_P0, once);

    const again = await send(FOR_P0, once);
    await world.settle();

    expect(first.status).toBe(201);
    expect(again.status).toBe(200);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.body).toEqual(first.body);
    expect(await reached()).toEqual(ids);
    expect((await jobOf(tenant, first.body.id)).counts.delivered).toBe(1);
  });

  it("a backend sees its send as the dashboard does (BKS-3)", async () => {
    const { world, tenant, as, send } = await setting();
    const { id } = (await send(FOR_P0)).body;
    await world.settle();

    expect((await world.call(`GET /v1/notifications/${id}`, { as })).body).toEqual(await jobOf(tenant, id));
  });

  it("a backend cancels its scheduled send (BKS-3)", async () => {
    const { world, as, send } = await setting();
    const { id } = (await send({ ...FOR_P0, scheduled_at: inMs(world, HOUR) })).body;

    expect((await world.call(`POST /v1/notifications/${id}/cancel`, { as })).body.status).toBe("canceled");
  });
});

describe("external ids", () => {
  it("external ids name recipients, each once, and those of no subscriber are answered as given (BKS-4, BKS-5)", async () => {
    const { world, tenant, ids, send, reached } = await setting(2);

    const { body } = await send({ ...TEXTS, external_ids: ["p0", "p0", "stranger", "__proto__"] });
    await world.settle();

    expect(body).toEqual({ id: expect.any(String), sent: 1, unknown: 2, unknown_ids: ["stranger", "__proto__"] });
    expect(await reached()).toEqual([ids[0]]);
    expect((await jobOf(tenant, body.id)).skip_reasons).toEqual({ unknown_subscriber: 2 });
  });

  it("an external id names the subscriber who has it now, not an erased one (BKS-4)", async () => {
    const { world, tenant, ids, send } = await setting();
    await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`);
    await world.settle();
    const [again] = (await addPeople(world, tenant, 1)) as [string];

    await send(FOR_P0);
    await world.settle();

    expect(again).not.toBe(ids[0]);
    expect(await reachedOf(world, tenant, [...ids, again])).toEqual([again]);
  });

  it("of many unknown external ids the first hundred are answered, and all are counted (BKS-5)", async () => {
    const { world, tenant } = await setting();
    const strangers = Array.from({ length: 1_200 }, (_, n) => `stranger ${n}`);

    const { status, body } = await post(world, tenant, { external_ids: ["p0", ...strangers] });

    expect(status).toBe(201);
    expect(body).toMatchObject({ sent: 1, unknown: 1_200, unknown_ids: strangers.slice(0, 100) });
  });

  it("a scheduled send reaches a subscriber who was created after it (BKS-4)", async () => {
    const { world, tenant, send } = await setting(0);
    const { body } = await send({ ...FOR_P0, scheduled_at: inMs(world, HOUR) });
    const ids = await addPeople(world, tenant, 1);

    await world.advance(HOUR);

    expect(body).toMatchObject({ sent: 0, unknown: 1, unknown_ids: ["p0"] });
    expect(await reachedOf(world, tenant, ids)).toEqual(ids);
  });

  it("a preview takes external ids (BKS-4)", async () => {
    const { tenant } = await setting();

    const input = { ...TEXTS, external_ids: ["p0", "nobody"] };

    const { body } = await tenant.call("POST /api/v1/notifications/preview", input);

    expect(body.counts).toMatchObject({ total: 2, sent: 1, skipped: 1 });
  });

  it.each([
    ["external ids beside subscribers", { external_ids: ["p0"], subscriberIds: ["x"] }, "target"],
    ["10,001 external ids", { external_ids: Array.from({ length: 10_001 }, (_, n) => `${n}`) }, "external_ids"],
  ])("a send is refused with 422 for %s (BKS-4)", async (_, recipients, field) => {
    const { world, tenant } = await setting();

    const { status, body } = await post(world, tenant, recipients);

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual([field]);
  });
});
