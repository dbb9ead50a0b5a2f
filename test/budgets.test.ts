// Budgets of requests and units, counted in the embedded table, so the figures are reproducible.
import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { fill } from "../bench/people.ts";
import { HOUR, MINUTE, SECOND } from "../shared/kernel/clock.ts";
import { idsFrom } from "../shared/kernel/ids.ts";
import { timers } from "../shared/store/capabilities.ts";
import { putItem } from "../shared/store/item.ts";
import { Name } from "../shared/store/name-index.ts";
import { messageWrite } from "../shared/store/sends/inbox/inbox-writes.ts";
import { SHARDS } from "../shared/store/shards.ts";
import { DeviceItem } from "../shared/store/subscribers/device-items.ts";
import { Profile } from "../shared/store/subscribers/items.ts";
import { countSubscribers } from "../shared/store/subscribers/subscribers.ts";
import { TemplateItem } from "../shared/store/templates/items.ts";
import { noteDeliveries } from "../shared/store/webhooks/deliveries.ts";
import { addPeople, deviceRow, quickDeps, quickStore, send } from "./support/people.ts";
import { openChannels } from "./support/reached.ts";
import { receiver } from "./support/receiver.ts";
import { entranceOf, spent, spentByCall } from "./support/spending.ts";
import { openStream } from "./support/sse.ts";
import { START } from "./support/world.ts";
import { worlds } from "./support/worlds.ts";

const { withTenant } = worlds();

/** Ids of a fixed seed, so that the same subscribers lie in the same shards every time. */
function seededIds() {
  let drawn = 0;
  return idsFrom((length) => Buffer.from(hash("sha512", `${drawn++}`, "buffer")).subarray(0, length));
}

it("an update of a subscriber is 1 request and 1 WCU; a creation, counted in its transaction, is 2 requests and 6 WCU", async () => {
  const { world, tenant } = await withTenant();
  const route = "POST /api/v1/subscribers/upsert";
  const body = { external_id: "ada", email: "ada@example.com", attributes: { plan: "pro", age: 36, tags: ["a", "b"] } };
  // The first one of an environment reads its secrets, and the first of a minute the number of subscribers.
  await world.call(route, { as: tenant.sdk, body: { external_id: "bob" } });
  const upsert = () => spentByCall(world, { as: tenant.sdk, route, body, refused: { route, body: {} } });
  expect(await upsert()).toMatchObject({ requests: 2, wcu: 6, index_wcu: 1, rcu: 0 });
  expect(await upsert()).toMatchObject({ requests: 1, wcu: 1, index_wcu: 0, rcu: 0 });
});

it("after eight creations in a row another one is expected: one request and a unit less, and a known one is updated (SUB-5)", async () => {
  const { world, tenant } = await withTenant();
  const route = "POST /api/v1/subscribers/upsert";
  const upsert = (external_id: string) =>
    spentByCall(world, { as: tenant.sdk, route, body: { external_id }, refused: { route, body: {} } });
  for (let n = 0; n < 7; n++) await world.call(route, { as: tenant.sdk, body: { external_id: `u${n}` } });
  expect(await upsert("u7")).toMatchObject({ requests: 2, wcu: 6 });
  expect(await upsert("u8")).toMatchObject({ requests: 1, wcu: 5, index_wcu: 1 });
  expect(await upsert("u8")).toMatchObject({ requests: 2, wcu: 3, index_wcu: 0 });
  expect(await upsert("u8")).toMatchObject({ requests: 1, wcu: 1 });
  expect(await upsert("u9")).toMatchObject({ requests: 2, wcu: 6 });
  expect(await countSubscribers(quickStore(world, tenant))).toBe(10);
});

it("an upsert of a subscriber erased and made again is one request more", async () => {
  const { world, tenant } = await withTenant();
  const route = "POST /api/v1/subscribers/upsert";
  const body = { external_id: "ada" };
  for (let n = 0; n < 4; n++) {
    const { id } = (await world.call(route, { as: tenant.sdk, body })).body;
    if (n < 3) await tenant.call(`DELETE /api/v1/subscribers/${id}`);
  }
  const again = await spentByCall(world, { as: tenant.sdk, route, body, refused: { route, body: {} } });
  expect(again.requests).toBe(2);
});

