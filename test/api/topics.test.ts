// Topics (TPC): declared by a workspace, named by what sends, chosen by subscribers.
import { describe, expect, it } from "vitest";
import { HOUR } from "../../shared/clock.ts";
import { consentsOf, follow, mailing, mailsOf } from "../support/mails.ts";
import { inboxOf, send, wholeTable } from "../support/people.ts";
import { quietSetting, reached, TOKYO_MORNING } from "../support/quiet-hours.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting(topics: object[] = [{ key: "news", name: "News" }]) {
  const { world, tenant } = await withTenant();
  const call = async (route: string, body?: object) =>
    world.call(route, { as: await tenant.dashboard(), ...(body && { body }) });
  for (const topic of topics) await call("POST /api/v1/topics", topic);
  const person = async (external_id: string, more: object = {}): Promise<string> =>
    (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id, ...more } })).body.id;
  const choose = (external_id: string, chosen: object) =>
    world.call("PUT /v1/preferences", { as: tenant.sdk, body: { external_id, topics: chosen } });
  const { channels } = (await call("GET /api/v1/channels")).body;
  const inApp: string = channels.find(({ type }: { type: string }) => type === "in_app").id;
  return { world, tenant, call, person, choose, inApp };
}

describe("topics", () => {
  it("TPC-1 are created, read, changed and deleted by their key, which never changes", async () => {
    const { call } = await setting([]);
    const created = await call("POST /api/v1/topics", { key: "news", name: " News ", description: "Weekly" });
    expect([created.status, created.body]).toMatchObject([
      201,
      { key: "news", name: "News", description: "Weekly", default: "in" },
    ]);
    expect((await call("POST /api/v1/topics", { key: "news", name: "Again" })).status).toBe(409);
    for (const key of ["", "News", "-a", "a b", "a".repeat(65), "topic:a"])
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

  it("TPC-1 are at most 100, also where two are created at the same moment", async () => {
    const { call } = await setting(Array.from({ length: 99 }, (_, n) => ({ key: `t${n}`, name: "n" })));
    const both = await Promise.all(["x", "y"].map((key) => call("POST /api/v1/topics", { key, name: "n" })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 429]);
    await call("DELETE /api/v1/topics/t7");
    expect((await call("POST /api/v1/topics", { key: "z", name: "n" })).status).toBe(201);
    expect((await call("GET /api/v1/topics")).body.items).toHaveLength(100);
  });

  it("TPC-1 are not deleted while a released campaign, an active schedule or an active journey sends by them", async () => {
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
  it("TPC-2 skips who is not in it on every channel, transactional or not; preview and explanation say so", async () => {
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

  it("TPC-2 keeps the default of its time; choices made while it waits still count, in push and inbox alike", async () => {
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

  it("TPC-2 campaigns, journeys and schedules send by their topic", async () => {
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

describe("preferences", () => {
  it("TPC-3 RDA-20 are read and set by the app, a backend and the dashboard; each change is a consent", async () => {
    const { world, tenant, call, person } = await setting([
      { key: "deals", name: "Deals", default: "out" },
      { key: "news", name: "News" },
    ]);
    const ada = await person("ada");
    const status = (answer: { body: { topics: { status: string }[] } }) => answer.body.topics.map((one) => one.status);
    expect(status(await world.call("GET /v1/preferences?external_id=ada", { as: tenant.sdk }))).toEqual([
      "opted_out",
      "opted_in",
    ]);
    const set = (as: object, topics: object, who: object = { subscriber_id: ada }) =>
      world.call("PUT /v1/preferences", { as: as as never, body: { ...who, topics } });
    expect(status(await set(tenant.sdk, { news: "opted_out" }, { external_id: "ada" }))).toEqual([
      "opted_out",
      "opted_out",
    ]);
    await set(tenant.sdk, { news: "opted_out" });
    await world.advance(1_000);
    const backend = await tenant.backend("subscribers:read", "subscribers:write");
    expect(status(await set(backend, { deals: "opted_in", news: "opted_in" }))).toEqual(["opted_in", "opted_in"]);
    await world.advance(1_000);
    await call(`POST /api/v1/subscribers/${ada}/consents`, { channel: "topic:news", status: "opted_out" });
    const { items } = await consentsOf(world, tenant, ada);
    const seen = items.map((one: Record<string, string>) => [one.channel, one.status, one.source].join(" "));
    expect(seen[0]).toBe("topic:news opted_out dashboard");
    expect(seen.slice(1, 3).sort()).toEqual(["topic:deals opted_in server", "topic:news opted_in server"]);
    expect(seen.slice(3)).toEqual(["topic:news opted_out preferences"]);
    const profile = (await call(`GET /api/v1/subscribers/${ada}`)).body;
    expect(profile.consents).toEqual([]);
    expect(profile.topics).toMatchObject([
      { key: "deals", status: "opted_in", consented_at: "2026-11-20T12:00:01.000Z" },
      { key: "news", name: "News", default: "in", status: "opted_out", consented_at: "2026-11-20T12:00:02.000Z" },
    ]);
    for (const [as, body, refused] of [
      [tenant.sdk, { subscriber_id: ada, topics: { x: "opted_in" } }, 422],
      [tenant.sdk, { subscriber_id: ada, external_id: "ada", topics: { news: "opted_in" } }, 422],
      [tenant.sdk, { topics: { news: "opted_in" } }, 422],
      [tenant.sdk, { external_id: "nobody", topics: { news: "opted_in" } }, 404],
      [await tenant.backend("subscribers:read"), { subscriber_id: ada, topics: { news: "opted_in" } }, 403],
      [await tenant.dashboard("viewer"), { subscriber_id: ada, topics: { news: "opted_in" } }, 403],
    ] as const)
      expect((await world.call("PUT /v1/preferences", { as, body })).status).toBe(refused);
    const unknown = { channel: "topic:x", status: "opted_in" };
    expect((await call(`POST /api/v1/subscribers/${ada}/consents`, unknown)).body.fields).toHaveProperty("channel");
    const upsert = { external_id: "ada", consent: unknown };
    expect((await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: upsert })).status).toBe(422);
    await call(`DELETE /api/v1/subscribers/${ada}`);
    await world.settle();
    expect((await world.call(`GET /v1/preferences?subscriber_id=${ada}`, { as: tenant.sdk })).status).toBe(404);
    expect(JSON.stringify(await wholeTable(world))).not.toContain("topic:news");
  });

  it("TPC-3 ACC-8 need the user's signed id where the workspace demands it", async () => {
    const { world, tenant, call, person } = await setting();
    await person("ada");
    await call("POST /api/v1/identity-keys");
    await call("PATCH /api/v1/workspace", { identity_required: true });
    const read = await world.call("GET /v1/preferences?external_id=ada", { as: tenant.sdk });
    const body = { external_id: "ada", topics: { news: "opted_out" } };
    const write = await world.call("PUT /v1/preferences", { as: tenant.sdk, body });
    expect([read.status, write.status]).toEqual([403, 403]);
  });

  it("TPC-4 are on a page that mails of a topic lead to, in the subscriber's language; scanners change nothing", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const call = async (route: string, body: object) => world.call(route, { as: await tenant.dashboard(), body });
    const plain = (await mail()).mail;
    expect(plain.text).not.toContain("/p/");
    expect((await follow(world, "GET", plain.unsubscribe!)).body).not.toContain("/p/");
    await call("POST /api/v1/topics", { key: "news", name: 'A "<b>' });
    await call("POST /api/v1/topics", { key: "deals", name: "Deals", default: "out" });
    const { mail: receipt } = await mail({ topic: "news", category: "transactional" });
    expect(receipt.unsubscribe).toBeUndefined();
    const path = new URL(/^Your preferences: (.*)$/m.exec(receipt.text)![1]!).pathname;
    expect(receipt.html).toContain(`${path}">Your preferences</a>`);
    expect((await follow(world, "GET", plain.unsubscribe!)).body).toContain(`href="${path}"`);
    for (const [locale, words] of [
      ["de-AT", "Ihre Einstellungen"],
      ["fr", "Vos préférences"],
      ["es-MX", "Sus preferencias"],
      ["it", "Le tue preferenze"],
      ["pt-BR", "As suas preferências"],
      ["nl", "Uw voorkeuren"],
      ["pl", "Twoje preferencje"],
      ["ja", "Your preferences"],
    ]) {
      await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id: "ada", locale } });
      expect((await follow(world, "GET", path)).body).toContain(`<h1>${words}</h1>`);
    }
    const before = JSON.stringify(await wholeTable(world));
    const shown = (await follow(world, "GET", path)).body;
    expect(JSON.stringify(await wholeTable(world))).toBe(before);
    expect(shown).toContain("A &quot;&lt;b&gt;");
    expect(shown).toMatch(/value="news" checked>/);
    expect(shown).toMatch(/value="deals">/);
    expect(shown).not.toMatch(/ada/i);
    // A topic that was made after the page was shown, and one that never was, stay as they are.
    await call("POST /api/v1/topics", { key: "later", name: "Later" });
    const form = "shown=news&shown=deals&shown=x&in=deals&in=x";
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const save = () => world.call(`POST ${path}`, { headers, raw: Buffer.from(form) });
    expect((await save()).body).toContain("Your choice is saved.");
    await save();
    const { items } = await consentsOf(world, tenant, ada);
    expect(items.map((one: Record<string, string>) => `${one.channel} ${one.status} ${one.source}`).sort()).toEqual([
      "topic:deals opted_in preferences_page",
      "topic:news opted_out preferences_page",
    ]);
    expect((await mail({ topic: "later" })).job.counts.delivered).toBe(1);
    expect((await send(world, tenant, { target: { type: "all" }, topic: "news" })).job.counts.skipped).toBe(1);
    expect(await mailsOf(world)).toHaveLength(3);
    for (const method of ["GET", "POST"] as const) {
      expect((await follow(world, method, `${path.slice(0, -2)}AA`)).status).toBe(404);
      expect((await follow(world, method, `/p/${ada}`)).status).toBe(404);
    }
    await world.call(`DELETE /api/v1/subscribers/${ada}`, { as: await tenant.dashboard() });
    expect((await save()).status).toBe(404);
  });
});
