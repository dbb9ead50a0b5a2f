// A content is shown before it is saved, as a subscriber would see it on each channel (RDA-8, CHC-5).
import { expect, it } from "vitest";
import { UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const CONTENT = {
  title: "Hi {{ subscriber.first_name }}",
  body: "Your code is {{ data.code }}. {{ subscriber.nickname }}",
  by_channel: {
    email: { subject: "Mail for {{ subscriber.first_name }}", html: "<p>Hello <b>{{ subscriber.first_name }}</b></p>" },
    sms: { body: "Grüße, {{ subscriber.first_name }} ✓" },
    push: { title: "Psst", body: "Tap", buttons: [{ id: "go", title: "Go", url: "https://example.com" }] },
  },
};

/** A subscriber with a first name, and previews by somebody who may only look. */
const previewing = shared(async (own) => {
  const { world, tenant } = await own.withTenant();
  const ada = await tenant.upsert({ external_id: "ada", attributes: { first_name: "Ada <3" } });
  await world.settle();
  const as = await tenant.dashboard("viewer");
  const preview = async (body: object) =>
    (await world.call("POST /api/v1/templates/preview", { as, body: { content: CONTENT, ...body } })).body;
  const { renderings } = await preview({ data: { code: 7 }, render_for: ada });
  const on = (channel: string) => renderings.find((rendering: { channel: string }) => rendering.channel === channel);
  return { world, tenant, as, ada, preview, on };
});

it.each<[channel: string, rendering: object]>([
  ["email", { title: "Mail for Ada <3", html: expect.stringContaining("<b>Ada &lt;3</b>") }],
  ["sms", { body: "Grüße, Ada <3 ✓", sms: { encoding: "ucs2", characters: 15, segments: 1 } }],
  ["ios", { title: "Psst", body: "Tap", push: { buttons: [{ id: "go" }] } }],
  ["in_app", { title: "Hi Ada <3", unknown_variables: ["subscriber.nickname"] }],
])("an unsaved content is shown as a subscriber would get it by %s (RDA-8, CHC-5)", async (channel, rendering) => {
  const { on } = await previewing();

  expect(on(channel)).toMatchObject(rendering);
});

it("an unsaved content is shown as the preview of its send shows it (RDA-8)", async () => {
  const { world, as, ada, on } = await previewing();
  const body = { subscriberIds: [ada], content: CONTENT, data: { code: 7 } };

  const sent = await world.call("POST /api/v1/notifications/preview", { as, body });

  expect(sent.body.renderings).toEqual([on("in_app")]);
});

it("a content that is shown for nobody names the variables of a subscriber (RDA-8)", async () => {
  const { preview } = await previewing();

  expect((await preview({ channels: ["sms"] })).renderings).toMatchObject([
    { channel: "sms", unknown_variables: ["subscriber.first_name"] },
  ]);
});

it("a content that is shown is not stored (RDA-8)", async () => {
  const { tenant } = await previewing();

  expect((await tenant.call("GET /api/v1/templates")).body.total).toBe(0);
});

it.each([
  ["with Liquid that does not end", "content.title", { content: { title: "{{ a", body: "b" } }],
  ["for a subscriber that there is not", "render_for", { render_for: UNKNOWN }],
])("the preview of a content %s is refused, naming %s (RDA-8)", async (_, field, body) => {
  const { preview } = await previewing();

  expect(await preview(body)).toMatchObject({ code: "VALIDATION_ERROR", fields: { [field]: expect.any(String) } });
});

it("a mail is shown with the footer it will have, whose links lead nowhere (CHC-5, CHC-4)", async () => {
  const { world, tenant } = await withTenant();
  const own = { sender_name: "Tom & Co", postal_address: "1 High Street" };
  await tenant.call("PATCH /api/v1/workspace", own);
  const upsert = { external_id: "ada", attributes: { locale: "de-AT" } };
  const id = await tenant.upsert(upsert);
  await world.advance(1_000);
  const of = async (send: object) => {
    const body = { content: { title: "Hi", body: "Text" }, channels: ["email"], ...send };
    const { renderings } = (await tenant.call("POST /api/v1/templates/preview", body)).body;
    return renderings[0] as { html: string; body: string };
  };
  const marketing = await of({ category: "marketing", topic: "news", render_for: id });
  expect(marketing.html).toContain("Tom &amp; Co<br>1 High Street<br>");
  expect(marketing.html).toMatch(/<a href="https:\/\/recipient\.invalid\/">Abmelden<\/a>.*Ihre Einstellungen/);
  expect(marketing.body).toContain("Abmelden: https://recipient.invalid/");
  const transactional = await of({ category: "transactional" });
  expect(transactional.html).not.toContain("Tom");
  expect((await of({})).body).toBe("Text");
});
