// The whole service under the capacity model: clients retry in service time.
import { expect, test } from "vitest";
import { testWorld } from "../support/world.ts";

test("requests beyond a partition's throughput are taken later, when service time has brought more", async () => {
  const world = await testWorld({ retriesInServiceTime: true });
  const { sdk } = await world.tenant();
  const upsertAll = (visits: number) =>
    Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        world.call("POST /api/v1/subscribers/upsert", {
          as: sdk,
          body: { external_id: `u${n}`, attributes: { visits } },
        }),
      ),
    );
  await upsertAll(1);
  await world.settle();
  world.dynamodb.limit({ partitions: 1, write: 20 });
  const before = world.clock.now();
  expect(new Set((await upsertAll(2)).map(({ status }) => status))).toEqual(new Set([200]));
  expect(world.clock.now()).toBeGreaterThan(before);
  const [table] = world.dynamodb.throughput();
  expect(table!.throttled).toBeGreaterThan(0);
  expect(table!.peakWrite).toBeLessThan(60);
});
