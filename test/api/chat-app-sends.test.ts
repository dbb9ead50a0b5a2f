// Sends by the chat app with an approved template in place of title and body (AMB-90, D-WAT).
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { channelCalls } from "../support/channels.ts";
import { graphOf } from "../support/journeys.ts";
import { send } from "../support/people.ts";
import { openChannels, outboxOf } from "../support/reached.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const TEXT = { title: "t", body: "b" };
const ORDER = { name: "Order shipped", body: "{{1}}, your order {{2}} is on its way." };
const parameters = ["{{ subscriber.first_name | default: 'Hello' }}", "{{ data.order }}"];

async function setting() {
  const { world, tenant } = await withTenant();
  const { chat_app, email } = (await openChannels(world, tenant, "chat_app", "email")) as Record<string, string>;
  const { call } = await channelCalls(world, tenant);
  const template = (await call(`POST /${chat_app}/chat-app-templates`, { body: ORDER })).body.id as string;
  const actOn = (action: string) => call(`POST /${chat_app}/chat-app-templates/${template}/${action}`);
  const approve = async () => {
    await actOn("submit");
    return (await actOn("refresh")).body.provider_template_id as string;
  };
  /** What its provider decides after the approval. */
  const decide = async (status: string) => {
    world.providers.templates.decide(await approve(), status);
    await actOn("refresh");
  };
  const person = async (external_id: string, first_name?: string): Promise<string> => {
    const attributes = { phone: "+4915112345678", ...(first_name && { first_name }) };
    const body = { external_id, email: `${external_id}@example.com`, attributes };
    return await tenant.upsert(body);
  };
  const filled = { chat_app_template_id: template, chat_app_parameters: parameters };
  const message = { target: { type: "all" }, channel_ids: [chat_app], data: { order: "A-1" }, ...filled };
  return { world, tenant, chat_app, email, template, approve, decide, person, filled, message };
}

it("an approved template is sent, filled for each recipient (AMB-90)", async () => {
  const { world, tenant, template, approve, person, message } = await setting();
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
});

it("a send by the chat app without a template is a plain text (AMB-90)", async () => {
  const { world, tenant, chat_app, person } = await setting();
  await person("ada", "Ada");

  const { job } = await send(world, tenant, { target: { type: "all" }, channel_ids: [chat_app] });

  expect(job).not.toHaveProperty("chat_app_template_id");
  expect(await outboxOf(world)).toMatchObject([{ title: "Hello", body: "World" }]);
});

it("a template that is not approved when its time has come is skipped, and explained (AMB-90, D-WAT, F2)", async () => {
  const { world, tenant, person, message } = await setting();
  const ada = await person("ada");

  const { job } = await send(world, tenant, message);

  const skipped = { state: "skipped", reason: "template_not_approved" };
  expect(job).toMatchObject({
    status: "completed",
    skip_reasons: { template_not_approved: 1 },
    fail_reasons: {},
    counts: { total: 1, sent: 0, delivered: 0, failed: 0, skipped: 1 },
  });
  expect(await outboxOf(world)).toEqual([]);
  expect((await tenant.call(`GET /api/v1/notifications/${job.id}/recipients/${ada}`)).body).toMatchObject({
    ...skipped,
    decision: "skipped",
    attempts: [{ ...skipped, channel: "chat_app", attempted_at: [] }],
  });
});

it.each(["PAUSED", "DISABLED", "REJECTED"])(
  "a template is sent no more once it is %s (AMB-90, D-WAT)",
  async (status) => {
    const { world, tenant, decide, person, message } = await setting();
    await person("ada");
    await decide(status);

    const { job } = await send(world, tenant, message);

    expect(job.skip_reasons).toEqual({ template_not_approved: 1 });
    expect(await outboxOf(world)).toEqual([]);
  },
);

it("a template that is not approved keeps no other channel from its recipients (AMB-90, D-WAT)", async () => {
  const { world, tenant, chat_app, email, person, message } = await setting();
  await person("ada");

  const { job } = await send(world, tenant, { ...message, channel_ids: [chat_app, email] });

  expect(job).toMatchObject({ delivered_by_channel: { email: 1 }, skip_reasons: {}, counts: { delivered: 1 } });
});

