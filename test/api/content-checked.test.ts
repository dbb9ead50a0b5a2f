// What is wrong with the content of a channel, and how a preview shows it (CHC).
import { describe, expect, it } from "vitest";
import type { UploadPath } from "../support/channels.ts";
import { by_channel, CONTENT, SHOP, withChannels } from "../support/content.ts";
import { graphOf } from "../support/journeys.ts";
import type { Answer } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = (...paths: UploadPath[]) => withChannels(withTenant, ...paths);

describe("refusals", () => {
  const unsafe = [{ id: "a", title: "A", url: "javascript:alert(1)" }];

  it.each([
    ["an unsafe link", { push: { buttons: unsafe } }, "content.by_channel.push.buttons[0].url"],
    ["a text that is no template", { email: { html: "{{ broken" } }, "content.by_channel.email.html"],
    ["a design over 100 KB", { email: { design: "x".repeat(102_401) } }, "content.by_channel.email.design"],
  ])("a send and a template are refused with 422 for %s of a channel (CHC-1)", async (_, wrong, field) => {
    const { call, ada } = await setting();
    const content = { title: "T", body: "B", by_channel: wrong };

    const refusals: Answer[] = [
      await call("POST /api/v1/notifications", { subscriberIds: [ada], content }),
      await call("POST /api/v1/templates", { name: "n", content }),
    ];

    for (const { status, body } of refusals) {
      expect(status).toBe(422);
      expect(Object.keys(body.fields)).toEqual([field]);
    }
  });

  it("a send is refused with 422 for a title beside its content (CHC-1)", async () => {
    const { call, ada } = await setting();

    const { body } = await call("POST /api/v1/notifications", { subscriberIds: [ada], title: "T", content: CONTENT });

    expect(body.fields).toHaveProperty("content");
  });

  it("a send is refused with 422 for an unknown template of a chat app (CHC-1)", async () => {
    const { call, ids, ada } = await setting();
    const chat_app = { template_id: ids.in_app, parameters: [] };
    const content = { title: "T", body: "B", by_channel: { chat_app } };

    const { status, body } = await call("POST /api/v1/notifications", { subscriberIds: [ada], content });

    expect(status).toBe(422);
    expect(body.code).toBe("TEMPLATE_NOT_FOUND");
  });

  it("a journey is not activated with a wrong part of a step's content, which is named by its place (CHC-1)", async () => {
    const { call, ids } = await setting();
    const content = { title: "T", body: "B", by_channel: { email: { html: "{{ broken" } } };
    const steps = graphOf({ hi: { send: { channel_ids: [ids.in_app], content } } });
    const trigger = { type: "event", event_name: "e" };
    const { id } = (await call("POST /api/v1/journeys", { name: "j", trigger, steps })).body;

    const { body } = await call(`POST /api/v1/journeys/${id}/activate`);

    expect(body.fields).toHaveProperty(["steps.steps.hi.send.content.by_channel.email.html"]);
  });
});

describe("preview", () => {
  /** The renderings of a preview by their channels. */
  async function preview({ call, everyChannel }: Awaited<ReturnType<typeof setting>>, body: object) {
    const shown = (await call("POST /api/v1/notifications/preview", { ...everyChannel, ...body })).body;
    const of = (channel: string) =>
      shown.renderings.find((rendering: { channel: string }) => rendering.channel === channel);
    const warningsOf = (channel: string) => of(channel).warnings.map(({ code }: { code: string }) => code);
    return { shown, of, warningsOf };
  }

  it("a preview renders a mail for a subscriber, as HTML and as text (RDA-8, CHC-5)", async () => {
    const here = await setting("email");

    const { shown, of } = await preview(here, { content: CONTENT });

    expect(shown.rendered_for).toBe(here.ada);
    expect(of("email")).toMatchObject({ title: "Mail for Ada", warnings: [] });
    expect(of("email").body).toMatch(`Go (${SHOP}/m)\n\n-- \n`);
    expect(of("email").html).toContain(`<a href="${SHOP}/m">`);
  });

  it("a preview warns of an SMS that costs more than it looks, and of variables that nobody has (CHC-5)", async () => {
    const here = await setting("sms");
    const sms = { body: "{{ subscriber.city }}ż".repeat(80) };

    const { of, warningsOf } = await preview(here, { content: { title: "T", body: "B", by_channel: { sms } } });

    expect(of("sms")).toMatchObject({ title: null, unknown_variables: ["subscriber.city"] });
    expect(of("sms").sms).toMatchObject({ encoding: "ucs2", characters: 80, segments: 2 });
    expect(warningsOf("sms")).toEqual(["unknown_variables", "sms_unicode", "sms_segments"]);
  });

  it("a preview warns of a push that phones cut off (CHC-5)", async () => {
    const here = await setting("ios-push");
    const push = { body: "x".repeat(200) };

    const { warningsOf } = await preview(here, { content: { title: "T", body: "B", by_channel: { push } } });

    expect(warningsOf("ios")).toEqual(["push_truncated"]);
  });

  it("a preview of the inbox shows its actions (CHC-5)", async () => {
    const { of } = await preview(await setting(), { content: CONTENT });

    expect(of("in_app").in_app).toEqual({ actions: by_channel.in_app.actions });
  });

  it("a preview leaves out links that are unsafe once they are rendered (CHC-5)", async () => {
    const here = await setting("ios-push");
    const in_app = { image_url: "{{ data.bad }}", actions: [{ id: "x", title: "X", url: "{{ data.bad }}" }] };
    const push = { url: "{{ data.bad }}", badge: 1 };
    const content = { title: "T", body: "B", by_channel: { in_app, push } };

    const { of } = await preview(here, { content, data: { bad: "javascript:alert(1)" } });

    expect(of("in_app").in_app).toEqual({ actions: [] });
    expect(of("ios").push).toEqual({ badge: 1 });
  });

  it.each([
    ["a stranger to render for", { render_for: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60" }, "render_for"],
    ["a text that gets too long", { body: "{{ data.x }}".repeat(5), data: { x: "y".repeat(60_000) } }, "content"],
  ])("a preview is refused with 422 for %s (CHC-5)", async (_, wrong, field) => {
    const { call, everyChannel } = await setting();
    const body = { ...everyChannel, title: "T", body: "B", ...wrong };

    const refused = await call("POST /api/v1/notifications/preview", body);

    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.fields)).toEqual([field]);
  });
});
