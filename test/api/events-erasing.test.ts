// Events of erased subscribers, in exports during and after the erasure, and in the table (EXP-11, SUB-16).
import { expect, it } from "vitest";
import { runner } from "../../local/clock.ts";
import { WORKER_TIMEOUT_SECONDS } from "../../shared/contract/messages.ts";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { ErasingActor } from "../../shared/store/subscribers/erasing-items.ts";
import { exportAll, identify, ingest, someEvents } from "../support/events.ts";
import { outsideAudit, quickStore, wholeTable } from "../support/people.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople } = worlds();

/** Who did what, as an export says it: event name → subscriber and visitor. */
async function actorsOf(world: TestWorld, tenant: Tenant) {
  const rows = await exportAll(world, tenant, { to: timestamp(START + 2 * DAY) });
  return Object.fromEntries(
    rows.map(({ event_name, subscriber_id, anonymous_id }) => [event_name, [subscriber_id, anonymous_id]]),
  );
}

it.each([
  ["no other erasure", 0],
  ["more other erasures than are read at once", 300],
])("beside %s, events of an erased subscriber are hidden before they are rewritten (EXP-11, SUB-16)", async (_, n) => {
  const { world, tenant, ids } = await withPeople(2);
  const [ada, bob] = ids as [string, string];
  const others = Array.from({ length: n }, (_, i) => putItem(ErasingActor, { actor: `Aother ${i}` }, {}));
  await quickStore(world, tenant).writeAll(others);
  await ingest(world, tenant, { event_name: "first", anonymous_id: "shared" });
  await identify(world, tenant, "shared", ada);
  await ingest(world, tenant, { event_name: "second", subscriber_id: ada });
  await ingest(world, tenant, { event_name: "his", subscriber_id: bob });

  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);

  const hidden = { first: [null, null], second: [null, null], his: [bob, null] };
  expect(await actorsOf(world, tenant)).toEqual(hidden);
  await world.settle();
  await ingest(world, tenant, { event_name: "late", anonymous_id: "shared" });
  expect(await actorsOf(world, tenant)).toEqual({ ...hidden, late: [null, null] });
});

it("what a device reports after its subscriber's erasure is exported with its anonymous id, whenever it happened (EXP-11, SUB-16)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  await identify(world, tenant, "shared", ids[0]!);
  await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`);
  await world.advance(90 * SECOND);

  await ingest(world, tenant, { event_name: "next", anonymous_id: "shared" });
  const occurred_at = timestamp(START - MINUTE);
  await ingest(world, tenant, { event_name: "of before", anonymous_id: "shared", occurred_at });
  await world.advance(5 * MINUTE);

  expect(await actorsOf(world, tenant)).toEqual({ next: [null, "shared"], "of before": [null, "shared"] });
});

it("events of an erased subscriber are exported at once without their ids, and otherwise as before (EXP-11, SUB-16, D-EXPORTDEL)", async () => {
  const { world, tenant, ids } = await withPeople(2);
  const [ada, bob] = ids;
  const events = [
    { event_name: "bought", subscriber_id: ada, properties: { n: 0 } },
    { event_name: "bought", anonymous_id: "laptop", properties: { n: 1 } },
    { event_name: "seen", subscriber_id: bob },
  ];
  await ingest(world, tenant, { events });
  await identify(world, tenant, "laptop", ada!);
  await world.advance(SECOND);
  const before = await exportAll(world, tenant);

  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);

  const anonymized = before.map((row) =>
    row.subscriber_id === ada ? { ...row, subscriber_id: null, anonymous_id: null } : row,
  );
  expect(anonymized.filter(({ subscriber_id }) => subscriber_id === null)).toHaveLength(2);
  expect(await exportAll(world, tenant, { to: timestamp(START + SECOND) })).toEqual(anonymized);
  await world.advance(5 * MINUTE);
  expect(await exportAll(world, tenant)).toEqual(anonymized);
});

it("no row of the table names a subscriber who is erased with over a thousand events and three devices (SUB-16)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  const [ada] = ids as [string];
  const devices = ["canary-device-0", "canary-device-1", "canary-device-2"];
  await ingest(world, tenant, { events: someEvents(900, (n) => ({ anonymous_id: devices[n % 3] })) });
  await ingest(world, tenant, { events: someEvents(300, () => ({ anonymous_id: undefined, subscriber_id: ada })) });
  for (const device of devices) await identify(world, tenant, device, ada);
  await world.advance(SECOND);

  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  await world.advance(5 * MINUTE);

  const table = await wholeTable(world);
  const mentions = outsideAudit(table).filter((item) => JSON.stringify(item).includes(ada));
  expect(mentions.map(({ sk }) => sk.S)).toEqual([ada]);
  expect(JSON.stringify(table)).not.toContain("canary-device");
  const rows = await exportAll(world, tenant);
  expect(rows).toHaveLength(1_200);
  expect(rows.filter((row) => row.subscriber_id ?? row.anonymous_id)).toEqual([]);
});

it("an erasure of somebody with many events is done by several messages, each in its time (SUB-16, F14)", async () => {
  const invocations = new Map<unknown, { from: number; to: number }>();
  const found = await withPeople(1, {
    hooks: (name) => ({
      before: () => {
        if (name !== "erase") return;
        const { clock } = found.world;
        const invocation = runner.getStore();
        const { from } = invocations.get(invocation) ?? { from: clock.now() };
        clock.jumpTo(clock.now() + SECOND / 10);
        invocations.set(invocation, { from, to: clock.now() });
      },
    }),
  });
  const { world, tenant, ids } = found;
  const [ada] = ids as [string];
  const occurredAt = (n: number) => timestamp(world.clock.now() - n * 2 * HOUR);
  const events = someEvents(500, (n) => ({ anonymous_id: undefined, subscriber_id: ada, occurred_at: occurredAt(n) }));
  await ingest(world, tenant, { events });
  await world.settle();

  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  await world.advance(15 * MINUTE);

  expect((await tenant.call(`GET /api/v1/erasures/${ada}`)).body).toMatchObject({
    state: "completed",
    exact: true,
    removed: expect.arrayContaining([{ store: "events", count: 500 }]),
  });
  expect((await exportAll(world, tenant)).filter(({ subscriber_id }) => subscriber_id !== null)).toEqual([]);
  const seconds = [...invocations.values()].map(({ from, to }) => (to - from) / SECOND);
  expect(seconds.length).toBeGreaterThan(3);
  expect(Math.max(...seconds)).toBeLessThan(WORKER_TIMEOUT_SECONDS);
});

it("an event that arrives while its subscriber is erased is anonymized by the second pass (SUB-16)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  await identify(world, tenant, "shared", ids[0]!);
  await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`);
  await world.settle();

  await ingest(world, tenant, { event_name: "late", anonymous_id: "shared" });
  await world.advance(5 * MINUTE);

  const anonymous = { event_name: "late", subscriber_id: null, anonymous_id: null };
  expect(await exportAll(world, tenant)).toMatchObject([anonymous]);
  expect((await wholeTable(world)).filter(({ pk }) => pk.S.endsWith(`#U#${ids[0]}`))).toEqual([]);
});

