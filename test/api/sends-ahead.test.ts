// Sends that are taken ahead from the quota, and the settlement of their quarter-hour (docs/decisions/0055, 0056).
import { expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { fanOutQueue } from "../../shared/runtime/resources.ts";
import { quarterAt } from "../../shared/store/workspaces/sends-ahead.ts";
import { usageOf } from "../../shared/store/workspaces/usage.ts";
import { addPeople, quickStore } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** More than are taken one by one in a minute: the last two come from 60 that were taken together. */
const BUSY = 62;
const TAKEN = 120;

/** Sends of a backend to one subscriber each, in turn. */
async function sendAll(world: TestWorld, tenant: Tenant, people: readonly string[], count = people.length) {
  const as = await tenant.backend("messages:send");
  const statuses: number[] = [];
  for (let n = 0; n < count; n++) {
    const id = people[n % people.length];
    const body = { title: "Hello", body: "World", subscriberIds: [id] };
    statuses.push((await world.call("POST /v1/notifications", { as, body })).status);
  }
  await world.settle();
  return statuses;
}

const usedBy = async (world: TestWorld, tenant: Tenant) => (await usageOf(quickStore(world, tenant))).sends;

async function deliveredOf(tenant: Tenant): Promise<number> {
  const { body } = await tenant.call("GET /api/v1/insights/heatmap");
  return body.cells.reduce((sum: number, { delivered }: { delivered: number }) => sum + delivered, 0);
}

it("what was taken ahead and not used is returned, and deliveries are counted once, however often a quarter-hour is settled (D-BILL, ISG-4)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 5);
  const quarter = quarterAt(world.clock.now());
  await sendAll(world, tenant, people);
  expect(await usedBy(world, tenant)).toBe(5);
  expect(await deliveredOf(tenant)).toBe(5);
  await sendAll(world, tenant, people, BUSY - 5);
  expect(await usedBy(world, tenant)).toEqual(TAKEN);
  expect(await deliveredOf(tenant)).toEqual(BUSY);
  for (let n = 0; n < 2; n++) {
    await world.advance(31 * MINUTE);
    await fanOutQueue
      .open(world.depsFor("fan-out"))(tenant.id)
      .send([{ kind: "settle", tenant: tenant.id, quarter }]);
    await world.settle();
    expect(await usedBy(world, tenant)).toEqual(BUSY);
    expect(await deliveredOf(tenant)).toEqual(BUSY);
  }
  await sendAll(world, tenant, people.slice(0, 3));
  expect(await usedBy(world, tenant)).toBe(BUSY + 3);
});

it("sends in a quarter-hour that was settled before its end are counted by its next settlement (D-BILL)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 5);
  await sendAll(world, tenant, people, BUSY);
  await fanOutQueue
    .open(world.depsFor("fan-out"))(tenant.id)
    .send([{ kind: "settle", tenant: tenant.id, quarter: quarterAt(world.clock.now()) }]);
  await world.settle();
  expect(await usedBy(world, tenant)).toBe(BUSY);
  await sendAll(world, tenant, people.slice(0, 3));

  await world.advance(31 * MINUTE);

  expect(await usedBy(world, tenant)).toBe(BUSY + 3);
});

it("what was taken ahead is returned once all partitions of its quarter-hour are settled (D-BILL)", async () => {
  // More than twenty a second are spread over partitions; this one has the first twenty.
  const reading = requests({ of: "fan-out", operation: "Query", naming: '#JOB#api"' });
  const { world, tenant } = await withTenant({ hooks: reading.hooks });
  const people = await addPeople(world, tenant, 5);
  await sendAll(world, tenant, people, BUSY);
  reading.fail();
  await world.advance(31 * MINUTE);
  expect(reading.seen()).toBeGreaterThan(0);

  reading.pass();
  await world.advance(31 * MINUTE);

  expect(await usedBy(world, tenant)).toBe(BUSY);
});

it.each([
  ["each minute while the quarter-hour is watched", 2, 10],
  ["no more once the nightly recount may settle them", 4, 0],
])("the first partition of a quarter-hour that waits for others comes again %s (D2, RDA-23)", async (_, ago, times) => {
  const reading = requests({ of: "fan-out", operation: "Query", naming: '#JOB#api"' });
  const { world, tenant } = await withTenant({ hooks: reading.hooks });
  await sendAll(world, tenant, await addPeople(world, tenant, 5), BUSY);
  const quarter = quarterAt(world.clock.now()) - ago;
  await fanOutQueue
    .open(world.depsFor("fan-out"))(tenant.id)
    .send([{ kind: "settle", tenant: tenant.id, quarter, lane: "JOB#api" }]);
  await world.settle();
  const before = reading.seen();

  await world.advance(10 * MINUTE);

  expect(reading.seen() - before).toBe(times);
});

it("a lower cap applies at once, also to what was taken ahead (ERR-4)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 5);
  const capAt = (monthly_send_cap: number) => world.host.invoke("operator", { tenant_id: tenant.id, monthly_send_cap });
  await sendAll(world, tenant, people);
  await capAt(7);
  await world.advance(MINUTE);
  expect(await sendAll(world, tenant, people)).toEqual([201, 201, 402, 402, 402]);
  await capAt(1_000_000);
  await world.advance(MINUTE);
  await sendAll(world, tenant, people, BUSY);
  await capAt(7 + BUSY + 1);
  await world.advance(MINUTE);
  expect(await sendAll(world, tenant, people, 1)).toEqual([402]);
  await world.advance(31 * MINUTE);
  expect(await sendAll(world, tenant, people, 2)).toEqual([201, 402]);
  expect(await usedBy(world, tenant)).toBe(7 + BUSY + 1);
});

it("an operator's correction is not changed by the settlement, and later sends add to it (D-BILL)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 5);
  await sendAll(world, tenant, people, BUSY);
  await world.host.invoke("operator", { tenant_id: tenant.id, usage: { sends: 100 } });
  await sendAll(world, tenant, people.slice(0, 2));
  await world.advance(31 * MINUTE);

  expect(await usedBy(world, tenant)).toBe(102);
});

it("what was taken ahead in the last quarter-hour of a month and not used is returned to that month (D-BILL)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 5);
  await world.advance(Date.parse("2026-11-30T23:50:00.000Z") - world.clock.now());
  await sendAll(world, tenant, people, BUSY);
  const usedIn = async (period: string) => (await usageOf(quickStore(world, tenant), period)).sends;
  expect(await usedIn("2026-11")).toBe(TAKEN);

  await world.advance(31 * MINUTE);

  expect([await usedIn("2026-11"), await usedIn("2026-12")]).toEqual([BUSY, 0]);
});

it("the nightly recount settles what no watch has settled, and says so (D-BILL, ISG-4)", async () => {
  const planning = requests({ of: "fan-out" });
  planning.fail();
  const { world, tenant } = await withTenant({ hooks: planning.hooks });
  const people = await addPeople(world, tenant, 5);
  await sendAll(world, tenant, people, BUSY);
  // The queue gives up the message of the watch.
  await world.advance(5 * 60 * MINUTE);
  planning.pass();
  expect(await usedBy(world, tenant)).toEqual(TAKEN);
  expect(await deliveredOf(tenant)).toBe(0);
  await world.advance(DAY);
  expect(await usedBy(world, tenant)).toEqual(BUSY);
  expect(await deliveredOf(tenant)).toEqual(BUSY);
  expect(JSON.stringify(world.logs)).toContain("counted late");
});
