// Events in blocks: how they are packed and split, and what happens to a batch that ended early.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { spanOf } from "../../shared/store/events/block-keys.ts";
import { type NewEvent, planBlocks } from "../../shared/store/events/blocks.ts";
import { eventsOf } from "../../shared/store/events/history.ts";
import { packEvents, unpackEvents } from "../../shared/store/events/packing.ts";
import { exportAll, identify, ingest, paidEvents, someEvents } from "../support/events.ts";
import { graphOf } from "../support/journeys.ts";
import { addPeople, quickStore } from "../support/people.ts";
import { membersOf, segmentOf } from "../support/segments.ts";
import { patiently } from "../support/stores.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const anyEvent: fc.Arbitrary<NewEvent> = fc.record({
  id: fc.uuid(),
  event_name: fc.string({ minLength: 1, maxLength: 5 }),
  actor: fc.constantFrom("Sada", "Sbob", "Adevice", "A#S~"),
  platform: fc.constantFrom("web", null),
  properties: fc.dictionary(fc.constantFrom("sku", "total"), fc.jsonValue({ maxDepth: 1 }), {
    noNullPrototype: true,
  }) as fc.Arbitrary<NewEvent["properties"]>,
  occurred_at: fc.integer({ min: 0, max: 3 * 24 * HOUR }).map((ms) => timestamp(START - ms)),
  isKeyed: fc.boolean(),
});

it("events that are packed are unpacked as they were", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 30 }), (events) => {
      expect(JSON.parse(JSON.stringify(unpackEvents(packEvents(events))))).toEqual(JSON.parse(JSON.stringify(events)));
    }),
  );
});

it("every event is in one block or alone; a block has one day, at most 300 events, and spans no more than its class (EVT-14)", () => {
  const dense = fc.integer({ min: 0, max: 20_000 }).map((ms) => timestamp(START - ms));
  const arbitrary = fc.array(
    fc.oneof(
      anyEvent,
      fc.tuple(anyEvent, dense).map(([event, at]) => ({ ...event, occurred_at: at })),
    ),
    {
      maxLength: 700,
      size: "max",
    },
  );
  fc.assert(
    fc.property(arbitrary, (events) => {
      const { blocks, alone } = planBlocks(events, { batch: "b", draw: 7 });
      const all = [...alone, ...blocks.flatMap((block) => block.events)];
      expect(all.map(({ id }) => id).sort()).toEqual(events.map(({ id }) => id).sort());
      for (const { key, events: own } of blocks) {
        const times = own.map(({ occurred_at }) => occurred_at).sort();
        expect(own.length).toBeLessThanOrEqual(300);
        expect(new Set(times.map((at) => at.slice(0, 10)))).toEqual(new Set([key.day]));
        expect(key.at.slice(0, 24)).toBe(times[0]);
        expect(Date.parse(times.at(-1)!) - Date.parse(times[0]!)).toBeLessThanOrEqual(spanOf(key.shard)!);
      }
    }),
    // To shrink hundreds of events takes longer than any test may.
    { numRuns: 8, endOnFailure: true },
  );
});

it("events without keys that are few in a day are in blocks of one class, so that an export reads few partitions (EXP-7)", () => {
  const at = (time: string, isKeyed = false) => ({
    id: `e${time}`,
    event_name: "buy",
    actor: "Sada",
    platform: null,
    properties: {},
    occurred_at: `2026-11-20T${time}:00.000Z`,
    isKeyed,
  });
  const times = ["01:00", "03:00", "03:50", "05:00", "05:09"];
  const { blocks, alone } = planBlocks([...times.map((time) => at(time)), at("20:00", true)], { batch: "b", draw: 7 });

  expect(blocks.map(({ key, events }) => [key.shard, events.length])).toEqual([
    ["r3", 1],
    ["r3", 2],
    ["r3", 2],
  ]);
  expect(alone.map(({ id }) => id)).toEqual(["e20:00"]);
});

