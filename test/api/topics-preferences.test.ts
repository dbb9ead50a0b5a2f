// What subscribers choose of topics: through the API, and on the hosted page (TPC).
import { describe, expect, it } from "vitest";
import { consentsOf, follow, mailing, mailsOf } from "../support/mails.ts";
import { send, wholeTable } from "../support/people.ts";
import { choosing } from "../support/topics.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = choosing({ withTenant });

describe("preferences", () => {
  it("the preferences as they were read change nothing; a changed status among them is a choice (AMB-115)", async () => {
    const { world, tenant, person } = await setting([
      { key: "deals", name: "Deals", default: "out" },
      { key: "news", name: "News" },
    ]);
    const ada = await person("ada");
    const { body: read } = await world.call("GET /v1/preferences?external_id=ada", { as: tenant.sdk });
    const put = (body: object) => world.call("PUT /v1/preferences", { as: tenant.sdk, body });
    expect(await put(read)).toMatchObject({ status: 200, body: read });
    expect((await consentsOf(tenant, ada)).items).toEqual([]);
    const [deals, news] = read.topics;
    expect((await put({ ...read, topics: [deals, { ...news, status: "opted_out" }] })).status).toBe(200);
    const { items } = await consentsOf(tenant, ada);
    expect(items).toMatchObject([{ channel: "topic:news", status: "opted_out" }]);
    for (const [topics, field] of [
      [{ news: "maybe" }, "topics.news"],
      [[{ ...news, status: "maybe" }], "topics[0].status"],
      [[{ key: "x", status: "opted_in" }], "topics.x"],
      ["news", "topics"],
    ] as const)
      expect((await put({ external_id: "ada", topics })).body.fields).toEqual({ [field]: expect.any(String) });
  });

  it("are read and set by the app, a backend and the dashboard; each change is a consent (TPC-3, RDA-20)", async () => {
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
    const { items } = await consentsOf(tenant, ada);
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

  it("need the user's signed id where the workspace demands it (TPC-3, ACC-8)", async () => {
    const { world, tenant, call, person } = await setting();
    await person("ada");
    await call("POST /api/v1/identity-keys");
    await call("PATCH /api/v1/workspace", { identity_required: true });
    const read = await world.call("GET /v1/preferences?external_id=ada", { as: tenant.sdk });
    const body = { external_id: "ada", topics: { news: "opted_out" } };
    const write = await world.call("PUT /v1/preferences", { as: tenant.sdk, body });
    expect([read.status, write.status]).toEqual([403, 403]);
  });

  it("are on a page that mails of a topic lead to, in the subscriber's language; scanners change nothing (TPC-4)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const { call } = tenant;
    const plain = (await mail()).mail;
    expect(plain.text).not.toContain("/p/");
    expect((await follow(world, "GET", plain.unsubscribe!)).body).not.toContain("/p/");
    await call("POST /api/v1/topics", { key: "news", name: 'A "<b>' });
    await call("POST /api/v1/topics", { key: "deals", name: "Deals", default: "out" });
    const { mail: receipt } = await mail({ topic: "news", category: "transactional" });
    expect(receipt.unsubscribe).toBeUndefined();
    const path = new URL(/^Your preferences: (.*)$/m.exec(receipt.text)![1]!).pathname;
    expect(receipt.html).toContain(`${path}">Your preferences</a>`);
    const [, linked] = /href="(\/p\/[^"]+)"/.exec((await follow(world, "GET", plain.unsubscribe!)).body)!;
    expect((await follow(world, "GET", linked!)).body).toContain("<h1>Your preferences</h1>");
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
      await tenant.upsert({ external_id: "ada", locale });
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
    const { items } = await consentsOf(tenant, ada);
    expect(items.map((one: Record<string, string>) => `${one.channel} ${one.status} ${one.source}`).sort()).toEqual([
      "topic:deals opted_in preferences_page",
      "topic:news opted_out preferences_page",
    ]);
    expect((await mail({ topic: "later" })).job.counts.delivered).toBe(1);
    expect((await send(world, tenant, { target: { type: "all" }, topic: "news" })).job.counts.skipped).toBe(1);
    expect(await mailsOf(world)).toHaveLength(3);
    const forged = path.slice(0, -4) + (path.at(-4) === "A" ? "B" : "A") + path.slice(-3);
    for (const method of ["GET", "POST"] as const) {
      expect((await follow(world, method, forged)).status).toBe(404);
      expect((await follow(world, method, `/p/${ada}`)).status).toBe(404);
    }
  });
});