it("the device of an erased subscriber can be linked to another at once, with what it did since (SUB-16)", async () => {
  const { world, tenant, ids } = await withPeople(2);
  const [ada, bob] = ids as [string, string];
  await ingest(world, tenant, { event_name: "hers", anonymous_id: "shared" });
  await identify(world, tenant, "shared", ada);
  await world.advance(SECOND);
  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  await world.settle();
  await ingest(world, tenant, { event_name: "between", anonymous_id: "shared" });
  await world.advance(90 * SECOND);

  const { body } = await identify(world, tenant, "shared", bob);
  await ingest(world, tenant, { event_name: "his", anonymous_id: "shared" });
  await world.advance(5 * MINUTE);

  expect(body).toEqual({ linked: true, backfilled: 1 });
  expect(await exportAll(world, tenant)).toMatchObject([
    { event_name: "hers", subscriber_id: null, anonymous_id: null },
    { event_name: "between", subscriber_id: null, anonymous_id: null },
    { event_name: "his", subscriber_id: bob, anonymous_id: "shared" },
  ]);
});

const note = { note: "x" };
it.each<[asked: string, erase: (tenant: Tenant, id: string) => Promise<unknown>, left: object]>([
  ["stay by default", (tenant, id) => tenant.call(`DELETE /api/v1/subscribers/${id}`), note],
  ["go on request", (tenant, id) => tenant.call(`DELETE /api/v1/subscribers/${id}?erase_properties=true`), {}],
  [
    "go on request with many at once",
    (tenant, id) =>
      tenant.call("POST /api/v1/subscribers/bulk-delete", { subscriber_ids: [id], erase_properties: true }),
    {},
  ],
])(
  "properties of an erased subscriber's events, also of those before identify, %s (D-EXPORTDEL)",
  async (_, erase, left) => {
    const { world, tenant, ids } = await withPeople(1);
    const own = { event_name: "seen", subscriber_id: ids[0], properties: note };
    await ingest(world, tenant, { events: [own, own] });
    await ingest(world, tenant, own);
    await ingest(world, tenant, { event_name: "seen", anonymous_id: "laptop", properties: note });
    await identify(world, tenant, "laptop", ids[0]!);

    await erase(tenant, ids[0]!);
    const hidden = Array(4).fill({ subscriber_id: null, properties: left });
    expect(await exportAll(world, tenant, { to: timestamp(START + DAY) })).toMatchObject(hidden);
    await world.advance(5 * MINUTE);

    const rows = await exportAll(world, tenant);
    expect(rows.map(({ properties }) => properties)).toEqual(Array(4).fill(left));
  },
);

it("a repeat of an erased subscriber's event is accepted and stays without an owner (EVT-8)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  const event = { event_name: "bought", subscriber_id: ids[0], idempotency_key: "order" };
  await ingest(world, tenant, event);
  await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`);
  await world.advance(5 * MINUTE);

  expect((await ingest(world, tenant, event)).body).toEqual({ accepted: 1 });
  expect(await exportAll(world, tenant)).toMatchObject([{ subscriber_id: null, anonymous_id: null }]);
});
