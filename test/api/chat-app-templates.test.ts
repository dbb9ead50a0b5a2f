// Chat-app templates: drafted, submitted, reviewed (WAT).
import { describe, expect, it } from "vitest";
import { openEgress } from "../../shared/egress/egress.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { chatAppProvider } from "../../shared/providers/chat-app.ts";
import { CHAT_APP, channelCalls } from "../support/channels.ts";
import { type TestWorld, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const ORDER = { name: "order_shipped", body: "Your order {{1}} is on its way." };

async function chatWorld() {
  const { world, tenant } = await withTenant();
  const calls = await channelCalls(world, tenant);
  const id = await calls.create("chat_app");
  await calls.upload(id, "chat_app");
  const draft = async (body: object = ORDER) => (await calls.call(`POST /${id}/chat-app-templates`, { body })).body;
  const submit = (template: string) => calls.call(`POST /${id}/chat-app-templates/${template}/submit`);
  const refresh = (template: string) => calls.call(`POST /${id}/chat-app-templates/${template}/refresh`);
  const list = async () => (await calls.call(`GET /${id}/chat-app-templates`)).body.items;
  return { world, tenant, id, ...calls, draft, submit, refresh, list };
}

const decide = (world: TestWorld, template: string, status: string, reason?: string) =>
  world.providers.templates.decide(template, status, reason);

it("a new template of a chat app is a draft, by default en_US and MARKETING (WAT-1, WAT-2, WAT-6, D-WAT)", async () => {
  const { id, call, list } = await chatWorld();
  const { status, body } = await call(`POST /${id}/chat-app-templates`, { body: ORDER });

  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    channel_id: id,
    ...ORDER,
    language: "en_US",
    category: "MARKETING",
    status: "draft",
    created_at: "2026-11-20T12:00:00.000Z",
    updated_at: "2026-11-20T12:00:00.000Z",
  });
  expect(await list()).toEqual([body]);
});

it.each([
  ["a blank name", "name", { name: " " }],
  ["a name without a letter", "name", { name: "!!!" }],
  ["a language in words", "language", { language: "English" }],
])("a template of a chat app is refused with 422 for %s (WAT-2)", async (_, field, more) => {
  const { id, call } = await chatWorld();
  const { status, body } = await call(`POST /${id}/chat-app-templates`, { body: { ...ORDER, ...more } });

  expect(status).toBe(422);
  expect(Object.keys(body.fields)).toEqual([field]);
});

it("the name of a chat app's template is taken once in a language, however it is written (WAT-2)", async () => {
  const { id, call, draft } = await chatWorld();
  await draft();
  const post = (more: object) => call(`POST /${id}/chat-app-templates`, { body: { ...ORDER, ...more } });

  expect(Object.keys((await post({ name: "Order Shipped!" })).body.fields)).toEqual(["name"]);
  expect((await post({ language: "de", category: "UTILITY" })).status).toBe(201);
});

it("the templates of a chat app are listed oldest first (WAT-3)", async () => {
  const { world, draft, list } = await chatWorld();
  const names = ["order_shipped", "a_sale", "welcome", "birthday", "goodbye"];
  for (const name of names) {
    await draft({ ...ORDER, name });
    await world.advance(MINUTE);
  }

  expect((await list()).map(({ name }: { name: string }) => name)).toEqual(names);
});

it("a channel of another type has no templates of a chat app (WAT-2, WAT-3)", async () => {
  const { call, create } = await chatWorld();
  const sms = await create("sms");

  expect(await call(`POST /${sms}/chat-app-templates`, { body: ORDER })).toMatchObject({
    status: 422,
    body: { fields: { type: expect.any(String) } },
  });
  expect((await call(`GET /${sms}/chat-app-templates`)).body).toEqual({ items: [] });
});

const actions = ["submit", "refresh"] as const;

it.each([
  ["a channel of another workspace", (id: string) => id],
  ["a channel that there is not", () => UNKNOWN],
])("templates of a chat app are not found by %s (WAT-2, WAT-3, GEN-8)", async (_, channelOf) => {
  const { world, id, draft } = await chatWorld();
  const template = await draft();
  const { call } = await channelCalls(world, await world.tenant());
  const path = `/${channelOf(id)}/chat-app-templates`;
  const answers = [await call(`POST ${path}`, { body: ORDER }), await call(`GET ${path}`)];
  for (const action of actions) answers.push(await call(`POST ${path}/${template.id}/${action}`));

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
});

it.each(actions)(
  "%s finds no template of a chat app that there is not, or of another channel (WAT-4)",
  async (action) => {
    const { id, call, create, draft } = await chatWorld();
    const template = await draft();
    const other = await create("chat_app");

    expect((await call(`POST /${id}/chat-app-templates/${UNKNOWN}/${action}`)).status).toBe(404);
    expect((await call(`POST /${other}/chat-app-templates/${template.id}/${action}`)).status).toBe(404);
  },
);

it("a template of a chat app is pending once it is submitted, with the provider's id and the time (WAT-4)", async () => {
  const { world, draft, submit } = await chatWorld();
  const { id } = await draft();
  await world.advance(MINUTE);

  expect(await submit(id)).toMatchObject({
    status: 200,
    body: { id, status: "pending", provider_template_id: expect.any(String), updated_at: "2026-11-20T12:01:00.000Z" },
  });
});

