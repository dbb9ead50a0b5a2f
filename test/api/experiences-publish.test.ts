// Publishing an experience (INX-17, INX-30 to INX-32): the time of its send, required fields, and the quota.
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { act, draft, jobOf as job, jobsOf, READY, readExperience as read, take } from "../support/experiences.ts";
import { inboxOf, operate, reachedOf } from "../support/people.ts";
import { START, type Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
const at = (ms: number) => new Date(START + ms).toISOString();

it("a publish makes an experience live, sends it at once, and names its send (INX-17, INX-31, INX-32)", async () => {
  const { world, tenant, ids: people } = await withPeople(3);
  const id = await draft(tenant);
  expect((await read(tenant, id)).body).not.toHaveProperty("notification_id");

  const { status, body } = await act(world, tenant, id, "publish");
  await world.settle();

  expect(status).toBe(200);
  expect(body.status).toBe("live");
  expect(await reachedOf(world, tenant, people, body.notification_id)).toEqual(people);
  expect(await job(tenant, body.notification_id)).toMatchObject({
    status: "completed",
    title: "Sale",
    body: "20% off",
    target: { type: "all" },
    name: READY.name,
    source: { type: "experience", id },
    counts: { total: 3, delivered: 3 },
  });
  expect((await jobsOf(tenant, id)).map((one: { id: string }) => one.id)).toEqual([body.notification_id]);
});

it("an experience with a start to come is sent at its start (INX-32)", async () => {
  const { world, tenant, ids: people } = await withPeople(1);
  const id = await draft(tenant, { start_at: at(HOUR) });

  const { notification_id, status } = await take(world, tenant, id, "publish");

  expect(status).toBe("live");
  expect((await job(tenant, notification_id)).status).toBe("scheduled");
  await world.advance(HOUR - SECOND);
  expect(await reachedOf(world, tenant, people)).toEqual([]);
  await world.advance(2 * SECOND);
  expect(await reachedOf(world, tenant, people, notification_id)).toEqual(people);
});

it("an experience whose start has passed is sent at once (INX-32)", async () => {
  const { world, tenant, ids: people } = await withPeople(1);
  const id = await draft(tenant, { start_at: at(-DAY) });

  const { notification_id } = await take(world, tenant, id, "publish");

  expect(await reachedOf(world, tenant, people, notification_id)).toEqual(people);
});

it("a publish is refused with 400 and names every field that is missing or past (INX-6, INX-31, AMB-4)", async () => {
  const { world, tenant, ids: people } = await withPeople(1);
  const incomplete = { content: { title: "t" }, audience: undefined, variant_b: { title: "B" }, end_at: at(MINUTE) };
  const id = await draft(tenant, incomplete);
  await world.advance(MINUTE);

  const { status, body } = await act(world, tenant, id, "publish");
  await world.settle();

  expect(status).toBe(400);
  expect(body.code).toBe("BAD_REQUEST");
  expect(Object.keys(body.fields).sort()).toEqual(["audience", "content.body", "end_at", "variant_b.body"]);
  expect((await read(tenant, id)).body.status).toBe("draft");
  expect(await reachedOf(world, tenant, people)).toEqual([]);
});

describe("lists", () => {
  const listOf = async (tenant: Tenant, ...subscriber_ids: string[]): Promise<string> => {
    const { id } = (await tenant.call("POST /api/v1/lists", { name: "VIP" })).body;
    await tenant.call(`POST /api/v1/lists/${id}/subscribers`, { subscriber_ids });
    return id;
  };

  it("an experience is sent to its list (INX-15)", async () => {
    const { world, tenant, ids: people } = await withPeople(3);
    const list_id = await listOf(tenant, people[1]!);

    await take(world, tenant, await draft(tenant, { audience: { type: "list", list_id } }), "publish");

    expect(await reachedOf(world, tenant, people)).toEqual([people[1]]);
  });

  it("the list of an experience is not deleted before the experience has ended (INX-15)", async () => {
    const { world, tenant } = await withTenant();
    const list_id = await listOf(tenant);
    const id = await draft(tenant, { audience: { type: "list", list_id } });
    const remove = async () => (await tenant.call(`DELETE /api/v1/lists/${list_id}`)).status;

    await take(world, tenant, id, "publish");
    expect(await remove()).toBe(409);
    await take(world, tenant, id, "pause");
    expect(await remove()).toBe(409);
    await take(world, tenant, id, "end");

    expect(await remove()).toBe(204);
  });

  it("a publish is refused with 400 for a list that is gone (INX-15)", async () => {
    const { world, tenant } = await withTenant();
    const list_id = await listOf(tenant);
    const id = await draft(tenant, { audience: { type: "list", list_id } });
    await tenant.call(`DELETE /api/v1/lists/${list_id}`);

    const { status, body } = await act(world, tenant, id, "publish");

    expect(status).toBe(400);
    expect(Object.keys(body.fields)).toEqual(["audience.list_id"]);
  });
});

it("concurrent publishes make one send (INX-30)", async () => {
  const { world, tenant, ids: people } = await withPeople(2);
  const id = await draft(tenant);

  const both = await Promise.all([act(world, tenant, id, "publish"), act(world, tenant, id, "publish")]);
  await world.settle();

  expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect(await jobsOf(tenant, id)).toHaveLength(1);
  for (const person of people) expect(await inboxOf(world, tenant, person)).toHaveLength(1);
});

it("a publish is refused with 400 while the inbox is switched off (AMB-47)", async () => {
  const { world, tenant } = await withTenant();
  const [{ id: channel }] = (await tenant.call("GET /api/v1/channels")).body.channels;
  await tenant.call(`PATCH /api/v1/channels/${channel}`, { active: false });
  const id = await draft(tenant);

  const { status, body } = await act(world, tenant, id, "publish");

  expect(status).toBe(400);
  expect(body.code).toBe("BAD_REQUEST");
  await tenant.call(`PATCH /api/v1/channels/${channel}`, { active: true });
  expect((await act(world, tenant, id, "publish")).status).toBe(200);
});

it("a publish beyond the quota of sends is refused with 402, and the experience stays a draft (AMB-87)", async () => {
  const { world, tenant } = await withPeople(3);
  await operate(world, tenant, { monthly_send_cap: 2 });
  const id = await draft(tenant);

  const { status, body } = await act(world, tenant, id, "publish");

  expect(status).toBe(402);
  expect(body.code).toBe("SEND_CAP_REACHED");
  expect((await read(tenant, id)).body.status).toBe("draft");
  expect(await jobsOf(tenant, id)).toEqual([]);
});
