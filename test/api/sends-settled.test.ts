// What sends that are planned by workers use of the quota: an estimate first, then what they sent (docs/decisions/0093).
import { expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { changeItem } from "../../shared/store/item.ts";
import { SMALL_AUDIENCE } from "../../shared/store/sends/audience/audiences.ts";
import { settleStopped } from "../../shared/store/sends/chunks/ranges.ts";
import { JobItem } from "../../shared/store/sends/jobs/job-items.ts";
import { TemplateItem } from "../../shared/store/templates/items.ts";
import { sendReservation, usageOf } from "../../shared/store/workspaces/usage.ts";
import { setUsage } from "../../shared/store/workspaces/usage-correction.ts";
import { inMs, jobOf, post } from "../support/notify.ts";
import { addPeople, operate, quickStore } from "../support/people.ts";
import { addPhone, openChannels, spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const everybody = { target: { type: "all" } };

/** Twelve subscribers; five of them have a phone. */
async function phones(options: Parameters<typeof withTenant>[0] = {}) {
  const { world, tenant } = await withTenant(options);
  const { ios } = await openChannels(world, tenant, "ios-push");
  const people = await addPeople(world, tenant, 12);
  for (const id of people.slice(0, 5)) await addPhone(world, tenant, id, "ios");
  await world.settle();
  return { world, tenant, people, pushed: { ...everybody, channel_ids: [ios] } };
}

const usedIn = async (world: TestWorld, tenant: Tenant, period = "2026-11") =>
  (await usageOf(quickStore(world, tenant), period)).sends;

/** The first has had the one push of the day that a cap allows. */
async function phonesWithCap(options: Parameters<typeof phones>[0] = {}) {
  const setting = await phones(options);
  const { world, tenant, people, pushed } = setting;
  const frequency_caps = [{ category: "marketing", channel_class: "push", max: 1, per: "day" }];
  expect((await tenant.call("PATCH /api/v1/workspace", { frequency_caps })).status).toBe(200);
  const toFirst = { channel_ids: pushed.channel_ids, subscriberIds: [people[0]] };
  await post(world, tenant, toFirst);
  await world.settle();
  return { ...setting, toFirst };
}

it("a planned send reserves its audience while it is under way (D-BILL)", async () => {
  const { world, tenant, pushed } = await phones();
  const { id } = (await post(world, tenant, { ...pushed, scheduled_at: inMs(world, MINUTE) })).body;
  await spoil(world, { channel: "ios", outcome: "transient", times: 4 });
  await world.advance(MINUTE);
  await world.settle();

  expect((await jobOf(tenant, id)).status).toBe("processing");
  expect(await usedIn(world, tenant)).toBe(12);
});

it("of a planned send who has no address or had enough is free (D-BILL)", async () => {
  const { world, tenant, pushed } = await phonesWithCap();
  const { id } = (await post(world, tenant, { ...pushed, scheduled_at: inMs(world, MINUTE) })).body;
  await world.advance(HOUR);

  expect((await jobOf(tenant, id)).counts).toMatchObject({ total: 12, sent: 4, delivered: 4, skipped: 8 });
  expect(await usedIn(world, tenant)).toBe(1 + 4);
});

it("a send to one who had enough is free (D-BILL)", async () => {
  const { world, tenant, toFirst } = await phonesWithCap();
  const { id } = (await post(world, tenant, toFirst)).body;
  await world.advance(HOUR);

  expect((await jobOf(tenant, id)).skip_reasons).toEqual({ capped: 1 });
  expect(await usedIn(world, tenant)).toBe(1);
});

it("who is held out of a send is free (D-BILL, AMB-38)", async () => {
  const { world, tenant } = await phones();
  const held = { ...everybody, holdout_percentage: 40, scheduled_at: inMs(world, MINUTE) };
  const { id } = (await post(world, tenant, held)).body;
  await world.advance(HOUR);
  const { counts } = await jobOf(tenant, id);

  expect(counts.sent + counts.held_out).toBe(12);
  expect(await usedIn(world, tenant)).toBe(counts.sent);
});

it("what a stopped send did not use is returned, also when it ends in the next month (D-BILL, AMB-112)", async () => {
  const { world, tenant, pushed } = await phones();
  await world.advance(Date.parse("2026-11-30T23:58:00.000Z") - world.clock.now());
  await spoil(world, { channel: "ios", outcome: "transient", times: 9 });
  const late = (await post(world, tenant, { ...pushed, scheduled_at: inMs(world, MINUTE) })).body.id;
  await world.advance(MINUTE);
  await world.settle();
  expect((await jobOf(tenant, late)).status).toBe("processing");
  expect(await usedIn(world, tenant)).toBe(12);
  await operate(world, tenant, { status: "deleted" });
  await world.advance(HOUR);
  await operate(world, tenant, { status: "active" });
  const { status, counts } = await jobOf(tenant, late);
  expect(status).toBe("canceled");
  expect(counts.total).toBe(12);
  expect(await usedIn(world, tenant)).toEqual(counts.sent);
  expect(await usedIn(world, tenant, "2026-12")).toBe(0);
});

it("what a send of the next month does not use is returned to that month (D-BILL)", async () => {
  const { world, tenant, pushed } = await phones();
  const ahead = Date.parse("2026-12-01T00:05:00.000Z") - world.clock.now();
  const { id } = (await post(world, tenant, { ...pushed, scheduled_at: inMs(world, ahead) })).body;
  await world.advance(ahead + MINUTE);

  expect((await jobOf(tenant, id)).counts).toMatchObject({ total: 12, sent: 5 });
  expect([await usedIn(world, tenant, "2026-11"), await usedIn(world, tenant, "2026-12")]).toEqual([0, 5]);
});

it("a send that a deletion stopped before it was planned uses nothing (D-BILL, AMB-112)", async () => {
  const { world, tenant, pushed } = await phones();
  const { id } = (await post(world, tenant, pushed)).body;
  expect(await usedIn(world, tenant)).toBe(5);
  await operate(world, tenant, { status: "deleted" });
  await world.advance(HOUR);
  await operate(world, tenant, { status: "active" });
  expect((await jobOf(tenant, id)).status).toBe("canceled");
  expect(await usedIn(world, tenant)).toBe(0);
});

it("a send to one ends also where an operator sets what is used at the same moment, and that stays (D-BILL)", async () => {
  const ending = requests({ of: "deliver", operation: "TransactWriteItems", naming: "#USAGE" });
  const { world, tenant, toFirst } = await phonesWithCap({ hooks: ending.hooks });
  // Near its limit nothing is taken ahead.
  await world.host.invoke("operator", { tenant_id: tenant.id, monthly_send_cap: 2 });
  ending.next(() => setUsage(quickStore(world, tenant), { sends: 50 }));

  const { id } = (await post(world, tenant, toFirst)).body;
  await world.settle();

  expect(ending.isAwaited()).toBe(false);
  expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", skip_reasons: { capped: 1 } });
  expect(await usedIn(world, tenant)).toBe(50);
});

it("what a stopped send did not use is returned once where two workers return it at the same time (D-BILL)", async () => {
  const returning = requests({ operation: "TransactWriteItems", naming: "#USAGE" });
  const { world, tenant, pushed } = await phones({ hooks: returning.hooks });
  const { id } = (await post(world, tenant, pushed)).body;
  await operate(world, tenant, { status: "deleted" });
  returning.next(() => settleStopped(quickStore(world, tenant), id));
  await world.advance(HOUR);
  expect(returning.isAwaited()).toBe(false);

  expect(await usedIn(world, tenant)).toBe(0);
});

it("what a send has taken is returned where it fails at the same moment (D-BILL)", async () => {
  const failing = requests({ of: "fan-out", operation: "TransactWriteItems", naming: "no longer exists" });
  const { world, tenant } = await phones({ hooks: failing.hooks });
  const template = { name: "News", content: { title: "t", body: "b" } };
  const template_id = (await tenant.call("POST /api/v1/templates", template)).body.id;
  const later = { title: undefined, body: undefined, template_id, ...everybody, scheduled_at: inMs(world, MINUTE) };
  const { id } = (await post(world, tenant, later)).body;
  await tenant.store.remove(TemplateItem, { id: template_id });
  // Another worker dispatches it, which had read the template before.
  failing.next(() => {
    const store = quickStore(world, tenant);
    const now = world.clock.now();
    const taken = changeItem(JobItem, { job: id }, { set: { reserved: 12, reserved_at: now } });
    return store.transact([taken, sendReservation(12, { plan: "enterprise", sendCap: null }, now)]);
  });
  await world.advance(HOUR);
  expect(failing.isAwaited()).toBe(false);

  expect((await jobOf(tenant, id)).status).toBe("failed");
  expect(await usedIn(world, tenant)).toBe(0);
});

it("a send to many that a deletion stopped before it was dispatched uses nothing (D-BILL, AMB-112)", async () => {
  const { world, tenant } = await withTenant();
  await fill(world, tenant, SMALL_AUDIENCE + 1);
  await world.settle();
  const { id } = (await post(world, tenant, everybody)).body;
  expect(await usedIn(world, tenant)).toBe(SMALL_AUDIENCE + 1);

  await operate(world, tenant, { status: "deleted" });
  await world.advance(MINUTE);

  expect((await tenant.store.get(JobItem, { job: id }))?.status).toBe("canceled");
  expect(await usedIn(world, tenant)).toBe(0);
});

it("a number that an operator set is not changed by the sends that had begun (D-BILL)", async () => {
  const { world, tenant, pushed } = await phones();
  await spoil(world, { channel: "ios", outcome: "transient", times: 9 });
  await post(world, tenant, { ...pushed, scheduled_at: inMs(world, MINUTE) });
  await world.advance(2 * MINUTE);
  await world.host.invoke("operator", { tenant_id: tenant.id, usage: { sends: 3 } });
  await world.advance(DAY);
  expect(await usedIn(world, tenant)).toBe(3);
  await post(world, tenant, { ...pushed, scheduled_at: inMs(world, MINUTE) });
  await world.advance(DAY);
  expect(await usedIn(world, tenant)).toBe(3 + 5);
});
