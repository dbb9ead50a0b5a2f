// Cron schedules: validation, when they fire, and one job for every tick (SCH).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import type { PlanName } from "../../shared/rules/plans.ts";
import { TemplateItem } from "../../shared/store/templates/items.ts";
import { operate } from "../support/people.ts";
import { START, type Tenant, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function setting(plan: PlanName = "premium") {
  const world = await fresh();
  const tenant = await world.tenant({ plan });
  const as = () => tenant.dashboard();
  const template = async (of: Tenant = tenant) => {
    const body = { name: world.ids.uuid(), content: { title: "Daily", body: "News" } };
    return (await of.call("POST /api/v1/templates", body)).body.id as string;
  };
  const channel = async (of: Tenant = tenant) => (await of.call("GET /api/v1/channels")).body.channels[0].id as string;
  const person = (await tenant.upsert({ external_id: "u1" })) as string;
  const spec = {
    cron_expression: "0 9 * * *",
    timezone: "Europe/Berlin",
    template_id: await template(),
    channel_ids: [await channel()],
    target: { type: "all" },
  };
  const create = async (change: object = {}) =>
    world.call("POST /api/v1/schedules", { as: await as(), body: { ...spec, ...change } });
  const patch = async (id: string, body: object) =>
    world.call(`PATCH /api/v1/schedules/${id}`, { as: await as(), body });
  const get = async (id: string) => (await world.call(`GET /api/v1/schedules/${id}`, { as: await as() })).body;
  const jobs = async () =>
    (await world.call("GET /api/v1/notifications?source_type=schedule", { as: await as() })).body.items;
  const inbox = async () =>
    (await world.call(`GET /v1/in-app/messages?subscriber_id=${person}`, { as: tenant.sdk })).body.messages;
  return { world, tenant, as, spec, template, channel, create, patch, get, jobs, inbox };
}

describe("create", () => {
  it("a creation is answered with 201, the schedule and when it runs next (SCH-1, SCH-3, SCH-14)", async () => {
    const { create, get, spec } = await setting();
    const made = await create();

    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      ...spec,
      id: expect.any(String),
      campaign_id: null,
      active: true,
      next_run_at: "2026-11-21T08:00:00.000Z",
      last_missed_at: null,
      created_at: timestamp(START),
      updated_at: timestamp(START),
    });
    expect(await get(made.body.id)).toEqual(made.body);
  });

  it.each<[field: string, change: object]>([
    ["cron_expression", { cron_expression: "0 9 * *" }],
    ["cron_expression", { cron_expression: "0 0 9 * * *" }],
    ["cron_expression", { cron_expression: "@daily" }],
    ["cron_expression", { cron_expression: "0 24 * * *" }],
    ["cron_expression", { cron_expression: "0 0 30 2 *" }],
    ["timezone", { timezone: "Mars/Olympus" }],
    ["timezone", { timezone: "+02:00" }],
    ["channel_ids[0]", { channel_ids: [UNKNOWN] }],
    ["target.type", { target: { type: "segment" } }],
  ])("a schedule with a bad %s is refused by its name: %j (SCH-4, SCH-10, SCH-13, AMB-64)", async (field, change) => {
    const { create, world, as } = await setting();
    const refused = await create(change);

    expect(refused).toMatchObject({ status: 422, body: { code: "VALIDATION_ERROR" } });
    expect(Object.keys(refused.body.fields)).toEqual([field]);
    expect((await world.call("GET /api/v1/schedules", { as: await as() })).body.total).toBe(0);
  });

  it("an unknown template and another workspace's are the same 422 (SCH-4, AMB-89, GEN-8)", async () => {
    const { world, create, template, channel } = await setting();
    const other = await world.tenant();
    const unknown = await create({ template_id: UNKNOWN });

    expect(unknown).toMatchObject({ status: 422, body: { code: "TEMPLATE_NOT_FOUND" } });
    expect((await create({ template_id: await template(other) })).body).toEqual(unknown.body);
    expect((await create({ channel_ids: [await channel(other)] })).body.fields).toHaveProperty(["channel_ids[0]"]);
  });

  it.each(["free", "starter", "growth", "pro"] as const)(
    "the plan %s gets its own 403 (SCH-2, AMB-16)",
    async (plan) => {
      const { create, world, as } = await setting(plan);
      const refused = await create();

      expect(refused.status).toBe(403);
      expect(refused.body).toEqual({ error: "PLAN_FEATURE_UNAVAILABLE", message: expect.any(String) });
      expect((await world.call("GET /api/v1/schedules", { as: await as() })).status).toBe(200);
    },
  );
});

