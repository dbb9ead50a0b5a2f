// Scheduled sends and their cancellation (NTF-9, NTF-10, NTF-18, NTF-20, NTF-22, D-NTF-STATE, D-NTF-CANCEL, AMB-86).
import { describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { cancelJob } from "../../shared/store/sends/jobs/jobs.ts";
import { cancel, inMs, jobOf, post } from "../support/notify.ts";
import { addPeople, inboxOf, operate, reachedOf } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
/** Short, because every hour that passes is swept for overdue timers, in hundreds of queries. */
const SOON = 12 * MINUTE;
const everybody = { target: { type: "all" } };

const schedule = async (world: TestWorld, tenant: Tenant, ms: number, body: object = everybody): Promise<string> => {
  const answer = await post(world, tenant, { ...body, scheduled_at: inMs(world, ms) });
  expect(answer.status).toBe(201);
  expect(answer.body.sent).toBe(0);
  await world.settle();
  return answer.body.id;
};

describe("fire", () => {
  it.each([
    ["30 seconds", 30 * SECOND],
    ["90 seconds and a bit", 90 * SECOND + 1],
    ["5 minutes", 5 * MINUTE],
    ["an hour, 7 seconds and a bit", HOUR + 7 * SECOND + 250],
    ["40 days", 40 * DAY],
  ])("a send in %s is delivered then, never earlier and within a second (NTF-9, AMB-38)", async (_, ms) => {
    const { world, tenant, ids } = await withPeople(2);
    const id = await schedule(world, tenant, ms);
    expect(await jobOf(tenant, id)).toMatchObject({
      status: "scheduled",
      sent: 0,
      scheduled_at: new Date(START + ms).toISOString(),
      dispatched_at: null,
    });
    await world.advance(ms - 1);
    expect(await reachedOf(world, tenant, ids)).toEqual([]);
    await world.advance(SECOND);
    expect(await reachedOf(world, tenant, ids)).toEqual(ids);
    const job = await jobOf(tenant, id);
    expect(job).toMatchObject({ status: "completed", sent: 2, counts: { total: 2, delivered: 2 } });
    const late = Date.parse(job.dispatched_at) - (START + ms);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(SECOND);
  });

  it("the audience is that of the fire time: who came meanwhile is in, who left is out (NTF-9)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const all = await schedule(world, tenant, SOON);
    const given = await schedule(world, tenant, SOON, { subscriberIds: ids });
    const [late] = await addPeople(world, tenant, 1, () => ({ external_id: "late" }));
    await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`);
    await world.advance(SOON + SECOND);

    expect(await reachedOf(world, tenant, [...ids, late!], all)).toEqual([ids[1], late]);
    expect(await reachedOf(world, tenant, [...ids, late!], given)).toEqual([ids[1]]);
    expect((await jobOf(tenant, given)).skip_reasons).toEqual({ unknown_subscriber: 1 });
  });

  it("many sends of one minute all go out, each once (ARC-5, NTF-9)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const jobs: string[] = [];
    for (let n = 0; n < 8; n++) jobs.push(await schedule(world, tenant, SOON + n * 5 * SECOND));
    await world.advance(SOON + MINUTE);
    const found = await inboxOf(world, tenant, ids[0]!);

    expect(found.map((message) => message.notification_id).sort()).toEqual(jobs.sort());
  });

  it("scheduled_at may carry any offset and is shown in UTC (NTF-9, GEN-2)", async () => {
    const { world, tenant } = await withPeople(2);
    const answer = await post(world, tenant, { ...everybody, scheduled_at: "2026-11-20T18:30:00+05:30" });

    expect((await jobOf(tenant, answer.body.id)).scheduled_at).toBe("2026-11-20T13:00:00.000Z");
  });

  it("1,100 given ids wait in the table and are all reached (NTF-9)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await fill(world, tenant, 1_100);
    const id = await schedule(world, tenant, SOON, { subscriberIds: ids });
    await world.advance(SOON + SECOND);

    expect(await jobOf(tenant, id)).toMatchObject({
      status: "completed",
      counts: { total: 1_100, delivered: 1_100 },
    });
    expect(await reachedOf(world, tenant, ids)).toEqual(ids);
  });

  it("a replayed scheduled send is scheduled once, also after its time (D-NTF)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const body = { ...everybody, scheduled_at: inMs(world, SOON), idempotency_key: "k" };
    const first = await post(world, tenant, body);
    await world.advance(SOON + SECOND);
    const again = await post(world, tenant, body);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    await world.advance(SOON);
    expect(await inboxOf(world, tenant, ids[0]!)).toHaveLength(1);
  });
});

describe("cancel", () => {
  it("200 with status canceled, zero deliveries, and again 200 (D-NTF-CANCEL, NTF-10, NTF-18)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const id = await schedule(world, tenant, SOON);
    await world.advance(SOON - SECOND);
    const answer = await cancel(tenant, id);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ id, status: "canceled" });
    const again = await cancel(tenant, id);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(answer.body);
    await world.advance(SOON);
    expect(await reachedOf(world, tenant, ids)).toEqual([]);
    expect(await jobOf(tenant, id)).toMatchObject({ status: "canceled", sent: 0, counts: { total: 0 } });
  });

  it("a cancel between the timer's wake-up and the send still prevents it (NTF-10)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const id = await schedule(world, tenant, 10 * MINUTE);
    await world.advance(9 * MINUTE + 59 * SECOND + 999);
    expect((await cancel(tenant, id)).status).toBe(200);
    await world.advance(SOON);
    expect(await reachedOf(world, tenant, ids)).toEqual([]);
  });

  it("a send is not canceled once it is dispatched: 409 (D-NTF-CANCEL, NTF-20)", async () => {
    const { world, tenant } = await withPeople(2);
    const { id } = (await post(world, tenant, everybody)).body;
    expect(await cancel(tenant, id)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });

    await world.settle();

    expect(await cancel(tenant, id)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("completed") },
    });
  });

  it.each([
    ["just before a send fires stops it", "before", "canceled"],
    ["just after a send fired is refused, and all are reached", "after", "CONFLICT"],
  ] as const)("a cancellation %s (NTF-10, ARC-10)", async (_, moment, outcome) => {
    const dispatch = requests({ of: "fan-out", operation: "UpdateItem", naming: '"queued"', moment });
    const { world, tenant, ids } = await withPeople(2, { hooks: dispatch.hooks });
    const id = await schedule(world, tenant, SOON);
    // It happens inside an advance, behind which a request would queue, so the store is called directly.
    let seen: unknown;
    dispatch.next(async () => {
      seen = await cancelJob(tenant.store, id).then(
        ({ status }) => status,
        ({ code }) => code,
      );
    });

    await world.advance(SOON + MINUTE);

    expect(seen).toBe(outcome);
    expect(await reachedOf(world, tenant, ids)).toEqual(moment === "before" ? [] : ids);
  });
});

describe("what changed meanwhile", () => {
  const template = async (tenant: Tenant): Promise<string> => {
    const body = { name: "t", content: { title: "Template", body: "Text" } };
    return (await tenant.call("POST /api/v1/templates", body)).body.id;
  };
  const byTemplate = (template_id: string) => ({ ...everybody, template_id, title: undefined, body: undefined });

  it("a template deleted before the fire time fails the job, delivered 0 (NTF-22, TPL-8, AMB-48)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const template_id = await template(tenant);
    const id = await schedule(world, tenant, SOON, byTemplate(template_id));
    await tenant.call(`DELETE /api/v1/templates/${template_id}`);
    await world.advance(SOON + SECOND);

    expect(await jobOf(tenant, id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("template"),
      counts: { delivered: 0 },
      completed_at: expect.any(String),
    });
    expect(await reachedOf(world, tenant, ids)).toEqual([]);
  });

  it("a template's content is that of the fire time, and the record shows it (NTF-21)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const template_id = await template(tenant);
    const id = await schedule(world, tenant, SOON, byTemplate(template_id));
    const body = { content: { title: "Newer" } };
    await tenant.call(`PATCH /api/v1/templates/${template_id}`, body);
    await world.advance(SOON + SECOND);

    expect((await inboxOf(world, tenant, ids[0]!))[0].content).toEqual({ title: "Newer", body: "Text" });
    expect(await jobOf(tenant, id)).toMatchObject({ title: "Newer", body: "Text", template_id });
  });

  it("a cap reached at the fire time fails the job and says the numbers (D-NTF-STATE, ERR-4)", async () => {
    const { world, tenant, ids } = await withPeople(3);
    const id = await schedule(world, tenant, SOON);
    await operate(world, tenant, { monthly_send_cap: 2 });
    await world.advance(SOON + SECOND);

    expect(await jobOf(tenant, id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("0 of 2"),
    });
    expect(await reachedOf(world, tenant, ids)).toEqual([]);
  });

  it("a suspended workspace's send is held and is sent on reactivation within 24 h (AMB-86)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const id = await schedule(world, tenant, SOON);
    await operate(world, tenant, { status: "suspended" });
    await world.advance(3 * SOON);
    expect(await reachedOf(world, tenant, ids)).toEqual([]);
    await operate(world, tenant, { status: "active" });
    expect((await jobOf(tenant, id)).status).toBe("scheduled");
    await world.advance(10 * MINUTE);
    expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { delivered: 2 } });
  });

  it("a held send can be canceled (AMB-86)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const id = await schedule(world, tenant, SOON);
    await operate(world, tenant, { status: "suspended" });
    await world.advance(2 * SOON);
    await operate(world, tenant, { status: "active" });
    expect((await cancel(tenant, id)).status).toBe(200);
    await world.advance(SOON);
    expect(await reachedOf(world, tenant, ids)).toEqual([]);
  });

  it.each([
    ["just within 24 h it is sent", DAY, "completed"],
    ["more than 24 h late expires", DAY + MINUTE, "failed"],
  ])("after the service stood still a send %s (AMB-86)", async (_, lateness, status) => {
    const { world, tenant, ids } = await withPeople(2);
    const id = await schedule(world, tenant, SOON);
    world.clock.jumpTo(START + SOON + lateness);
    await world.settle();
    const job = await jobOf(tenant, id);

    expect(job.status).toBe(status);
    expect(job.error).toBe(status === "failed" ? "expired" : null);
    expect(await reachedOf(world, tenant, ids)).toEqual(status === "failed" ? [] : ids);
  });
});
