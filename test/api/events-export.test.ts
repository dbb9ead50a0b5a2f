// The export of events: its window, its order, its pages during ingestion, and rows of erased subscribers (EXP).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { createServerKey } from "../../shared/store/workspaces/identity.ts";
import { exportAll, exportPage, identify, ingest, someEvents } from "../support/events.ts";
import { addPeople, outsideAudit, wholeTable } from "../support/people.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

interface Row {
  id: string;
  occurred_at: string;
  properties: { n?: number };
}
const idsOf = (rows: Row[]) => rows.map(({ id }) => id);
const placeOf = ({ occurred_at, id }: Row) => `${occurred_at}#${id}`;
const numbersOf = (rows: Row[]) => rows.map(({ properties }) => properties.n);

describe("window, limit, cursor", () => {
  it("from is included, to is not, each alone or both; without them everything up to now (EXP-1, AMB-98)", async () => {
    const { world, tenant } = await withTenant();
    const at = (n: number) => timestamp(START - 40 * DAY + n * 10 * DAY);
    await ingest(world, tenant, { events: someEvents(5, (n) => ({ occurred_at: at(n), properties: { n } })) });
    await ingest(world, tenant, {
      events: someEvents(1, () => ({ occurred_at: timestamp(START + MINUTE), properties: { n: 9 } })),
    });
    await world.advance(SECOND);
    const numbers = async (query: Record<string, string>) => numbersOf(await exportAll(world, tenant, query));
    expect(await numbers({})).toEqual([0, 1, 2, 3, 4]);
    expect(await numbers({ from: at(1) })).toEqual([1, 2, 3, 4]);
    expect(await numbers({ to: at(1) })).toEqual([0]);
    expect(await numbers({ from: at(1), to: at(3) })).toEqual([1, 2]);
    expect(await numbers({ from: "2026-11-20T00:00:00+12:00", to: timestamp(START + HOUR) })).toEqual([4, 9]);
    expect(await numbers({ from: at(1), to: at(1) })).toEqual([]);
  });

  it.each([
    ["EXP-4 a from that is no time", "from=yesterday", "from"],
    ["EXP-4 a to that is no time", "to=2026-13-01T00:00:00Z", "to"],
    ["EXP-4 AMB-98 a window that ends before it begins", "from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z", "to"],
    ["EXP-5 LIM-8 a limit of 0", "limit=0", "limit"],
    ["EXP-5 LIM-8 a limit of 1001", "limit=1001", "limit"],
    ["EXP-5 a limit of 1.5", "limit=1.5", "limit"],
    ["EXP-5 a limit that is no number", "limit=all", "limit"],
    ["EXP-6 a cursor that is none", "cursor=abc", "cursor"],
    ["EXP-6 an empty cursor", "cursor=", "cursor"],
  ])("%s is 422 naming it", async (_, query, field) => {
    const { world, tenant } = await withTenant();
    const { status, body } = await world.call(`GET /v1/events/export?${query}`, { as: tenant.server });
    expect([status, body.code, Object.keys(body.fields)]).toEqual([422, "VALIDATION_ERROR", [field]]);
  });

  it("a cursor of another workspace, of another window or changed by a letter is 422 (EXP-6, AMB-98)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    await ingest(world, tenant, { events: someEvents(3) });
    await world.advance(SECOND);
    const { next_cursor: cursor } = await exportPage(world, tenant, { limit: "1" });
    const ask = async (query: string, as = tenant.server) =>
      (await world.call(`GET /v1/events/export?${query}`, { as })).status;
    expect(await ask(`cursor=${cursor}`)).toBe(200);
    expect(await ask(`cursor=${cursor}`, other.server)).toBe(422);
    expect(await ask(`cursor=${cursor}&from=2026-01-01T00:00:00Z`)).toBe(422);
    expect(await ask(`cursor=${cursor}&to=2026-12-01T00:00:00Z`)).toBe(422);
    for (const at of [0, 20, cursor.length - 1])
      expect(await ask(`cursor=${cursor.slice(0, at)}${cursor[at] === "A" ? "B" : "A"}${cursor.slice(at + 1)}`)).toBe(
        422,
      );
  });

  it("401 without a credential, 403 to a client, by scope to a server key (EXP-2, EXP-3, EVT-13, IDN-4, AMB-27, AMB-28)", async () => {
    const { world, tenant } = await withTenant();
    const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
    const keyOf = async (scopes: ("events:read" | "events:write")[]) => {
      const { key } = await createServerKey(tenant.store, platform, { name: scopes.join(), scopes });
      return { authorization: `Bearer ${key}` };
    };
    const ask = async (as: Record<string, string>) => (await world.call("GET /v1/events/export", { as })).status;
    expect([
      await ask({}),
      await ask(tenant.sdk),
      await ask(tenant.server),
      await ask(await tenant.dashboard()),
    ]).toEqual([401, 403, 200, 401]);
    const [reader, writer] = [await keyOf(["events:read"]), await keyOf(["events:write"])];
    expect([await ask(reader), await ask(writer)]).toEqual([200, 403]);
    const send = async (
      as: Record<string, string>,
      route = "POST /v1/events",
      body: object = { event_name: "x", anonymous_id: "y" },
    ) => (await world.call(route, { as, body })).status;
    expect([await send(reader), await send(writer), await send(tenant.server)]).toEqual([403, 202, 202]);
    const [id] = await addPeople(world, tenant, 1);
    const link = { anonymous_id: "y", subscriber_id: id };
    expect([
      await send(reader, "POST /v1/events/identify", link),
      await send(writer, "POST /v1/events/identify", link),
    ]).toEqual([403, 200]);
  });
});

