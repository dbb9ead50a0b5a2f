// Webhook deliveries: events, recipients, signatures, retries and the log (WEV, WHK).
import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Hooks } from "../../local/aws/protocol.ts";
import { verifyWebhook } from "../../sdk/src/webhook.ts";
import { DAY, HOUR, SECOND } from "../../shared/clock.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

interface Setting {
  world: TestWorld;
  tenant: Tenant;
  outside: Receiver;
}

async function setting(hooks?: Hooks): Promise<Setting> {
  let now = () => 0;
  const outside = receiver(() => now());
  const world = await fresh({ network: outside.network, ...(hooks && { hooks: () => hooks }) });
  now = () => world.clock.now();
  return { world, tenant: await world.tenant(), outside };
}

const hook = async ({ world, tenant }: Setting, events: string[], target_url = "https://hooks.example.com/in") =>
  (await world.call("POST /v1/hooks", { as: tenant.server, body: { target_url, events } })).body;

const upsert = async ({ world, tenant }: Setting, body: object = { external_id: "u1" }) =>
  (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;

const log = async ({ world, tenant }: Setting, id: string, query = "") =>
  (await world.call(`GET /api/v1/webhooks/${id}/deliveries${query}`, { as: await tenant.dashboard() })).body;

describe("events", () => {
  it("WEV-1 WEV-5 WEV-6 SUB-17 a new subscriber is one event, an update is none", async () => {
    const here = await setting();
    await hook(here, ["subscriber.created"]);
    const { id } = await upsert(here, { external_id: "u1", email: "a@example.com", attributes: { vip: true } });
    await upsert(here, { external_id: "u1", attributes: { vip: false } });
    await here.world.settle();
    expect(here.outside.received).toHaveLength(1);
    const envelope = JSON.parse(here.outside.received[0]!.body);
    expect(envelope).toEqual({
      id: here.outside.received[0]!.headers["x-service-delivery"],
      event_type: "subscriber.created",
      tenant_id: here.tenant.id,
      timestamp: new Date(here.world.clock.now()).toISOString(),
      data: {
        subscriber_id: id,
        external_id: "u1",
        email: "a@example.com",
        attributes: { vip: true },
        created: true,
      },
    });
  });

  it("WEV-2 WEV-3 WEV-7 WEV-8 NTF-20 AMB-95 a job has an event at its dispatch and at its end", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    await hook(here, ["notification.dispatched", "notification.terminal"]);
    const { id } = await upsert(here);
    const scheduled_at = new Date(world.clock.now() + HOUR).toISOString();
    const body = { subscriberIds: [id], title: "t", body: "b", scheduled_at };
    const job = (await world.call("POST /api/v1/notifications", { as: await tenant.dashboard(), body })).body;
    await world.settle();
    expect(outside.received).toHaveLength(0);
    await world.advance(2 * HOUR);
    const told = outside.received.map(({ body }) => JSON.parse(body));
    expect(told.map(({ event_type, data }) => [event_type, data])).toEqual([
      ["notification.dispatched", { job_id: job.id, target_size_estimate: 1, scheduled_at }],
      ["notification.terminal", { job_id: job.id, status: "completed", delivered: 1, failed: 0, total: 1 }],
    ]);
  });

  it("WEV-3 WEV-8 D-NTF-STATE a failed job has an event, a canceled one has none", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    await hook(here, ["notification.terminal"]);
    const as = await tenant.dashboard();
    const template = { name: "gone", content: { title: "t", body: "b" } };
    const template_id = (await world.call("POST /api/v1/templates", { as, body: template })).body.id;
    const { id } = await upsert(here);
    const scheduled_at = new Date(world.clock.now() + HOUR).toISOString();
    const send = (body: object) =>
      world.call("POST /api/v1/notifications", { as, body: { subscriberIds: [id], scheduled_at, ...body } });
    const failing = (await send({ template_id })).body;
    const canceled = (await send({ title: "t", body: "b" })).body;
    await world.call(`DELETE /api/v1/templates/${template_id}`, { as });
    await world.call(`POST /api/v1/notifications/${canceled.id}/cancel`, { as });
    await world.advance(2 * HOUR);
    expect(outside.received.map(({ body }) => JSON.parse(body).data)).toEqual([
      { job_id: failing.id, status: "failed", delivered: 0, failed: 0, total: 0 },
    ]);
  });

  it("WEV-11 GEN-8 only endpoints of the same workspace that subscribe to the type receive it", async () => {
    const here = await setting();
    const other = await here.world.tenant();
    await hook(here, ["subscriber.created"], "https://one.example.com/");
    await hook(here, ["notification.terminal"], "https://two.example.com/");
    await hook({ ...here, tenant: other }, ["subscriber.created"], "https://three.example.com/");
    await upsert(here);
    await here.world.settle();
    expect(here.outside.received.map(({ to }) => to)).toEqual(["one.example.com"]);
  });

  it("HOK-7 after its deletion nothing more is delivered, also not a waiting retry", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    const { id } = await hook(here, ["subscriber.created"]);
    outside.answer(() => 500);
    await upsert(here);
    await world.settle();
    expect(outside.received).toHaveLength(1);
    await world.call(`DELETE /v1/hooks/${id}`, { as: tenant.server });
    await upsert(here, { external_id: "u2" });
    await world.advance(60 * SECOND);
    expect(outside.received).toHaveLength(1);
  });

  it("SUB-10 an erased subscriber is removed from the log, and has no more events", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    const { id: webhook } = await hook(here, ["subscriber.created"]);
    const { id } = await upsert(here, { external_id: "canary-7", email: "canary@example.com" });
    await world.settle();
    await world.call(`DELETE /api/v1/subscribers/${id}`, { as: await tenant.dashboard() });
    await world.advance(HOUR);
    const { items } = await log(here, webhook);
    expect(items).toMatchObject([{ outcome: "delivered", payload: null }]);
    expect(JSON.stringify(items)).not.toMatch(/canary/);
    expect(outside.received).toHaveLength(1);
  });
});

