// What events cost: in batches, with segments that listen, exported.
import { DAY, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { segmentOf } from "../../test/support/segments.ts";
import type { Tenant, TestWorld } from "../../test/support/world.ts";
import { fill } from "../people.ts";
import { asked, type Cost, costOf, inWorld, most, type Row, type Target, taken } from "./cost.ts";

const BATCH = 1_000;
const PEOPLE = 100;
/** Nearly every event of a batch is then of another person. */
const MANY = 950;
const route = "POST /v1/events";

const post = (world: TestWorld, tenant: Tenant, events: object[]) =>
  asked(world, route, { as: tenant.server, body: { events } });

const eventsOf = (ids: readonly string[], count: number, more: (n: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, n) => ({
    event_name: n % 3 ? "product_viewed" : "order_completed",
    subscriber_id: ids[n % ids.length],
    properties: { sku: `sku-${n % 50}`, price: 1_999, currency: "EUR" },
    ...more(n),
  }));

const entranceFor = (tenant: Tenant) => ({ as: tenant.server, route, body: { events: [] } });

interface Batch {
  size: string;
  people?: number;
  hasKeys?: boolean;
  /** How many live segments ask for one of its two events, without anybody who enters. */
  segments?: number;
  targets: Target[];
}

async function batch({ size, people = PEOPLE, hasKeys = false, segments = 0, targets }: Batch): Promise<Cost> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const ids = await fill(world, tenant, people);
    for (let n = 0; n < segments; n++)
      await segmentOf(world, tenant, { event: { name: "order_completed", count: n + 5 } });
    const send = (key: string) =>
      post(
        world,
        tenant,
        eventsOf(ids, BATCH, (n) => (hasKeys ? { idempotency_key: `${key}-${n}` } : {})),
      );
    await send("first");
    await world.settle();
    const query = {
      work: `batch of ${BATCH} events`,
      size,
      per: "batch",
      count: 1,
      targets,
      entrance: entranceFor(tenant),
    };
    return costOf(world, query, async () => {
      await send("second");
      await world.settle();
    });
  });
}

interface Listening {
  segments: number;
  /** Whether the event makes each of them a member of one of the segments. */
  enters: boolean;
}

/** One event of each of 100 people in a batch, with live segments that listen to it. */
async function listened({ segments, enters }: Listening): Promise<Cost> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const ids = await fill(world, tenant, PEOPLE);
    const least = enters ? 2 : 3;
    for (let n = 0; n < segments; n++)
      await segmentOf(world, tenant, { event: { name: "order_completed", count: n + least } });
    const send = () =>
      post(
        world,
        tenant,
        eventsOf(ids, PEOPLE, () => ({ event_name: "order_completed" })),
      );
    await send();
    await world.settle();
    const targets: Target[] = segments === 0 ? [] : [most("cpu", 100, "echo"), most("requests", 1.2)];
    const query = {
      work: "event with live segments",
      size: segments === 0 ? "0 segments" : `${segments} segments, ${enters ? "all enter one" : "nobody enters"}`,
      per: "event of another person",
      count: PEOPLE,
      targets,
      entrance: entranceFor(tenant),
    };
    return costOf(world, query, async () => {
      await send();
      await world.settle();
    });
  });
}

async function listenedBy(): Promise<Cost[]> {
  const none = await listened({ segments: 0, enters: false });
  const more: Target[] = [most("wcu", none.wcu * 1.5)];
  const all = [none];
  for (const enters of [false, true])
    for (const segments of [3, 10]) {
      const cost = await listened({ segments, enters });
      all.push({ ...cost, targets: segments === 10 ? [...cost.targets, ...more] : cost.targets });
    }
  return all;
}

const REQUESTS = 100;

/**
 * What an event may take of the processor, as a multiple of the raw echo, by how many are in a request: 0.65 of what the
 * release before this one took.
 */
const MOST_OF_ECHO: Partial<Record<number, number>> = { 1: 43, 100: 3.3 };

/** Events that nothing watches, one request after the other. */
async function ingested(perRequest: number): Promise<Cost> {
  const limit = MOST_OF_ECHO[perRequest];
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const ids = await fill(world, tenant, PEOPLE);
    const all = async () => {
      for (let n = 0; n < REQUESTS; n++) await post(world, tenant, eventsOf(ids, perRequest));
      await world.settle();
    };
    await all();
    const query = {
      work: "event that nothing watches",
      size: `${perRequest} a request`,
      per: "event",
      count: REQUESTS * perRequest,
      entrance: entranceFor(tenant),
      entrances: REQUESTS,
      targets: limit === undefined ? [] : [most("cpu", limit, "echo")],
    };
    return costOf(world, query, all);
  });
}

const SPACING_MS = 10 * MINUTE;
/** Requests one after the other: what an environment reads once is a small part of them. */
const MEASURED = 50;
/** As many of another person before: the code is compiled by then. */
const WARMING = 100;
/** 3 ms on a machine whose raw echo takes 59 µs. */
const MOST_WATCHED_OF_ECHO = 51;