describe("list", () => {
  it("schedules are paged newest first, filters by active, and counts what it filtered (SCH-5)", async () => {
    const { create, world, as } = await setting();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      ids.unshift((await create({ active: n % 2 === 0 })).body.id);
      await world.advance(1_000);
    }
    const list = async (query: string) => (await world.call(`GET /api/v1/schedules${query}`, { as: await as() })).body;
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

    expect(idsOf(await list(""))).toEqual(ids);
    expect(await list("?per_page=2&page=2")).toMatchObject({
      total: 5,
      page: 2,
      data: [{ id: ids[2] }, { id: ids[3] }],
    });
    expect(idsOf(await list("?active=true"))).toEqual([ids[0], ids[2], ids[4]]);
    expect(await list("?active=false&per_page=1")).toMatchObject({ total: 2, data: [{ id: ids[1] }] });
    expect((await world.call("GET /api/v1/schedules?active=maybe", { as: await as() })).status).toBe(422);
  });
});

describe("change", () => {
  it("supplied fields overwrite, the next run is computed again (SCH-7, SCH-14)", async () => {
    const { create, patch, template, channel } = await setting();
    const { id } = (await create()).body;
    const template_id = await template();
    const changed = await patch(id, { cron_expression: "30 18 * * *", template_id, channel_ids: [await channel()] });

    expect(changed).toMatchObject({
      status: 200,
      body: { cron_expression: "30 18 * * *", template_id, next_run_at: "2026-11-20T17:30:00.000Z" },
    });
    expect((await patch(id, { timezone: "UTC" })).body.next_run_at).toBe("2026-11-20T18:30:00.000Z");
  });

  it("a schedule refuses an empty change and each bad field (SCH-8, AMB-64)", async () => {
    const { create, patch, get } = await setting();
    const made = (await create()).body;
    for (const body of [
      {},
      { cron_expression: "nonsense" },
      { timezone: "Nowhere" },
      { channel_ids: [] },
      { active: "yes" },
      { target: { type: "all" } },
    ])
      expect((await patch(made.id, body)).status, JSON.stringify(body)).toBe(422);

    expect(await get(made.id)).toEqual(made);
  });

  it("404 for an unknown schedule, 403 after a downgrade, but a deletion stays possible (SCH-8, SCH-9)", async () => {
    const { world, tenant, as, create, patch } = await setting();
    expect((await patch(UNKNOWN, { active: false })).status).toBe(404);
    const { id } = (await create()).body;
    await operate(world, tenant, { plan: "pro" });
    expect(await patch(id, { active: false })).toMatchObject({
      status: 403,
      body: { error: "PLAN_FEATURE_UNAVAILABLE" },
    });
    expect((await world.call(`GET /api/v1/schedules/${id}`, { as: await as() })).status).toBe(200);
    expect((await world.call(`DELETE /api/v1/schedules/${id}`, { as: await as() })).status).toBe(204);
    expect((await world.call(`DELETE /api/v1/schedules/${id}`, { as: await as() })).status).toBe(404);
  });
});

