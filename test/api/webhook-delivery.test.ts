// Webhook deliveries: events, requests, signatures and the log (WEV, WHK).
import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyWebhook } from "../../sdk/src/webhook.ts";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { webhookSamples } from "../../shared/rules/webhook-events.ts";
import { noteDeliveries } from "../../shared/store/webhooks/deliveries.ts";
import { hook, log, receiving, upsert } from "../support/hooks.ts";
import { addPeople } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const setting = receiving(worlds());

describe("events", () => {
  it("a new subscriber is one event, an update is none (WEV-1, WEV-5, WEV-6, SUB-17)", async () => {
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

  it.each([
    ["as large as one can be made is told of", 1_835, 200],
    ["who could not be told of is refused", 2_030, 422],
  ])("a subscriber %s, and who follows is told of (SUB-7, WEV-1, WEV-6)", async (_, length, status) => {
    const here = await setting();
    const { world, tenant, outside } = here;
    await hook(here, ["subscriber.created"]);
    const attributes = Object.fromEntries(Array.from({ length: 199 }, (_, n) => [`k${n}`, "x".repeat(length)]));
    const as = await tenant.backend("subscribers:write");
    const big = { external_id: "big", attributes: { ...attributes, z: "x".repeat(length) } };
    const answer = await world.call("POST /v1/subscribers/upsert", { as, body: big });
    await upsert(here, { external_id: "ada" });
    await world.settle();

    expect(answer.status).toBe(status);
    expect(outside.received.map(({ body }) => JSON.parse(body).data.external_id).sort()).toEqual(
      status === 200 ? ["ada", "big"] : ["ada"],
    );
  });

  it("a job has an event at its dispatch and at its end (WEV-2, WEV-3, WEV-7, WEV-8, NTF-20, AMB-95)", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    await hook(here, ["notification.dispatched", "notification.terminal"]);
    const { id } = await upsert(here);
    const scheduled_at = new Date(world.clock.now() + HOUR).toISOString();
    const body = { subscriberIds: [id], title: "t", body: "b", scheduled_at };
    const job = (await tenant.call("POST /api/v1/notifications", body)).body;
    await world.settle();
    expect(outside.received).toHaveLength(0);
    await world.advance(2 * HOUR);
    const told = outside.received.map(({ body }) => JSON.parse(body));
    expect(told.map(({ event_type, data }) => [event_type, data])).toEqual([
      ["notification.dispatched", { job_id: job.id, target_size_estimate: 1, scheduled_at }],
      ["notification.terminal", { job_id: job.id, status: "completed", delivered: 1, failed: 0, total: 1 }],
    ]);
  });

  it("the dispatch of a send to a list estimates the members of the list, not the whole workspace (WEV-2, WEV-7)", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    await hook(here, ["notification.dispatched"]);
    const members = await addPeople(world, tenant, 3);
    const list_id = (await tenant.call("POST /api/v1/lists", { name: "Two" })).body.id;
    await tenant.call(`POST /api/v1/lists/${list_id}/subscribers`, { subscriber_ids: members.slice(1) });
    await world.settle();
    const scheduled_at = new Date(world.clock.now() + HOUR).toISOString();
    const body = { target: { type: "list", list_id }, title: "t", body: "b", scheduled_at };
    await tenant.call("POST /api/v1/notifications", body);

    await world.advance(2 * HOUR);

    expect(outside.received.map(({ body }) => JSON.parse(body).data.target_size_estimate)).toEqual([2]);
  });

  it("a failed job has an event, a canceled one has none (D-NTF-STATE, WEV-3, WEV-8)", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    await hook(here, ["notification.terminal"]);
    const template = { name: "gone", content: { title: "t", body: "b" } };
    const template_id = (await tenant.call("POST /api/v1/templates", template)).body.id;
    const { id } = await upsert(here);
    const scheduled_at = new Date(world.clock.now() + HOUR).toISOString();
    const send = (body: object) =>
      tenant.call("POST /api/v1/notifications", { subscriberIds: [id], scheduled_at, ...body });
    const failing = (await send({ template_id })).body;
    const canceled = (await send({ title: "t", body: "b" })).body;
    await tenant.call(`DELETE /api/v1/templates/${template_id}`);
    await tenant.call(`POST /api/v1/notifications/${canceled.id}/cancel`);
    await world.advance(2 * HOUR);

    expect(outside.received.map(({ body }) => JSON.parse(body).data)).toEqual([
      { job_id: failing.id, status: "failed", delivered: 0, failed: 0, total: 0 },
    ]);
  });

  it("only endpoints of the same workspace that subscribe to its type receive an event (WEV-11, GEN-8)", async () => {
    const here = await setting();
    const other = await here.world.tenant();
    await hook(here, ["subscriber.created"], "https://one.example.com/");
    await hook(here, ["notification.terminal"], "https://two.example.com/");
    await hook({ ...here, tenant: other }, ["subscriber.created"], "https://three.example.com/");
    await upsert(here);
    await here.world.settle();

    expect(here.outside.received.map(({ to }) => to)).toEqual(["one.example.com"]);
  });

  it("an endpoint gets the events from its being switched on to its being switched off, with none that follow in that minute (HOK-7, WEV-11)", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    const { id } = await hook(here, ["subscriber.created"]);
    for (const [external_id, active] of [
      ["on", undefined],
      ["off", false],
      ["again", true],
    ] as const) {
      if (active !== undefined) await tenant.call(`PATCH /api/v1/webhooks/${id}`, { active });
      await upsert(here, { external_id });
      await world.settle();
    }

    const told = outside.received.map(({ body }) => JSON.parse(body).data.external_id);
    expect(told).toEqual(["on", "again"]);
    expect((await log(here, id)).items).toHaveLength(2);
  });

  it("after the deletion of an endpoint nothing more is delivered, also not a waiting retry (HOK-7)", async () => {
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

  it("an erased subscriber is removed from the log, and has no more events (SUB-10)", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    const { id: webhook } = await hook(here, ["subscriber.created"]);
    const { id } = await upsert(here, { external_id: "canary-7", email: "canary@example.com" });
    await world.settle();
    await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    await world.advance(HOUR);
    const { items } = await log(here, webhook);

    expect(items).toMatchObject([{ outcome: "delivered", payload: null }]);
    expect(JSON.stringify(items)).not.toMatch(/canary/);
    expect(outside.received).toHaveLength(1);
  });

  it("what is told of a subscriber twice in one batch is one delivery (WEV-6, SUB-10)", async () => {
    const here = await setting();
    const { id: webhook } = await hook(here, ["consent.changed"]);
    const data = { subscriber_id: "ada", channel: "email", status: "opted_out", previous: null } as const;
    const at = here.world.clock.now();
    const occurrence = { event: "consent.changed", key: "ada", at, data, subscriber: "ada" } as const;
    const same = { webhook, occurrence };

    await noteDeliveries(here.tenant.store, [same, same]);

    expect((await log(here, webhook)).items).toHaveLength(1);
  });

  it("an event of an erased subscriber that was still being noted is removed from the log by the second pass (SUB-9, SUB-10)", async () => {
    const here = await setting();
    const { world, tenant } = here;
    const at = world.clock.now();
    const { id } = await upsert(here, { external_id: "canary-7" });
    await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    await world.advance(MINUTE);
    const { id: webhook } = await hook(here, ["subscriber.created"]);
    const data = { ...webhookSamples["subscriber.created"], subscriber_id: id, external_id: "canary-7" };
    const occurrence = { event: "subscriber.created", key: id, at, data } as const;
    await noteDeliveries(tenant.store, [{ webhook, occurrence }]);
    await world.advance(5 * MINUTE);

    expect(JSON.stringify(await log(here, webhook))).not.toMatch(/canary/);
  });
});

