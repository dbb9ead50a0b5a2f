// Notification templates (TPL-1 to TPL-9): unique names, page-numbered list, races between renames and removals.
import { describe, expect, it } from "vitest";
import { PAGE } from "../../console/app/lookup.ts";
import { putItem } from "../../shared/store/item.ts";
import { createNamed, MAX_ENTITIES, Name } from "../../shared/store/name-index.ts";
import { TemplateItem } from "../../shared/store/templates/items.ts";
import { createTemplate } from "../../shared/store/templates/templates.ts";
import { quickMails, quickStore } from "../support/people.ts";
import { type Answer, START, type Tenant, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const content = { title: "Hello", body: "World" };

const create = async (tenant: Tenant, body: unknown): Promise<Answer> => tenant.call("POST /api/v1/templates", body);
const named = async (tenant: Tenant, name: string): Promise<string> =>
  (await create(tenant, { name, content })).body.id;
const get = async (tenant: Tenant, id: string) => tenant.call(`GET /api/v1/templates/${id}`);
const list = async (tenant: Tenant, query = "") => tenant.call(`GET /api/v1/templates${query}`);
const patch = async (tenant: Tenant, id: string, body: unknown) => tenant.call(`PATCH /api/v1/templates/${id}`, body);
const remove = async (tenant: Tenant, id: string) => tenant.call(`DELETE /api/v1/templates/${id}`);
const namesOf = ({ body }: Answer): string[] => body.data.map(({ name }: { name: string }) => name);

describe("create", () => {
  it("a template is created and read with exactly its fields (TPL-1, TPL-2)", async () => {
    const { tenant } = await withTenant();
    const answer = await create(tenant, { name: "Welcome", content });
    expect(answer.status).toBe(201);
    const created_at = new Date(START).toISOString();
    expect(answer.body).toEqual({ id: expect.any(String), name: "Welcome", content, created_at });
    const read = await get(tenant, answer.body.id);
    expect(read.status).toBe(200);
    expect(read.body).toEqual(answer.body);
  });

  it("a name that is taken is 422 naming it, and so is the loser of a race (TPL-3)", async () => {
    const { tenant } = await withTenant();
    await named(tenant, "Welcome");
    const { status, body } = await create(tenant, { name: " Welcome ", content });
    expect(status).toBe(422);
    expect(body.code).toBe("VALIDATION_ERROR");
    expect(Object.keys(body.fields)).toEqual(["name"]);
    const race = await Promise.all(Array.from({ length: 5 }, () => create(tenant, { name: "Race", content })));
    expect(race.map((answer) => answer.status).sort()).toEqual([201, 422, 422, 422, 422]);
    expect((await list(tenant)).body.total).toBe(2);
  });

  it("the same name may exist in two workspaces (TPL-9, GEN-8)", async () => {
    const world = await fresh();

    for (const tenant of [await world.tenant(), await world.tenant()])
      expect((await create(tenant, { name: "Welcome", content })).status).toBe(201);
  });

  it.each([
    ["name", { name: "   ", content }],
    ["content.body", { name: "a", content: { title: "t", body: "{% if %}" } }],
  ])("a template is refused with 422 naming %s (TPL-3)", async (field, body) => {
    const { tenant } = await withTenant();
    const answer = await create(tenant, body);

    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe("VALIDATION_ERROR");
    expect(Object.keys(answer.body.fields)).toEqual([field]);
  });

  it("the template after the 10,000th is refused (TPL-3, docs/decisions/0021#page-lists)", async () => {
    const { world, tenant } = await withTenant();
    const names = Array.from({ length: MAX_ENTITIES - 1 }, (_, n) =>
      putItem(Name, { kind: "template", name: `t${n}` }, { id: world.ids.uuidAt(START - n) }),
    );
    await quickStore(world, tenant).writeAll(names);
    expect((await create(tenant, { name: "the 10,000th", content })).status).toBe(201);
    const { status, body } = await create(tenant, { name: "one more", content });
    expect(status).toBe(429);
    expect(body.code).toBe("QUOTA_EXCEEDED");
    expect((await list(tenant, "?per_page=1")).body.total).toBe(MAX_ENTITIES);
  });
});

describe("list", () => {
  it("a page of templates has at most 100 (AMB-29)", async () => {
    const { world, tenant } = await withTenant();
    const store = quickStore(world, tenant);
    for (let n = 0; n < 120; n++) {
      const id = world.ids.uuidAt(START - n);
      await createNamed(store, TemplateItem, { id, name: `t${n}`, ...content, created_at: "2026-01-01T00:00:00.000Z" });
    }

    expect((await list(tenant, "?per_page=1000")).body.data).toHaveLength(100);
  });

  it.each([
    ["sale", ["Summer sale", "WINTER SALE"]],
    ["SUMMER", ["Summer sale"]],
    ["%", ["100% off"]],
    ["GRÖ", ["Größe"]],
    ["GRÖSSE", []],
    [".*", []],
  ])("a list of templates by the name %s has those that contain it, whatever the case (TPL-4)", async (text, names) => {
    const { tenant } = await withTenant();
    for (const name of ["Summer sale", "WINTER SALE", "Welcome", "100% off", "Größe"]) await named(tenant, name);
    const answer = await list(tenant, `?name=${encodeURIComponent(text)}`);

    expect(namesOf(answer).sort()).toEqual(names);
    expect(answer.body.total).toBe(names.length);
  });

  it("a hundred designed emails are too large for one answer, and as many as the console asks for are not (AMB-29, CON-3)", async () => {
    const { tenant } = await withTenant();
    const html = '<td style="padding:0">A line of a long email.</td>'.repeat(1_200);
    const designed = { ...content, by_channel: { email: { html } } };
    for (let n = 0; n < 100; n++) expect((await create(tenant, { name: `T${n}`, content: designed })).status).toBe(201);
    const { status, body } = await list(tenant, "?per_page=100");
    expect({ status, fields: body.fields }).toEqual({
      status: 422,
      fields: { page: "is too large: ask for fewer entries" },
    });
    expect(namesOf(await list(tenant, `?per_page=${PAGE}`))).toHaveLength(PAGE);
  });

  it("a page of templates by name says how many there are of that name (TPL-4)", async () => {
    const { tenant } = await withTenant();
    for (const name of ["Summer sale", "WINTER SALE", "Welcome"]) await named(tenant, name);
    const { body } = await list(tenant, "?name=sale&per_page=1&page=2");

    expect([body.data.length, body.total]).toEqual([1, 2]);
  });
});

describe("one template", () => {
  it("a change of a template overwrites what is given, keeps the rest and answers with the whole template (TPL-6)", async () => {
    const { tenant } = await withTenant();
    const before = (await create(tenant, { name: "Welcome", content })).body;
    const steps: [change: object, after: object][] = [
      [{ content: { title: "Hi" } }, { name: "Welcome", content: { title: "Hi", body: "World" } }],
      [{ content: { body: "there" } }, { name: "Welcome", content: { title: "Hi", body: "there" } }],
      [{ name: "Hello" }, { name: "Hello", content: { title: "Hi", body: "there" } }],
      [
        { name: "Hello", content: { body: "you" } },
        { name: "Hello", content: { title: "Hi", body: "you" } },
      ],
      [
        { name: "Bye", content: { title: "Bye" } },
        { name: "Bye", content: { title: "Bye", body: "you" } },
      ],
      [{ name: "Bye" }, { name: "Bye", content: { title: "Bye", body: "you" } }],
    ];
    for (const [change, after] of steps) {
      const answer = await patch(tenant, before.id, change);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ ...before, ...after });
      expect((await get(tenant, before.id)).body).toEqual(answer.body);
    }

    expect(namesOf(await list(tenant))).toEqual(["Bye"]);
  });

  it.each<[wrong: string, change: object]>([
    ["nothing", {}],
    ["an empty content", { content: {} }],
    ["the name of another template", { name: "two", content: { title: "changed" } }],
    ["another id", { id: UNKNOWN, name: "x" }],
  ])("a change of a template to %s is refused with 422, and changes nothing (TPL-7)", async (_, change) => {
    const { tenant } = await withTenant();
    const id = await named(tenant, "one");
    await named(tenant, "two");

    expect((await patch(tenant, id, change)).status).toBe(422);

    expect((await get(tenant, id)).body).toMatchObject({ name: "one", content });
  });

  it("a removed template frees its name and is in no list (TPL-8)", async () => {
    const { tenant } = await withTenant();
    const id = await named(tenant, "Welcome");

    expect(await remove(tenant, id)).toMatchObject({ status: 204, body: "" });

    expect((await list(tenant)).body.total).toBe(0);
    expect((await create(tenant, { name: "Welcome", content })).status).toBe(201);
  });
});

it("a page of templates that is larger than an answer may be asks for fewer, which are listed (TPL-4)", async () => {
  const { world, tenant } = await withTenant();
  const body = "\u{1f600}".repeat(50_000);
  const store = quickStore(world, tenant);
  for (let n = 0; n < 32; n++)
    await createTemplate({ store, mails: quickMails(world, tenant) }, { name: `t${n}`, content: { title: "t", body } });

  const all = await list(tenant, "?per_page=32");

  expect([all.status, Object.keys(all.body.fields)]).toEqual([422, ["page"]]);
  expect((await list(tenant, "?per_page=20")).body.data).toHaveLength(20);
});

it("a page of templates whose HTML is full of quotes is listed where the answer has room for it (TPL-4)", async () => {
  const { world, tenant } = await withTenant();
  const by_channel = { email: { subject: "s", html: '"'.repeat(26_000) } };
  const store = quickStore(world, tenant);
  for (let n = 0; n < 50; n++)
    await createTemplate(
      { store, mails: quickMails(world, tenant) },
      { name: `t${n}`, content: { ...content, by_channel } },
    );

  expect((await list(tenant, "?per_page=50")).status).toBe(200);
});
