// Publishing an experience (INX-17, INX-30 to INX-32): the time of its send, required fields, and the quota.
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import {
  act,
  draft,
  jobOf as job,
  jobsOf,
  patchExperience as patch,
  READY,
  readExperience as read,
  take,
} from "../support/experiences.ts";
import { inboxOf, operate, reachedOf } from "../support/people.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
const at = (ms: number) => new Date(START + ms).toISOString();

describe("publish", () => {
  it("goes live, sends at once, and names its send (INX-17, INX-31, INX-32)", async () => {
    const { world, tenant, ids: people } = await withPeople(3);
    const id = await draft(tenant);
    expect((await read(tenant, id)).body).not.toHaveProperty("notification_id");
    const { status, body } = await act(world, tenant, id, "publish");
    expect([status, body.status]).toEqual([200, "live"]);
    await world.settle();
    expect(await reachedOf(world, tenant, people, body.notification_id)).toEqual(people);
    expect(await job(tenant, body.notification_id)).toMatchObject({
      status: "completed",
      title: "Sale",
      body: "20 % off",
      target: { type: "all" },
      name: READY.name,
      source: { type: "experience", id },
      counts: { total: 3, delivered: 3 },
    });
    expect((await jobsOf(tenant, id)).map((one: { id: string }) => one.id)).toEqual([body.notification_id]);
  });

  it("sends at a future start_at, or at once if it has passed (INX-32)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const later = await draft(tenant, { start_at: at(HOUR) });
    const { notification_id, status } = await take(world, tenant, later, "publish");
    expect([status, (await job(tenant, notification_id)).status]).toEqual(["live", "scheduled"]);
    await world.advance(HOUR - SECOND);
    expect(await reachedOf(world, tenant, people)).toEqual([]);
    await world.advance(2 * SECOND);
    expect(await reachedOf(world, tenant, people, notification_id)).toEqual(people);
    const past = await draft(tenant, { start_at: at(-DAY) });
    const { notification_id: now } = await take(world, tenant, past, "publish");
    expect(await reachedOf(world, tenant, people, now)).toEqual(people);
  });

  it("all missing fields are named, and nothing is sent (INX-6, INX-31, AMB-4)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const id = await draft(tenant, {
      content: { title: "t" },
      audience: undefined,
      variant_b: { title: "B" },
      end_at: at(MINUTE),
    });
    await world.advance(MINUTE);
    const { status, body } = await act(world, tenant, id, "publish");
    expect([status, body.code, Object.keys(body.fields).sort()]).toEqual([
      ...[400, "BAD_REQUEST"],
      ["audience", "content.body", "end_at", "variant_b.body"],
    ]);
    await world.settle();
    expect((await read(tenant, id)).body.status).toBe("draft");
    expect(await reachedOf(world, tenant, people)).toEqual([]);
    await patch(tenant, id, { ...READY, variant_b: { title: "B", body: "b" }, end_at: "" });
    expect((await act(world, tenant, id, "publish")).status).toBe(200);
  });

  it("is sent to its list, and a deleted list is named (INX-15)", async () => {
    const { world, tenant, ids: people } = await withPeople(3);
    const { id: list_id } = (await tenant.call("POST /api/v1/lists", { name: "VIP" })).body;
    await tenant.call(`POST /api/v1/lists/${list_id}/subscribers`, { subscriber_ids: [people[1]] });
    const id = await draft(tenant, { audience: { type: "list", list_id } });
    const late = await draft(tenant, { audience: { type: "list", list_id } });
    await take(world, tenant, id, "publish");
    expect(await reachedOf(world, tenant, people)).toEqual([people[1]]);
    const remove = async () => tenant.call(`DELETE /api/v1/lists/${list_id}`);
    expect((await remove()).status).toBe(409);
    await take(world, tenant, id, "pause");
    expect((await remove()).status).toBe(409);
    await take(world, tenant, id, "end");
    expect((await remove()).status).toBe(204);
    const { status, body } = await act(world, tenant, late, "publish");
    expect([status, Object.keys(body.fields)]).toEqual([400, ["audience.list_id"]]);
  });

  it("two concurrent requests make one send (INX-30)", async () => {
    const { world, tenant, ids: people } = await withPeople(2);
    const id = await draft(tenant);
    const both = await Promise.all([act(world, tenant, id, "publish"), act(world, tenant, id, "publish")]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    await world.settle();
    expect(await jobsOf(tenant, id)).toHaveLength(1);
    for (const person of people) expect(await inboxOf(world, tenant, person)).toHaveLength(1);
  });

  it("requires an active in_app channel (AMB-47)", async () => {
    const { world, tenant } = await withTenant();
    const [{ id: channel }] = (await tenant.call("GET /api/v1/channels")).body.channels;
    await tenant.call(`PATCH /api/v1/channels/${channel}`, { active: false });
    const id = await draft(tenant);
    expect(await act(world, tenant, id, "publish")).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
    await tenant.call(`PATCH /api/v1/channels/${channel}`, { active: true });
    expect((await act(world, tenant, id, "publish")).status).toBe(200);
  });

  it("counts against the quota of sends: beyond it 402, and it stays a draft (AMB-87)", async () => {
    const { world, tenant } = await withPeople(3);
    await operate(world, tenant, { monthly_send_cap: 2 });
    const id = await draft(tenant);
    expect(await act(world, tenant, id, "publish")).toMatchObject({ status: 402, body: { code: "SEND_CAP_REACHED" } });
    expect((await read(tenant, id)).body.status).toBe("draft");
    expect(await jobsOf(tenant, id)).toEqual([]);
  });
});
