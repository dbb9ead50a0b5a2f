// A schedule that fails says so: on itself, and by one annotation a day (AMB-123, D-ANNAUTO).
import { expect, it } from "vitest";
import type { LocalServiceOptions } from "../../local/local-service.ts";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { ScheduleItem } from "../../shared/store/schedules/items.ts";
import { TemplateItem } from "../../shared/store/templates/items.ts";
import { addPeople, operate } from "../support/people.ts";
import { addPhone, mend, openChannels, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function setting(change: object = {}, options: Parameters<typeof fresh>[0] = {}) {
  const world = await fresh(options);
  const tenant = await world.tenant({ plan: "premium" });
  const call = async (route: string, body?: object) =>
    (await world.call(route, { as: await tenant.dashboard(), ...(body && { body }) })).body;
  const people = await addPeople(world, tenant, 1);
  const template = async () =>
    (await call("POST /api/v1/templates", { name: world.ids.uuid(), content: { title: "Daily", body: "News" } })).id;
  const { channels } = await call("GET /api/v1/channels");
  const { id, template_id } = await call("POST /api/v1/schedules", {
    cron_expression: "0 1 * * *",
    timezone: "Europe/Berlin",
    template_id: await template(),
    channel_ids: [channels[0].id],
    target: { type: "all" },
    ...change,
  });
  const get = () => call(`GET /api/v1/schedules/${id}`);
  const patch = (body: object) => call(`PATCH /api/v1/schedules/${id}`, body);
  const range = "from=2026-01-01T00:00:00Z&to=2028-01-01T00:00:00Z";
  const notes = async () => (await call(`GET /api/v1/annotations?${range}&kinds=schedule_failed`)).annotations;
  const forgetTemplate = () => tenant.store.remove(TemplateItem, { id: template_id });
  return { world, tenant, people, call, id, template, get, patch, notes, forgetTemplate };
}

it("a tick that fails is an error of the schedule and an annotation of its day, until one succeeds (AMB-123, D-ANNAUTO)", async () => {
  const { world, call, id, template, get, patch, notes, forgetTemplate } = await setting();
  await world.advance(DAY);
  expect(await get()).not.toHaveProperty("last_error");
  await forgetTemplate();
  await world.advance(3 * DAY);
  const error = { code: "TEMPLATE_NOT_FOUND", message: "the template no longer exists" };
  expect((await get()).last_error).toEqual({ ...error, at: "2026-11-24T00:00:00.000Z" });
  expect((await call("GET /api/v1/schedules")).data).toMatchObject([{ id, last_error: error }]);
  expect(await notes()).toMatchObject(
    ["22", "23", "24"].map((day) => ({
      occurred_at: `2026-11-${day}T00:00:00.000Z`,
      source: "auto",
      ref_id: id,
      text: "A tick of a schedule failed: the template no longer exists",
    })),
  );
  expect((await patch({ template_id: await template() })).last_error).toMatchObject(error);
  await world.advance(DAY);
  expect(await get()).not.toHaveProperty("last_error");
  expect(await notes()).toHaveLength(3);
});

it("failures of one day in the schedule's zone are one annotation, also after a success (AMB-123)", async () => {
  const { world, tenant, template, get, patch, notes, forgetTemplate } = await setting({
    cron_expression: "*/10 * * * *",
  });
  await forgetTemplate();
  await world.advance(HOUR);
  const [first, ...others] = await notes();
  expect(others).toEqual([]);
  expect((await get()).last_error.at > first.occurred_at).toBe(true);
  const mended = await template();
  await patch({ template_id: mended });
  await world.advance(HOUR);
  expect(await get()).not.toHaveProperty("last_error");
  await tenant.store.remove(TemplateItem, { id: mended });
  await world.advance(HOUR);
  expect((await get()).last_error).toMatchObject({ code: "TEMPLATE_NOT_FOUND" });
  expect(await notes()).toHaveLength(1);
  // Midnight in Berlin is at 23:00.
  await world.advance(12 * HOUR);
  expect((await notes()).map(({ occurred_at }: { occurred_at: string }) => occurred_at)).toEqual([
    first.occurred_at,
    "2026-11-20T23:00:00.000Z",
  ]);
});

it("a send that reaches nobody is a failure of its schedule (AMB-123)", async () => {
  const { world, tenant, people, get, patch } = await setting();
  const { ios } = await openChannels(world, tenant, "ios-push");
  await addPhone(world, tenant, people[0]!, "ios");
  await patch({ channel_ids: [ios] });
  await spoil(world, { channel: "ios", outcome: "invalid_token" });
  await world.advance(DAY);
  expect((await get()).last_error).toMatchObject({ code: "NOTHING_DELIVERED", message: "no delivery succeeded" });
  await mend(world);
  await addPhone(world, tenant, people[0]!, "ios");
  await world.advance(DAY);
  expect(await get()).not.toHaveProperty("last_error");
});

it("what the plan or a cap refuses is said as well (AMB-123, AMB-16, AMB-87)", async () => {
  const { world, tenant, get, notes } = await setting();
  await operate(world, tenant, { monthly_send_cap: 0 });
  await world.advance(DAY);
  expect((await get()).last_error).toMatchObject({ code: "SEND_CAP_REACHED" });
  await operate(world, tenant, { plan: "pro" });
  await world.advance(DAY);
  expect((await get()).last_error).toMatchObject({ code: "PLAN_FEATURE_UNAVAILABLE" });
  expect(await notes()).toHaveLength(2);
});

it("a tick that came too late to be sent is said, and the next one fires (AMB-123)", async () => {
  let broken = false;
  const hooks: LocalServiceOptions["hooks"] = (name) => ({
    before: () => {
      if (broken && name === "run-schedule") throw new Error("the worker died");
    },
  });
  const { world, get, notes } = await setting({ cron_expression: "0 */6 * * *", timezone: "UTC" }, { hooks });
  broken = true;
  await world.advance(8 * HOUR);
  broken = false;
  const { QueueUrl } = await world.sqs.operate("GetQueueUrl", { QueueName: "run-schedule-dead" });
  const { Attributes } = await world.sqs.operate("GetQueueAttributes", { QueueUrl, AttributeNames: ["QueueArn"] });
  await world.sqs.operate("StartMessageMoveTask", { SourceArn: (Attributes as { QueueArn: string }).QueueArn });
  await world.advance(HOUR);
  expect(await get()).toMatchObject({
    last_missed_at: "2026-11-20T18:00:00.000Z",
    last_error: { code: "MISSED" },
    next_run_at: "2026-11-21T00:00:00.000Z",
  });
  expect(await notes()).toHaveLength(1);
  await world.advance(4 * HOUR);
  expect(await get()).not.toHaveProperty("last_error");
});

it("a schedule that was deleted while its send waited is not made again by its failure (AMB-123)", async () => {
  const { world, tenant, call, id, notes, forgetTemplate } = await setting();
  await operate(world, tenant, { status: "suspended" });
  await world.advance(12 * HOUR + MINUTE);
  await operate(world, tenant, { status: "active" });
  await call(`DELETE /api/v1/schedules/${id}`);
  await forgetTemplate();
  await world.advance(HOUR);

  expect((await call("GET /api/v1/notifications")).items).toMatchObject([{ status: "failed" }]);
  expect(await notes()).toEqual([]);
  expect((await tenant.rows.query({ pk: `T#${tenant.id}#schedule` })).items).toEqual([]);
});

it("the next night finds a schedule that its tick and the watch of it left behind, notes what was missed and goes on (SCH-12)", async () => {
  const { world, tenant, id, get } = await setting({ cron_expression: "0 1 1 * *" });
  const due = await get();
  const left = world.clock.now() - 3 * HOUR;
  await tenant.store.change(ScheduleItem, { id }, { set: { next: left } });
  await world.advance(DAY);

  expect(await get()).toMatchObject({
    active: true,
    next_run_at: due.next_run_at,
    last_missed_at: new Date(left).toISOString(),
  });
  expect(world.logs.filter(({ message }) => message === "a schedule was left behind by its tick")).toHaveLength(1);
});

it("the night after a tick looks for it, also where nothing else happens in the workspace (SCH-12)", async () => {
  const { world, tenant, id, get } = await setting({ cron_expression: "0 1 1 * *" });
  const due = await get();
  await world.advance(2 * DAY);
  const left = world.clock.now();
  await tenant.store.change(ScheduleItem, { id }, { set: { next: left, revision: 7 } });
  await world.advance(Date.parse(due.next_run_at) - left + 2 * DAY);

  expect(await get()).toMatchObject({ last_missed_at: new Date(left).toISOString() });
});