it.each<[wrong: string, code: string, field: string, change: (ids: { email: string }) => object]>([
  ["an unknown template", "TEMPLATE_NOT_FOUND", "chat_app_template_id", () => ({ chat_app_template_id: UNKNOWN })],
  ["other channels", "TEMPLATE_NOT_FOUND", "chat_app_template_id", ({ email }) => ({ channel_ids: [email] })],
  ["a text too few", "VALIDATION_ERROR", "chat_app_parameters", () => ({ chat_app_parameters: ["one"] })],
  ["texts alone", "VALIDATION_ERROR", "chat_app_parameters", () => ({ chat_app_template_id: undefined })],
  [
    "a text that is no template",
    "VALIDATION_ERROR",
    "chat_app_parameters[0]",
    () => ({ chat_app_parameters: ["{% for %}", "b"] }),
  ],
])("a send by template is refused with 422 for %s: %s (AMB-90, AMB-89)", async (_, code, field, change) => {
  const { tenant, email, message } = await setting();
  const input = { ...TEXT, ...message, ...change({ email: email! }) };

  const { status, body } = await tenant.call("POST /api/v1/notifications", input);

  expect(status).toBe(422);
  expect(body.code).toBe(code);
  expect(Object.keys(body.fields)).toEqual([field]);
});

it("a template of a chat app is named in whatever case (AMB-90)", async () => {
  const { tenant, message } = await setting();
  const naming = { ...TEXT, ...message, chat_app_template_id: message.chat_app_template_id.toUpperCase() };

  const { body } = await tenant.call("POST /api/v1/notifications", naming);
  expect(body).toMatchObject({ id: expect.any(String) });
});

it("a template of another workspace's chat app is refused as an unknown one (AMB-90)", async () => {
  const { world, message } = await setting();
  const other = await world.tenant();
  const { chat_app } = await openChannels(world, other, "chat_app");

  const input = { ...TEXT, ...message, channel_ids: [chat_app] };

  const code = "TEMPLATE_NOT_FOUND";
  expect(await other.call("POST /api/v1/notifications", input)).toMatchObject({ status: 422, body: { code } });
});

it("a campaign's message has the template of a chat app, filled for each recipient (AMB-90, CMP-12)", async () => {
  const { world, tenant, chat_app, approve, person, filled } = await setting();
  await person("ada", "Ada");
  await approve();
  const template = { ...filled, chat_app_parameters: ["{{ subscriber.first_name }}", "A-2"] };
  const campaign = { name: "c", content: TEXT, channel_ids: [chat_app], ...template };

  const { status, body } = await tenant.call("POST /api/v1/campaigns", campaign);
  await tenant.call(`POST /api/v1/campaigns/${body.id}/release`);
  await world.advance(MINUTE);

  expect(status).toBe(201);
  expect(body).toMatchObject({ ...template, messages: [template] });
  expect((await outboxOf(world)).map((item) => item.body)).toEqual(["Ada, your order A-2 is on its way."]);
});

it("a campaign is refused with 422 for a message with too few texts of a template (AMB-90, CMP-16)", async () => {
  const { tenant, chat_app, filled } = await setting();
  const messages = [{ content: TEXT, channel_ids: [chat_app], ...filled, chat_app_parameters: [] }];

  const { status, body } = await tenant.call("POST /api/v1/campaigns", { name: "c", messages });

  expect(status).toBe(422);
  expect(Object.keys(body.fields)).toEqual(["messages[0].chat_app_parameters"]);
});

it("a campaign is refused with 422 for a template beside its messages (AMB-90, CMP-16)", async () => {
  const { tenant, chat_app, filled } = await setting();
  const messages = [{ content: TEXT, channel_ids: [chat_app], ...filled }];

  expect((await tenant.call("POST /api/v1/campaigns", { name: "c", messages, ...filled })).status).toBe(422);
});

/** A content that names its template for the chat app, a preview of it and the walk of a journey with it. */
async function judged() {
  const { tenant, chat_app, template, approve, person } = await setting();
  const subscriber_id = await person("ada");
  const by_channel = { chat_app: { template_id: template, parameters: ["Ada", "A-1"] } };
  const sending = { channel_ids: [chat_app], content: { ...TEXT, by_channel } };
  const preview = async () =>
    (await tenant.call("POST /api/v1/notifications/preview", { target: { type: "all" }, ...sending })).body;
  const trigger = { type: "event", event_name: "e" };
  const journey = { name: "J", trigger, steps: graphOf({ hello: { send: sending } }) };
  const { id } = (await tenant.call("POST /api/v1/journeys", journey)).body;
  const walk = async () => (await tenant.call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id })).body.steps;
  return { approve, preview, walk };
}

it("a preview judges the template that a content names for the chat app (AMB-90, F8)", async () => {
  const { approve, preview } = await judged();
  expect((await preview()).skip_reasons).toEqual({ template_not_approved: 1 });

  await approve();

  expect((await preview()).counts).toMatchObject({ sent: 1, skipped: 0 });
});

it("the walk of a journey judges the template that a content names for the chat app (AMB-90, F8)", async () => {
  const { approve, walk } = await judged();
  expect(await walk()).toMatchObject([{ step: "hello", outcome: "skipped:template_not_approved", channels: [] }]);

  await approve();

  expect(await walk()).toMatchObject([{ step: "hello", outcome: "sent", channels: ["chat_app"] }]);
});