describe("requests", () => {
  it("WHK-1 WHK-2 WHK-3 WHK-4 WHK-5 WHK-6 WHK-12 WHK-13 POST, JSON, headers, and a signature that the shipped verifier accepts", async () => {
    const here = await setting();
    const { secret } = await hook(here, ["subscriber.created"], "https://hooks.example.com/a?b=c");
    await upsert(here);
    await here.world.settle();
    const { path, headers, body } = here.outside.received[0]!;
    const key = createHash("sha256").update(secret).digest("hex");
    const expected = `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
    expect(path).toBe("/a?b=c");
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "x-service-event": "subscriber.created",
      "x-service-delivery": JSON.parse(body).id,
      "x-service-signature": expected,
      "x-signature-256": expected,
      "webhook-id": JSON.parse(body).id,
    });
    expect(verifyWebhook(secret, body, String(headers["x-service-signature"]))).toBe(true);
    expect(verifyWebhook(secret, `${body} `, String(headers["x-service-signature"]))).toBe(false);
    const standard = createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
      .update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`)
      .digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${standard}`);
  });

  it("D-HOOKS after a rotation the previous secret also signs for 24 hours", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    const { id, secret } = await hook(here, ["subscriber.created"]);
    const as = await tenant.dashboard();
    const rotated = (await world.call(`POST /api/v1/webhooks/${id}/secret/rotate`, { as })).body.secret;
    expect(rotated).not.toBe(secret);
    await upsert(here);
    await world.advance(23 * HOUR);
    const { headers, body } = outside.received[0]!;
    expect(verifyWebhook(rotated, body, String(headers["x-service-signature"]))).toBe(true);
    expect(verifyWebhook(secret, body, String(headers["x-service-signature-previous"]))).toBe(true);
    await world.advance(HOUR + SECOND);
    await upsert(here, { external_id: "later" });
    await world.settle();
    expect(outside.received[1]!.headers["x-service-signature-previous"]).toBeUndefined();
  });

  it("ARC-16 a host with a private address is never connected to, and not retried", async () => {
    const here = await setting();
    here.outside.addresses.set("inside.example.com", ["10.0.0.7"]);
    const { id } = await hook(here, ["subscriber.created"], "https://inside.example.com/");
    await upsert(here);
    await here.world.advance(HOUR);
    expect(here.outside.received).toHaveLength(0);
    expect((await log(here, id)).items).toMatchObject([
      { outcome: "failed", attempt_count: 1, last_status_code: null, attempts: [{ n: 1, status_code: null }] },
    ]);
  });
});

describe("retries", () => {
  it("WHK-8 WHK-10 LIM-5 a 5xx is attempted four times, after 1, 2 and 4 seconds, with every attempt in the log", async () => {
    const here = await setting();
    const { id } = await hook(here, ["subscriber.created"]);
    here.outside.answer((_, n) => 499 + n);
    await upsert(here);
    await here.world.advance(HOUR);
    const times = here.outside.received.map(({ at }) => at);
    expect(times.map((at, i) => (at - times[Math.max(0, i - 1)]!) / SECOND)).toEqual([0, 1, 2, 4]);
    expect(new Set(here.outside.received.map(({ headers }) => headers["x-service-delivery"])).size).toBe(1);
    expect(new Set(here.outside.received.map(({ body }) => body)).size).toBe(1);
    const { items } = await log(here, id);
    expect(items).toMatchObject([
      {
        event_type: "subscriber.created",
        outcome: "failed",
        attempt_count: 4,
        last_status_code: 503,
        attempts: [500, 501, 502, 503].map((status_code, i) => ({ n: i + 1, status_code })),
        payload: JSON.parse(here.outside.received[0]!.body),
      },
    ]);
  });

  it("WHK-7 WHK-8 a receiver that recovers gets the delivery once", async () => {
    const here = await setting();
    const { id } = await hook(here, ["subscriber.created"]);
    here.outside.answer((_, n) => (n === 1 ? "hang up" : 204));
    await upsert(here);
    await here.world.advance(HOUR);
    expect(here.outside.received).toHaveLength(2);
    expect((await log(here, id)).items).toMatchObject([
      {
        outcome: "delivered",
        attempt_count: 2,
        last_status_code: 204,
        attempts: [{ status_code: null }, { status_code: 204 }],
      },
    ]);
  });

  it("WHK-7 AMB-32 an attempt without an answer in 10 seconds counts as a network error", async () => {
    const here = await setting();
    const { id } = await hook(here, ["subscriber.created"]);
    here.outside.answer((_, n) => (n === 1 ? "silence" : 200));
    await upsert(here);
    await here.world.advance(HOUR);
    const [first, second] = here.outside.received.map(({ at }) => at);
    expect((second! - first!) / SECOND).toBe(11);
    expect((await log(here, id)).items[0].attempts[0]).toMatchObject({ status_code: null, duration_ms: 10_000 });
  });

  it.each([400, 404, 410, 429, 301, 302, 307])("WHK-9 AMB-32 a %i is final", async (status) => {
    const here = await setting();
    const { id } = await hook(here, ["subscriber.created"]);
    here.outside.answer(() => status);
    await upsert(here);
    await here.world.advance(HOUR);
    expect(here.outside.received).toHaveLength(1);
    expect((await log(here, id)).items).toMatchObject([
      { outcome: "failed", attempt_count: 1, last_status_code: status },
    ]);
  });
});

describe("consecutive failures", () => {
  const failures = async ({ world, tenant }: Setting, id: string) =>
    (await world.call(`GET /api/v1/webhooks/${id}`, { as: await tenant.dashboard() })).body;

  it("WHK-11 AMB-103 counts consecutive failed deliveries; a success resets the count", async () => {
    const here = await setting();
    const { id } = await hook(here, ["subscriber.created"]);
    here.outside.answer(() => 400);
    for (const n of [1, 2, 3]) await upsert(here, { external_id: `u${n}` });
    await here.world.settle();
    expect(await failures(here, id)).toMatchObject({ consecutive_failures: 3, active: true, disabled_at: null });
    here.outside.answer(() => 200);
    await upsert(here, { external_id: "u4" });
    await here.world.settle();
    expect(await failures(here, id)).toMatchObject({ consecutive_failures: 0 });
  });

  it("AMB-103 D-ANNAUTO 20 consecutive failures over a day disable it, with an annotation", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    const { id } = await hook(here, ["subscriber.created"]);
    outside.answer(() => 400);
    for (let n = 0; n < 25; n++) await upsert(here, { external_id: `u${n}` });
    await world.settle();
    expect(await failures(here, id)).toMatchObject({ consecutive_failures: 25, active: true });
    await world.advance(DAY);
    await upsert(here, { external_id: "last" });
    await world.settle();
    expect(await failures(here, id)).toMatchObject({ active: false, disabled_at: expect.any(String) });
    const calls = outside.received.length;
    await upsert(here, { external_id: "after" });
    await world.settle();
    expect(outside.received).toHaveLength(calls);
    const body = { active: true };
    await world.call(`PATCH /api/v1/webhooks/${id}`, { as: await tenant.dashboard(), body });
    expect(await failures(here, id)).toMatchObject({ active: true, disabled_at: null, consecutive_failures: 0 });
  });

  it("AMB-103 D-ANNAUTO a worker that stops between the last failure and the end of its endpoint leaves both to the next", async () => {
    let stops = 0;
    const here = await setting({
      before: (_, operation, input) => {
        if (operation !== "TransactWriteItems" || !JSON.stringify(input).includes("disabled_at") || stops > 0) return;
        stops++;
        throw new Error("The worker stopped.");
      },
    });
    const { world, outside } = here;
    const { id } = await hook(here, ["subscriber.created"]);
    outside.answer(() => 400);
    for (let n = 0; n < 20; n++) await upsert(here, { external_id: `u${n}` });
    await world.settle();
    await world.advance(DAY);
    await upsert(here, { external_id: "last" });
    await world.settle();
    await world.advance(HOUR);
    expect([stops, await failures(here, id)]).toMatchObject([1, { active: false, disabled_at: expect.any(String) }]);
  });
});
