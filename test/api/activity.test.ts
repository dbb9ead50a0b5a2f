// What goes out now (RDA-11).
import { expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { addPeople, send } from "../support/people.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function activity(world: TestWorld, tenant: Tenant, limit: number) {
  const found: { notification_id: string; external_id: string; state: string; channel: string }[] = [];
  for (let cursor = ""; ; ) {
    const route = `GET /api/v1/activity?limit=${limit}${cursor && `&after=${encodeURIComponent(cursor)}`}`;
    const { status, body } = await world.call(route, { as: await tenant.dashboard("viewer") });
    expect(status).toBe(200);
    expect(body.items.length).toBeLessThanOrEqual(limit);
    found.push(...body.items);
    if (body.next_cursor === "") return found;
    cursor = body.next_cursor;
  }
}

it("the activity lists each recipient of the sends of seven days once, the newest send first, by any size of page (RDA-11)", async () => {
  const world = await fresh();
  const [tenant, other] = [await world.tenant(), await world.tenant()];
  const people = await addPeople(world, tenant, 12);
  await addPeople(world, other, 2);
  await send(world, other, { target: { type: "all" } });
  await send(world, tenant, { subscriberIds: people.slice(0, 3) });
  await world.advance(5 * DAY);
  const { job: all } = await send(world, tenant, { target: { type: "all" } });
  await world.advance(MINUTE);
  const later = new Date(world.clock.now() + DAY).toISOString();
  await send(world, tenant, { subscriberIds: people, scheduled_at: later });
  const { job: some } = await send(world, tenant, { subscriberIds: [people[0], "nobody"] });
  const found = await activity(world, tenant, 100);
  expect(found.map(({ notification_id }) => notification_id).slice(0, 14)).toEqual([
    ...Array(2).fill(some.id),
    ...Array(12).fill(all.id),
  ]);
  expect(found).toHaveLength(17);
  expect(found.find(({ state }) => state === "skipped")).toMatchObject({ reason: "unknown_subscriber", channel: null });
  for (const limit of [1, 4]) expect(await activity(world, tenant, limit)).toEqual(found);
  await world.advance(3 * DAY);
  // The send that was scheduled has gone out; the first one is too old.
  expect(await activity(world, tenant, 100)).toHaveLength(26);
});

it("the activity and the timeline name the send and the campaign that a message came from (RDA-11, RDA-5)", async () => {
  const { world, tenant, call, campaign } = await namedSetting();
  const [ada] = await addPeople(world, tenant, 1);
  const { id, job } = await campaign("Autumn", "Hello");
  const named = { notification: { id: job, name: "Autumn" }, source: { type: "campaign", id, name: "Autumn" } };
  expect((await call("GET /api/v1/activity")).body.items).toMatchObject([named]);
  const { items } = (await call(`GET /api/v1/subscribers/${ada}/timeline?kinds=message`)).body;
  expect(items).toMatchObject([{ subject: named.notification, data: { origin: named.source } }]);
});

async function namedSetting() {
  const world = await fresh();
  const tenant = await world.tenant();
  const { call } = tenant;
  const campaign = async (name: string, title: string) => {
    const channel = (await call("GET /api/v1/channels")).body.channels[0].id;
    const message = { content: { title, body: "b" }, channel_ids: [channel] };
    const { id } = (await call("POST /api/v1/campaigns", { name, target: { type: "all" }, messages: [message] })).body;
    await call(`POST /api/v1/campaigns/${id}/release`);
    await world.settle();
    const job: string = (await call(`GET /api/v1/campaigns/${id}`)).body.messages[0].job_id;
    return { id: id as string, job };
  };
  return { world, tenant, call, campaign };
}
