// Who gets a message without a text: the preview says what the send then does (F8, F10).
import { expect, it } from "vitest";
import { openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting() {
  const { world, tenant } = await withTenant();
  const { call } = tenant;
  const { sms = "", chat_app = "" } = await openChannels(world, tenant, "sms", "chat_app");
  for (const id of [sms, chat_app]) await call(`PATCH /api/v1/channels/${id}`, { price_per_message: 0.05 });
  for (const [n, attributes] of [{ first_name: "Ada" }, {}, { first_name: " " }].entries())
    await tenant.upsert({ external_id: `p${n}`, attributes: { ...attributes, phone: `+491511234560${n}` } });
  await world.settle();
  const previewed = async (body: object) => (await call("POST /api/v1/notifications/preview", body)).body;
  const sent = async (body: object) => {
    const { id } = (await call("POST /api/v1/notifications", body)).body;
    await world.settle();
    return (await call(`GET /api/v1/notifications/${id}`)).body;
  };
  return { world, call, channels: { sms, chat_app }, previewed, sent };
}

const NAME = "{{ subscriber.first_name }}";

it.each([
  ["an SMS of its own", "sms", { title: "t", body: "b", by_channel: { sms: { body: NAME } } }],
  ["a text of HTML", "sms", { title: NAME, body: `<p>${NAME}</p>` }],
  ["a message of the chat app", "chat_app", { title: NAME, body: NAME }],
  ["a condition", "chat_app", { title: NAME, body: "{% if subscriber.first_name == 'Ada' %}Hello{% endif %}" }],
] as const)(
  "the preview of %s says who gets none since it would have no text, and what it costs then (F8, F10)",
  async (_, channel, content) => {
    const { world, channels, previewed, sent } = await setting();
    const body = { target: { type: "all" }, channel_ids: [channels[channel]], content };

    const preview = await previewed(body);
    const job = await sent(body);

    expect(job.counts).toMatchObject({ sent: 3, delivered: 1, failed: 2 });
    expect(job.fail_reasons).toEqual({ template_error: 2 });
    expect(await outboxOf(world)).toHaveLength(1);
    expect(preview.counts.sent).toBe(3);
    expect(Object.values(preview.by_class)).toEqual([1]);
    expect(preview.rendered).toMatchObject({ recipients: 3, failed: 2 });
    expect(preview.cost.provider_dollars).toBe(0.05);
    expect(job.cost.provider_dollars).toBe(0.05);
    expect(Math.abs(preview.cost.write_units / job.cost.write_units - 1)).toBeLessThan(0.1);
  },
);

it("a template of the chat app is not sent to whom a variable of it has no text, and the preview says so (AMB-90, F8)", async () => {
  const { world, call, channels, previewed, sent } = await setting();
  const path = `/api/v1/channels/${channels.chat_app}/chat-app-templates`;
  const { id } = (await call(`POST ${path}`, { name: "hello", body: "Hello {{1}}" })).body;
  for (const action of ["submit", "refresh"]) await call(`POST ${path}/${id}/${action}`);
  const template = { chat_app_template_id: id, chat_app_parameters: [NAME] };
  const body = { target: { type: "all" }, channel_ids: [channels.chat_app], title: "t", body: "b", ...template };

  expect(await previewed(body)).toMatchObject({ by_class: { chat_app: 1 }, rendered: { failed: 2 } });
  expect((await sent(body)).fail_reasons).toEqual({ template_error: 2 });
  expect(await outboxOf(world)).toHaveLength(1);
});

it("an inbox shows a message without a text by its button or image, and the preview counts it (F8)", async () => {
  const { call, previewed, sent } = await setting();
  const { channels } = (await call("GET /api/v1/channels")).body;
  const inbox = channels.find(({ type }: { type: string }) => type === "in_app").id;
  const actions = [{ id: "open", title: "Open", url: "https://example.com/" }];
  const content = { title: NAME, body: NAME, by_channel: { in_app: { actions } } };
  const body = { target: { type: "all" }, channel_ids: [inbox], content };

  expect(await previewed(body)).toMatchObject({ by_class: { in_app: 3 }, rendered: { failed: 0 } });
  expect((await sent(body)).counts).toMatchObject({ sent: 3, delivered: 3 });
});

it("the preview counts who gets no text as failed where a cap is reached too, as the send then does (F8, D-CAP)", async () => {
  const { call, channels, previewed, sent } = await setting();
  await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 1, per: "day" }] });
  const body = { target: { type: "all" }, channel_ids: [channels.sms] };
  await sent({ ...body, content: { title: "t", body: "b" } });
  const textless = { ...body, content: { title: NAME, body: NAME } };

  const preview = await previewed(textless);
  const job = await sent(textless);

  expect(job.counts).toMatchObject({ sent: 2, failed: 2, skipped: 1 });
  expect(preview.counts).toMatchObject({ sent: 2, skipped: 1 });
  expect(preview.rendered.failed).toBe(2);
});
