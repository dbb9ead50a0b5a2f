// Topics (TPC): declared by a workspace, named by what sends for a time, and kept while that does.
import { expect, it } from "vitest";
import { HOUR, SECOND } from "../../shared/kernel/clock.ts";
import { inboxOf } from "../support/people.ts";
import { choosing, DEALS, NEWS } from "../support/topics.ts";
import { shared, worlds } from "../support/worlds.ts";

const setting = choosing(worlds());

const content = { title: "t", body: "b" };

it("a topic is created with its defaults, and its name without blanks around it (TPC-1)", async () => {
  const { call } = await setting([]);

  expect(await call("POST /api/v1/topics", { key: "news", name: " News ", description: "Weekly" })).toMatchObject({
    status: 201,
    body: { key: "news", name: "News", description: "Weekly", default: "in" },
  });
});

it("a topic is changed, but for its key (TPC-1)", async () => {
  const { call } = await setting();
  const change = { name: "Our news", description: null, default: "out" };

  expect((await call("PATCH /api/v1/topics/news", change)).body).toMatchObject({ key: "news", ...change });

  expect((await call("PATCH /api/v1/topics/news", { key: "other" })).status).toBe(422);
});

it("topics are listed by their keys (TPC-1)", async () => {
  const { call } = await setting([NEWS, DEALS]);

  expect((await call("GET /api/v1/topics")).body.items).toMatchObject([{ key: "deals" }, { key: "news" }]);
});

const common = shared((own) => choosing(own)());

it("a second topic of a key is refused with 409 (TPC-1)", async () => {
  const { call } = await common();

  expect((await call("POST /api/v1/topics", { key: "news", name: "Again" })).status).toBe(409);
});

it.each(["", "News", "-a", "a b", "a".repeat(65), "topic:a", "constructor"])(
  "a topic with the key %j is refused with 422 (TPC-1)",
  async (key) => {
    const { call } = await common();

    expect((await call("POST /api/v1/topics", { key, name: "n" })).body.fields).toHaveProperty("key");
  },
);

it("a workspace has at most 100 topics, also where two are created at the same moment (TPC-1)", async () => {
  const { call } = await setting(Array.from({ length: 99 }, (_, n) => ({ key: `t${n}`, name: "n" })));

  const both = await Promise.all(["x", "y"].map((key) => call("POST /api/v1/topics", { key, name: "n" })));

  expect(both.map(({ status }) => status).sort()).toEqual([201, 429]);
  await call("DELETE /api/v1/topics/t7");
  expect((await call("POST /api/v1/topics", { key: "z", name: "n" })).status).toBe(201);
  expect((await call("GET /api/v1/topics")).body.items).toHaveLength(100);
});

type Setting = Awaited<ReturnType<typeof setting>>;
const sendStep = (inApp: string, topic: string) => ({
  start: "s",
  steps: {
    s: { id: "s", type: "send", send: { channel_ids: [inApp], content, topic, next: "e" } },
    e: { id: "e", type: "exit" },
  },
});

async function createSchedule(
  { call, inApp }: Setting,
  cron_expression: string,
  campaign_id?: string,
): Promise<string> {
  const template_id = (await call("POST /api/v1/templates", { name: "t", content })).body.id;
  const body = { cron_expression, timezone: "UTC", template_id, channel_ids: [inApp], topic: "news", campaign_id };
  return (await call("POST /api/v1/schedules", { ...body, target: { type: "all" } })).body.id;
}

async function createCampaign({ call, inApp }: Setting, scheduled_at?: string): Promise<string> {
  const body = { name: "c", topic: "news", content, channel_ids: [inApp], ...(scheduled_at && { scheduled_at }) };
  return (await call("POST /api/v1/campaigns", body)).body.id;
}

async function activateJourney({ call, inApp }: Setting): Promise<string> {
  const trigger = { type: "event", event_name: "go" };
  const body = { name: "j", trigger, steps: sendStep(inApp, "news") };
  const { id } = (await call("POST /api/v1/journeys", body)).body;
  expect((await call(`POST /api/v1/journeys/${id}/activate`)).status).toBe(200);
  return id;
}

