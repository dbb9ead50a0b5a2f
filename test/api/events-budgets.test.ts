// The budgets of events and their export, counted in the embedded table.
import { expect, it } from "vitest";
import { MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { exportPage, ingest, someEvents } from "../support/events.ts";
import { addPeople } from "../support/people.ts";
import { spent, spentByCall } from "../support/spending.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const properties = { sku: "sku-4711", price: 1_999, currency: "EUR" };

it("1,000 events cost 60 WCU, and one for each actor and each key, and without keys of 200 actors at most 40 requests (EVT-14)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 200);
  const batch = (key?: string) =>
    someEvents(1_000, (n) => ({
      anonymous_id: undefined,
      subscriber_id: people[n % 200],
      idempotency_key: key && `${key} ${n}`,
      properties,
    }));
  await ingest(world, tenant, { events: batch("a") });
  await world.advance(MINUTE);
  const settled = (key?: string) =>
    spent(world, async () => {
      await ingest(world, tenant, { events: batch(key) });
      await world.advance(MINUTE);
    });
  const plain = await settled();
  expect(plain.wcu).toBeLessThanOrEqual(60 + 200);
  expect(plain.requests).toBeLessThanOrEqual(40);
  const keyed = await settled("b");
  expect(keyed.wcu).toBeLessThanOrEqual(60 + 200 + 1_000);
  const again = await spent(world, () => ingest(world, tenant, { events: batch("b") }));
  expect(again.wcu).toBe(0);
});

it("a single event costs at most 6 WCU and 4 requests (EVT-11)", async () => {
  const { world, tenant } = await withTenant();
  const one = () => ingest(world, tenant, { event_name: "seen", anonymous_id: "a", properties }, "sdk");
  await ingest(world, tenant, { events: someEvents(1) }, "sdk");
  const costs = [];
  // The first event in one of the day's 16 partitions notes it, so of 17 events one writes no note.
  for (let n = 0; n < 17; n++) costs.push(await spent(world, one));

  expect(Math.min(...costs.map(({ wcu }) => wcu))).toBeLessThanOrEqual(6);
  expect(Math.min(...costs.map(({ requests }) => requests))).toBeLessThanOrEqual(4);
});

it("an export of 1,000 rows costs at most 40 RCU and one per distinct actor (EXP-1)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 20);
  for (let batch = 0; batch < 3; batch++)
    await ingest(world, tenant, {
      events: someEvents(1_000, (n) => ({
        anonymous_id: undefined,
        subscriber_id: people[n % 20],
        properties,
        occurred_at: timestamp(START - n * 3 * SECOND),
      })),
    });
  await world.advance(SECOND);
  const { next_cursor: cursor } = await exportPage(world, tenant);
  for (const query of ["", `?cursor=${cursor}`]) {
    const cost = await spentByCall(world, {
      as: tenant.server,
      route: `GET /v1/events/export${query}`,
      refused: { route: "GET /v1/events/export?limit=0" },
    });
    expect(cost.rcu).toBeLessThanOrEqual(40 + 20);
    expect(cost.rcu).toBeGreaterThan(5);
  }
});

it("an export of a quiet year costs less than an RCU a day (EXP-1)", async () => {
  const { world, tenant } = await withTenant();
  const days = 80;
  const events = someEvents(days, (n) => ({ occurred_at: timestamp(START - n * 86_400_000) }));
  for (const event of events) await ingest(world, tenant, event);
  await world.advance(SECOND);
  const cost = await spent(world, async () => {
    expect((await exportPage(world, tenant)).items).toHaveLength(days);
  });

  expect(cost.rcu).toBeLessThanOrEqual(days + days + 10);
});

it("linking a visitor costs at most 5 WCU, however many events there are, and however large the profile (IDN-2)", async () => {
  const { world, tenant } = await withTenant();
  const [id] = (await addPeople(world, tenant, 1)) as [string];
  await ingest(world, tenant, { events: someEvents(1_000, () => ({ anonymous_id: "busy", properties })) });
  await world.advance(SECOND);
  const route = "POST /v1/events/identify";
  // The first link of an environment looks once for events of the first format.
  await world.call(route, { as: tenant.sdk, body: { anonymous_id: "quiet", subscriber_id: id } });
  const body = { anonymous_id: "busy", subscriber_id: id };
  const cost = await spentByCall(world, { as: tenant.sdk, route, body, refused: { route, body: {} } });

  expect(cost.wcu).toBeLessThanOrEqual(5);
  // The profile, the number of its ids (at most 200), the link, and what the visitor did.
  expect(cost.requests).toBeLessThanOrEqual(4);
});