describe("firing", () => {
  it("a schedule sends on every tick in its zone, once, with the template as it is then (SCH-11, SCH-12, SCH-14)", async () => {
    const { world, create, get, jobs, inbox } = await setting();
    const { id } = (await create()).body;
    await world.advance(3 * DAY);
    const sent = await jobs();

    expect(sent.map((job: { created_at: string }) => job.created_at)).toEqual([
      "2026-11-23T08:00:00.000Z",
      "2026-11-22T08:00:00.000Z",
      "2026-11-21T08:00:00.000Z",
    ]);
    expect(sent[0]).toMatchObject({ status: "completed", source: { type: "schedule", id }, title: "Daily" });
    expect(await inbox()).toHaveLength(3);
    expect((await get(id)).next_run_at).toBe("2026-11-24T08:00:00.000Z");
  });

  it("a schedule does not fire while inactive, and fires again from the next tick on when switched on (SCH-12, AMB-64)", async () => {
    const { world, create, patch, get, jobs } = await setting();
    const { id } = (await create({ cron_expression: "*/10 * * * *" })).body;
    await world.advance(25 * MINUTE);
    expect(await jobs()).toHaveLength(2);
    expect((await patch(id, { active: false })).body).toMatchObject({ active: false, next_run_at: null });
    await world.advance(HOUR);
    expect(await jobs()).toHaveLength(2);
    expect((await patch(id, { active: true })).body.active).toBe(true);
    expect((await get(id)).next_run_at).toBe("2026-11-20T13:30:00.000Z");
    await world.advance(5 * MINUTE);
    expect(await jobs()).toHaveLength(3);
  });

  it("switching off and on within one minute neither loses nor repeats a tick (SCH-12)", async () => {
    const { world, create, patch, jobs } = await setting();
    const { id } = (await create({ cron_expression: "1 * * * *", timezone: "UTC" })).body;
    for (let n = 0; n < 3; n++) {
      await patch(id, { active: false });
      await patch(id, { active: true });
    }
    await world.advance(2 * HOUR);

    expect(await jobs()).toHaveLength(2);
  });

  it("a deleted schedule does not fire any more (SCH-9)", async () => {
    const { world, as, create, jobs } = await setting();
    const { id } = (await create({ cron_expression: "* * * * *" })).body;
    await world.advance(90_000);
    const before = (await jobs()).length;
    await world.call(`DELETE /api/v1/schedules/${id}`, { as: await as() });
    await world.advance(10 * MINUTE);

    expect(await jobs()).toHaveLength(before);
  });

  it("after a downgrade a schedule stops firing, and goes on after an upgrade (AMB-16)", async () => {
    const { world, tenant, create, jobs } = await setting();
    await create({ cron_expression: "0 * * * *" });
    await operate(world, tenant, { plan: "pro" });
    await world.advance(2 * HOUR);
    expect(await jobs()).toHaveLength(0);
    await operate(world, tenant, { plan: "premium" });
    await world.advance(HOUR);
    expect(await jobs()).toHaveLength(1);
  });

  it("a tick whose template was deleted makes a failed job, and the next tick still fires (TPL-8, NTF-22)", async () => {
    const { world, tenant, spec, create, get, jobs } = await setting();
    const { id } = (await create()).body;
    // As where the deletion comes between the check of a schedule that is switched on, and its write.
    await tenant.store.remove(TemplateItem, { id: spec.template_id });
    await world.advance(2 * DAY);

    expect(await jobs()).toMatchObject([{ status: "failed" }, { status: "failed" }]);
    expect((await get(id)).next_run_at).toBe("2026-11-23T08:00:00.000Z");
  });

  it("a suspended workspace's tick waits and is sent on reactivation (AMB-86)", async () => {
    const { world, tenant, create, jobs } = await setting();
    await create({ cron_expression: "0 13 20 * *", timezone: "UTC" });
    await operate(world, tenant, { status: "suspended" });
    await world.advance(3 * HOUR);
    await operate(world, tenant, { status: "active" });
    await world.advance(HOUR);

    expect(await jobs()).toMatchObject([{ status: "completed" }]);
  });
});
