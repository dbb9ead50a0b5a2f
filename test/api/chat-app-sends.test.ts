// Sends by the chat app with an approved template in place of title and body (AMB-90, D-WAT).
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { channelCalls } from "../support/channels.ts";
import { send } from "../support/people.ts";
import { openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const ORDER = { name: "Order shipped", body: "{{1}}, your order {{2}} is on its way." };
const parameters = ["{{ subscriber.first_name | default: 'Hello' }}", "{{ data.order }}"];

async function setting() {
  const { world, tenant } = await withTenant();
  const { chat_app, email } = (await openChannels(world, tenant, "chat_app", "email")) as Record<string, string>;
  const { call } = await channelCalls(world, tenant);
  const template = (await call(`POST /${chat_app}/chat-app-templates`, { body: ORDER })).body.id as string;
  const approve = async () => {
    await call(`POST /${chat_app}/chat-app-templates/${template}/submit`);
    await call(`POST /${chat_app}/chat-app-templates/${template}/refresh`);
  };
  const person = async (external_id: string, first_name?: string): Promise<string> => {
    const attributes = { phone: "+4915112345678", ...(first_name && { first_name }) };
    const body = { external_id, email: `${external_id}@example.com`, attributes };
    return await tenant.upsert(body);
  };
  const filled = { chat_app_template_id: template, chat_app_parameters: parameters };
  const message = { target: { type: "all" }, channel_ids: [chat_app], data: { order: "A-1" }, ...filled };
  const post = async (body: object) => tenant.call("POST /api/v1/notifications", { title: "t", body: "b", ...body });
  const get = async (path: string) => (await tenant.call(`GET ${path}`)).body;
  return { world, tenant, chat_app, email, template, approve, person, filled, message, post, get };
}

it("an approved template is sent, filled for each recipient; without it a plain text (AMB-90)", async () => {
  const { world, tenant, chat_app, template, approve, person, message } = await setting();
  await person("ada", "Ada");
  await approve();
  const { job } = await send(world, tenant, message);
  expect(job).toMatchObject({
    status: "completed",
    counts: { delivered: 1 },
    chat_app_template_id: template,
    chat_app_parameters: parameters,
  });
  const [item] = await outboxOf(world);
  expect(item).toMatchObject({ title: "order_shipped", body: "Ada, your order A-1 is on its way." });
  expect(item!.payload).toMatchObject({ type: "template", template: { language: { code: "en_US" } } });
  const plain = await send(world, tenant, { target: { type: "all" }, channel_ids: [chat_app] });
  expect(plain.job).not.toHaveProperty("chat_app_template_id");
  expect((await outboxOf(world))[1]).toMatchObject({ title: "Hello", body: "World" });
});

it("one that is not approved when its time has come is skipped, and other channels are not (AMB-90, D-WAT, F2)", async () => {
  const { world, tenant, chat_app, email, person, message, get } = await setting();
  const ada = await person("ada");
  const { job } = await send(world, tenant, message);
  expect(job).toMatchObject({
    status: "completed",
    skip_reasons: { template_not_approved: 1 },
    fail_reasons: {},
    counts: { total: 1, sent: 0, delivered: 0, failed: 0, skipped: 1 },
  });
  expect(await outboxOf(world)).toEqual([]);
  expect(await get(`/api/v1/notifications/${job.id}/recipients/${ada}`)).toMatchObject({
    decision: "skipped",
    state: "skipped",
    reason: "template_not_approved",
    attempts: [{ channel: "chat_app", state: "skipped", reason: "template_not_approved", attempted_at: [] }],
  });
  const both = await send(world, tenant, { ...message, channel_ids: [chat_app, email] });
  expect(both.job).toMatchObject({ delivered_by_channel: { email: 1 }, skip_reasons: {}, counts: { delivered: 1 } });
});

it("the template must be one of the send's channels, with a text for each variable (AMB-90, AMB-89, CMP-12)", async () => {
  const { world, email, message, post } = await setting();
  const refusal = async (body: object) => {
    const answer = await post({ ...message, ...body });
    return [answer.status, answer.body.code, ...Object.keys(answer.body.fields ?? {})];
  };
  const unknown = "00000000-0000-4000-8000-000000000000";
  const missing = [422, "TEMPLATE_NOT_FOUND", "chat_app_template_id"];
  expect(await refusal({ chat_app_template_id: unknown })).toEqual(missing);
  expect(await refusal({ channel_ids: [email] })).toEqual(missing);
  const wrong = [422, "VALIDATION_ERROR", "chat_app_parameters"];
  expect(await refusal({ chat_app_parameters: ["one"] })).toEqual(wrong);
  expect(await refusal({ chat_app_template_id: undefined })).toEqual(wrong);
  expect((await refusal({ chat_app_parameters: ["{% for %}", "b"] }))[0]).toBe(422);
  const other = await world.tenant();
  const channels = await openChannels(world, other, "chat_app");
  const foreign = await other.call("POST /api/v1/notifications", {
    ...message,
    title: "t",
    body: "b",
    channel_ids: [channels.chat_app],
  });
  expect([foreign.status, foreign.body.code]).toEqual([422, "TEMPLATE_NOT_FOUND"]);
});

it("messages of campaigns have it, too (AMB-90, CMP-12, CMP-16)", async () => {
  const { world, tenant, chat_app, approve, person, filled, get } = await setting();
  await person("ada", "Ada");
  await approve();
  const content = { title: "t", body: "b" };
  const create = (body: object) =>
    tenant.call("POST /api/v1/campaigns", { name: "c", target: { type: "all" }, ...body });
  const fixed = { chat_app_parameters: ["{{ subscriber.first_name }}", "A-2"] };
  const single = await create({ content, channel_ids: [chat_app], ...filled, ...fixed });
  expect([single.status, single.body]).toMatchObject([
    201,
    { ...filled, ...fixed, messages: [{ ...filled, ...fixed }] },
  ]);
  await tenant.call(`POST /api/v1/campaigns/${single.body.id}/release`);
  await world.advance(MINUTE);
  expect((await outboxOf(world)).map(({ body }) => body)).toEqual(["Ada, your order A-2 is on its way."]);
  const message = { content, channel_ids: [chat_app], ...filled, chat_app_parameters: [] };
  const refused = await create({ messages: [message] });
  expect([refused.status, Object.keys(refused.body.fields)]).toEqual([422, ["messages[0].chat_app_parameters"]]);
  expect((await create({ messages: [{ ...message, ...fixed }], ...filled })).status).toBe(422);
  expect((await get(`/api/v1/campaigns/${single.body.id}`)).messages[0]).toMatchObject({ ...filled, ...fixed });
});

it("a preview and the walk of a journey judge a template that the content names for the chat app (AMB-90, F8)", async () => {
  const { tenant, chat_app, template, approve, person } = await setting();
  const subscriber_id = await person("ada");
  const content = {
    title: "t",
    body: "b",
    by_channel: { chat_app: { template_id: template, parameters: ["Ada", "A-1"] } },
  };
  const preview = async () =>
    (
      await tenant.call("POST /api/v1/notifications/preview", {
        target: { type: "all" },
        channel_ids: [chat_app],
        content,
      })
    ).body;
  const hello = { send: { channel_ids: [chat_app], content } };
  const steps = { start: "hello", steps: { hello: { id: "hello", type: "send", ...hello } } };
  const journey = { name: "J", trigger: { type: "event", event_name: "e" }, steps };
  const { id } = (await tenant.call("POST /api/v1/journeys", journey)).body;
  const walk = async () => (await tenant.call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id })).body.steps;
  expect((await preview()).skip_reasons).toEqual({ template_not_approved: 1 });
  expect(await walk()).toMatchObject([{ step: "hello", outcome: "skipped:template_not_approved", channels: [] }]);
  await approve();
  expect((await preview()).counts).toMatchObject({ sent: 1, skipped: 0 });
  expect(await walk()).toMatchObject([{ step: "hello", outcome: "sent", channels: ["chat_app"] }]);
});
