// What a month of a deployment costs (F10): the rates and the pages that name them are held against what is metered.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { workers } from "../../functions/index.ts";
import { dollarsPerMillion } from "../../shared/rules/cost.ts";
import { costOfMonth, EMPTY_MONTH, MEASURED, RATES, STORED_BYTES } from "../../shared/rules/month-cost.ts";
import { metered } from "../support/spending.ts";
import { addReader, openStream } from "../support/sse.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();

it("a month at rest costs what docs/deploy.md says, and streams are by far the largest part of one in use (F10)", () => {
  const queues = workers.filter(({ eventSource }) => eventSource === "queue").length;
  const rest = costOfMonth(EMPTY_MONTH, queues).reduce((sum, [, dollars]) => sum + dollars, 0);
  const page = readFileSync(new URL("../../docs/deploy.md", import.meta.url), "utf8");
  const sum = `about ${rest.toFixed(2)} dollars, which are ${RATES.atRest.toFixed(2)} and ${RATES.queueAtRest} for each of ${queues} queues`;
  expect(page).toContain(sum);
  const busy = new Map(costOfMonth({ ...EMPTY_MONTH, subscribers: 100_000, sends: 1e6, streams: 10_000 }, 21));
  expect(busy.get("live streams")).toBeGreaterThan(48_000);
});

it("what docs/deploy.md lists at rest adds up to its sum (F10)", () => {
  const page = readFileSync(new URL("../../docs/deploy.md", import.meta.url), "utf8");
  const table = page.slice(page.indexOf("**At rest**"), page.indexOf("Custom metrics are"));
  const prices = [...table.matchAll(/^\| (.*) \| (.*) \|$/gm)].filter(
    ([, what]) => !what!.startsWith("`publish-events`"),
  );
  const sums = { always: 0, aQueue: 0 };
  for (const [, , price = ""] of prices)
    for (const [, dollars, isOfQueue] of price.matchAll(/([\d.]+)( a queue)?/g))
      sums[isOfQueue ? "aQueue" : "always"] += Number(dollars);
  expect(sums).toEqual({ always: expect.closeTo(RATES.atRest, 5), aQueue: expect.closeTo(RATES.queueAtRest, 5) });
});

it("a month costs what one adds up by hand, in every dimension that AWS bills (F10)", () => {
  const month = {
    subscribers: 200_000,
    sends: 3_000_000,
    singles: 1_000_000,
    pushes: 2_000_000,
    mails: 100_000,
    events: 10_000_000,
    published: 5_000_000,
    requests: 2_000_000,
    streams: 10,
    gigabytes: 40,
    months: 6,
  };
  const byHand = {
    // Two alarms more, because events are published.
    "at rest": 3.86 + 23 * 0.46 + 0.2,
    // 1.047 write units, 0.06 read units, 0.0072 requests to the queue and 0.0002 GB-seconds each.
    "sends to many, in-app": 3 * (0.6544 + 0.0075 + 0.0029 + 0.0027),
    // 4 write units, 6 read units, 3 requests to the queue and 0.02 GB-seconds.
    "sends to one, in-app": 2.5 + 0.75 + 1.2 + 0.2667,
    // 1.165 write units, 0.69 read units, 0.0144 requests to the queue and 0.006 GB-seconds each.
    "pushes to many": 2 * (0.7281 + 0.0863 + 0.0058 + 0.08),
    emails: 0.1 * (0.7188 + 0.385 + 0.4848 + 0.0933),
    "emails, SES": 10,
    // 2 write units, 1.95 read units, 0.0012 requests to the queue and 0.0006 GB-seconds each.
    "events, a thousand a request": 10 * (1.25 + 0.2438 + 0.0005 + 0.008),
    "events on the account's bus": 5 * (0.25 + 0.03),
    // Those that write a row, those of the sends to one, and ten thousand of events.
    requests: 2 * 3.705 + 3.08 + 0.0308,
    "live streams": 10 * 43_800 * 0.000_111,
    transfer: 3.4,
    // 0.28 GB of profiles; six months of 1.35, 1.7 and 0.9 GB of sends and pushes, and 10.5 GB of events.
    storage: 86.98 * 0.45,
  };
  const lines = Object.fromEntries(costOfMonth(month, 23));
  expect(Object.keys(lines)).toEqual(Object.keys(byHand));
  for (const [what, dollars] of Object.entries(byHand))
    expect([what, lines[what]]).toEqual([what, expect.closeTo(dollars, 2)]);
});

