// How large a mail may be, alone and together with others, and from where on a preview warns (CHC-1, docs/decisions/0104).
import { describe, expect, it } from "vitest";
import { withChannels } from "../support/content.ts";
import { graphOf } from "../support/journeys.ts";
import { contentOf, htmlOf, large } from "../support/large-mails.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const HTML_BYTES = 204_800;
const DESIGN_BYTES = 102_400;

describe("the limits of a mail", () => {
  const setting = async () => {
    const { tenant } = await withTenant();
    return (content: object) => tenant.call("POST /api/v1/templates", { name: "Spring", content });
  };

  it.each([
    ["html", HTML_BYTES, htmlOf],
    ["design", DESIGN_BYTES, (bytes: number) => "d".repeat(bytes)],
  ])("the %s of a mail has at most %d bytes, said in bytes (CHC-1)", async (field, max, textOf) => {
    const create = await setting();

    const refused = await create(contentOf({ [field]: textOf(max + 1) }));
    const taken = await create(contentOf({ [field]: textOf(max) }));

    expect(refused).toMatchObject({
      status: 422,
      body: { fields: { [`content.by_channel.email.${field}`]: `must have at most ${max} bytes of UTF-8` } },
    });
    expect([taken.status, Buffer.byteLength(taken.body.content.by_channel.email[field])]).toEqual([201, max]);
  });

  it("what a content says beside the HTML and the design of its mail has at most 65,536 bytes (CHC-1)", async () => {
    const create = await setting();
    const withText = (length: number) => {
      const { by_channel } = contentOf({ html: htmlOf(HTML_BYTES), text: "t".repeat(length) });
      return { title: "Spring", body: "B", by_channel: { ...by_channel, in_app: { body: "b".repeat(30_000) } } };
    };

    const refused = await create(withText(36_000));
    const taken = await create(withText(35_000));

    expect([refused.status, refused.body.fields]).toEqual([
      422,
      { "content.by_channel": "must have at most 65536 bytes as JSON, without html and design of email" },
    ]);
    expect(taken.status).toBe(201);
  });

  it("the messages of a campaign have at most 1 MB with their mails (CHC-1, CMP-12)", async () => {
    const { tenant, ids } = await withChannels(withTenant, "email");
    const messages = (n: number) =>
      Array.from({ length: n }, () => ({
        content: contentOf({ html: "é".repeat(100_000) }),
        channel_ids: [ids.email],
      }));
    const create = (n: number) => tenant.call("POST /api/v1/campaigns", { name: "Spring", messages: messages(n) });

    expect(await create(6)).toMatchObject({
      status: 422,
      body: { fields: { messages: expect.stringContaining("1048576 bytes") } },
    });
    expect((await create(5)).body.messages.at(-1).content.by_channel.email.html).toHaveLength(100_000);
  });
});

it("a large mail of a step of a journey is refused, and its template is not (CHC-1)", async () => {
  const { tenant, ids } = await withChannels(withTenant, "email");
  const { id } = (await tenant.call("POST /api/v1/templates", { name: "Large", content: large })).body;
  const create = (said: object) => {
    const steps = graphOf({ hi: { send: { channel_ids: [ids.email], ...said } } });
    return tenant.call("POST /api/v1/journeys", { name: "Spring", trigger: { type: "event", event_name: "a" }, steps });
  };

  const refused = await create({ content: large });

  expect(refused.body.fields).toEqual({
    steps: "must have at most 131072 bytes in all: save a larger mail as a template",
  });
  expect((await create({ template_id: id })).status).toBe(201);
});

it("the preview of a mail warns above 102 KB of what goes out, where a mailbox clips it (CHC-5)", async () => {
  const { tenant } = await withTenant();
  const preview = async (html: string) => {
    const content = contentOf({ html, preheader: "Until Sunday" });
    const asked = { content, channels: ["email"], category: "marketing" };
    return (await tenant.call("POST /api/v1/templates/preview", asked)).body.renderings[0];
  };
  const around = Buffer.byteLength((await preview("x")).html) - 1;
  const most = "x".repeat(102 * 1_024 - around);

  const warnings = [await preview(most), await preview(`${most}x`)].map((one) => one.warnings);

  expect(warnings).toEqual([[], [{ code: "mail_clipped", message: expect.stringContaining("102 KB") }]]);
});
