// What a send costs is estimated before it and computed after it (F10): both are held against the operations that are metered.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { equip, fill } from "../../bench/people.ts";
import { workers } from "../../functions/index.ts";
import { dollarsPerMillion } from "../../shared/rules/cost.ts";
import { costOfMonth, EMPTY_MONTH, MEASURED, RATES, STORED_BYTES } from "../../shared/rules/month-cost.ts";
import type { UploadPath } from "../support/channels.ts";
import { withBuyers } from "../support/conversions.ts";
import { SES } from "../support/mails.ts";
import { addPeople } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { addReader, openStream } from "../support/sse.ts";
import type { Headers, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const MINUTE_MS = 60_000;
const FIRST_NUMBER = 10_000_000;
const WAIT_MS = 10 * MINUTE_MS;

/** What the table and the queues took. */
async function metered(world: TestWorld, work: () => Promise<unknown>) {
  world.dynamodb.resetMeter();
  world.sqs.resetMeter();
  await work();
  const { wcu, rcu } = world.dynamodb.meter();
  return { wcu, rcu, messages: world.sqs.meter().sent };
}

/** What a send targets. */
async function targetOf(world: TestWorld, as: Headers, target: string, ids: readonly string[]): Promise<object> {
  if (target === "given") return { subscriberIds: ids };
  if (target === "named") return { external_ids: ids.map((_, n) => `p${n}`) };
  if (target === "all") return { target: { type: "all" } };
  if (target === "segment") {
    const body = { name: "Everybody", rule: { attribute: { external_id: { $exists: true } } } };
    const { id } = (await world.call("POST /api/v1/segments", { as, body })).body;
    await world.settle();
    return { target: { type: "segment", segment_id: id } };
  }
  const { id } = (await world.call("POST /api/v1/lists", { as, body: { name: "Everybody" } })).body;
  for (let from = 0; from < ids.length; from += 500) {
    const body = { subscriber_ids: ids.slice(from, from + 500) };
    await world.call(`POST /api/v1/lists/${id}/subscribers`, { as, body });
  }
  return { target: { type: "list", list_id: id } };
}

it.each([
  ["in_app", 10_000, "all"],
  ["in_app", 100, "given"],
  ["in_app", 2_000, "given"],
  ["in_app", 300, "named"],
  ["sms", 300, "named"],
  ["in_app", 1_000, "list"],
  ["in_app", 1_000, "segment"],
  ["in_app", 1_200, "list"],
  ["ios-push", 2_000, "all"],
  ["email", 300, "given"],
  ["email", 1_000, "list"],
  ["smtp", 300, "all"],
  ["sms", 1_000, "all"],
  // With profiles of so many kilobytes.
  ["in_app", 1_000, "all", 1],
  ["in_app", 1_000, "all", 4],
  ["in_app", 1_200, "all", 12],
  ["email", 300, "all", 4],
  ["sms", 300, "given", 12],
  ["in_app", 300, "list", 9],
  ["ios-push", 300, "segment", 4],
  ...["given", "all", "list", "segment"].flatMap((target) =>
    ["in_app", "ios-push", "email", "smtp", "sms"].map((channel) => [channel, 1, target] as const),
  ),
] as const)(
  "the preview of a send by %s to %d, and its record, are within a tenth of what it takes: %s, of %s KB (F10)",
  { timeout: 300_000 },
  async (by: string, people: number, target: string, kilobytes: number = 0) => {
    const channel = by === "smtp" ? "email" : by;
    const { world, tenant } = await withTenant();
    const as = await tenant.dashboard();
    const channels = channel === "in_app" ? undefined : await openChannels(world, tenant, channel as UploadPath);
    if (by === "email") {
      await world.call(`POST /api/v1/channels/${channels?.email}/credentials/email`, { as, body: SES });
      await world.settle();
    }
    const addresses = { email: { email: "ada@example.com" }, sms: { attributes: { phone: "+4915112345678" } } };
    const long = Object.fromEntries(Array.from({ length: kilobytes }, (_, n) => [`k${n}`, "x".repeat(1_000)]));
    const own: { email?: string; attributes?: object } = addresses[channel as keyof typeof addresses] ?? {};
    const more = kilobytes > 0 ? { ...own, attributes: { ...long, ...own.attributes } } : own;
    // Ids that are looked up by external ids must be theirs.
    const made =
      target === "named"
        ? addPeople(world, tenant, people, (n) => ({ attributes: { phone: `+49151${FIRST_NUMBER + n}` } }))
        : fill(world, tenant, people, more);
    const ids = await made;
    if (channel === "ios-push") await equip(world, tenant, ids);
    const body = {
      title: "Hello",
      body: "World",
      ...(await targetOf(world, as, target, ids)),
      ...(channels && { channel_ids: Object.values(channels) }),
    };
    // A segment is looked at again some minutes after it was made. Sends are counted by the quarter-hour: it has the same place in one.
    await world.advance(6 * WAIT_MS);
    const now = await tenant.dashboard();
    const { cost: estimate } = (await world.call("POST /api/v1/notifications/preview", { as: now, body })).body;
    const idle = await metered(world, () => world.advance(WAIT_MS));
    let id = "";
    const took = await metered(world, async () => {
      id = (await world.call("POST /api/v1/notifications", { as: now, body })).body.id;
      await world.settle();
      await world.advance(WAIT_MS);
    });
    const { status, counts, cost } = (await tenant.call(`GET /api/v1/notifications/${id}`)).body;
    expect([status, counts.delivered]).toEqual(["completed", people]);
    expect(cost).toEqual(estimate);
    const within = (of: number, unit: keyof typeof took) =>
      Math.abs(of - (took[unit] - idle[unit])) / (took[unit] - idle[unit]);
    expect(within(cost.write_units, "wcu")).toBeLessThan(0.1);
    expect(within(cost.read_units, "rcu")).toBeLessThan(0.1);
    expect(Math.abs(cost.queue_messages - (took.messages - idle.messages))).toBeLessThan(Math.max(1, people / 10));
    expect(cost.provider_dollars).toBeCloseTo(by === "email" ? people / 10_000 : 0, 6);
    expect(cost.dollars).toBeCloseTo(cost.service_dollars + cost.provider_dollars, 6);
  },
);

describe("prices of providers", () => {
  const setting = async () => {
    const { world, tenant } = await withTenant();
    const buyers = await withBuyers({ world, tenant }, 3);
    const { sms = "", ios = "" } = await openChannels(world, tenant, "sms", "ios-push");
    for (const [n, external_id] of ["p0", "p1", "p2"].entries()) {
      const body = { external_id, attributes: { phone: `+4915112345${60 + n}` } };
      await tenant.upsert(body);
    }
    await world.settle();
    const price = (channel: string, price_per_message: unknown) =>
      buyers.call(`PATCH /api/v1/channels/${channel}`, { price_per_message });
    const campaign = async () => {
      const content = { title: "Sale", body: "Now" };
      const messages = [
        { content, channel_ids: [sms, buyers.channel] },
        { content, channel_ids: [buyers.channel] },
      ];
      const { id } = (await buyers.call("POST /api/v1/campaigns", { name: "c", messages })).body;
      const released = (await buyers.call(`POST /api/v1/campaigns/${id}/release`)).body;
      await world.settle();
      return { id: String(id), job: String(released.messages[0].job_id) };
    };
    return { ...buyers, sms, ios, price, campaign };
  };

  it("a send, a campaign and its conversions cost what the provider of each channel charges (F10)", async () => {
    const { call, sms, price, campaign, define, buy, ids, funnel } = await setting();
    await define();
    expect((await price(sms, 0.08)).body.price_per_message).toBe(0.08);
    const { id, job } = await campaign();
    // What is sent already has the price of its dispatch.
    await price(sms, 0.5);
    await buy(ids[0]!, 100);
    const { cost } = (await call(`GET /api/v1/notifications/${job}`)).body;
    expect(cost).toMatchObject({ provider_dollars: 0.24, unpriced: [] });
    const report = (await call(`GET /api/v1/campaigns/${id}/report`)).body;
    expect(report.cost.provider_dollars).toBe(0.24);
    expect(report.cost.dollars).toBeGreaterThan(cost.dollars);
    expect(report.cost.per_conversion).toBe(report.cost.dollars);
    expect(report.by_channel).toMatchObject([
      { channel: "in_app", provider_dollars: 0 },
      { channel: "sms", provider_dollars: 0.24 },
    ]);
    expect(report.by_message[0].dollars).toBe(cost.dollars);
    const { per_conversion: _, ...rest } = report.cost;
    expect((await funnel(id)).cost).toEqual(rest);
  });

  it("messages without a price are named, and not taken for free (F10)", async () => {
    const { call, sms, campaign } = await setting();
    const body = { title: "Sale", body: "Now", target: { type: "all" }, channel_ids: [sms] };
    const preview = (await call("POST /api/v1/notifications/preview", body)).body;
    expect(preview.cost).toMatchObject({ provider_dollars: 0, unpriced: ["sms"] });
    const report = (await call(`GET /api/v1/campaigns/${(await campaign()).id}/report`)).body;
    expect(report.cost).toMatchObject({ unpriced: ["sms"], per_conversion: null });
    expect(report.by_channel[1]).toMatchObject({ channel: "sms", provider_dollars: null });
  });

  it("the price of a channel is refused where its provider has none, and removed by null (F10)", async () => {
    const { call, sms, ios, price } = await setting();
    expect((await price(ios, 0.1)).body.fields).toHaveProperty("price_per_message");
    expect((await price(sms, -1)).status).toBe(422);
    await price(sms, 0.02);
    expect((await price(sms, null)).body).not.toHaveProperty("price_per_message");
    expect((await call(`PATCH /api/v1/channels/${ios}`, { price_per_message: null })).status).toBe(200);
  });
});

it("a month at rest costs what docs/deploy.md says, and streams are by far the largest part of one in use (F10)", () => {
  const queues = workers.filter(({ eventSource }) => eventSource === "queue").length;
  const rest = costOfMonth(EMPTY_MONTH, queues).reduce((sum, [, dollars]) => sum + dollars, 0);
  const page = readFileSync(new URL("../../docs/deploy.md", import.meta.url), "utf8");
  const sum = `about ${rest.toFixed(2)} dollars, which are ${RATES.atRest.toFixed(2)} and ${RATES.queueAtRest} for each of ${queues} queues`;
  expect(page).toContain(sum);
  const busy = new Map(costOfMonth({ ...EMPTY_MONTH, subscribers: 100_000, sends: 1e6, streams: 10_000 }, 21));
  expect(busy.get("live streams")).toBeGreaterThan(49_000);
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
    "at rest": 3.9 + 23 * 0.46,
    // 1.047 write units, 0.06 read units, 0.0072 requests to the queue and 0.0002 GB-seconds each.
    "sends to many, in-app": 3 * (0.6544 + 0.0075 + 0.0029 + 0.0027),
    // 4 write units, 6 read units, 3 requests to the queue and 0.02 GB-seconds.
    "sends to one, in-app": 2.5 + 0.75 + 1.2 + 0.2667,
    // 1.165 write units, 0.69 read units, 0.0144 requests to the queue and 0.006 GB-seconds each.
    "pushes to many": 2 * (0.7281 + 0.0863 + 0.0058 + 0.08),
    "e-mails": 0.1 * (0.7188 + 0.385 + 0.4848 + 0.0933),
    "e-mails, SES": 10,
    "events, a thousand a request": 10 * (0.7063 + 0.1375 + 0.0005 + 0.004),
    "events on the account's bus": 5 * (0.25 + 0.03),
    // Those that write a row, those of the sends to one, and ten thousand of events.
    requests: 2 * 3.705 + 3.08 + 0.0308,
    "live streams": 10 * 43_800 * 0.000_112,
    transfer: 3.4,
    // 0.28 GB of profiles; six months of 1.35, 1.7 and 0.9 GB of sends and pushes, and 3.5 GB of events.
    storage: 44.98 * 0.45,
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
  const { alone, event } = MEASURED;
  const send = measured("single in-app send", "alone");
  const batch = measured("batch of 1000 events", "with keys");
  for (const name of ["wcu", "rcu", "messages"] as const) {
    expect([name, near(send[name], alone[name])]).toEqual([name, true]);
    expect([name, near(batch[name] / 1_000, event[name])]).toEqual([name, true]);
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
    "e-mails by SES": million({ mails: 1e6 }, "e-mails", "e-mails, SES"),
    "outbound events": million({ published: 1e6 }, "events on the account's bus"),
    "minutes of an open live stream": RATES.streamMinutes,
  };
  for (const [work, dollars] of Object.entries(costs))
    expect([work, said(work)]).toEqual([work, expect.closeTo(dollars, 2)]);
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
    type Sized = { TableSizeBytes?: number; IndexSizeBytes?: number; ItemCount: number };
    const all = [Table, ...(Table as { GlobalSecondaryIndexes: Sized[] }).GlobalSecondaryIndexes] as Sized[];
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
  const event = await growth(1_000, () => {
    const events = Array.from({ length: 1_000 }, (_, n) => ({
      event_name: n % 3 ? "product_viewed" : "order_completed",
      subscriber_id: ids[n % 100],
      properties: { sku: `sku-${n % 50}`, price: 1_999, currency: "EUR" },
      idempotency_key: `order-${n}`,
    }));
    return world.call("POST /v1/events", { as: tenant.server, body: { events } });
  });
  const many = { target: { type: "all" }, ...text };
  const send = await growth(100, () => tenant.call("POST /api/v1/notifications", many));
  const single = await growth(40, async () => {
    for (const id of ids.slice(0, 40))
      await tenant.call("POST /api/v1/notifications", { subscriberIds: [id], ...text });
  });
  for (const [name, bytes] of Object.entries({ subscriber, send, single, event })) {
    const assumed = STORED_BYTES[name as keyof typeof STORED_BYTES];
    expect([name, Math.abs(bytes - assumed) <= assumed / 5 || bytes]).toEqual([name, true]);
  }
});