describe("pages", () => {
  it("rows are in the order of (occurred_at, id) over days and partitions, page by page, the last without a cursor (EXP-7, EXP-9)", async () => {
    const { world, tenant } = await withTenant();
    const hour = (n: number) => timestamp(START - ((n * 37) % 80) * 18 * HOUR - 1);
    const crowd = someEvents(600, (n) => ({
      occurred_at: timestamp(START - 3 * DAY + (n % 7)),
      properties: { n: 1_000 + n },
    }));
    await ingest(world, tenant, { events: crowd });
    for (let from = 0; from < 160; from += 40)
      await ingest(world, tenant, {
        events: someEvents(40, (n) => ({ occurred_at: hour(from + n), properties: { n: from + n } })),
      });
    await world.advance(SECOND);
    const all = await exportAll(world, tenant);
    expect(all).toHaveLength(760);
    expect(all.map(placeOf)).toEqual(all.map(placeOf).sort());
    expect(new Set(numbersOf(all)).size).toBe(760);
    for (const limit of [1_000, 760, 759, 90]) {
      const rows: Row[] = [];
      let pages = 0;
      let cursor = "";
      do {
        const page = await exportPage(world, tenant, { limit: String(limit), ...(cursor && { cursor }) });
        rows.push(...page.items);
        pages++;
        cursor = page.next_cursor;
      } while (cursor);
      expect(idsOf(rows)).toEqual(idsOf(all));
      expect([limit, pages]).toEqual([limit, Math.ceil(760 / limit)]);
    }
  });

  it("an event stored before the export is exported exactly once, whatever is stored meanwhile (EXP-8)", async () => {
    const moments = fc.array(
      fc.record({ minutesAgo: fc.integer({ min: 0, max: 3 * 24 * 60 }), count: fc.integer({ min: 1, max: 70 }) }),
      { minLength: 1, maxLength: 5 },
    );
    const stories = fc.sample(fc.record({ before: moments, during: moments, limit: fc.integer({ min: 3, max: 60 }) }), {
      numRuns: 6,
      seed: 11,
    });
    for (const { before, during, limit } of stories) {
      const world = await fresh();
      const tenant = await world.tenant();
      const send = ({ minutesAgo, count }: { minutesAgo: number; count: number }, label: string) =>
        ingest(world, tenant, {
          events: someEvents(count, (n) => ({
            event_name: label,
            occurred_at: timestamp(START - minutesAgo * MINUTE + (n % 3)),
          })),
        });
      for (const one of before) await send(one, "before");
      await world.advance(SECOND);
      const present = idsOf(await exportAll(world, tenant));
      const left = [...during];
      const seen: Row[] = await exportAll(world, tenant, { limit: String(limit) }, async () => {
        const one = left.shift();
        if (one) await send(one, "during");
        await world.advance(SECOND);
      });
      expect(new Set(idsOf(seen)).size).toBe(seen.length);
      expect(idsOf(seen).filter((id) => present.includes(id))).toEqual(present);
      expect(seen.map(placeOf)).toEqual(seen.map(placeOf).sort());
    }
  });

  it("the end of an open window is fixed at the first page (ARC-6, EXP-8)", async () => {
    const { world, tenant } = await withTenant();
    await ingest(world, tenant, { events: someEvents(3) });
    await world.advance(SECOND);
    const rows = await exportAll(world, tenant, { limit: "1" }, async () => {
      await ingest(world, tenant, { events: someEvents(2) });
      await world.advance(SECOND);
    });
    expect(rows).toHaveLength(3);
  });

  it("a page closes at 4 MB with a cursor (EXP-1)", async () => {
    const { world, tenant } = await withTenant();
    const big = { properties: { k: Array(110).fill("x".repeat(250)) } };
    for (let n = 0; n < 20; n++) await ingest(world, tenant, { events: someEvents(10, () => big) });
    await world.advance(SECOND);
    const first = await exportPage(world, tenant);
    expect(first.items.length).toBeLessThan(200);
    expect(Buffer.byteLength(JSON.stringify(first.items))).toBeLessThanOrEqual(4 * 1_048_576);
    expect(await exportAll(world, tenant)).toHaveLength(200);
  });
});