it("an audience page is at most 43 RCU per 1,000 profiles", async () => {
  const { world, tenant } = await withTenant();
  await addPeople(world, tenant, 2_000);
  await send(world, tenant, { target: { type: "all" }, subscriber_filters: { nobody: { $exists: true } } });
  const cost = await spent(world, () =>
    send(world, tenant, { target: { type: "all" }, subscriber_filters: { nobody: { $exists: true } } }),
  );
  expect(cost.by_operation.Query!.rcu / 2).toBeLessThanOrEqual(43 + SHARDS.length / 2);
  const store = quickStore(world, tenant);
  const pages = await spent(world, () =>
    Promise.all(SHARDS.map((shard) => store.queryRows(Profile, { id: shard }, { eventual: true }))),
  );
  expect(pages.rcu / 2).toBeLessThanOrEqual(43);
});

it("an in-app send to 2,000 is at most 1.2 WCU and 0.2 requests a recipient", async () => {
  const { world, tenant } = await withTenant({ ids: seededIds() });
  await fill(world, tenant, 2_000);
  const as = await tenant.dashboard();
  const entrance = await entranceOf(world, as, { route: "POST /api/v1/notifications", body: {} });
  const cost = await spent(world, async () => {
    await world.call("POST /api/v1/notifications", { as, body: { target: { type: "all" }, title: "t", body: "b" } });
    await world.settle();
  });
  expect((cost.wcu - entrance.wcu) / 2_000).toBeLessThanOrEqual(1.2);
  expect((cost.requests - entrance.requests) / 2_000).toBeLessThanOrEqual(0.2);
  expect(cost.wcu).toBeGreaterThan(2_000);
});

it("a push to 1,000, planned within its request, is at most 1.2 WCU and 0.2 requests a recipient", async () => {
  const { world, tenant } = await withTenant({ ids: seededIds() });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const people = await fill(world, tenant, 1_000);
  const device = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  const puts = people.map((id, n) => {
    return putItem(DeviceItem, { subscriber: id, device: device(n) }, deviceRow(id, device(n), { at: START }));
  });
  await quickStore(world, tenant).writeAll(puts);
  await world.settle();
  const as = await tenant.dashboard();
  const entrance = await entranceOf(world, as, { route: "POST /api/v1/notifications", body: {} });
  const push = async (to: object) => {
    const body = { ...to, title: "t", body: "b", channel_ids: [ios] };
    await world.call("POST /api/v1/notifications", { as, body });
    await world.settle();
  };
  // That the channel works is noted once in five minutes.
  await push({ subscriberIds: people.slice(0, 1) });
  const cost = await spent(world, () => push({ target: { type: "all" } }));
  expect((cost.wcu - entrance.wcu) / 1_000).toBeLessThanOrEqual(1.2);
  expect((cost.requests - entrance.requests) / 1_000).toBeLessThanOrEqual(0.2);
  expect(cost.wcu).toBeGreaterThan(1_000);
});

it("a webhook delivery is 4 WCU alone, in groups 2.3 WCU and 2.5 requests, and the watchdog of a minute is 2", async () => {
  const { world, tenant } = await withTenant({ network: receiver(() => 0).network });
  const hook = { target_url: "https://hooks.example.com/in", events: ["subscriber.created"] };
  const webhook = (await world.call("POST /v1/hooks", { as: tenant.server, body: hook })).body.id;
  await world.advance(HOUR);
  const idle = await spent(world, () => world.advance(2 * HOUR));
  const occurrence = { event: "subscriber.created", at: world.clock.now(), data: {} } as const;
  const accept = async (...keys: string[]) => {
    const wanted = keys.map((key) => ({ webhook, occurrence: { ...occurrence, key } }));
    await noteDeliveries(quickStore(world, tenant), wanted);
    await world.settle();
  };
  await accept("the first");
  const alone = await spent(world, async () => {
    for (let n = 0; n < 20; n++) await accept(`${n}`);
  });
  // One more: the block of the first twenty ends.
  expect(alone.wcu).toBe(20 * 4 + 1);
  const count = 200;
  const together = await spent(world, () => accept(...Array.from({ length: count }, (_, n) => `group ${n}`)));
  expect(together.wcu / count).toBeLessThanOrEqual(2.3);
  expect(together.requests / count).toBeLessThanOrEqual(2.5);
  expect(together.wcu).toBeGreaterThan(2 * count);
  const later = await spent(world, () => world.advance(2 * HOUR));
  expect(later.wcu - idle.wcu).toBe(1);
});

