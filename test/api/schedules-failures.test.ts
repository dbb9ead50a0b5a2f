// A schedule that fails says so: on itself, and by one annotation a day (AMB-123, D-ANNAUTO).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { ScheduleItem } from "../../shared/store/schedules/items.ts";
import { TemplateItem } from "../../shared/store/templates/items.ts";
import { operate } from "../support/people.ts";
import { addPhone, mend, openChannels, spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { scheduling } from "../support/schedules.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const scheduled = scheduling(worlds());

/** A schedule for every night at one in Berlin, where it is midnight in UTC. */
async function setting(change: object = {}, options: Parameters<typeof scheduled>[0] = {}) {
  const here = await scheduled(options);
  const { tenant } = here;
  const call = async (route: string) => (await here.call(route)).body;
  const { id, template_id } = (await here.create({ cron_expression: "0 1 * * *", ...change })).body;
  const get = () => here.get(id);
  const patch = async (body: object) => (await here.patch(id, body)).body;
  const range = "from=2026-01-01T00:00:00Z&to=2028-01-01T00:00:00Z";
  const notes = async () => (await call(`GET /api/v1/annotations?${range}&kinds=schedule_failed`)).annotations;
  const forgetTemplate = () => tenant.store.remove(TemplateItem, { id: template_id });
  return { ...here, call, id, get, patch, notes, forgetTemplate };
}

/** Moves the messages that were given up back to their queue. */
async function redrive({ sqs }: TestWorld): Promise<void> {
  const { QueueUrl } = await sqs.operate("GetQueueUrl", { QueueName: "run-schedule-dead" });
  const { Attributes } = await sqs.operate("GetQueueAttributes", { QueueUrl, AttributeNames: ["QueueArn"] });
  await sqs.operate("StartMessageMoveTask", { SourceArn: (Attributes as { QueueArn: string }).QueueArn });
}

const NO_TEMPLATE = { code: "TEMPLATE_NOT_FOUND", message: "the template no longer exists" };

it("a tick that fails is an error of its schedule, read by its id and in the list (AMB-123)", async () => {
  const { world, call, id, get, forgetTemplate } = await setting();
  await world.advance(DAY);
  expect(await get()).not.toHaveProperty("last_error");

  await forgetTemplate();
  await world.advance(DAY);

  expect((await get()).last_error).toEqual({ ...NO_TEMPLATE, at: "2026-11-22T00:00:00.000Z" });
  expect((await call("GET /api/v1/schedules")).data).toMatchObject([{ id, last_error: NO_TEMPLATE }]);
});

it("each day on which a tick fails has an annotation (AMB-123, D-ANNAUTO)", async () => {
  const { world, id, notes, forgetTemplate } = await setting();
  await forgetTemplate();

  await world.advance(3 * DAY);

  expect(await notes()).toMatchObject(
    ["21", "22", "23"].map((day) => ({
      occurred_at: `2026-11-${day}T00:00:00.000Z`,
      source: "auto",
      ref_id: id,
      text: "A tick of a schedule failed: the template no longer exists",
    })),
  );
});

it("the error of a schedule stays until a tick succeeds (AMB-123)", async () => {
  const { world, template, get, patch, forgetTemplate } = await setting();
  await forgetTemplate();
  await world.advance(DAY);

  expect((await patch({ template_id: await template() })).last_error).toMatchObject(NO_TEMPLATE);
  await world.advance(DAY);

  expect(await get()).not.toHaveProperty("last_error");
});

it("failures of one day in the schedule's zone are one annotation, also after a success (AMB-123)", async () => {
  const { world, tenant, template, get, patch, notes, forgetTemplate } = await setting({
    cron_expression: "*/10 * * * *",
  });
  await forgetTemplate();
  await world.advance(HOUR);
  const mended = await template();
  await patch({ template_id: mended });
  await world.advance(HOUR);
  expect(await get()).not.toHaveProperty("last_error");

  await tenant.store.remove(TemplateItem, { id: mended });
  await world.advance(HOUR);

  expect((await get()).last_error).toMatchObject({ code: "TEMPLATE_NOT_FOUND" });
  expect(await notes()).toHaveLength(1);
});

it("a failure after midnight in the schedule's zone has an annotation of its own (AMB-123)", async () => {
  const { world, notes, forgetTemplate } = await setting({ cron_expression: "*/30 * * * *" });
  await forgetTemplate();

  await world.advance(12 * HOUR);

  // Midnight in Berlin is at 23:00.
  const days = (await notes()).map(({ occurred_at }: { occurred_at: string }) => occurred_at);
  expect(days).toEqual([expect.stringMatching(/^2026-11-20T12:/), "2026-11-20T23:00:00.000Z"]);
});

it("a send that reaches nobody is a failure of its schedule (AMB-123)", async () => {
  const { world, tenant, person, get, patch } = await setting();
  const { ios } = await openChannels(world, tenant, "ios-push");
  await addPhone(world, tenant, person, "ios");
  await patch({ channel_ids: [ios] });
  await spoil(world, { channel: "ios", outcome: "invalid_token" });
  await world.advance(DAY);
  expect((await get()).last_error).toMatchObject({ code: "NOTHING_DELIVERED", message: "no delivery succeeded" });
  await mend(world);
  await addPhone(world, tenant, person, "ios");
  await world.advance(DAY);
  expect(await get()).not.toHaveProperty("last_error");
});

it.each([
  ["a cap", { monthly_send_cap: 0 }, "SEND_CAP_REACHED"],
  ["the plan", { plan: "pro" } as const, "PLAN_FEATURE_UNAVAILABLE"],
])("a tick that %s refuses is an error of its schedule (AMB-123, AMB-16, AMB-87)", async (_, change, code) => {
  const { world, tenant, get, notes } = await setting();
  await operate(world, tenant, change);

  await world.advance(DAY);

  expect((await get()).last_error).toMatchObject({ code });
  expect(await notes()).toHaveLength(1);
});

it("a tick that came too late to be sent is said, and the next one fires (AMB-123)", async () => {
  const ticking = requests({ of: "run-schedule" });
  const cron = { cron_expression: "0 */6 * * *", timezone: "UTC" };
  const { world, get, notes } = await setting(cron, { hooks: ticking.hooks });
  ticking.fail();
  await world.advance(8 * HOUR);
  ticking.pass();
  await redrive(world);
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

it("a tick that is taken minutes late leaves out none of those that fell due meanwhile (SCH-12, SCH-14)", async () => {
  const ticking = requests({ of: "run-schedule" });
  const { world, jobs } = await setting({ cron_expression: "*/5 * * * *" }, { hooks: ticking.hooks });
  ticking.fail();
  await world.advance(11 * MINUTE);
  ticking.pass();
  await world.advance(13 * MINUTE);

  expect(await jobs()).toHaveLength(4);
});

it("after a long stop a schedule leaves out what is over an hour late, and sends what fell due within the last hour (SCH-12)", async () => {
  const ticking = requests({ of: "run-schedule" });
  const cron = { cron_expression: "*/30 * * * *", timezone: "UTC" };
  const { world, get, jobs } = await setting(cron, { hooks: ticking.hooks });
  ticking.fail();
  await world.advance(2 * HOUR + 20 * MINUTE);
  ticking.pass();
  await redrive(world);
  await world.settle();

  expect(await jobs()).toHaveLength(2);
  expect((await get()).last_missed_at).toBe("2026-11-20T12:30:00.000Z");
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