it("a template of a chat app is submitted once: 409 with its status (WAT-4, D-WAT)", async () => {
  const { draft, submit } = await chatWorld();
  const { id } = await draft();
  await submit(id);
  const again = await submit(id);

  expect(again.status).toBe(409);
  expect(again.body.message).toContain("pending");
});

it("a template of a chat app is refreshed only after its submission (WAT-5)", async () => {
  const { draft, refresh } = await chatWorld();

  expect(await refresh((await draft()).id)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
});

it("a refreshed template of a chat app has the provider's answer, also in the list (WAT-5, WAT-6)", async () => {
  const { draft, submit, refresh, list } = await chatWorld();
  const { id } = await draft();
  await submit(id);

  expect(await refresh(id)).toMatchObject({ status: 200, body: { status: "approved" } });
  expect((await submit(id)).status).toBe(409);
  expect((await list())[0]).toMatchObject({ status: "approved" });
});

it("a rejected template of a chat app has the reason, and may be submitted again (WAT-5, WAT-6)", async () => {
  const { world, draft, submit, refresh } = await chatWorld();
  const template = await draft();
  const { provider_template_id } = (await submit(template.id)).body;
  decide(world, provider_template_id, "REJECTED", "INVALID_FORMAT");
  expect((await refresh(template.id)).body).toMatchObject({ status: "rejected", status_reason: "INVALID_FORMAT" });
  const again = await submit(template.id);
  expect(again).toMatchObject({ status: 200, body: { status: "pending", provider_template_id } });
  expect(again.body).not.toHaveProperty("status_reason");
});

describe("statuses of the provider", () => {
  it.each([
    // Reading a pending template ends the review of the embedded provider.
    ["PENDING", "approved", undefined],
    ["APPROVED", "approved", undefined],
    ["REINSTATED", "approved", undefined],
    ["FLAGGED", "approved", "FLAGGED"],
    ["LOCKED", "paused", "LOCKED"],
    ["PAUSED", "paused", undefined],
    ["REJECTED", "rejected", undefined],
    ["LIMIT_EXCEEDED", "rejected", "LIMIT_EXCEEDED"],
    ["DISABLED", "disabled", undefined],
    ["IN_APPEAL", "in_appeal", undefined],
    ["ARCHIVED", "archived", undefined],
    ["DELETED", "deleted", undefined],
    ["PENDING_DELETION", "deleted", "PENDING_DELETION"],
  ])("a template that its provider calls %s is %s (WAT-6)", async (word, status, reason) => {
    const { world, draft, submit, refresh } = await chatWorld();
    const { id } = await draft();
    decide(world, (await submit(id)).body.provider_template_id, word);

    const { body } = await refresh(id);

    expect(body.status).toBe(status);
    expect(body.status_reason).toBe(reason);
  });

  it("an unknown status of the provider changes no template of a chat app (D-WAT)", async () => {
    const { world, draft, submit, refresh } = await chatWorld();
    const { id } = await draft();
    const { body } = await submit(id);
    decide(world, body.provider_template_id, "SOMETHING_NEW");

    expect((await refresh(id)).body).toEqual(body);
  });
});

it("a submission of a chat app's template without credentials is refused with 409 (WAT-4)", async () => {
  const { call, create } = await chatWorld();
  const bare = await create("chat_app");
  const { id } = (await call(`POST /${bare}/chat-app-templates`, { body: ORDER })).body;

  expect((await call(`POST /${bare}/chat-app-templates/${id}/submit`)).status).toBe(409);
});

it("a submission of a chat app's template whose answer was lost is found again and not repeated (WAT-4)", async () => {
  const { world, draft, submit } = await chatWorld();
  const template = await draft({ ...ORDER, name: "Order shipped" });
  const deps = world.depsFor("test");
  const provider = chatAppProvider({ egress: openEgress(deps), clock: deps.clock });
  const account = { type: "chat_app" as const, ...CHAT_APP };
  const lost = await provider.createTemplate(account, { ...ORDER, language: "en_US", category: "MARKETING" });
  expect(lost.kind).toBe("found");
  const { status, body } = await submit(template.id);
  expect(status).toBe(200);
  expect(body.status).toBe("pending");
  expect(lost).toMatchObject({ template: { id: body.provider_template_id } });
});

it("a chat app's template that the provider refuses is 422 with its message, and stays a draft (WAT-4)", async () => {
  const { world, draft, submit, list } = await chatWorld();
  const template = await draft();
  const deps = world.depsFor("test");
  const provider = chatAppProvider({ egress: openEgress(deps), clock: deps.clock });
  const account = { type: "chat_app" as const, ...CHAT_APP };
  await provider.createTemplate(account, { ...ORDER, body: "Another text", language: "en_US", category: "MARKETING" });

  expect(await submit(template.id)).toMatchObject({
    status: 422,
    body: { fields: { template: expect.stringContaining("already content in this language") } },
  });
  expect(await list()).toEqual([template]);
});

it("the templates of a chat app are removed with its channel (CHN-17)", async () => {
  const { id, call, draft, list, tenant } = await chatWorld();
  await draft();
  expect((await call(`DELETE /${id}?force=true`)).status).toBe(204);
  const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#channel#${id}` });
  expect(items).toEqual([]);
  expect(await list()).toBeUndefined();
});