it.each<[what: string, use: (at: Setting) => Promise<string>]>([
  [
    "a released campaign",
    async (at) => {
      const id = await createCampaign(at, "2027-01-01T00:00:00Z");
      await at.call(`POST /api/v1/campaigns/${id}/release`);
      return id;
    },
  ],
  ["an active schedule", (at) => createSchedule(at, "0 9 * * *")],
  [
    "the schedule of a paused campaign, which its resume switches on,",
    async (at) => {
      const campaign = await createCampaign(at);
      const id = await createSchedule(at, "0 9 * * *", campaign);
      await at.call(`POST /api/v1/campaigns/${campaign}/release`);
      await at.call(`PATCH /api/v1/campaigns/${campaign}`, { action: "pause" });
      return id;
    },
  ],
  ["an active journey", activateJourney],
])("a topic is not deleted while %s sends by it, which the refusal names: 409 (TPC-1)", async (_, use) => {
  const found = await setting();
  const id = await use(found);

  expect(await found.call("DELETE /api/v1/topics/news")).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining(id) },
  });
});

it("a topic is deleted once its schedule names none (TPC-1)", async () => {
  const found = await setting();
  const id = await createSchedule(found, "0 9 * * *");

  await found.call(`PATCH /api/v1/schedules/${id}`, { topic: null });

  expect((await found.call("DELETE /api/v1/topics/news")).status).toBe(204);
});

it("a topic is deleted once its journey is paused (TPC-1)", async () => {
  const found = await setting();
  const id = await activateJourney(found);

  await found.call(`POST /api/v1/journeys/${id}/pause`);

  expect((await found.call("DELETE /api/v1/topics/news")).status).toBe(204);
});

it("a draft of a campaign whose topic was deleted is not released: 409 (TPC-1)", async () => {
  const found = await setting();
  const draft = await createCampaign(found);
  await found.call("DELETE /api/v1/topics/news");

  expect((await found.call(`POST /api/v1/campaigns/${draft}/release`)).status).toBe(409);
});

it("a journey whose topic was deleted is not activated again: 422 (TPC-1)", async () => {
  const found = await setting();
  const id = await activateJourney(found);
  await found.call(`POST /api/v1/journeys/${id}/pause`);
  await found.call("DELETE /api/v1/topics/news");

  const { status, body } = await found.call(`POST /api/v1/journeys/${id}/activate`);

  expect(status).toBe(422);
  expect(body.fields).toHaveProperty(["steps.steps.s.send.topic"]);
});

it.each<[what: string, sendBy: (at: Setting) => Promise<unknown>]>([
  ["a campaign", async (at) => at.call(`POST /api/v1/campaigns/${await createCampaign(at)}/release`)],
  [
    "a journey",
    async (at) => {
      await activateJourney(at);
      const events = ["ada", "ben"].map((external_id) => ({ event_name: "go", external_id }));
      await at.world.call("POST /v1/events", { as: at.tenant.server, body: { events } });
    },
  ],
  [
    "a schedule",
    async (at) => {
      await createSchedule(at, "0 13 * * *");
      await at.world.advance(HOUR + SECOND);
    },
  ],
])("%s with a topic sends to those who follow it alone (TPC-2)", async (_, sendBy) => {
  const found = await setting();
  const { world, tenant, person, choose } = found;
  const [ada, ben] = [await person("ada"), await person("ben")];
  await choose("ben", { news: "opted_out" });
  await world.settle();

  await sendBy(found);
  await world.settle();

  expect(await inboxOf(world, tenant, ada)).toHaveLength(1);
  expect(await inboxOf(world, tenant, ben)).toEqual([]);
});

it("a campaign that is put back as it was read keeps its topic (TPC-2)", async () => {
  const found = await setting();
  const id = await createCampaign(found);
  const { body } = await found.call(`GET /api/v1/campaigns/${id}`);

  expect((await found.call(`PUT /api/v1/campaigns/${id}`, body)).body.topic).toBe("news");
});