describe("batches", () => {
  /** The table refuses the rows of histories, which are written after the blocks, or what comes after them. */
  const breakable = async () => {
    let refused: "histories" | "seals" | undefined;
    let isLater = false;
    const unprocessed = (operation: string, count: number) => {
      if (refused === undefined || operation !== "BatchWriteItem") return 0;
      const isRefused = refused === "histories" ? count > 1 : isLater;
      isLater ||= count > 1;
      return isRefused ? count : 0;
    };
    const given = await withTenant({ faults: { unprocessed } });
    const refuse = (what: typeof refused) => {
      refused = what;
      isLater = false;
    };
    return { ...given, refuse };
  };
  const batchOf = (people: readonly string[], more: (n: number) => object = () => ({})) =>
    someEvents(people.length, (n) => ({
      event_name: "buy",
      anonymous_id: undefined,
      subscriber_id: people[n],
      ...more(n),
    }));

  const parts = ["histories", "seals"] as const;
  it.each(parts)("a batch without its %s is in exports and segments in a minute (EVT-11, EVT-12)", async (what) => {
    const { world, tenant, refuse } = await breakable();
    const people = await addPeople(world, tenant, 5);
    const segment = await segmentOf(world, tenant, { event: { name: "buy" } });
    await ingest(world, tenant, { events: batchOf(people.slice(0, 2)) });
    await world.settle();
    refuse(what);
    const { status } = await patiently(world, ingest(world, tenant, { events: batchOf(people.slice(2)) }));
    refuse(undefined);
    expect(status).toBe(503);
    expect(await exportAll(world, tenant)).toHaveLength(2);

    await world.advance(MINUTE);

    expect(await exportAll(world, tenant)).toHaveLength(5);
    expect(await membersOf(tenant, segment)).toHaveLength(5);
  });

  it("a batch whose request ended early is completed by a repeat of one of its keys (EVT-8, AMB-114)", async () => {
    const { world, tenant, refuse } = await breakable();
    const people = await addPeople(world, tenant, 4);
    const events = batchOf(people, (n) => ({ idempotency_key: `key ${n}` }));
    refuse("histories");
    expect((await patiently(world, ingest(world, tenant, { events }))).status).toBe(503);
    refuse(undefined);

    expect((await ingest(world, tenant, events[2]!)).body).toEqual({ accepted: 1 });

    expect(await exportAll(world, tenant)).toHaveLength(4);
  });

  it("a batch that is repeated after its request ended early is stored and paid for once (EVT-8, AMB-114)", async () => {
    const { world, tenant, refuse } = await breakable();
    const people = await addPeople(world, tenant, 4);
    const events = batchOf(people, (n) => ({ idempotency_key: `key ${n}` }));
    refuse("histories");
    await patiently(world, ingest(world, tenant, { events }));
    refuse(undefined);
    await world.advance(2 * MINUTE);

    expect((await ingest(world, tenant, { events })).body).toEqual({ accepted: 4 });

    const ids = (await exportAll(world, tenant)).map(({ id }) => id);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
    expect(await paidEvents(tenant)).toBe(4);
    expect(await eventsOf(quickStore(world, tenant), people[0]!, { event_name: "buy" })).toHaveLength(1);
  });

  it("a batch whose request ended early shows nothing of a subscriber that was erased since (EXP-11, SUB-16)", async () => {
    const { world, tenant, refuse } = await breakable();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    refuse("histories");
    await patiently(world, ingest(world, tenant, { events: batchOf([ada, bob]) }));
    refuse(undefined);

    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.advance(5 * MINUTE);

    const actors = (await exportAll(world, tenant)).map(({ subscriber_id }) => subscriber_id);
    expect(actors).toHaveLength(2);
    expect(actors).toEqual(expect.arrayContaining([null, bob]));
    expect(await eventsOf(quickStore(world, tenant), ada, { event_name: "buy" })).toEqual([]);
  });

  it("a batch whose request ended early keeps no properties of a subscriber that was erased with them (SUB-16, D-EXPORTDEL)", async () => {
    const { world, tenant, refuse } = await breakable();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    refuse("histories");
    const events = batchOf([ada, bob], () => ({ properties: { note: "x" } }));
    await patiently(world, ingest(world, tenant, { events }));
    refuse(undefined);

    await tenant.call(`DELETE /api/v1/subscribers/${ada}?erase_properties=true`);
    // The register of erasures hides them for a while, whatever is stored.
    await world.advance(4 * DAY);

    const rows = await exportAll(world, tenant);
    expect(rows.map(({ properties }) => properties)).toEqual(expect.arrayContaining([{}, { note: "x" }]));
  });

  it("events of a visitor whose request ended early name nobody, also if they are completed after the erasure (EVT-11, SUB-16)", async () => {
    const { world, tenant, refuse } = await breakable();
    const [ada = ""] = await addPeople(world, tenant, 1);
    const devices = ["phone", "tablet"];
    for (const device of devices) await identify(world, tenant, device, ada);
    refuse("histories");
    const events = someEvents(20, (n) => ({ anonymous_id: devices[n % 2] }));
    await patiently(world, ingest(world, tenant, { events }));
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.advance(5 * MINUTE);
    refuse(undefined);
    // The register of erasures hides them for a while, whatever is stored.
    await world.advance(4 * DAY);

    const rows = await exportAll(world, tenant);
    expect(rows.map(({ anonymous_id }) => anonymous_id)).toEqual(Array(20).fill(null));
  });

  it("historical events whose request ended early start no journey by the segment that they complete (EVT-11, AMB-134)", async () => {
    const { world, tenant, refuse } = await breakable();
    const people = await addPeople(world, tenant, 3);
    const segment = await segmentOf(world, tenant, { event: { name: "buy" } });
    const trigger = { type: "segment_entered", segment_id: segment };
    const journey = { name: "Welcome", trigger, steps: graphOf({ end: "exit" }) };
    const { id } = (await tenant.call("POST /api/v1/journeys", journey)).body;
    await tenant.call(`POST /api/v1/journeys/${id}/activate`);
    refuse("histories");
    await patiently(world, ingest(world, tenant, { events: batchOf(people), historical: true }));
    refuse(undefined);

    await world.advance(2 * MINUTE);

    expect(await membersOf(tenant, segment)).toHaveLength(3);
    expect((await tenant.call(`GET /api/v1/journeys/${id}/runs`)).body.items).toEqual([]);
  });

  it("of batches that race with the same keys each event is stored and paid for once (AMB-114)", async () => {
    const { world, tenant } = await withTenant();
    const batch = (from: number) => ({
      events: someEvents(20, (n) => ({ event_name: `from ${from}`, idempotency_key: `key ${from + n}` })),
    });

    const answers = await Promise.all([0, 5, 10, 10].map((from) => ingest(world, tenant, batch(from))));
    await world.advance(2 * MINUTE);

    for (const { status } of answers) expect(status).toBe(202);
    const ids = (await exportAll(world, tenant)).map(({ id }) => id);
    expect(ids).toHaveLength(30);
    expect(new Set(ids).size).toBe(30);
    expect(await paidEvents(tenant)).toBe(30);
  });
});
