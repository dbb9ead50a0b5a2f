// Topics (TPC): declared by a workspace, named by what sends.
import { describe, expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { mortal } from "../support/mortal.ts";
import { inboxOf, send } from "../support/people.ts";
import { quietSetting, reached, TOKYO_MORNING } from "../support/quiet-hours.ts";
import { choosing } from "../support/topics.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = choosing({ withTenant });

describe("topics", () => {
  it("are created, read, changed and deleted by their key, which never changes (TPC-1)", async () => {
    const { call } = await setting([]);
    const created = await call("POST /api/v1/topics", { key: "news", name: " News ", description: "Weekly" });
    expect([created.status, created.body]).toMatchObject([
      201,
      { key: "news", name: "News", description: "Weekly", default: "in" },
    ]);
    expect((await call("POST /api/v1/topics", { key: "news", name: "Again" })).status).toBe(409);
    for (const key of ["", "News", "-a", "a b", "a".repeat(65), "topic:a", "constructor"])
      expect((await call("POST /api/v1/topics", { key, name: "n" })).body.fields).toHaveProperty("key");
    await call("POST /api/v1/topics", { key: "deals", name: "Deals", default: "out" });
    const changed = await call("PATCH /api/v1/topics/news", { name: "Our news", description: null, default: "out" });
    expect(changed.body).toMatchObject({ key: "news", name: "Our news", description: null, default: "out" });
    expect((await call("PATCH /api/v1/topics/news", { key: "other" })).status).toBe(422);
    const { items } = (await call("GET /api/v1/topics")).body;
    expect(items.map(({ key }: { key: string }) => key)).toEqual(["deals", "news"]);
    expect((await call("DELETE /api/v1/topics/deals")).status).toBe(204);
    for (const route of ["GET", "DELETE"]) expect((await call(`${route} /api/v1/topics/deals`)).status).toBe(404);
    expect((await call("PATCH /api/v1/topics/deals", { name: "n" })).status).toBe(404);
  });

  it("are at most 100, also where two are created at the same moment (TPC-1)", async () => {
    const { call } = await setting(Array.from({ length: 99 }, (_, n) => ({ key: `t${n}`, name: "n" })));
    const both = await Promise.all(["x", "y"].map((key) => call("POST /api/v1/topics", { key, name: "n" })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 429]);
    await call("DELETE /api/v1/topics/t7");
    expect((await call("POST /api/v1/topics", { key: "z", name: "n" })).status).toBe(201);
    expect((await call("GET /api/v1/topics")).body.items).toHaveLength(100);
  });

  it("are not deleted while a released campaign, an active schedule or an active journey sends by them (TPC-1)", async () => {
    const { call, inApp } = await setting(["a", "b", "c", "d"].map((key) => ({ key, name: key })));
    const content = { title: "t", body: "b" };
    const at = "2027-01-01T00:00:00Z";
    const campaign = { name: "c", topic: "a", content, channel_ids: [inApp], scheduled_at: at };
    const { id } = (await call("POST /api/v1/campaigns", campaign)).body;
    await call(`POST /api/v1/campaigns/${id}/release`);
    const template_id = (await call("POST /api/v1/templates", { name: "t", content })).body.id;
    const schedule = await call("POST /api/v1/schedules", {
      ...{ cron_expression: "0 9 * * *", timezone: "UTC", template_id, channel_ids: [inApp], target: { type: "all" } },
      topic: "b",
    });
    const step = { id: "s", type: "send", send: { channel_ids: [inApp], content, topic: "c", next: "e" } };
    const journey = await call("POST /api/v1/journeys", {
      name: "j",
      trigger: { type: "event", event_name: "e" },
      steps: { start: "s", steps: { s: step, e: { id: "e", type: "exit" } } },
    });
    expect((await call(`POST /api/v1/journeys/${journey.body.id}/activate`)).status).toBe(200);
    const refusals = await Promise.all(["a", "b", "c", "d"].map((key) => call(`DELETE /api/v1/topics/${key}`)));
    expect(refusals.map(({ status }) => status)).toEqual([409, 409, 409, 204]);
    expect(refusals.slice(0, 3).map(({ body }) => body.message)).toEqual([
      expect.stringContaining(id),
      expect.stringContaining(schedule.body.id),
      expect.stringContaining(journey.body.id),
    ]);
    await call(`PATCH /api/v1/schedules/${schedule.body.id}`, { topic: null });
    expect((await call("DELETE /api/v1/topics/b")).status).toBe(204);
    const draft = (await call("POST /api/v1/campaigns", { ...campaign, topic: "c" })).body.id;
    await call(`POST /api/v1/journeys/${journey.body.id}/pause`);
    expect((await call("DELETE /api/v1/topics/c")).status).toBe(204);
    expect((await call(`POST /api/v1/campaigns/${draft}/release`)).status).toBe(409);
    expect((await call(`POST /api/v1/journeys/${journey.body.id}/activate`)).status).toBe(422);
  });
});

describe("a send with a topic", () => {
  it("skips who is not in it on every channel, transactional or not; preview and explanation say so (TPC-2)", async () => {
    const { world, tenant, call, person, choose } = await setting([
      { key: "news", name: "News" },
      { key: "deals", name: "Deals", default: "out" },
    ]);
    const [ada, ben] = [await person("ada"), await person("ben")];
    await choose("ben", { news: "opted_out", deals: "opted_in" });
    for (const category of ["marketing", "transactional"]) {
      const wish = { target: { type: "all" }, title: "Hello", body: "World", category };
      const preview = await call("POST /api/v1/notifications/preview", { ...wish, topic: "news" });
      expect(preview.body).toMatchObject({ counts: { sent: 1, skipped: 1 }, skip_reasons: { topic_opt_out: 1 } });
      const { job } = await send(world, tenant, { ...wish, topic: "news" });
      expect(job).toMatchObject({ topic: "news", skip_reasons: { topic_opt_out: 1 }, counts: { delivered: 1 } });
      const explained = await call(`GET /api/v1/notifications/${job.id}/recipients/${ben}`);
      expect(explained.body).toMatchObject({
        decision: "skipped",
        reason: "topic_opt_out",
        now: { topic: { key: "news", default: "in", choice: "opted_out", reachable: false } },
      });
      const deals = (await send(world, tenant, { ...wish, topic: "deals" })).job;
      expect(deals).toMatchObject({ skip_reasons: { topic_opt_out: 1 }, counts: { delivered: 1 } });
    }
    expect(await inboxOf(world, tenant, ada)).toHaveLength(2);
    expect(await inboxOf(world, tenant, ben)).toHaveLength(2);
    const unknown = await call("POST /api/v1/notifications", {
      target: { type: "all" },
      title: "t",
      body: "b",
      topic: "x",
    });
    expect([unknown.status, unknown.body.fields]).toMatchObject([422, { topic: expect.any(String) }]);
    const as = await tenant.backend("messages:send", "messages:read");
    const body = { external_ids: ["ada", "ben"], title: "t", body: "b", topic: "news" };
    expect((await world.call("POST /v1/notifications", { as, body })).body).toMatchObject({ sent: 1, unknown: 0 });
  });

  it("keeps the default of its time; choices made while it waits still count, in push and inbox alike (TPC-2)", async () => {
    const { world, tenant, call, person, push, job, ids } = await quietSetting(withTenant);
    await call("POST /api/v1/topics", { key: "news", name: "News" });
    const [ada, ben] = [await person("ada", "Asia/Tokyo"), await person("ben", "Asia/Tokyo")];
    const { channels } = (await call("GET /api/v1/channels")).body;
    const inApp = channels.find(({ type }: { type: string }) => type === "in_app").id;
    const { job: sent } = await push({ topic: "news" });
    const later = { topic: "news", channel_ids: [inApp, ids.ios], scheduled_at: "2026-11-20T13:00:00Z" };
    const { job: planned } = await push(later);
    await call("PATCH /api/v1/topics/news", { default: "out" });
    const body = { external_id: "ben", topics: { news: "opted_out" } };
    await world.call("PUT /v1/preferences", { as: tenant.sdk, body });
    await world.advance(TOKYO_MORNING + HOUR);
    expect(await reached(world)).toEqual([ada, ada]);
    expect(await job(sent.id)).toMatchObject({
      counts: { delivered: 1, skipped: 1, failed: 0 },
      skip_reasons: { topic_opt_out: 1 },
    });
    expect(await job(planned.id)).toMatchObject({
      counts: { delivered: 1, skipped: 1 },
      skip_reasons: { topic_opt_out: 1 },
    });
    expect([await inboxOf(world, tenant, ada), await inboxOf(world, tenant, ben)].map(({ length }) => length)).toEqual([
      1, 0,
    ]);
  });

  it("a choice between the plan and the delivery counts where a send reaches nothing but inboxes (TPC-2)", async () => {
    const worker = mortal("deliver");
    const { world, tenant, call, person, choose, inApp } = await setting(undefined, { hooks: worker.hooks });
    const [ada, ben] = [await person("ada"), await person("ben")];
    worker.dieAt(1, "before");
    const body = { name: "n", title: "t", body: "b", channel_ids: [inApp], target: { type: "all" }, topic: "news" };
    const { id } = (await call("POST /api/v1/notifications", body)).body;
    await world.settle();
    await choose("ben", { news: "opted_out" });
    worker.revive();
    await world.advance(HOUR);
    expect((await call(`GET /api/v1/notifications/${id}`)).body).toMatchObject({
      status: "completed",
      counts: { delivered: 1, skipped: 1, failed: 0 },
      skip_reasons: { topic_opt_out: 1 },
    });
    expect([await inboxOf(world, tenant, ada), await inboxOf(world, tenant, ben)].map(({ length }) => length)).toEqual([
      1, 0,
    ]);
  });

  it("the lift counts who chose after the plan as treated, and nobody who was out of it before (D-ATTRIB)", async () => {
    const worker = mortal("deliver");
    const { world, call, person, choose, inApp } = await setting(undefined, { hooks: worker.hooks });
    for (const name of ["ada", "ben", "cyd"]) await person(name);
    await choose("cyd", { news: "opted_out" });
    worker.dieAt(1, "before");
    const body = { title: "t", body: "b", channel_ids: [inApp], target: { type: "all" }, topic: "news" };
    const { id } = (await call("POST /api/v1/notifications", body)).body;
    await world.settle();
    await choose("ben", { news: "opted_out" });
    worker.revive();
    await world.advance(HOUR);
    const sent = (await call(`GET /api/v1/notifications/${id}`)).body;
    expect([sent.counts.delivered, sent.skip_reasons]).toEqual([1, { topic_opt_out: 2 }]);
    expect((await call(`GET /api/v1/insights/lift?job_id=${id}`)).body.treated.size).toBe(2);
  });

  it("campaigns, journeys and schedules send by their topic (TPC-2)", async () => {
    const { world, tenant, call, person, choose, inApp } = await setting();
    const [ada, ben] = [await person("ada"), await person("ben")];
    await choose("ben", { news: "opted_out" });
    await world.settle();
    const content = { title: "t", body: "b" };
    const campaign = await call("POST /api/v1/campaigns", { name: "c", topic: "news", content, channel_ids: [inApp] });
    expect((await call(`PUT /api/v1/campaigns/${campaign.body.id}`, campaign.body)).body.topic).toBe("news");
    await call(`POST /api/v1/campaigns/${campaign.body.id}/release`);
    const steps = {
      start: "s",
      steps: {
        s: { id: "s", type: "send", send: { channel_ids: [inApp], content, topic: "news", next: "e" } },
        e: { id: "e", type: "exit" },
      },
    };
    const trigger = { type: "event", event_name: "go" };
    const journey = await call("POST /api/v1/journeys", { name: "j", trigger, steps });
    await call(`POST /api/v1/journeys/${journey.body.id}/activate`);
    const events = ["ada", "ben"].map((external_id) => ({ event_name: "go", external_id }));
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    const template_id = (await call("POST /api/v1/templates", { name: "t", content })).body.id;
    await call("POST /api/v1/schedules", {
      ...{ cron_expression: "0 13 * * *", timezone: "UTC", template_id, channel_ids: [inApp], target: { type: "all" } },
      topic: "news",
    });
    await world.settle();
    await world.advance(HOUR + 1_000);
    expect(await inboxOf(world, tenant, ada)).toHaveLength(3);
    expect(await inboxOf(world, tenant, ben)).toEqual([]);
    const unknown = { name: "j", trigger, steps: JSON.parse(JSON.stringify(steps).replace('"news"', '"x"')) };
    const { id } = (await call("POST /api/v1/journeys", unknown)).body;
    const refused = await call(`POST /api/v1/journeys/${id}/activate`);
    expect(refused.body.fields).toHaveProperty(["steps.steps.s.send.topic"]);
  });
});