it("the rates of a month are those that docs/performance.md measured (F10)", () => {
  const page = readFileSync(new URL("../../docs/performance.md", import.meta.url), "utf8");
  const measured = (work: string, size: string) => {
    const row = page.split("\n").find((line) => line.startsWith(`| ${work} | ${size} |`))!;
    const [wcu, rcu, , messages] = row.split(" | ").slice(3).map(Number);
    return { wcu: wcu!, rcu: rcu!, messages: messages! };
  };
  const near = (measured: number, rate: number) => Math.abs(measured - rate) <= measured / 10;
  const { alone, event, eventOfMany } = MEASURED;
  const send = measured("single in-app send", "alone");
  const batch = measured("batch of 1000 events", "with keys");
  const wide = measured("batch of 1000 events", "with keys, of 950 people");
  for (const name of ["wcu", "rcu", "messages"] as const) {
    expect([name, near(send[name], alone[name])]).toEqual([name, true]);
    expect([name, near(batch[name] / 1_000, event[name])]).toEqual([name, true]);
    expect([name, near(wide[name] / 1_000, eventOfMany[name])]).toEqual([name, true]);
  }
});

it("docs/deploy.md says what a million costs as npm run cost does (F10, D20)", () => {
  const page = readFileSync(new URL("../../docs/deploy.md", import.meta.url), "utf8");
  const said = (work: string) =>
    Number(
      page
        .split("\n")
        .find((line) => line.startsWith(`| ${work}`))!
        .split(" | ")[1],
    );
  const million = (of: Partial<typeof EMPTY_MONTH>, ...names: string[]) => {
    const lines = new Map(costOfMonth({ ...EMPTY_MONTH, months: 0, ...of }, 0));
    return names.reduce((sum, name) => sum + lines.get(name)!, 0);
  };
  const costs = {
    "API requests": million({ requests: 1e6 }, "requests"),
    "in-app messages of sends to many": million({ sends: 1e6 }, "sends to many, in-app"),
    "in-app messages of sends to one": million({ singles: 1e6 }, "sends to one, in-app"),
    "pushes of sends to many": million({ pushes: 1e6 }, "pushes to many"),
    "behavioral events with keys": million({ events: 1e6 }, "events, a thousand a request"),
    "emails by SES": million({ mails: 1e6 }, "emails", "emails, SES"),
    "outbound events": million({ published: 1e6 }, "events on the account's bus"),
    "minutes of an open live stream": RATES.streamMinutes,
  };
  for (const [work, dollars] of Object.entries(costs))
    expect([work, said(work)]).toEqual([work, expect.closeTo(dollars, 2)]);
});

it("a month in which events are published pays for the alarms of what publishes them (F10, D20)", () => {
  const [, atRest] = costOfMonth(EMPTY_MONTH, 0)[0]!;
  const [, whilePublished] = costOfMonth({ ...EMPTY_MONTH, published: 1 }, 0)[0]!;

  expect(whilePublished - atRest).toBeCloseTo(0.2, 5);
});

it("a minute of an open stream costs what a deployment meters of a whole one (F10, D20)", async () => {
  const { world, tenant } = await withTenant({ env: { STREAM_CONCURRENCY: "500" } });
  const { id } = await addReader(world, tenant);
  let seconds = 0;
  const { wcu, rcu } = await metered(world, async () => {
    const stream = await openStream(world, `?subscriber_id=${id}`, tenant.sdk);
    for (; !stream.ended; seconds++) await world.advance(1_000);
  });
  // A GB-second of Arm; the edge, Lambda and half a KB of logs for each opening.
  const memory = 60 * 0.125 * 13.3334;
  const opening = 1 + 0.2 + 0.5;
  const perStream = dollarsPerMillion({ wcu, rcu, messages: 0 }, "alone") + opening;
  const dollars = memory + (perStream * 60) / seconds;
  expect(Math.abs(dollars - RATES.streamMinutes)).toBeLessThan(1);
});