/** One event of one person in a request of its own, which a live segment asks for, as its history grows. */
async function watched(history: number): Promise<Cost> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const [ada = "", bo = ""] = await fill(world, tenant, 2);
    await segmentOf(world, tenant, { event: { name: "order_completed", within: "30d" } });
    const one = (id = ada) => eventsOf([id], 1, () => ({ event_name: "order_completed" }));
    const happen = async (times: number, id?: string) => {
      for (let n = 0; n < times; n++) {
        await post(world, tenant, one(id));
        await world.settle();
      }
    };
    const first = world.clock.now() - history * SPACING_MS;
    for (let n = 0; n < history; n++) {
      const occurred_at = new Date(first + n * SPACING_MS).toISOString();
      await post(
        world,
        tenant,
        one().map((event) => ({ ...event, occurred_at })),
      );
    }
    await world.settle();
    await happen(WARMING, bo);
    const query = {
      work: "event that a live rule watches",
      size: `person with ${history} events`,
      per: "event",
      count: MEASURED,
      targets: [most("rcu", 4), most("cpu", MOST_WATCHED_OF_ECHO, "echo")],
      entrance: entranceFor(tenant),
    };
    return costOf(world, { ...query, entrances: MEASURED }, () => happen(MEASURED));
  });
}

async function exported(): Promise<Cost[]> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const ids = await fill(world, tenant, PEOPLE);
    for (let second = 0; second < 10; second++) {
      await post(world, tenant, eventsOf(ids, BATCH / 10));
      await world.advance(SECOND);
    }
    const as = tenant.server;
    const entrance = { as, route: "GET /v1/events/export?limit=none" };
    const page = async () => taken(await world.call(`GET /v1/events/export?limit=${BATCH}`, { as }));
    const { items } = (await page()).body;
    const query = {
      work: "export of events",
      size: `${items.length} rows of 10 seconds`,
      per: "1,000 rows",
      count: items.length / BATCH,
      targets: [most("rcu", 60), most("requests", 10)],
      entrance,
    };
    return [await costOf(world, query, page)];
  });
}

const DAYS = 10;
const SPREAD_BATCHES = 20;
/** A multiplicative generator: the same draw in every run. */
const PRIME = 2_147_483_647;
const afterDraw = (n: number) => (n * 16_807) % PRIME;

/** Pages of events that came in batches, each over all of the days. */
async function exportedDays(): Promise<Cost[]> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const ids = await fill(world, tenant, BATCH);
    const begin = world.clock.now() - DAYS * DAY;
    let draw = 1;
    const next = () => {
      draw = afterDraw(draw);
      return draw / PRIME;
    };
    for (let n = 0; n < SPREAD_BATCHES; n++) {
      const events = eventsOf(ids, BATCH, () => ({
        occurred_at: new Date(begin + next() * DAYS * DAY).toISOString(),
      }));
      await post(world, tenant, events);
      await world.settle();
    }
    const as = tenant.server;
    const entrance = { as, route: "GET /v1/events/export?limit=none" };
    const query = {
      work: "export of events",
      size: `${SPREAD_BATCHES * BATCH} rows of ${DAYS} days`,
      per: "1,000 rows",
      count: SPREAD_BATCHES,
      targets: [most("rcu", 60), most("requests", 19)],
      entrance,
      entrances: SPREAD_BATCHES,
    };
    const all = async () => {
      let cursor = "";
      do {
        const route = `GET /v1/events/export?limit=${BATCH}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
        cursor = taken(await world.call(route, { as })).body.next_cursor;
      } while (cursor);
    };
    return [await costOf(world, query, all)];
  });
}

export const eventRows: Row[] = [
  {
    name: "batch of events",
    measure: async () => {
      const requests = most("requests", 40);
      const wide = { people: MANY };
      const of = `${MANY} people`;
      return [
        await batch({ size: "with keys", hasKeys: true, targets: [most("wcu", 60 + PEOPLE + BATCH)] }),
        await batch({ size: "without keys", targets: [most("wcu", 60 + PEOPLE), requests] }),
        await batch({ ...wide, size: `with keys, of ${of}`, hasKeys: true, targets: [most("wcu", 1_750)] }),
        await batch({ ...wide, size: `without keys, of ${of}`, targets: [most("wcu", 760), requests] }),
        await batch({ ...wide, size: `3 live segments, of ${of}`, segments: 3, targets: [most("requests", 760)] }),
      ];
    },
  },
  {
    name: "event that nothing watches",
    measure: async () => [await ingested(1), await ingested(10), await ingested(100)],
  },
  { name: "event with live segments", measure: listenedBy },
  {
    name: "event that a live rule watches",
    measure: async () => [await watched(1), await watched(10), await watched(100), await watched(1_000)],
  },
  { name: "export of events", measure: async () => [...(await exported()), ...(await exportedDays())] },
];
