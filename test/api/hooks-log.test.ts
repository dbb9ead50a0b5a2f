// Webhook endpoints of the dashboard: changes, test deliveries, the log, redelivery and replay (D-HOOKS).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { webhookSamples } from "../../shared/rules/webhook-events.ts";
import { putItem } from "../../shared/store/item.ts";
import { noteDeliveries } from "../../shared/store/webhooks/deliveries.ts";
import { DeliveryItem } from "../../shared/store/webhooks/delivery-items.ts";
import { receiving } from "../support/hooks.ts";
import { entriesOf, pagesOf } from "../support/pages.ts";
import { quickStore } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const receivingWorld = receiving(worlds());

const target_url = "https://hooks.example.com/in";

/** A workspace with one webhook for new subscribers, and what its target received. */
async function setting() {
  const { world, tenant, outside } = await receivingWorld();
  const { call } = tenant;
  const body = { target_url, events: ["subscriber.created"], description: "CRM" };
  const made = (await call("POST /api/v1/webhooks", body)).body;
  const path = `/api/v1/webhooks/${made.id}`;
  const change = (changes: object) => call(`PATCH ${path}`, changes);
  const upsert = async (external_id: string) => {
    await tenant.upsert({ external_id });
    await world.settle();
  };
  const deliveries = async (query = "") => (await call(`GET ${path}/deliveries${query}`)).body.items;
  return { world, tenant, call, outside, made, path, change, upsert, deliveries };
}

it("a webhook of the dashboard is a hook of server keys, too (D-HOOKS, AMB-100)", async () => {
  const { world, tenant, call, made, path } = await setting();

  const { secret, ...record } = made;
  expect(secret).toMatch(/^whsec_/);
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
  expect((await call("GET /api/v1/webhooks")).body).toEqual({ items: [record] });
  expect((await call(`GET ${path}`)).body).toEqual(record);
  expect((await world.call("GET /v1/hooks", { as: tenant.server })).body).toMatchObject([{ id: made.id }]);
});

it.each([null, ""])(
  "a change of a webhook changes the given fields, a description of %j to none, and delivers to the new target (D-HOOKS)",
  async (description) => {
    const { change, outside, upsert, made } = await setting();
    const target = { target_url: "https://other.example.com/" };

    const { body } = await change({ description, ...target });
    await upsert("u1");

    const { secret: _, ...before } = made;
    expect(body).toEqual({ ...before, ...target, description: null });
    expect(outside.received.map(({ to }) => to)).toEqual(["other.example.com"]);
  },
);

it("a change of a webhook is refused with 422 for a target that is no public host (D-HOOKS, ARC-16)", async () => {
  const { change } = await setting();

  expect((await change({ target_url: "https://10.0.0.1/" })).status).toBe(422);
});

it.each([
  ["another event", 0, { events: ["notification.terminal"] }],
  ["being switched off", 0, { active: false }],
  ["another description", 1, { description: "Other" }],
])("a webhook that asks for %s gets %i deliveries from its change on (D-HOOKS)", async (_, expected, changes) => {
  const { outside, upsert, change } = await setting();
  await upsert("first");
  await change(changes);
  outside.received.length = 0;

  await upsert("second");

  expect(outside.received).toHaveLength(expected);
});

it("a webhook that is switched on again gets what happens from then on (D-HOOKS)", async () => {
  const { outside, upsert, change } = await setting();
  await change({ active: false });
  await upsert("first");
  await change({ active: true });

  await upsert("second");

  expect(outside.received).toHaveLength(1);
});

it("a webhook that is deleted gets nothing, and the others go on (D-HOOKS)", async () => {
  const { world, tenant, call, outside, upsert, path } = await setting();
  const hook = { target_url, events: ["subscriber.created"] };
  await world.call("POST /v1/hooks", { as: tenant.server, body: hook });
  await upsert("first");
  expect(outside.received).toHaveLength(2);

  await call(`DELETE ${path}`);
  await upsert("second");

  expect(outside.received).toHaveLength(3);
});

