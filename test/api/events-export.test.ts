// The export of events: its window, its refusals and callers, its order, and its pages during ingestion (EXP).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { exportAll, exportPage, ingest, someEvents } from "../support/events.ts";
import { requests } from "../support/requests.ts";
import { type Headers, START, type Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant, withPeople } = worlds();

interface Row {
  id: string;
  occurred_at: string;
  properties: { n?: number };
}
const idsOf = (rows: Row[]) => rows.map(({ id }) => id);
const placeOf = ({ occurred_at, id }: Row) => `${occurred_at}#${id}`;
const numbersOf = (rows: Row[]) => rows.map(({ properties }) => properties.n);

/** A workspace with as many events, of the last second. */
async function withEvents(count: number) {
  const { world, tenant } = await withTenant();
  await ingest(world, tenant, { events: someEvents(count) });
  await world.advance(SECOND);
  return { world, tenant };
}

describe("window", () => {
  /** The time of event n: one every ten days from forty days ago, the fifth now. */
  const timeOf = (n: number) => timestamp(START - 40 * DAY + n * 10 * DAY);

  it.each([
    ["without an end is everything up to now", {}, [0, 1, 2, 3, 4]],
    ["includes its start", { from: timeOf(1) }, [1, 2, 3, 4]],
    ["excludes its end", { to: timeOf(1) }, [0]],
    ["may have a start and an end", { from: timeOf(1), to: timeOf(3) }, [1, 2]],
    ["may have an end to come", { from: "2026-11-20T00:00:00+12:00", to: timestamp(START + HOUR) }, [4, 9]],
    ["is empty when it ends as it starts", { from: timeOf(1), to: timeOf(1) }, []],
  ])("the window of an export %s (EXP-1, AMB-98)", async (_, query, expected) => {
    const { world, tenant } = await withTenant();
    const past = someEvents(5, (n) => ({ occurred_at: timeOf(n), properties: { n } }));
    const ahead = { occurred_at: timestamp(START + MINUTE), properties: { n: 9 } };
    await ingest(world, tenant, { events: [...past, ...someEvents(1, () => ahead)] });
    await world.advance(SECOND);

    expect(numbersOf(await exportAll(world, tenant, query))).toEqual(expected);
  });

  it("an export without an end leaves out what arrives after its first page (ARC-6, EXP-8)", async () => {
    const { world, tenant } = await withEvents(3);

    const rows = await exportAll(world, tenant, { limit: "1" }, async () => {
      await ingest(world, tenant, { events: someEvents(2) });
      await world.advance(SECOND);
    });

    expect(rows).toHaveLength(3);
  });
});

describe("refusals", () => {
  /** A cursor with one letter changed. */
  const changedAt = (cursor: string, at: number) =>
    `${cursor.slice(0, at)}${cursor.at(at) === "A" ? "B" : "A"}${cursor.slice(at).slice(1)}`;

  it.each<[wrong: string, queryOf: (cursor: string) => string]>([
    ["an earlier start than its own", (cursor) => `${cursor}&from=2026-01-01T00:00:00Z`],
    ["a later end than its own", (cursor) => `${cursor}&to=2026-12-01T00:00:00Z`],
    ["another first letter", (cursor) => changedAt(cursor, 0)],
    ["another letter within", (cursor) => changedAt(cursor, 20)],
    ["another last letter", (cursor) => changedAt(cursor, cursor.length - 1)],
  ])("a cursor with %s is refused with 422 (EXP-6, AMB-98)", async (_, queryOf) => {
    const { world, tenant } = await withEvents(3);
    const { next_cursor } = await exportPage(world, tenant, { limit: "1" });

    const route = `GET /v1/events/export?cursor=${queryOf(next_cursor)}`;

    expect((await world.call(route, { as: tenant.server })).status).toBe(422);
  });
});

describe("callers", () => {
  const callers: Record<string, (tenant: Tenant) => Headers | Promise<Headers>> = {
    "no credential": () => ({}),
    "a publishable key": (tenant) => tenant.sdk,
    "a dashboard token": (tenant) => tenant.dashboard(),
    "a server key without scopes": (tenant) => tenant.server,
    "a server key of the scope events:read": (tenant) => tenant.backend("events:read"),
    "a server key of the scope events:write": (tenant) => tenant.backend("events:write"),
  };

  it.each([
    [401, "no credential"],
    [403, "a publishable key"],
    [401, "a dashboard token"],
    [200, "a server key without scopes"],
    [200, "a server key of the scope events:read"],
    [403, "a server key of the scope events:write"],
  ])("the export answers %i to %s (EXP-2, EXP-3, EVT-13, AMB-27, AMB-28)", async (expected, caller) => {
    const { world, tenant } = await withTenant();

    const { status } = await world.call("GET /v1/events/export", { as: await callers[caller]!(tenant) });

    expect(status).toBe(expected);
  });

  it.each([
    [202, "a server key without scopes"],
    [403, "a server key of the scope events:read"],
    [202, "a server key of the scope events:write"],
  ])("an event is answered %i to %s (EVT-13, AMB-27)", async (expected, caller) => {
    const { world, tenant } = await withTenant();
    const body = { event_name: "x", anonymous_id: "y" };

    const { status } = await world.call("POST /v1/events", { as: await callers[caller]!(tenant), body });

    expect(status).toBe(expected);
  });

  it.each([
    [403, "a server key of the scope events:read"],
    [200, "a server key of the scope events:write"],
  ])("a link of a visitor to a subscriber is answered %i to %s (IDN-4)", async (expected, caller) => {
    const { world, tenant, ids } = await withPeople(1);
    const body = { anonymous_id: "y", subscriber_id: ids[0] };

    const { status } = await world.call("POST /v1/events/identify", { as: await callers[caller]!(tenant), body });

    expect(status).toBe(expected);
  });
});

