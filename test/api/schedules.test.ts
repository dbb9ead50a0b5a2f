// Cron schedules: validation, when they fire, and one job for every tick (SCH).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { TemplateItem } from "../../shared/store/templates/items.ts";
import { inboxOf, operate } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { scheduling } from "../support/schedules.ts";
import { START, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const setting = scheduling(worlds());
/** A workspace in which refusals are tried. */
const unchanged = shared((makers) => scheduling(makers)());

describe("create", () => {
  it("a creation of a schedule is answered with 201, the schedule and when it runs next (SCH-1, SCH-3, SCH-14)", async () => {
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
    ["timezone", { timezone: "Mars/Olympus" }],
    ["channel_ids[0]", { channel_ids: [UNKNOWN] }],
    ["target.type", { target: { type: "segment" } }],
  ])("a schedule with a bad %s is refused by its name: %j (SCH-4, SCH-10, SCH-13, AMB-64)", async (field, change) => {
    const { create, call } = await unchanged();

    const refused = await create(change);

    expect(refused).toMatchObject({ status: 422, body: { code: "VALIDATION_ERROR" } });
    expect(Object.keys(refused.body.fields)).toEqual([field]);
    expect((await call("GET /api/v1/schedules")).body.total).toBe(0);
  });

  it.each([UNKNOWN, "welcome", ""])(
    "a schedule is refused with 422 for the unknown template %j (SCH-4, AMB-89)",
    async (template_id) => {
      const { create } = await unchanged();

      const refused = await create({ template_id });

      expect(refused).toMatchObject({ status: 422, body: { code: "TEMPLATE_NOT_FOUND" } });
    },
  );

  it.each(["free", "starter", "growth", "pro"] as const)(
    "a schedule on the plan %s is refused with a 403 of its own, and schedules may be listed (SCH-2, AMB-16)",
    async (plan) => {
      const { create, call } = await setting({ plan });

      const refused = await create();

      expect(refused.status).toBe(403);
      expect(refused.body).toEqual({ error: "PLAN_FEATURE_UNAVAILABLE", message: expect.any(String) });
      expect((await call("GET /api/v1/schedules")).status).toBe(200);
    },
  );
});

describe("list", () => {
  /** Five schedules, the newest first, of which the second and the fourth are not active. */
  const listed = shared(async (makers) => {
    const { world, call, create } = await scheduling(makers)();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      ids.unshift((await create({ active: n % 2 === 0 })).body.id);
      await world.advance(SECOND);
    }
    return { ids, list: async (query: string) => await call(`GET /api/v1/schedules${query}`) };
  });

  it.each<[query: string, total: number, places: number[]]>([
    ["", 5, [0, 1, 2, 3, 4]],
    ["?active=true", 3, [0, 2, 4]],
    ["?active=false&per_page=1", 2, [1]],
  ])(
    "schedules are listed newest first, by page and by whether they are active: %j (SCH-5)",
    async (query, total, places) => {
      const { ids, list } = await listed();

      const { body } = await list(query);

      expect(body.total).toBe(total);
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual(places.map((place) => ids[place]));
    },
  );
});