it("a test delivery is sent and is in the log (D-HOOKS)", async () => {
  const { world, call, outside, path, deliveries } = await setting();

  const { status, body } = await call(`POST ${path}/test`, { event: "notification.terminal" });
  await world.settle();

  expect(status).toBe(202);
  expect(outside.received[0]!.headers["x-service-delivery"]).toBe(body.delivery_id);
  expect(await deliveries()).toMatchObject([{ id: body.delivery_id, outcome: "delivered", attempt_count: 1 }]);
});

it("a test delivery to a webhook that is switched off is refused with 409 (D-HOOKS)", async () => {
  const { call, path, change } = await setting();
  await change({ active: false });

  expect((await call(`POST ${path}/test`, { event: "notification.terminal" })).status).toBe(409);
});

it("the log of a webhook is paged newest first (D-HOOKS)", async () => {
  const { world, call, upsert, path } = await setting();
  for (let n = 0; n < 5; n++) {
    await upsert(`u${n}`);
    await world.advance(MINUTE);
  }

  const seen = await entriesOf<{ payload: { data: { external_id: string } } }>(
    (page) => call(`GET ${path}/deliveries${page}`),
    "limit=2",
  );

  expect(seen.map(({ payload }) => payload.data.external_id)).toEqual(["u4", "u3", "u2", "u1", "u0"]);
});

it("the log of a webhook has what happened in the last 30 days, and nothing older is sent again (D-HOOKS)", async () => {
  const { world, call, upsert, path, deliveries } = await setting();
  await upsert("old");
  const [{ id }] = await deliveries();

  await world.advance(30 * DAY);

  expect(await deliveries()).toEqual([]);
  expect((await call(`POST ${path}/deliveries/${id}/redeliver`)).status).toBe(404);
});

it("a page of the log of a webhook is as long as was asked, whatever a filter leaves out (D-HOOKS)", async () => {
  const { outside, upsert, deliveries } = await setting();
  outside.answer(({ body }) => (body.includes('"c"') ? 400 : 200));
  for (const name of "abcd") await upsert(name);

  expect(await deliveries("?outcome=delivered&limit=2")).toHaveLength(2);
});

it("the log of a webhook is filtered by outcome and by type (D-HOOKS)", async () => {
  const { outside, upsert, deliveries } = await setting();
  outside.answer(({ body }) => (JSON.parse(body).data.external_id === "bad" ? 400 : 200));
  for (const external_id of ["good", "bad"]) await upsert(external_id);

  expect(await deliveries("?outcome=failed")).toMatchObject([{ payload: { data: { external_id: "bad" } } }]);
  expect(await deliveries("?event_type=subscriber.created")).toHaveLength(2);
  expect(await deliveries("?event_type=notification.terminal")).toEqual([]);
});

it.each([
  ["missing deliveries", "missing=true&"],
  ["deliveries of the log", ""],
])("%s that one page has no room for are on the next (AMB-124, D-HOOKS)", async (_, query) => {
  const { world, tenant, call, outside, made, path } = await setting();
  outside.answer(() => 400);
  const data = { ...webhookSamples["subscriber.created"], external_id: "x".repeat(200_000) };
  const keys = Array.from({ length: 30 }, (_, n) => `p${n}`);
  const occurrences = keys.map((key) => ({ event: "subscriber.created", key, at: world.clock.now(), data }) as const);
  await noteDeliveries(
    tenant.store,
    occurrences.map((occurrence) => ({ webhook: made.id, occurrence })),
  );
  await world.advance(MINUTE);

  const pages = await pagesOf<{ sequence: number }>(
    (page) => call(`GET ${path}/deliveries${page}`),
    `${query}limit=100`,
  );

  expect(pages.length).toBeGreaterThan(1);
  expect(new Set(pages.flat().map(({ sequence }) => sequence)).size).toBe(30);
});

it("a redelivery keeps id and body and adds up to four more attempts (AMB-104)", async () => {
  const { world, call, outside, upsert, path, deliveries } = await setting();
  outside.answer(() => 500);
  await upsert("u1");
  await world.advance(HOUR);
  const [first] = await deliveries();
  outside.answer((_, n) => (n === 6 ? 200 : 500));

  const { status, body } = await call(`POST ${path}/deliveries/${first.id}/redeliver`);
  await world.advance(HOUR);

  expect(status).toBe(202);
  expect(body.delivery_id).toBe(first.id);
  const { id, payload } = first;
  expect(await deliveries()).toMatchObject([{ id, payload, outcome: "delivered", attempt_count: 6 }]);
  expect(new Set(outside.received.map((request) => request.body)).size).toBe(1);
});

