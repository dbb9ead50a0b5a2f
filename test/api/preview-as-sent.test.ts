// What a preview and the story of a person show is what their providers and the inbox got, to the letter (F8, F2).
import { expect, it } from "vitest";
import { htmlOfSource } from "../../console/app/mail-source.ts";
import { mailHtml } from "../../console/mail/mail.ts";
import { designOf, starters } from "../../console/mail/starters.ts";
import { addPeople } from "../support/people.ts";
import { addPhone, openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const NAME = `Kay <&> "Ünal" 'O' – ❤`;
const [welcome] = starters;

const content = {
  title: "Hi {{ subscriber.first_name }}",
  body: "Line one\nLine two {{ subscriber.first_name | upcase }} & <b>bold</b>",
  by_channel: {
    email: {
      subject: "For {{ subscriber.first_name }}",
      preheader: "Soon",
      html: mailHtml(designOf(welcome!, "Shop")),
    },
    push: {
      title: "Push {{ subscriber.first_name }}",
      body: "Body & <i> {{ subscriber.first_name }}",
      url: "https://shop.example.org/?a=1&b=2",
      buttons: [{ id: "go", title: "Go {{ subscriber.first_name }}", url: "https://shop.example.org/go" }],
    },
    in_app: {
      title: "In {{ subscriber.first_name }}",
      body: "In the app & <i>",
      actions: [{ id: "see", title: "See", url: "https://shop.example.org/see" }],
    },
  },
};

/** Each recipient has links of their own. */
const withoutLinks = (html: string | undefined): string => (html ?? "").replaceAll(/href="[^"]*"/g, "href");

/** One message to one subscriber, as its preview and its explanation show it, and as providers got it. */
async function sentToKay() {
  const { world, tenant } = await withTenant();
  await openChannels(world, tenant, "android-push", "email");
  const id = await tenant.upsert({
    external_id: "kay",
    email: "kay@example.com",
    attributes: { first_name: NAME },
  });
  await addPhone(world, tenant, id, "android");
  const channels = (await tenant.call("GET /api/v1/channels")).body.channels;
  const channel_ids = channels.map((channel: { id: string }) => channel.id);
  const input = { external_ids: ["kay"], category: "transactional", channel_ids, content };

  const { renderings } = (await tenant.call("POST /api/v1/notifications/preview", { ...input, render_for: id })).body;
  const sent = (await tenant.call("POST /api/v1/notifications", input)).body;
  await world.settle();
  const { messages } = (await tenant.call(`GET /api/v1/notifications/${sent.id}/recipients/${id}`)).body;

  const shown = (channel: string) => renderings.find((rendering: { channel: string }) => rendering.channel === channel);
  const seen = (channel: string) => messages.find((message: { channel: string }) => message.channel === channel);
  const got = await outboxOf(world, `?job_id=${sent.id}`);
  const payloadOf = (channel: string): unknown => got.find((one) => one.channel === channel)?.payload;
  const inbox = async () =>
    (await world.call(`GET /v1/in-app/messages?subscriber_id=${id}`, { as: tenant.sdk })).body.messages;
  return { shown, seen, payloadOf, inbox };
}

it("the mail that a preview and an explanation show is what its provider got, to the letter (F8, F2)", async () => {
  const { shown, seen, payloadOf } = await sentToKay();
  const html = htmlOfSource(String(payloadOf("email")));
  expect(withoutLinks(html)).toContain("<body");
  expect([shown("email").html, seen("email").html].map(withoutLinks)).toEqual(Array(2).fill(withoutLinks(html)));
  expect([shown("email").title, seen("email").title]).toEqual(Array(2).fill(`For ${NAME}`));
});

it("the push that a preview and an explanation show is what its provider got, to the letter (F8, F2)", async () => {
  const { shown, seen, payloadOf } = await sentToKay();
  const push = payloadOf("android") as { notification: object; data: { url: string; buttons: string } };
  const { title, body, push: opens } = shown("android");
  expect(push.notification).toEqual({ title, body });
  expect(push.notification).toEqual({ title: seen("android").title, body: seen("android").body });
  expect({ url: push.data.url, buttons: JSON.parse(push.data.buttons) }).toEqual(opens);
});

it("the message that a preview and an explanation show is what the inbox got, to the letter (F8, F2)", async () => {
  const { shown, seen, inbox } = await sentToKay();
  const [message] = await inbox();
  const { actions } = shown("in_app").in_app;
  expect(message.content).toEqual({ title: shown("in_app").title, body: shown("in_app").body, actions });
  expect(message.content).toMatchObject({ title: seen("in_app").title, body: seen("in_app").body });
});

it("a preview says why a class of channels does not reach whom another one reaches (F8, NTF-23)", async () => {
  const { world, tenant } = await withTenant();
  await openChannels(world, tenant, "ios-push", "android-push", "email");
  const [, , opted] = await addPeople(world, tenant, 4, (n) => (n === 0 ? {} : { email: `p${n}@example.com` }));
  await addPhone(world, tenant, opted!, "android");
  await tenant.upsert({ external_id: "p2", consent: { channel: "email", status: "opted_out" } });
  await tenant.upsert({ external_id: "p3", consent: { channel: "email", status: "opted_out" } });
  const channels = (await tenant.call("GET /api/v1/channels")).body.channels as { id: string; type: string }[];
  const channel_ids = channels.map(({ id }) => id);
  const input = { target: { type: "all" }, title: "Hi", body: "There", channel_ids };

  const { body: seen } = await tenant.call("POST /api/v1/notifications/preview", input);
  const { body: byEmail } = await tenant.call("POST /api/v1/notifications/preview", {
    ...input,
    channel_ids: channels.filter(({ type }) => type === "email").map(({ id }) => id),
  });

  expect(seen).toMatchObject({ counts: { sent: 4 }, by_class: { in_app: 4, email: 1, push: 1 } });
  expect(seen.missed_by_class).toEqual({ email: { no_address: 1, no_consent: 2 }, push: { no_device: 3 } });
  expect(byEmail).toMatchObject({ counts: { sent: 1, skipped: 3 }, missed_by_class: {} });
});
