// A content is shown before it is saved, as a subscriber would see it on each channel (RDA-8, CHC-5).
import { expect, it } from "vitest";
import { worlds } from "../support/worlds.ts";

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

it("an unsaved content is rendered as its send would be, and nothing is stored (RDA-8, CHC-5)", async () => {
  const { world, tenant } = await withTenant();
  const upsert = { external_id: "ada", attributes: { first_name: "Ada <3" } };
  const id = await tenant.upsert(upsert);
  await world.settle();
  const as = await tenant.dashboard("viewer");
  const preview = (body: object) => world.call("POST /api/v1/templates/preview", { as, body });
  const { renderings } = (await preview({ content: CONTENT, data: { code: 7 }, render_for: id })).body;
  const on = (channel: string) => renderings.find((one: { channel: string }) => one.channel === channel);
  expect(on("email")).toMatchObject({ title: "Mail for Ada <3", html: expect.stringContaining("<b>Ada &lt;3</b>") });
  expect(on("sms")).toMatchObject({ body: "Grüße, Ada <3 ✓", sms: { encoding: "ucs2", characters: 15, segments: 1 } });
  expect(on("ios")).toMatchObject({ title: "Psst", body: "Tap", push: { buttons: [{ id: "go" }] } });
  expect(on("in_app")).toMatchObject({ title: "Hi Ada <3", unknown_variables: ["subscriber.nickname"] });

  const send = { subscriberIds: [id], content: CONTENT, data: { code: 7 } };
  const sent = await world.call("POST /api/v1/notifications/preview", { as, body: send });
  expect(sent.body.renderings).toEqual([on("in_app")]);

  const nobody = (await preview({ content: CONTENT, channels: ["sms"] })).body.renderings;
  expect(
    nobody.map((one: { channel: string; unknown_variables: string[] }) => [one.channel, one.unknown_variables]),
  ).toEqual([["sms", ["subscriber.first_name"]]]);
  const { body: template } = await preview({ content: { title: "{{ a", body: "b" } });
  expect(template.code).toBe("VALIDATION_ERROR");
  expect(Object.keys(template.fields)).toEqual(["content.title"]);
  const stranger = await preview({ content: CONTENT, render_for: world.ids.uuid() });
  expect(stranger.status).toBe(422);
  expect(stranger.body.fields).toEqual({ render_for: "no such subscriber in this workspace" });
  expect((await world.call("GET /api/v1/templates", { as })).body.total).toBe(0);
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
