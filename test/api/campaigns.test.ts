// Campaigns: authoring, the list and replacement (CMP).
import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../shared/kernel/clock.ts";
import { at, text, withCampaigns } from "../support/campaigns.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => withCampaigns(await fresh());

const UNTOUCHED = { failed: 0, fail_reasons: {}, uncertain: 0, halted: [] };
/** Of a campaign whose messages say it all. */
const bare = { content: undefined, channel_ids: undefined };

describe("create", () => {
  it("a campaign of a content is a draft with its defaults and one message (CMP-1, CMP-3, CMP-4, CMP-9, CMP-11, CMP-12)", async () => {
    const { create, get, channel_ids } = await setting();

    const { status, body } = await create();

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: "Spring",
      status: "draft",
      category: "marketing",
      target: { type: "all" },
      content: text("Hello"),
      channel_ids,
      holdout_percentage: 0,
      messages: [{ id: expect.any(String), content: text("Hello"), channel_ids, position: 0, job_id: "" }],
      created_at: at(0),
      updated_at: at(0),
    });
    expect(await get(body.id)).toEqual({ ...body, ...UNTOUCHED });
  });

  it.each(["POST /api/v1/notifications", "POST /api/v1/campaigns"])(
    "a template is named in whatever case by %s (CMP-5, NTF-1)",
    async (route) => {
      const { call, template, channel_ids } = await setting();
      const template_id = await template();
      const naming = { template_id: template_id.toUpperCase(), name: "Spring", channel_ids, target: { type: "all" } };

      expect((await call(route, naming)).body).toMatchObject({ id: expect.any(String) });
    },
  );

  it("a template supplies the content of a campaign (CMP-5, CMP-7, AMB-65)", async () => {
    const { create, template, channel_ids } = await setting();
    const template_id = await template();

    const { status, body } = await create({ content: undefined, template_id });

    expect(status).toBe(201);
    expect(body).toMatchObject({ template_id, channel_ids });
    expect(body.content).toBeUndefined();
  });

  it("the top level of a campaign repeats its first message (CMP-10)", async () => {
    const { several, channel_ids } = await setting();

    const campaign = await several(at(HOUR), at(2 * HOUR));

    expect(campaign).toMatchObject({ content: text("M0"), channel_ids, scheduled_at: at(HOUR) });
    expect(campaign.messages).toMatchObject([{ position: 0 }, { position: 1 }]);
  });

  it("the time of a campaign is its own before that of its first message (AMB-66)", async () => {
    const { create, channel_ids } = await setting();
    const messages = [{ content: text("A"), channel_ids, scheduled_at: at(2 * HOUR) }];

    const { body } = await create({ ...bare, messages, scheduled_at: at(HOUR) });

    expect(body.scheduled_at).toBe(at(HOUR));
  });

  it("a campaign's template applies to messages without content or template of their own (CMP-6, CMP-12)", async () => {
    const { create, template, channel_ids } = await setting();
    const [template_id, another] = [await template(), await template()];
    const messages = [{ channel_ids }, { content: text("Own"), channel_ids }, { template_id: another, channel_ids }];

    const { status, body } = await create({ ...bare, messages, template_id });

    expect(status).toBe(201);
    expect(body.template_id).toBe(template_id);
    expect(body.content).toBeUndefined();
    expect(body.messages).toMatchObject([{ template_id }, { content: text("Own") }, { template_id: another }]);
    expect(body.messages[1]).not.toHaveProperty("template_id");
  });

  it.each<[wrong: string, field: string, change: object]>([
    ["no content", "content", { content: undefined }],
    ["no channels", "channel_ids", { channel_ids: undefined }],
    ["an unknown channel", "channel_ids[0]", { channel_ids: [UNKNOWN] }],
    ["an unknown target", "target.type", { target: { type: "everyone" } }],
    ["a list without its id", "target.list_id", { target: { type: "list" } }],
    ["an unknown list", "target.list_id", { target: { type: "list", list_id: UNKNOWN } }],
    ["messages beside a content", "messages", { messages: [{ content: text("x"), channel_ids: [UNKNOWN] }] }],
    ["a message without a content", "messages[0]", { ...bare, messages: [{ channel_ids: [UNKNOWN] }] }],
  ])("a campaign is refused with 422 for %s, naming %s (CMP-13, AMB-65)", async (_, field, change) => {
    const { create, call } = await setting();

    const { status, body } = await create(change);

    expect(status).toBe(422);
    expect(body.code).toBe("VALIDATION_ERROR");
    expect(Object.keys(body.fields)).toEqual([field]);
    expect((await call("GET /api/v1/campaigns")).body.total).toBe(0);
  });

  it("a campaign is refused with 422 for a message's unknown template, named by its position (CMP-13, AMB-89)", async () => {
    const { create, template, channel_ids } = await setting();
    const messages = [await template(), UNKNOWN].map((template_id) => ({ template_id, channel_ids }));

    const { body } = await create({ ...bare, messages });

    expect(body.code).toBe("TEMPLATE_NOT_FOUND");
    expect(Object.keys(body.fields)).toEqual(["messages[1].template_id"]);
  });
});

