// Counters: changed with the rows that they count, and repaired every night (docs/decisions/0024).
import { expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { DAY } from "../../shared/kernel/clock.ts";
import { AssetTotals } from "../../shared/store/experiences/asset-items.ts";
import { MemberCount } from "../../shared/store/lists/items.ts";
import { countMembers } from "../../shared/store/lists/member-counts.ts";
import { DynamicSegmentCount } from "../../shared/store/segments/items.ts";
import { SubscriberCount } from "../../shared/store/subscribers/items.ts";
import { WebhookCount } from "../../shared/store/webhooks/items.ts";
import { addPeople } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const billOf = async (tenant: Tenant) => (await tenant.call("GET /api/v1/billing")).body.usage;
const upsert = (world: TestWorld, tenant: Tenant, external_id: string) =>
  world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id } });

it("the number of subscribers is exact at once, and stays so when batches of the stream are repeated (SUB-5, SUB-8, AMB-40)", async () => {
  const queueing = requests({ of: "react", service: "sqs" });
  const { world, tenant } = await withTenant({ hooks: queueing.hooks });
  const body = { target_url: "https://hooks.example.com/in", events: ["subscriber.created"] };
  await tenant.call("POST /api/v1/webhooks", body);
  await world.settle();
  const before = queueing.seen();
  const failures = () => Math.min(10, queueing.seen() - before);
  queueing.each(() => {
    if (failures() < 10) throw awsFailure("ServiceUnavailableException", "The queue does not answer.");
  });
  const people = await Promise.all(Array.from({ length: 20 }, (_, n) => upsert(world, tenant, `p${n}`)));
  await upsert(world, tenant, "p0");
  expect((await billOf(tenant)).subscribers).toBe(20);
  for (const { body } of people.slice(0, 5)) await tenant.call(`DELETE /api/v1/subscribers/${body.id}`);
  expect((await billOf(tenant)).subscribers).toBe(15);
  await world.settle();
  expect(failures()).toBeGreaterThan(0);
  expect((await billOf(tenant)).subscribers).toBe(15);
});

const repairsIn = ({ logs }: TestWorld) => logs.filter(({ message }) => message === "a counter was repaired");

/** A workspace of 30 subscribers and a list of 8, whose counters say otherwise. */
async function withWrongCounters() {
  const { world, tenant } = await withTenant();
  const { store } = tenant;
  const ids = await addPeople(world, tenant, 30);
  const list = (await tenant.call("POST /api/v1/lists", { name: "friends" })).body;
  await tenant.call(`POST /api/v1/lists/${list.id}/subscribers`, { subscriber_ids: ids.slice(0, 8) });
  const group = { kind: "list", id: list.id } as const;
  await store.change(SubscriberCount, { shard: "a" }, { add: { n: 50, changes: 1 } });
  await store.change(SubscriberCount, { shard: "0f" }, { add: { n: -3, changes: 1 } });
  await store.change(MemberCount, { ...group, shard: "0" }, { add: { n: 4, changes: 1 } });
  await store.put(WebhookCount, {}, { n: 9, changes: 9 });
  await store.put(DynamicSegmentCount, {}, { n: 2, changes: 1 });
  await store.put(AssetTotals, {}, { bytes: 700, assets: 2, changes: 1 });
  return { world, tenant, store, group };
}

it("every counter that a customer sees or a limit reads is repaired in the night (AMB-40)", async () => {
  const { world, tenant, store, group } = await withWrongCounters();
  expect((await billOf(tenant)).subscribers).toBe(77);
  await world.advance(DAY);
  expect(await billOf(tenant)).toMatchObject({ subscribers: 30, asset_bytes: 0, dynamic_segments: 0 });
  expect(await countMembers(store, group)).toBe(8);
  expect((await store.get(WebhookCount, {}))?.n).toBe(0);
  expect((await store.queryAll(SubscriberCount, {})).reduce((sum, { n }) => sum + n, 0)).toBe(30);
});

it("each counter that is repaired has a line in the log, and one that is right has none (AMB-40)", async () => {
  const { world, tenant } = await withWrongCounters();
  await world.advance(DAY);
  const repaired = repairsIn(world);
  expect(new Set(repaired.map(({ counter }) => counter)).size).toBe(5);

  await upsert(world, tenant, "one more");
  await world.advance(DAY);
  expect((await billOf(tenant)).subscribers).toBe(31);
  expect(repairsIn(world)).toHaveLength(repaired.length);
});
