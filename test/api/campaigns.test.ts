// Campaigns: authoring, the list, replacement, and release (CMP).

import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { at, text, withCampaigns } from "../support/campaigns.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => withCampaigns(await fresh());

describe("create", () => {
  it("a draft with its defaults, and one message of its content (CMP-1, CMP-3, CMP-4, CMP-9, CMP-11, CMP-12)", async () => {
    const { create, get, channel_ids } = await setting();
    const made = await create();
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
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
    expect(await get(made.body.id)).toEqual({ ...made.body, failed: 0, fail_reasons: {}, uncertain: 0, halted: [] });
  });

  it("a template supplies the content (CMP-5, CMP-7, AMB-65)", async () => {
    const { create, template, channel_ids } = await setting();
    const template_id = await template();
    const { status, body } = await create({ content: undefined, template_id });
    expect([status, body.template_id, body.content, body.channel_ids]).toEqual([
      201,
      template_id,
      undefined,
      channel_ids,
    ]);
  });

  it("the top level repeats the first message; its time is the campaign's if that has one (CMP-10, AMB-66)", async () => {
    const { several, call, channel_ids } = await setting();
    const own = await several(at(HOUR), at(2 * HOUR));
    expect(own).toMatchObject({ content: text("M0"), channel_ids, scheduled_at: at(HOUR) });
    expect(own.messages.map(({ position }: { position: number }) => position)).toEqual([0, 1]);
    const messages = [{ content: text("A"), channel_ids, scheduled_at: at(2 * HOUR) }];
    const { body } = await call("POST /api/v1/campaigns", { name: "x", scheduled_at: at(HOUR), messages });
    expect(body.scheduled_at).toBe(at(HOUR));
  });

  it("with messages, template_id applies to those without content or template of their own (CMP-6, CMP-12)", async () => {
    const { world, call, template, channel_ids } = await setting();
    const [template_id, another] = [await template(), await template()];
    const messages = [{ channel_ids }, { content: text("Own"), channel_ids }, { template_id: another, channel_ids }];
    const post = (change: object) => call("POST /api/v1/campaigns", { name: "x", messages, ...change });
    const { status, body } = await post({ template_id });
    expect([status, body.template_id, body.content]).toEqual([201, template_id, undefined]);
    expect(body.messages.map((m: { template_id?: string; content?: object }) => m.template_id ?? m.content)).toEqual([
      template_id,
      text("Own"),
      another,
    ]);
    expect(Object.keys((await post({})).body.fields)).toEqual(["messages[0]"]);
    const foreign = await template(await world.tenant());
    expect((await post({ template_id: foreign, messages: [messages[1]] })).body.code).toBe("TEMPLATE_NOT_FOUND");
  });

  it.each<[field: string, change: object]>([
    ["content", { content: undefined }],
    ["channel_ids", { channel_ids: undefined }],
    ["channel_ids[0]", { channel_ids: [UNKNOWN] }],
    ["scheduled_at", { scheduled_at: "tomorrow" }],
    ["target.type", { target: { type: "everyone" } }],
    ["target.list_id", { target: { type: "list" } }],
    ["target.list_id", { target: { type: "list", list_id: UNKNOWN } }],
    ["holdout_percentage", { holdout_percentage: 100 }],
    ["messages", { messages: [], content: undefined, channel_ids: undefined }],
  ])("refuses a bad %s by its name: %j (CMP-13, AMB-65)", async (field, change) => {
    const { create, call } = await setting();
    const refused = await create(change);
    expect(refused).toMatchObject({ status: 422, body: { code: "VALIDATION_ERROR" } });
    expect(Object.keys(refused.body.fields)).toEqual([field]);
    expect((await call("GET /api/v1/campaigns")).body.total).toBe(0);
  });

  it("refuses messages beside content, and a message without content (CMP-13)", async () => {
    const { create, channel_ids } = await setting();
    const bare = { content: undefined, channel_ids: undefined };
    const beside = await create({ messages: [{ content: text("x"), channel_ids }] });
    expect([beside.status, Object.keys(beside.body.fields)]).toEqual([422, ["messages"]]);
    const empty = await create({ ...bare, messages: [{ channel_ids }] });
    expect([empty.status, Object.keys(empty.body.fields)]).toEqual([422, ["messages[0]"]]);
  });

  it("another workspace's template or channel is refused like an unknown one (CMP-6, CMP-13, AMB-89, GEN-8)", async () => {
    const { world, create, template, channel, channel_ids } = await setting();
    const other = await world.tenant();
    const unknown = await create({ template_id: UNKNOWN, content: undefined });
    expect(unknown).toMatchObject({ status: 422, body: { code: "TEMPLATE_NOT_FOUND" } });
    expect((await create({ template_id: await template(other), content: undefined })).body).toEqual(unknown.body);
    const messages = [await template(), UNKNOWN].map((template_id) => ({ template_id, channel_ids }));
    const second = await create({ messages, content: undefined, channel_ids: undefined });
    expect([second.body.code, Object.keys(second.body.fields)]).toEqual([
      "TEMPLATE_NOT_FOUND",
      ["messages[1].template_id"],
    ]);
    expect((await create({ channel_ids: [await channel(other)] })).body.fields).toHaveProperty(["channel_ids[0]"]);
  });
});