it("what a month stores is what the table grows by, with the 100 bytes that AWS adds to each row (F10)", async () => {
  const { world, tenant } = await withTenant();
  const stored = async (): Promise<number> => {
    const { Table } = await world.dynamodb.operate("DescribeTable", { TableName: world.env.TABLE_NAME });
    type TableSizes = { TableSizeBytes?: number; IndexSizeBytes?: number; ItemCount: number };
    const all = [Table, ...(Table as { GlobalSecondaryIndexes: TableSizes[] }).GlobalSecondaryIndexes] as TableSizes[];
    return all.reduce((sum, one) => sum + (one.TableSizeBytes ?? one.IndexSizeBytes ?? 0) + 100 * one.ItemCount, 0);
  };
  const growth = async (count: number, act: () => Promise<unknown>) => {
    const before = await stored();
    await act();
    await world.settle();
    return ((await stored()) - before) / count;
  };
  const attributes = { plan: "pro", age: 36, first_name: "Ada", city: "Berlin" };
  const ids: string[] = [];
  const subscriber = await growth(100, async () => {
    for (let n = 0; n < 100; n++) {
      const body = { external_id: `user-${n}-0123456789`, email: `user${n}@example.com`, attributes };
      ids.push(await tenant.upsert(body));
    }
  });
  const text = { title: "Hello", body: "A message of some length, as people write it in the app, with a link." };
  const many = { target: { type: "all" }, ...text };
  const send = await growth(100, () => tenant.call("POST /api/v1/notifications", many));
  const single = await growth(40, async () => {
    for (const id of ids.slice(0, 40))
      await tenant.call("POST /api/v1/notifications", { subscriberIds: [id], ...text });
  });
  const crowd: string[] = [];
  for (let n = 0; n < 950; n++) crowd.push(await tenant.upsert({ external_id: `one-of-many-${n}` }));
  const event = await growth(1_000, () => {
    const events = Array.from({ length: 1_000 }, (_, n) => ({
      event_name: n % 3 ? "product_viewed" : "order_completed",
      subscriber_id: crowd[n % crowd.length],
      properties: { sku: `sku-${n % 50}`, price: 1_999, currency: "EUR" },
      idempotency_key: `order-${n}`,
    }));
    return world.call("POST /v1/events", { as: tenant.server, body: { events } });
  });
  for (const [name, bytes] of Object.entries({ subscriber, send, single, event })) {
    const assumed = STORED_BYTES[name as keyof typeof STORED_BYTES];
    expect([name, Math.abs(bytes - assumed) <= assumed / 5 || bytes]).toEqual([name, true]);
  }
});

it("a workspace is told what its usage of the month cost so far, as the operator is (F10)", async () => {
  const { world, tenant, ids } = await withPeople(3);
  const body = { subscriberIds: ids, title: "t", body: "b" };
  expect((await tenant.call("POST /api/v1/notifications", body)).status).toBe(201);
  const events = ids.slice(1).map((subscriber_id) => ({ event_name: "seen", subscriber_id }));
  expect((await world.call("POST /v1/events", { as: tenant.server, body: { events } })).status).toBe(202);
  await world.settle();
  const { usage, cost, period_start } = (await tenant.call("GET /api/v1/billing")).body;
  const input = { cost: { period: period_start.slice(0, 7) } };
  const seen = (await world.host.invoke("operator", input)) as { workspaces: Record<string, unknown>[] };

  expect(usage).toMatchObject({ sends: 3, events: 2 });
  const { dollars, dollars_at_most } = cost;
  expect(seen.workspaces).toMatchObject([{ id: tenant.id, dollars, dollars_at_most }]);
  for (const name of ["dollars", "dollars_at_most"] as const) {
    expect(cost.sends[name]).toBeGreaterThan(0);
    expect(cost.sends[name] + cost.events[name]).toBeCloseTo(cost[name], 6);
  }
});
