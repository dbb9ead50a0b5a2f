// Sends and campaigns searched, copied and deleted (RDA-17, RDA-12).
import { expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { addPeople, reachedOf, send } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const namesOf = async (world: TestWorld, tenant: Tenant, route: string) =>
  (await world.call(`GET ${route}`, { as: await tenant.dashboard("viewer") })).body.items.map(
    ({ name }: { name: string }) => name,
  );

it("sends are found by a part of the name or the title, also of long ones, and by time (RDA-17)", async () => {
  const { world, tenant } = await withTenant();
  const [ada] = await addPeople(world, tenant, 1);
  const to = { subscriberIds: [ada] };
  await send(world, tenant, { ...to, name: "Spring sale" });
  await world.advance(DAY);
  await send(world, tenant, { ...to, name: "one", title: "The SPRING letter", body: "long ".repeat(200) });
  await world.advance(DAY);
  await send(world, tenant, { ...to, name: "two" });
  const found = (query: string) => namesOf(world, tenant, `/api/v1/notifications?${query}`);

  expect(await found("q=spring")).toEqual(["one", "Spring sale"]);
  expect(await found(`from=${timestamp(START + DAY - HOUR)}`)).toEqual(["two", "one"]);
  expect(await found(`to=${timestamp(START + DAY + HOUR)}&q=spring&limit=1`)).toEqual(["one"]);
  expect(await found(`from=${timestamp(START + HOUR)}&to=${timestamp(START + DAY - HOUR)}`)).toEqual([]);
  expect(await found("q=spring&exclude_source_type=api")).toEqual([]);
});

interface Setting {
  world: TestWorld;
  tenant: Tenant;
  call(route: string, body?: object): ReturnType<TestWorld["call"]>;
  create(name: string, more?: object): Promise<string>;
}

async function campaigns(): Promise<Setting> {
  const { world, tenant } = await withTenant();
  const { ios } = await openChannels(world, tenant, "ios-push");
  const call: Setting["call"] = async (route, body) =>
    world.call(route, { as: await tenant.dashboard(), ...(body && { body }) });
  const create: Setting["create"] = async (name, more = {}) => {
    const body = { name, content: { title: "Hi", body: "there" }, channel_ids: [ios], ...more };
    return (await call("POST /api/v1/campaigns", body)).body.id;
  };
  return { world, tenant, call, create };
}

it("campaigns are found by a part of their present name and by time (RDA-12)", async () => {
  const { world, tenant, call, create } = await campaigns();
  const first = await create("Spring sale");
  await world.advance(DAY);
  await create("Autumn");
  const found = (query: string) => namesOf(world, tenant, `/api/v1/campaigns?${query}`);
  expect(await found("q=SPRING")).toEqual(["Spring sale"]);
  expect(await found(`from=${timestamp(START + DAY)}`)).toEqual(["Autumn"]);
  expect(await found(`to=${timestamp(START)}&status=draft`)).toEqual(["Spring sale"]);
  const { messages } = (await call(`GET /api/v1/campaigns/${first}`)).body;
  const [{ content, channel_ids }] = messages;
  await call(`PUT /api/v1/campaigns/${first}`, { name: "Summer", messages: [{ content, channel_ids }] });
  expect(await found("q=spring")).toEqual([]);
  expect(await found("q=summer")).toEqual(["Summer"]);
});

it.each([
  ["NFC", "NFD"],
  ["NFD", "NFC"],
] as const)(
  "what is named with a mark in %s is found by one in %s: sends, campaigns and lists (RDA-12, RDA-17)",
  async (named, asked) => {
    const { call, create } = await campaigns();
    const name = "Caf\u00e9".normalize(named);
    await create(name);
    await call("POST /api/v1/lists", { name });
    await call("POST /api/v1/notifications", { external_ids: ["nobody"], title: name, body: "b".repeat(2_000) });
    const part = encodeURIComponent("F\u00c9".normalize(asked));
    const found = (query: string) => call(`GET /api/v1/${query}${part}`);

    for (const query of ["campaigns?q=", "lists?name=", "notifications?q="])
      expect([query, (await found(query)).body.items.length]).toEqual([query, 1]);
  },
);

it("a copy is a draft of its own, without times that have passed (RDA-12)", async () => {
  const { world, call, create } = await campaigns();
  const later = timestamp(world.clock.now() + HOUR);
  const safety = { max_bounce_rate: 0.1 };
  const id = await create("Sale", { scheduled_at: later, holdout_percentage: 5, safety });
  await call(`POST /api/v1/campaigns/${id}/release`);
  const copy = async () => (await call(`POST /api/v1/campaigns/${id}/duplicate`)).body;
  expect(await copy()).toMatchObject({
    name: "Sale (copy)",
    status: "draft",
    holdout_percentage: 5,
    scheduled_at: later,
    safety,
  });
  await world.advance(2 * HOUR);
  const second = await copy();
  expect(second.scheduled_at).toBeUndefined();
  expect(second.messages[0].scheduled_at).toBeUndefined();
  expect(second.messages[0].job_id).toBe("");
  expect((await call(`POST /api/v1/campaigns/${second.id}/release`)).status).toBe(200);
});

/** A released campaign that goes out in an hour. */
async function scheduledCampaign() {
  const setting = await campaigns();
  const { world, tenant, call, create } = setting;
  const people = await addPeople(world, tenant, 3);
  const id = await create("Sale", { scheduled_at: timestamp(world.clock.now() + HOUR) });
  expect((await call(`POST /api/v1/campaigns/${id}/release`)).status).toBe(200);
  const archive = () => call(`PATCH /api/v1/campaigns/${id}`, { action: "archive" });
  return { ...setting, id, people, archive };
}

it("a campaign that is to be sent is not deleted: 409 with its status (RDA-12)", async () => {
  const { call, id } = await scheduledCampaign();

  expect(await call(`DELETE /api/v1/campaigns/${id}`)).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining("scheduled") },
  });
});