/** The signature of Standard Webhooks under one secret. */
const standardSignature = (secret: string, headers: Record<string, unknown>, body: string): string => {
  const text = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  return `v1,${createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
    .update(text)
    .digest("base64")}`;
};

describe("requests", () => {
  it("a delivery is a POST with JSON, headers, and a signature that the shipped verifier accepts (WHK-1, WHK-2, WHK-3, WHK-4, WHK-5, WHK-6, WHK-12, WHK-13)", async () => {
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
    expect(headers["webhook-signature"]).toBe(standardSignature(secret, headers, body));
  });

  it("after a rotation of the secret the previous secret also signs for 24 hours (D-HOOKS)", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    const { id, secret } = await hook(here, ["subscriber.created"]);
    const rotated = (await tenant.call(`POST /api/v1/webhooks/${id}/secret/rotate`)).body.secret;
    expect(rotated).not.toBe(secret);
    await upsert(here);
    await world.advance(23 * HOUR);
    const { headers, body } = outside.received[0]!;
    expect(verifyWebhook(rotated, body, String(headers["x-service-signature"]))).toBe(true);
    expect(verifyWebhook(secret, body, String(headers["x-service-signature-previous"]))).toBe(true);
    expect(String(headers["webhook-signature"]).split(" ")).toEqual(
      [rotated, secret].map((one) => standardSignature(one, headers, body)),
    );
    await world.advance(HOUR + SECOND);
    await upsert(here, { external_id: "later" });
    await world.settle();
    expect(outside.received[1]!.headers["x-service-signature-previous"]).toBeUndefined();
  });

  it("after a rotation a verifier of Standard Webhooks takes a delivery by either secret (D-HOOKS)", async () => {
    const here = await setting();
    const { id, secret } = await hook(here, ["subscriber.created"]);
    const rotated = (await here.tenant.call(`POST /api/v1/webhooks/${id}/secret/rotate`)).body.secret;
    await upsert(here);
    await here.world.settle();

    const { headers, body } = here.outside.received[0]!;
    const text = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    const signedBy = (key: string) =>
      `v1,${createHmac("sha256", Buffer.from(key.slice(6), "base64"))
        .update(text)
        .digest("base64")}`;
    expect(headers["webhook-signature"]).toBe(`${signedBy(rotated)} ${signedBy(secret)}`);
  });

  it("a host with a private address is never connected to, and not retried (ARC-16)", async () => {
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
