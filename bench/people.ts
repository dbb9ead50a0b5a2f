// Thousands of subscribers, written directly to the table as the service would write them.
import { uuidOfText } from "../shared/store/hash.ts";
import { keyOf, putItem } from "../shared/store/item.ts";
import { SHARDS } from "../shared/store/shards.ts";
import { DeviceItem } from "../shared/store/subscribers/device-items.ts";
import { Profile, SubscriberCount } from "../shared/store/subscribers/items.ts";
import { deviceRow } from "../test/support/people.ts";
import type { Tenant, TestWorld } from "../test/support/world.ts";

const BATCH = 25;
const SETTLED = 5_000;
const FIRST_NUMBER = 10_000_000;
/** An ordinary profile: about 200 bytes of attributes. */
const attributes = { first_name: "Ada", city: "London", plan: "gold", visits: 42, tags: ["a", "b"], timezone: "UTC" };

/**
 * Fills a workspace up to `count` subscribers, each with these members of an upsert, and with an e-mail address and a number of
 * its own where they have one. @returns their ids.
 */
export async function fill(world: TestWorld, tenant: Tenant, count: number, more: object = {}): Promise<string[]> {
  const body = { external_id: "pattern", attributes, ...more };
  const { id } = (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;
  await world.settle();
  const ids = [String(id)];
  const pattern = await world.dynamodb.operate("GetItem", {
    TableName: "engagement",
    Key: wireKey(keyOf(Profile, tenant.id, { id })),
  });
  const item = pattern.Item as Record<string, unknown>;
  for (let from = 1; from < count; from += BATCH) {
    const requests = [];
    for (let n = from; n < Math.min(count, from + BATCH); n++) {
      const own = uuidOfText(`${tenant.id} ${n}`);
      ids.push(own);
      const { react: _, i2pk: __, i2sk: ___, ...plain } = item;
      const fresh = {
        ...plain,
        ...wireKey(keyOf(Profile, tenant.id, { id: own })),
        id: { S: own },
        external_id: { S: `p${n}` },
        ...(plain.email !== undefined && { email: { S: `p${n}@example.com` } }),
        ...(plain["a:phone"] !== undefined && { "a:phone": { S: JSON.stringify(`+49151${FIRST_NUMBER + n}`) } }),
      };
      requests.push({ PutRequest: { Item: fresh } });
    }
    await world.dynamodb.operate("BatchWriteItem", { RequestItems: { engagement: requests } });
    // The table's stream is read along, or it fills the memory.
    if ((from - 1) % SETTLED === 0) await world.settle();
  }
  for (const shard of SHARDS) {
    // The first one was counted when it was created.
    const n = ids.slice(1).filter((own) => own.startsWith(shard)).length;
    await tenant.store.put(SubscriberCount, { shard }, { n, changes: 1 });
  }
  await world.settle();
  return ids;
}

/** Adds so many as this one, as rows: each with an external id of its own, and counted. @returns their ids. */
export async function copies(world: TestWorld, tenant: Tenant, of: string, count: number): Promise<string[]> {
  const Key = wireKey(keyOf(Profile, tenant.id, { id: of }));
  const { Item } = await world.dynamodb.operate("GetItem", { TableName: "engagement", Key });
  const { react: _, i2pk: __, i2sk: ___, ...plain } = Item as Record<string, unknown>;
  const ids = Array.from({ length: count }, (____, n) => uuidOfText(`${of} ${n}`));
  const requests = ids.map((id) => {
    const own = { ...wireKey(keyOf(Profile, tenant.id, { id })), id: { S: id }, external_id: { S: id } };
    return { PutRequest: { Item: { ...plain, ...own } } };
  });
  for (let from = 0; from < count; from += BATCH)
    await world.dynamodb.operate("BatchWriteItem", {
      RequestItems: { engagement: requests.slice(from, from + BATCH) },
    });
  for (const shard of SHARDS) {
    const before = await tenant.store.get(SubscriberCount, { shard });
    const n = (before?.n ?? 0) + ids.filter((id) => id.startsWith(shard)).length;
    await tenant.store.put(SubscriberCount, { shard }, { n, changes: 1 });
  }
  await world.settle();
  return ids;
}

export async function equip(world: TestWorld, tenant: Tenant, ids: readonly string[]): Promise<void> {
  const at = world.clock.now();
  const rows = ids.map((subscriber) => {
    const device = uuidOfText(`device of ${subscriber}`);
    return putItem(DeviceItem, { subscriber, device }, deviceRow(subscriber, device, { at, token: device + device }));
  });
  for (let from = 0; from < rows.length; from += 1_000) await tenant.store.writeAll(rows.slice(from, from + 1_000));
}

const wireKey = ({ pk, sk }: { pk: string; sk: string }) => ({ pk: { S: pk }, sk: { S: sk } });