it("a template list is at most 12 RCU at 500 templates (ARC-7)", async () => {
  const { world, tenant } = await withTenant();
  const puts = Array.from({ length: 500 }, (_, n) => {
    const [id, name] = [world.ids.uuidAt(START - n * SECOND), `Template number ${n}`];
    const entity = {
      id,
      name,
      title: "Hello there",
      body: "You have news.",
      created_at: new Date(START).toISOString(),
    };
    return [putItem(Name, { kind: "template", name }, { id }), putItem(TemplateItem, { id }, entity)];
  });
  await quickStore(world, tenant).writeAll(puts.flat());
  const as = await tenant.dashboard();
  const refused = { route: "GET /api/v1/templates?page=0" };
  for (const query of ["", "?page=25", "?per_page=1", "?name=number%20499"]) {
    const { rcu } = await spentByCall(world, { as, route: `GET /api/v1/templates${query}`, refused });
    expect([query, rcu <= 12]).toEqual([query, true]);
  }
});

it("a timer is at most 3 WCU, its deletion included", async () => {
  const { world, tenant } = await withTenant();
  const clock = timers.open(quickDeps(world))(tenant.id);
  const count = 50;
  const cost = await spent(world, async () => {
    await clock.set(
      Array.from({ length: count }, (_, n) => ({ kind: "job-watch", id: `job ${n}`, at: START + HOUR + n })),
    );
    await world.advance(HOUR + 2 * MINUTE);
  });
  expect(cost.wcu / count).toBeLessThanOrEqual(3);
  expect(cost.wcu).toBeGreaterThanOrEqual(2 * count);
});

it("marking everything read is at most 3 WCU, however much is unread", async () => {
  const { world, tenant } = await withTenant();
  const [id] = (await addPeople(world, tenant, 1)) as [string];
  const content = { title: "t", body: "b" };
  const rows = Array.from({ length: 500 }, (_, n) => messageWrite("j", START - n, { subscriber: id, content }));
  await quickStore(world, tenant).writeAll(rows);
  const route = "POST /v1/in-app/messages/read";
  const body = { subscriber_id: id };
  const cost = await spentByCall(world, { as: tenant.sdk, route, body, refused: { route, body: {} } });
  expect(cost.wcu).toBeLessThanOrEqual(3);
  const { messages } = (
    await world.call(`GET /v1/in-app/messages?subscriber_id=${id}&status=unread`, { as: tenant.sdk })
  ).body;
  expect(messages).toEqual([]);
});

it.each([
  ["a thousand", "1000", 4, 7],
  ["sixteen thousand", "16000", 4, 38],
])(
  "the opening of a live stream where %s may be open is within the units that docs/deploy.md says (OPS-2)",
  async (_, limit, wcu, rcu) => {
    const { world, tenant } = await withTenant({ env: { STREAM_CONCURRENCY: limit } });
    const [id, other] = (await addPeople(world, tenant, 2)) as [string, string];
    const open = (subscriber: string) => openStream(world, `?subscriber_id=${subscriber}`, tenant.sdk);
    // The first one reads keys and secrets too.
    expect((await open(other)).status).toBe(200);
    const cost = await spent(world, async () => {
      expect((await open(id)).status).toBe(200);
    });
    expect(cost.wcu).toBeLessThanOrEqual(wcu);
    expect(cost.rcu).toBeLessThanOrEqual(rcu);
  },
);

it("an idle second of a live stream is at most 0.5 RCU and no write", async () => {
  const { world, tenant } = await withTenant();
  const [id] = (await addPeople(world, tenant, 1)) as [string];
  const stream = await openStream(world, `?subscriber_id=${id}`, tenant.sdk);
  expect(stream.status).toBe(200);
  await world.advance(2 * SECOND);
  const cost = await spent(world, () => world.advance(20 * SECOND));
  expect(cost.rcu / 20).toBeLessThanOrEqual(0.5);
  expect(cost.requests).toBeGreaterThanOrEqual(10);
  expect(cost.wcu).toBe(0);
});