describe("list and replace", () => {
  it("pages newest first, filters by status, and counts what it filtered (CMP-14, CMP-15)", async () => {
    const { world, create, call, release } = await setting();
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) {
      ids.unshift((await create({ name: `c${n}`, scheduled_at: at(DAY) })).body.id);
      await world.advance(1_000);
    }
    await release(ids[2]!);
    const page = (await call("GET /api/v1/campaigns?page=2&page_size=3")).body;
    expect(page).toMatchObject({ total: 4, page: 2, page_size: 3, items: [{ id: ids[3] }] });
    const scheduled = (await call("GET /api/v1/campaigns?status=scheduled")).body;
    expect(scheduled).toMatchObject({ total: 1, items: [{ id: ids[2], status: "scheduled" }] });
    expect((await call("GET /api/v1/campaigns?status=draft")).body.total).toBe(3);
    expect((await call("GET /api/v1/campaigns?status=unknown")).status).toBe(422);
    expect((await call(`GET /api/v1/campaigns/${UNKNOWN}`)).status).toBe(404);
  });

  it("PUT replaces the whole draft: omitted fields get their defaults (CMP-16, AMB-65)", async () => {
    const { create, call, get, channel_ids } = await setting();
    const { id } = (await create({ category: "transactional", holdout_percentage: 10, scheduled_at: at(DAY) })).body;
    const messages = [
      { content: text("One"), channel_ids },
      { content: text("Two"), channel_ids, scheduled_at: at(HOUR) },
    ];
    const put = await call(`PUT /api/v1/campaigns/${id}`, { name: "Anew", messages });
    expect(put).toMatchObject({
      status: 200,
      body: {
        name: "Anew",
        category: "marketing",
        holdout_percentage: 0,
        messages: [{ position: 0 }, { position: 1 }],
      },
    });
    expect(put.body.scheduled_at).toBeUndefined();
    expect(await get(id)).toEqual({ ...put.body, failed: 0, fail_reasons: {}, uncertain: 0, halted: [] });
  });

  it("PUT refuses empty messages, a bad time or category, an unknown template or campaign, and a campaign that is not a draft (CMP-16, AMB-50)", async () => {
    const { create, call, release, channel_ids } = await setting();
    const { id } = (await create()).body;
    const messages = [{ content: text("One"), channel_ids }];
    const put = (id: string, body: object) => call(`PUT /api/v1/campaigns/${id}`, body);
    expect((await put(id, { name: "x", messages: [] })).status).toBe(422);
    expect((await put(id, { name: "x" })).status).toBe(422);
    expect((await put(id, { name: "x", messages: [{ ...messages[0], scheduled_at: "soon" }] })).status).toBe(422);
    expect((await put(UNKNOWN, { name: "x", messages })).status).toBe(404);
    expect(await put(id, { name: "x", messages, category: "spam" })).toMatchObject({
      status: 422,
      body: { code: "VALIDATION_ERROR", fields: { category: expect.any(String) } },
    });
    const foreign = { name: "x", messages: [{ template_id: UNKNOWN, channel_ids }] };
    expect(await put(id, foreign)).toMatchObject({ status: 422, body: { code: "TEMPLATE_NOT_FOUND" } });
    await release(id);
    expect(await put(id, { name: "x", messages })).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  });
});