it("an archived campaign is deleted, and is gone (RDA-12)", async () => {
  const { call, id, archive } = await scheduledCampaign();
  await archive();

  expect((await call(`DELETE /api/v1/campaigns/${id}`)).status).toBe(204);
  expect((await call(`DELETE /api/v1/campaigns/${id}`)).status).toBe(404);
  expect((await call(`GET /api/v1/campaigns/${id}`)).status).toBe(404);
  expect((await call("GET /api/v1/campaigns")).body).toMatchObject({ items: [], total: 0 });
});

it("what a deleted campaign held back is never sent, and says why (RDA-12)", async () => {
  const { world, tenant, call, id, people, archive } = await scheduledCampaign();
  await archive();
  const [{ job_id }] = (await call(`GET /api/v1/campaigns/${id}`)).body.messages;
  await call(`DELETE /api/v1/campaigns/${id}`);
  await world.advance(DAY);

  expect((await call(`GET /api/v1/notifications/${job_id}`)).body).toMatchObject({
    status: "canceled",
    error: "the campaign was deleted",
  });
  expect(await reachedOf(world, tenant, people)).toEqual([]);
});

it("a draft of a campaign is deleted (RDA-12)", async () => {
  const { call, create } = await campaigns();

  expect((await call(`DELETE /api/v1/campaigns/${await create("Draft")}`)).status).toBe(204);
});

it("the report says why recipients were skipped, as the send does (RDA-12)", async () => {
  const { world, tenant, call, create } = await campaigns();
  await addPeople(world, tenant, 3);
  const id = await create("Sale");
  await call(`POST /api/v1/campaigns/${id}/release`);
  await world.settle();
  const report = (await call(`GET /api/v1/campaigns/${id}/report`)).body;
  const [{ job_id }] = (await call(`GET /api/v1/campaigns/${id}`)).body.messages;
  const { skip_reasons } = (await call(`GET /api/v1/notifications/${job_id}`)).body;

  expect(report.skip_reasons).toEqual(skip_reasons);
  expect(report.by_variant).toEqual([]);
  expect(skip_reasons).toEqual({ no_device: 3 });
});