it("after an hour of downtime one replay delivers everything that failed, once each (F11, D-HOOKS)", async () => {
  const { world, call, outside, upsert, path, deliveries } = await setting();
  await upsert("before");
  await world.advance(MINUTE);
  const from = timestamp(world.clock.now());
  outside.answer(() => "hang up");
  for (let n = 0; n < 12; n++) await upsert(`u${n}`);
  await world.advance(HOUR);
  outside.answer(() => 200);
  outside.received.length = 0;

  const period = { from, to: timestamp(world.clock.now()) };
  const { status, body } = await call(`POST ${path}/replay`, { ...period, outcome: "failed" });
  await world.settle();

  expect(status).toBe(202);
  expect(body.queued).toBe(12);
  expect(outside.received).toHaveLength(12);
  expect(await deliveries("?outcome=failed")).toEqual([]);
});

it("more than a thousand deliveries are replayed by calls that each begin where the one before ended (F11, D-HOOKS)", async () => {
  const { world, tenant, call, outside, made, path } = await setting();
  outside.answer(() => 400);
  const start = world.clock.now();
  const data = webhookSamples["subscriber.created"];
  const occurrence = { event: "subscriber.created", key: "p", at: start, data } as const;
  await noteDeliveries(tenant.store, [{ webhook: made.id, occurrence }]);
  await world.advance(SECOND);
  // Twenty of a second, as the one that failed.
  const { items } = await tenant.store.query(DeliveryItem, { webhook: made.id }, {});
  const { pk: _, sk: __, ...failed } = items[0]!;
  const others = Array.from({ length: 1_019 }, (_, n) => {
    const id = world.ids.uuidAt(start + Math.floor((n + 1) / 20) * SECOND);
    return putItem(DeliveryItem, { webhook: made.id, id }, { ...failed, id, sequence: n + 2 });
  });
  await quickStore(world, tenant).writeAll(others);
  await world.advance(2 * MINUTE);
  outside.received.length = 0;
  outside.answer(() => 200);
  const to = timestamp(world.clock.now());
  const replay = async (from: string) => (await call(`POST ${path}/replay`, { from, to, outcome: "failed" })).body;

  const first = await replay(timestamp(start));
  await world.advance(MINUTE);
  const second = await replay(first.next_from);
  await world.advance(MINUTE);

  expect([first.queued, second]).toEqual([1_000, { queued: 20 }]);
  expect(new Set(outside.received.map(({ headers }) => headers["x-service-delivery"])).size).toBe(1_020);
});

it("a replay that finds little in a large log says where the next one begins (F11)", async () => {
  const { world, tenant, call, made, path } = await setting();
  const start = world.clock.now();
  const row = {
    webhook: made.id,
    event_type: "subscriber.created",
    attempt_count: 1,
    earlier: 0,
    expires: 2e9,
  } as const;
  const rows = Array.from({ length: 10_001 }, (_, n) => {
    const id = world.ids.uuidAt(start + n);
    const outcome = n < 10_000 ? "delivered" : "failed";
    return putItem(DeliveryItem, { webhook: made.id, id }, { ...row, react: "delivery", id, outcome, sequence: n + 1 });
  });
  await quickStore(world, tenant).writeAll(rows);
  const replay = async (from: string) =>
    (await call(`POST ${path}/replay`, { from, to: timestamp(start + HOUR), outcome: "failed" })).body;

  const first = await replay(timestamp(start));

  expect(first).toEqual({ queued: 0, next_from: timestamp(start + 10_000) });
  expect(await replay(first.next_from)).toEqual({ queued: 1 });
});

it("a replay is refused with 422 for a period that ends before it begins (D-HOOKS)", async () => {
  const { call, path } = await setting();
  const period = { from: "2026-11-02T00:00:00Z", to: "2026-11-01T00:00:00Z" };

  expect((await call(`POST ${path}/replay`, period)).status).toBe(422);
});
