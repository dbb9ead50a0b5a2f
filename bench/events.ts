// The cost of events and interactions: ingested by thousands and one by one, exported, reported.
import { SECOND } from "../shared/kernel/clock.ts";
import type { Tenant, TestWorld } from "../test/support/world.ts";
import { type Figure, measure, type Work } from "./measure.ts";
import { fill } from "./people.ts";

const BATCH = 1_000;
const BATCHES = 10;
const SINGLES = 500;
const REPORTS = 500;
const PEOPLE = 200;

const atMost = (n: number, max: number) => n <= max + 1e-9;

export async function eventScenarios(world: TestWorld): Promise<Figure[]> {
  const tenant = await world.tenant();
  const subscribers = await fill(world, tenant, PEOPLE);
  const figures = [await batches(world, tenant, subscribers), await singles(world, tenant, subscribers)];
  await world.advance(SECOND);
  figures.push(await exported(world, tenant), await reports(world, tenant, subscribers));
  return figures;
}

const eventOf = (subscribers: readonly string[], key: string, n: number) => ({
  event_name: n % 3 ? "product_viewed" : "order_completed",
  subscriber_id: subscribers[n % subscribers.length],
  idempotency_key: `${key}-${n}`,
  properties: { sku: `sku-${n % 50}`, price: 1_999, currency: "EUR" },
});

async function batches(world: TestWorld, tenant: Tenant, subscribers: readonly string[]): Promise<Figure> {
  const send = async (key: string, count: number) => {
    const events = Array.from({ length: count }, (_, n) => eventOf(subscribers, key, n));
    const { status } = await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    if (status !== 202) throw new Error(`A batch was answered with ${status}.`);
  };
  await send("first", BATCH);
  return run(
    world,
    {
      scenario: "events, 1,000 a request",
      items: BATCH * BATCHES,
      budget: {
        text: "60 + actors + keys WCU, ≤ 40 requests and one a key per 1,000",
        keeps: ({ wcu, requests }) => atMost(wcu, (60 + PEOPLE + BATCH) / BATCH) && atMost(requests, 1.04),
      },
    },
    BATCHES,
    (n) => send(`batch ${n}`, BATCH),
  );
}

const singles = (world: TestWorld, tenant: Tenant, subscribers: readonly string[]): Promise<Figure> =>
  run(world, { scenario: "event, one a request", items: SINGLES }, SINGLES, (n) =>
    world.call("POST /v1/events", { as: tenant.sdk, body: eventOf(subscribers, "single", n) }),
  );

async function exported(world: TestWorld, tenant: Tenant): Promise<Figure> {
  let rows = 0;
  const all = async () => {
    let cursor = "";
    do {
      const { body } = await world.call(`GET /v1/events/export?cursor=${cursor}`.replace(/\?cursor=$/, ""), {
        as: tenant.server,
      });
      rows += body.items.length;
      cursor = body.next_cursor;
    } while (cursor);
  };
  await all();
  const items = rows;
  const actors = (PEOPLE * Math.ceil(items / BATCH)) / items;
  return measure(
    world,
    {
      scenario: "event exported",
      items,
      authentication: ["GetItem"],
      budget: { text: "≤ 75 RCU + 1 per actor per 1,000", keeps: ({ rcu }) => atMost(rcu - actors, 0.075) },
    },
    all,
  );
}

async function reports(world: TestWorld, tenant: Tenant, subscribers: readonly string[]): Promise<Figure> {
  const as = await tenant.dashboard();
  const send = { subscriberIds: subscribers.slice(0, 10), title: "Hello", body: "World" };
  const job_id = (await world.call("POST /api/v1/notifications", { as, body: send })).body.id;
  await world.settle();
  return run(world, { scenario: "interaction reported", items: REPORTS }, REPORTS, (n) => {
    const occurred_at = new Date(world.clock.now() - n).toISOString();
    const body = {
      job_id,
      interaction: "inapp_click",
      platform: "ios",
      occurred_at,
      subscriber_id: subscribers[n % 10],
    };
    return world.call("POST /api/v1/notifications/interactions", { as: tenant.sdk, body });
  });
}

const run = (world: TestWorld, work: Work, times: number, action: (n: number) => Promise<unknown>): Promise<Figure> =>
  measure(world, { authentication: ["GetItem"], ...work }, async () => {
    for (let n = 0; n < times; n++) await action(n);
  });