describe("release", () => {
  it("one job per message, each at its own time, its id on the message at once (CMP-18, CMP-19, ARC-11)", async () => {
    const { world, several, release, get, job, inbox } = await setting();
    const { id } = await several(undefined, at(HOUR), at(2 * HOUR));
    const released = await release(id);
    expect(released).toMatchObject({ status: 200, body: { status: "live" } });
    const jobs = released.body.messages.map(({ job_id }: { job_id: string }) => job_id);
    expect(new Set(jobs).size).toBe(3);
    expect(await job(jobs[1])).toMatchObject({
      status: "scheduled",
      scheduled_at: at(HOUR),
      name: "Several",
      source: { type: "campaign", id },
    });
    await world.settle();
    expect(await inbox()).toEqual(["M0"]);
    await world.advance(90 * MINUTE);
    expect(await inbox()).toEqual(["M0", "M1"]);
    expect((await get(id)).status).toBe("live");
    await world.advance(HOUR);
    expect(await inbox()).toEqual(["M0", "M1", "M2"]);
    expect((await get(id)).status).toBe("completed");
  });

  it("a second release is a 409, and concurrent ones make one job per message (CMP-20)", async () => {
    const { world, several, release, call, inbox } = await setting();
    const { id } = await several(undefined, undefined);
    const answers = await Promise.all([release(id), release(id), release(id)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    await world.settle();
    expect((await inbox()).sort()).toEqual(["M0", "M1"]);
    expect((await call("GET /api/v1/notifications?source_type=campaign")).body.items).toHaveLength(2);
    expect((await release(UNKNOWN)).status).toBe(404);
  });

  it("a message whose time is past is sent at release; a later time makes the campaign scheduled (D-CMP-AUTO, AMB-65)", async () => {
    const { world, create, release, inbox } = await setting();
    const past = (await create({ scheduled_at: at(-HOUR) })).body;
    expect((await release(past.id)).body.status).toBe("live");
    const ahead = (await create({ scheduled_at: at(HOUR) })).body;
    expect((await release(ahead.id)).body.status).toBe("scheduled");
    await world.settle();
    expect(await inbox()).toEqual(["Hello"]);
  });

  it("the share held out receives nothing (CMP-8, ABH-2)", async () => {
    const { create, release, world, job } = await setting();
    const { id } = (await create({ holdout_percentage: 99 })).body;
    const { messages } = (await release(id)).body;
    await world.settle();
    expect(await job(messages[0].job_id)).toMatchObject({ holdout_percentage: 99, counts: { total: 1 } });
  });

  it("scheduled becomes live with its first job, and completed with its last, failed ones too (D-CMP-AUTO, CMP-26)", async () => {
    const { world, call, template, channel_ids, release, get } = await setting();
    const template_id = await template();
    const messages = [
      { template_id, channel_ids, scheduled_at: at(HOUR) },
      { template_id, channel_ids, scheduled_at: at(DAY) },
    ];
    const { id } = (await call("POST /api/v1/campaigns", { name: "x", messages })).body;
    expect((await release(id)).body.status).toBe("scheduled");
    await world.advance(2 * HOUR);
    expect((await get(id)).status).toBe("live");
    await call(`DELETE /api/v1/templates/${template_id}`);
    await world.advance(DAY);
    expect((await get(id)).status).toBe("completed");
  });

  it("a message whose job was canceled counts as ended (D-CMP-AUTO)", async () => {
    const { world, several, release, get, call } = await setting();
    const { id } = await several(undefined, at(HOUR));
    const { messages } = (await release(id)).body;
    await call(`POST /api/v1/notifications/${messages[1].job_id}/cancel`);
    await world.settle();
    expect((await get(id)).status).toBe("completed");
  });
});