describe("change", () => {
  it("a change of a schedule overwrites the given fields, and its next run is computed anew (SCH-7, SCH-14)", async () => {
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

  it.each([{}, { cron_expression: "nonsense" }, { timezone: "Nowhere" }, { target: { type: "all" } }])(
    "the change %j of a schedule is refused with 422, and changes nothing (SCH-8, AMB-64)",
    async (body) => {
      const { create, patch, get } = await setting();
      const made = (await create()).body;

      expect((await patch(made.id, body)).status).toBe(422);

      expect(await get(made.id)).toEqual(made);
    },
  );

  it("a change to a time zone that does not exist is refused before its template is looked up (SCH-8)", async () => {
    const { create, patch } = await setting();
    const { id } = (await create()).body;

    const refused = await patch(id, { timezone: "Mars/Base", template_id: crypto.randomUUID() });

    expect(refused).toMatchObject({
      status: 422,
      body: { code: "VALIDATION_ERROR", fields: { timezone: expect.any(String) } },
    });
  });

  it("after a downgrade a schedule may be read and deleted, and not changed (SCH-2, SCH-9)", async () => {
    const { world, tenant, create, patch, get, remove } = await setting();
    const { id } = (await create()).body;
    await operate(world, tenant, { plan: "pro" });

    const refused = await patch(id, { active: false });

    expect(refused).toMatchObject({ status: 403, body: { error: "PLAN_FEATURE_UNAVAILABLE" } });
    expect((await get(id)).active).toBe(true);
    expect(await remove(id)).toBe(204);
  });
});

describe("firing", () => {
  it("a schedule sends on every tick in its zone, once (SCH-11, SCH-12, SCH-14)", async () => {
    const { world, tenant, create, get, jobs, person } = await setting();
    const { id } = (await create()).body;

    await world.advance(3 * DAY);

    const sent: { created_at: string }[] = await jobs();
    const ticks = ["23", "22", "21"].map((day) => `2026-11-${day}T08:00:00.000Z`);
    expect(sent.map(({ created_at }) => created_at)).toEqual(ticks);
    expect(sent[0]).toMatchObject({ status: "completed", source: { type: "schedule", id }, title: "Daily" });
    expect(await inboxOf(world, tenant, person)).toHaveLength(3);
    expect((await get(id)).next_run_at).toBe("2026-11-24T08:00:00.000Z");
  });

  it("a schedule sends its template as it is at the tick (SCH-11)", async () => {
    const { world, call, spec, create, jobs } = await setting();
    await create();
    const content = { title: "Weekly", body: "News" };
    await call(`PATCH /api/v1/templates/${spec.template_id}`, { content });

    await world.advance(DAY);

    expect(await jobs()).toMatchObject([{ title: "Weekly" }]);
  });

  it("a schedule does not fire while it is switched off (SCH-12, AMB-64)", async () => {
    const { world, create, patch, jobs } = await setting();
    const { id } = (await create({ cron_expression: "*/10 * * * *" })).body;
    await world.advance(25 * MINUTE);

    expect((await patch(id, { active: false })).body).toMatchObject({ active: false, next_run_at: null });
    await world.advance(HOUR);

    expect(await jobs()).toHaveLength(2);
  });

  it("a schedule that is switched on again fires from the next tick on (SCH-12, AMB-64)", async () => {
    const { world, create, patch, jobs } = await setting();
    const { id } = (await create({ cron_expression: "*/10 * * * *", active: false })).body;
    await world.advance(85 * MINUTE);

    const { body } = await patch(id, { active: true });
    await world.advance(5 * MINUTE);

    expect(body).toMatchObject({ active: true, next_run_at: "2026-11-20T13:30:00.000Z" });
    expect(await jobs()).toHaveLength(1);
  });

  it("switching a schedule off and on within one minute neither loses nor repeats a tick (SCH-12)", async () => {
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
    const { world, create, remove, jobs } = await setting();
    const { id } = (await create({ cron_expression: "* * * * *" })).body;
    await world.advance(90 * SECOND);
    const before = (await jobs()).length;

    await remove(id);
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

  it("a tick of a schedule whose template was deleted makes a failed job, and the next tick still fires (TPL-8, NTF-22)", async () => {
    const { world, tenant, spec, create, get, jobs } = await setting();
    const { id } = (await create()).body;
    // As where the deletion comes between the check of a schedule that is switched on, and its write.
    await tenant.store.remove(TemplateItem, { id: spec.template_id });
    await world.advance(2 * DAY);

    expect(await jobs()).toMatchObject([{ status: "failed" }, { status: "failed" }]);
    expect((await get(id)).next_run_at).toBe("2026-11-23T08:00:00.000Z");
  });

  it("what a suspended workspace's schedule sends later is of the time of its tick, however late the worker was (AMB-86)", async () => {
    const working = requests({ of: "run-schedule" });
    const { world, tenant, create, jobs } = await setting({ hooks: working.hooks });
    await create({ cron_expression: "0 13 * * *", timezone: "UTC" });
    await operate(world, tenant, { status: "suspended" });
    working.fail();
    await world.advance(HOUR + 2 * MINUTE);
    working.pass();
    await world.advance(HOUR);
    await operate(world, tenant, { status: "active" });

    expect(await jobs()).toMatchObject([{ scheduled_at: timestamp(START + HOUR) }]);
  });

  it("a schedule's tick in a suspended workspace waits, and is sent when the workspace is active again (AMB-86)", async () => {
    const { world, tenant, create, jobs } = await setting();
    await create({ cron_expression: "0 13 20 * *", timezone: "UTC" });
    await operate(world, tenant, { status: "suspended" });
    await world.advance(3 * HOUR);
    await operate(world, tenant, { status: "active" });
    await world.advance(HOUR);

    expect(await jobs()).toMatchObject([{ status: "completed" }]);
  });
});