describe("list", () => {
  it("campaigns are listed and counted by one status (CMP-15)", async () => {
    const { create, call, release } = await setting();
    await create();
    const { id } = (await create({ scheduled_at: at(DAY) })).body;
    await release(id);

    const { body } = await call("GET /api/v1/campaigns?status=scheduled");

    expect(body).toMatchObject({ total: 1, items: [{ id, status: "scheduled" }] });
  });
});

describe("replace", () => {
  it("a draft that is put is replaced as a whole: omitted fields get their defaults (CMP-16, AMB-65)", async () => {
    const { create, call, get, channel_ids } = await setting();
    const { id } = (await create({ category: "transactional", holdout_percentage: 10, scheduled_at: at(DAY) })).body;
    const messages = ["One", "Two"].map((title) => ({ content: text(title), channel_ids }));

    const { status, body } = await call(`PUT /api/v1/campaigns/${id}`, { name: "Anew", messages });

    expect(status).toBe(200);
    expect(body).toMatchObject({ name: "Anew", category: "marketing", holdout_percentage: 0, messages });
    expect(body.scheduled_at).toBeUndefined();
    expect(await get(id)).toEqual({ ...body, ...UNTOUCHED });
  });

  it.each([
    ["safety", { safety: { max_error_rate: 0.2 } }],
    ["scheduled_at", { scheduled_at: at(DAY) }],
  ])("a draft that is put without its %s has none any more (CMP-16, AMB-65)", async (field, before) => {
    const { create, call, get, channel_ids } = await setting();
    const { id, [field]: made } = (await create(before)).body;
    expect(made).toBeTruthy();

    const messages = [{ content: text("Hello"), channel_ids }];
    expect((await call(`PUT /api/v1/campaigns/${id}`, { name: "Anew", messages })).status).toBe(200);

    expect((await get(id))[field]).toBeUndefined();
  });

  it("a draft that is put as GET returned it sends a message without a time at the release still (CMP-16, AMB-66, AMB-115)", async () => {
    const { create, call, get, release, channel_ids } = await setting();
    const message = { content: text("One"), channel_ids };
    const { id } = (await create({ ...bare, messages: [{ ...message, scheduled_at: at(HOUR) }, message] })).body;

    await call(`PUT /api/v1/campaigns/${id}`, await get(id));

    expect((await release(id)).body.status).toBe("live");
  });

  it("a draft takes its messages as GET returned them in another order, and without the first one (CMP-16, AMB-115)", async () => {
    const { create, call, get, channel_ids } = await setting();
    const texts = ["One", "Two", "Three"].map((title) => ({ content: text(title), channel_ids }));
    const { id } = (await create({ ...bare, messages: texts })).body;
    const titles = async () =>
      (await get(id)).messages.map(({ content }: { content: { title: string } }) => content.title);
    const put = async (change: (messages: unknown[]) => unknown[]) => {
      const found = await get(id);
      return (await call(`PUT /api/v1/campaigns/${id}`, { ...found, messages: change(found.messages) })).status;
    };

    expect([await put((messages) => messages.reverse()), await titles()]).toEqual([200, ["Three", "Two", "One"]]);
    expect([await put((messages) => messages.slice(1)), await titles()]).toEqual([200, ["Two", "One"]]);
  });

  it("a draft that is put again keeps the ids of its messages, and gives the new ones ids of their own (CMP-16)", async () => {
    const { create, call, channel_ids } = await setting();
    const { id, messages } = (await create()).body;
    const texts = ["One", "Two"].map((title) => ({ content: text(title), channel_ids }));
    const put = async () =>
      (await call(`PUT /api/v1/campaigns/${id}`, { name: "Anew", messages: texts })).body.messages;

    const [first, second] = await put();

    expect(first.id).toBe(messages[0].id);
    expect(second.id).not.toBe(first.id);
    expect(await put()).toEqual([first, second]);
  });

  it("PUT of a campaign is refused with 422 for an unknown template, and changes nothing (CMP-16)", async () => {
    const { create, call, get, channel_ids } = await setting();
    const { id } = (await create()).body;
    const before = await get(id);
    const messages = [{ template_id: UNKNOWN, channel_ids }];

    const { status, body } = await call(`PUT /api/v1/campaigns/${id}`, { name: "x", messages });

    expect(status).toBe(422);
    expect(body.code).toBe("TEMPLATE_NOT_FOUND");
    expect(await get(id)).toEqual(before);
  });

  it("PUT of a campaign that is not a draft is refused with 409 (CMP-16, AMB-50)", async () => {
    const { create, call, release, channel_ids } = await setting();
    const { id } = (await create()).body;
    await release(id);
    const messages = [{ content: text("One"), channel_ids }];

    const { status, body } = await call(`PUT /api/v1/campaigns/${id}`, { name: "x", messages });

    expect(status).toBe(409);
    expect(body.code).toBe("CONFLICT");
  });
});