describe("pages", () => {
  it("exported rows are in the order of (occurred_at, id) over days and partitions (EXP-7)", async () => {
    const { world, tenant } = await withTenant();
    const crowd = someEvents(600, (n) => ({ occurred_at: timestamp(START - 3 * DAY + (n % 7)) }));
    const over60Days = someEvents(160, (n) => ({ occurred_at: timestamp(START - ((n * 37) % 80) * 18 * HOUR - 1) }));
    await ingest(world, tenant, { events: crowd });
    await ingest(world, tenant, { events: over60Days });
    await world.advance(SECOND);

    const places = (await exportAll(world, tenant, { limit: "90" })).map(placeOf);

    expect(places).toEqual([...places].sort());
    expect(new Set(places).size).toBe(760);
  });

  it.each([
    ["1,000 is one page", "1000", [100]],
    ["their number is one page", "100", [100]],
    ["one less than their number is two pages", "99", [99, 1]],
    ["30 is three full pages and the rest", "30", [30, 30, 30, 10]],
  ])("an export of 100 events by a limit of %s, the last without a cursor (EXP-9)", async (_, limit, expected) => {
    const { world, tenant } = await withEvents(100);
    const sizes: number[] = [];

    for (let cursor: string | undefined; cursor !== ""; ) {
      const page = await exportPage(world, tenant, { limit, ...(cursor && { cursor }) });
      sizes.push(page.items.length);
      cursor = page.next_cursor;
    }

    expect(sizes).toEqual(expected);
  });

  it("an event stored before the export is exported exactly once, whatever is stored meanwhile (EXP-8)", async () => {
    const moments = fc.array(
      fc.record({ minutesAgo: fc.integer({ min: 0, max: 3 * 24 * 60 }), count: fc.integer({ min: 1, max: 70 }) }),
      { minLength: 1, maxLength: 5 },
    );
    const story = fc.record({ before: moments, during: moments, limit: fc.integer({ min: 3, max: 60 }) });

    for (const { before, during, limit } of fc.sample(story, { numRuns: 6, seed: 11 })) {
      const { world, tenant } = await withTenant();
      const store = ({ minutesAgo, count }: { minutesAgo: number; count: number }) => {
        const events = someEvents(count, (n) => ({ occurred_at: timestamp(START - minutesAgo * MINUTE + (n % 3)) }));
        return ingest(world, tenant, { events });
      };
      for (const moment of before) await store(moment);
      await world.advance(SECOND);
      const present = idsOf(await exportAll(world, tenant));
      const left = [...during];

      const seen: Row[] = await exportAll(world, tenant, { limit: String(limit) }, async () => {
        const moment = left.shift();
        if (moment) await store(moment);
        await world.advance(SECOND);
      });

      expect(new Set(idsOf(seen)).size).toBe(seen.length);
      expect(idsOf(seen).filter((id) => present.includes(id))).toEqual(present);
      expect(seen.map(placeOf)).toEqual(seen.map(placeOf).sort());
    }
  });

  it("a page of an export closes at 4 MB with a cursor, and the rest follows (EXP-1)", async () => {
    const { world, tenant } = await withTenant();
    const large = { properties: { k: Array(110).fill("x".repeat(250)) } };
    for (let n = 0; n < 20; n++) await ingest(world, tenant, { events: someEvents(10, () => large) });
    await world.advance(SECOND);

    const first = await exportPage(world, tenant);

    expect(first.items.length).toBeLessThan(200);
    expect(Buffer.byteLength(JSON.stringify(first.items))).toBeLessThanOrEqual(4 * 1_048_576);
    expect(await exportAll(world, tenant)).toHaveLength(200);
  });
});

it("events of a day are exported, though the note of the day failed before (EVT-11, EXP-7)", async () => {
  const noting = requests({ of: "api-events", naming: "EVENTDAYS" });
  const { world, tenant } = await withTenant({ hooks: noting.hooks });
  noting.fail();
  expect((await ingest(world, tenant, { events: someEvents(1) })).status).toBe(500);
  noting.pass();

  // Each is in one of sixteen partitions of the day.
  for (let n = 0; n < 60; n++) await ingest(world, tenant, { events: someEvents(1) });

  expect(await exportAll(world, tenant, { to: timestamp(START + HOUR) })).toHaveLength(60);
});
