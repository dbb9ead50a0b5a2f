// What previews, walks and explanations show of a message by the chat app: the approved template, filled (AMB-90).
import { expect, it } from "vitest";
import { channelCalls } from "../support/channels.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function setting({ isApproved = true } = {}) {
  const world = await fresh();
  const rest = await journeySetting(world);
  const { tenant, call } = rest;
  const { chat_app = "" } = await openChannels(world, tenant, "chat_app");
  const { call: callChannel } = await channelCalls(world, tenant);
  const path = `/${chat_app}/chat-app-templates`;
  const made = await callChannel(`POST ${path}`, {
    body: { name: "Order", body: "{{1}}, order {{2}} is on its way." },
  });
  const template_id: string = made.body.id;
  for (const action of isApproved ? ["submit", "refresh"] : [])
    await callChannel(`POST ${path}/${template_id}/${action}`);
  const contentWith = (second: string) => ({
    title: "t",
    body: "b",
    by_channel: { chat_app: { template_id, parameters: ["{{ subscriber.first_name }}", second] } },
  });
  const ada = await rest.person("ada", { phone: "+4915112345678", first_name: "Ada" });
  const message = { target: { type: "all" }, channel_ids: [chat_app] };
  const preview = async (body: object) =>
    (await call("POST /api/v1/notifications/preview", { ...message, ...body })).body;
  return { ...rest, chat_app, template_id, contentWith, ada, message, preview };
}

const FILLED = "Ada, order A-1 is on its way.";

it("a preview shows the template of the chat app, filled for each sample and for whom it is rendered (AMB-90, F8)", async () => {
  const { template_id, contentWith, preview } = await setting();
  const parameters = ["{{ subscriber.first_name }}", "{{ data.order }}"];
  const chosen = { chat_app_template_id: template_id, chat_app_parameters: parameters };

  for (const body of [{ content: contentWith("{{ data.order }}") }, { title: "t", body: "b", ...chosen }]) {
    const shown = await preview({ ...body, data: { order: "A-1" } });
    expect(shown.samples).toMatchObject([{ title: null, body: FILLED }]);
    expect(shown.renderings).toMatchObject([{ channel: "chat_app", title: null, body: FILLED, warnings: [] }]);
  }
});

it("a preview names the variables of a template of the chat app that have no value (AMB-90, F8)", async () => {
  const { contentWith, preview } = await setting();

  const { rendered, renderings } = await preview({ content: contentWith("{{ subscriber.order }}") });

  expect(rendered).toMatchObject({ failed: 1 });
  expect(renderings[0]).toMatchObject({
    body: "Ada, order  is on its way.",
    unknown_variables: ["subscriber.order"],
    warnings: [{ code: "unknown_variables" }, { code: "template_error" }],
  });
});

it("the preview of a content shows its template of the chat app, and that it is not approved (AMB-90, RDA-8)", async () => {
  const { call, contentWith, ada } = await setting({ isApproved: false });
  const body = { content: contentWith("A-1"), render_for: ada, channels: ["chat_app"] };

  expect((await call("POST /api/v1/templates/preview", body)).body.renderings).toMatchObject([
    { channel: "chat_app", title: null, body: FILLED, warnings: [{ code: "template_not_approved" }] },
  ]);
});

it("the explanation of a send shows the template of the chat app as it was filled, and whether that changed (AMB-90, F2)", async () => {
  const { world, call, contentWith, ada, message, person } = await setting();
  const { id } = (await call("POST /api/v1/notifications", { ...message, content: contentWith("A-1") })).body;
  await world.settle();
  const messages = async () => (await call(`GET /api/v1/notifications/${id}/recipients/${ada}`)).body.messages;

  expect(await messages()).toEqual([{ channel: "chat_app", title: null, body: FILLED, attributes_changed: false }]);
  await person("ada", { first_name: "Eva" });
  expect(await messages()).toMatchObject([{ body: "Eva, order A-1 is on its way.", attributes_changed: true }]);
});

it("a template of the chat app may refer to the event of its journey, and the walk shows it as it is sent (AMB-90, RDA-13)", async () => {
  const { world, call, chat_app, contentWith, ada, active, track } = await setting();
  const content = contentWith("{{ event.order }}");
  const id = await active(graphOf({ mail: { send: { channel_ids: [chat_app], content, next: "end" } }, end: "exit" }));
  const events = [{ event_name: "signed_up", occurred_at: "2026-11-16T09:00:00.000Z", properties: { order: "A-1" } }];

  const { body } = await call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id: ada, events });
  await track("ada", "signed_up", { properties: { order: "A-1" } });

  expect(body.steps[0]).toMatchObject({ outcome: "sent", rendering: { title: "", body: FILLED } });
  expect((await outboxOf(world)).map((sent) => sent.body)).toEqual([FILLED]);
});

it("a walk shows the text of the channel by which a message goes (RDA-13, CHC-1)", async () => {
  const { world, tenant, call, create, ada } = await setting();
  const { sms = "" } = await openChannels(world, tenant, "sms");
  const content = { title: "t", body: "b", by_channel: { sms: { body: "Hi {{ subscriber.first_name }}" } } };
  const id = await create(graphOf({ text: { send: { channel_ids: [sms], content, next: "end" } }, end: "exit" }));

  const { body } = await call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id: ada });

  expect(body.steps[0].rendering).toMatchObject({ body: "Hi Ada" });
});