describe("erased subscribers", () => {
  it("both ids are null at once, linked anonymous ids included, and everything else stays (EXP-11, SUB-16, D-EXPORTDEL)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    const mine = [{ subscriber_id: ada }, { anonymous_id: "laptop" }];
    const events = mine.map((actor, n) => ({ event_name: "bought", properties: { n }, ...actor }));
    await ingest(world, tenant, { events: [...events, { event_name: "seen", subscriber_id: bob }] });
    await identify(world, tenant, "laptop", ada);
    await world.advance(SECOND);
    const before = await exportAll(world, tenant);
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    const expected = before.map((row) =>
      row.subscriber_id === ada ? { ...row, subscriber_id: null, anonymous_id: null } : row,
    );
    expect(await exportAll(world, tenant, { to: timestamp(START + SECOND) })).toEqual(expected);
    await world.advance(5 * MINUTE);
    expect(await exportAll(world, tenant)).toEqual(expected);
    expect(expected.filter(({ subscriber_id }) => subscriber_id === null)).toHaveLength(2);
  });

  it("no row of the table names an erased subscriber: events, links, index keys, a thousand of them (SUB-16)", async () => {
    const { world, tenant } = await withTenant();
    const [id, other] = (await addPeople(world, tenant, 2)) as [string, string];
    const canaries = Array.from({ length: 3 }, (_, n) => `canary-device-${n}`);
    await ingest(world, tenant, { events: someEvents(900, (n) => ({ anonymous_id: canaries[n % 3] })) });
    await ingest(world, tenant, { events: someEvents(300, () => ({ anonymous_id: undefined, subscriber_id: id })) });
    await ingest(world, tenant, { event_name: "seen", anonymous_id: "another-device" });
    for (const canary of canaries) await identify(world, tenant, canary, id);
    await identify(world, tenant, "another-device", other);
    await world.advance(SECOND);
    await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    await world.advance(5 * MINUTE);
    const table = await wholeTable(world);
    expect(JSON.stringify(table)).not.toContain("canary-device");
    const mentions = outsideAudit(table).filter((item) => JSON.stringify(item).includes(id));
    expect(mentions.map(({ sk }) => sk.S)).toEqual([id]);
    const rows = await exportAll(world, tenant);
    expect(rows).toHaveLength(1_201);
    expect(
      rows.filter(({ subscriber_id, anonymous_id }) => subscriber_id === null && anonymous_id === null),
    ).toHaveLength(1_200);
    expect(rows.find(({ anonymous_id }) => anonymous_id)).toMatchObject({
      subscriber_id: other,
      anonymous_id: "another-device",
    });
  });

  it("events in flight at the tombstone are anonymized by the second pass; the device can be linked anew at once (SUB-16)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    await ingest(world, tenant, { event_name: "first", anonymous_id: "shared" });
    await identify(world, tenant, "shared", ada);
    await world.advance(SECOND);
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.settle();
    await ingest(world, tenant, { event_name: "late", anonymous_id: "shared" });
    await world.advance(90 * SECOND);
    expect((await identify(world, tenant, "shared", bob)).body).toEqual({ linked: true, backfilled: 1 });
    await ingest(world, tenant, { event_name: "his", anonymous_id: "shared" });
    await world.advance(5 * MINUTE);
    const rows = await exportAll(world, tenant);
    expect(
      rows.map(({ event_name, subscriber_id, anonymous_id }) => [event_name, subscriber_id, anonymous_id]),
    ).toEqual([
      ["first", null, null],
      ["late", null, null],
      ["his", bob, "shared"],
    ]);
    expect((await wholeTable(world)).filter(({ pk }) => pk.S.endsWith(`#U#${ada}`))).toEqual([]);
  });

  it("properties are erased too where the request asks for it, on both endpoints (D-EXPORTDEL)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob, eve] = (await addPeople(world, tenant, 3)) as [string, string, string];
    const events = [ada, bob, eve].map((subscriber_id) => ({
      event_name: "seen",
      subscriber_id,
      properties: { note: "x" },
    }));
    await ingest(world, tenant, { events });
    const refused = await tenant.call(`DELETE /api/v1/subscribers/${ada}?erase_properties=yes`);
    expect([refused.status, Object.keys(refused.body.fields)]).toEqual([422, ["erase_properties"]]);
    await tenant.call(`DELETE /api/v1/subscribers/${ada}?erase_properties=true`);
    const body = { subscriber_ids: [bob], erase_properties: true };
    expect((await tenant.call("POST /api/v1/subscribers/bulk-delete", body)).body.deleted).toBe(1);
    await tenant.call(`DELETE /api/v1/subscribers/${eve}`);
    await world.advance(5 * MINUTE);
    const rows = await exportAll(world, tenant);
    expect(rows.map(({ properties }) => properties.note).sort()).toEqual(["x", undefined, undefined]);
    expect(rows.every(({ subscriber_id }) => subscriber_id === null)).toBe(true);
  });

  it("a repeat of an erased subscriber's event is still accepted and stays without an owner (EVT-8)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    const event = { event_name: "bought", subscriber_id: id, idempotency_key: "order" };
    await ingest(world, tenant, event);
    await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    await world.advance(5 * MINUTE);
    expect((await ingest(world, tenant, event)).body).toEqual({ accepted: 1 });
    expect(await exportAll(world, tenant)).toMatchObject([{ subscriber_id: null, anonymous_id: null }]);
  });
});
