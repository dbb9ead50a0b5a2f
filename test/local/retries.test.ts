// The whole service under the capacity model: clients retry in service time.
import { expect, test } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { addReader } from "../support/sse.ts";
import { testWorld } from "../support/world.ts";

const UPSERT = "POST /api/v1/subscribers/upsert";
const body = { external_id: "ada", attributes: {} };

test("requests beyond a partition's throughput are taken later, when service time has brought more", async () => {
  const world = await testWorld();
  const { sdk } = await world.tenant();
  const upsertAll = (visits: number) =>
    Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        world.call(UPSERT, {
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

test("while the table throttles everything, a request gets its 503 with Retry-After within three seconds (ERR-18)", async () => {
  const world = await testWorld();
  const { sdk } = await world.tenant();
  world.dynamodb.limit({ maximum: 0 });
  const before = world.clock.now();
  const { status, headers } = await world.call(UPSERT, { as: sdk, body });
  expect([status, headers["retry-after"]]).toEqual([503, "1"]);
  expect(world.clock.now() - before).toBeGreaterThan(2_000);
  expect(world.clock.now() - before).toBeLessThanOrEqual(3_000);
});

test("so does the opening of a live stream; one that is open may pause as long at each poll (ERR-18, SSE-5)", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();
  const { open, tell } = await addReader(world, tenant);
  const throttle = async (tenths: number) => {
    world.dynamodb.limit({ maximum: 0 });
    const opening = await open();
    for (let step = 0; step < tenths; step++) await world.advance(100);
    world.dynamodb.limit(undefined);
    await world.advance(5_000);
    return opening;
  };
  const running = await open();
  for (let round = 0; round < 4; round++) await throttle(20);
  await tell("hello");
  await world.advance(2_000);
  expect(running.frames()).toHaveLength(1);
  const refused = await throttle(28);
  expect([refused.status, refused.ended, refused.headers["retry-after"]]).toEqual([503, true, "1"]);
});

test("the pauses of all calls of a request are bounded together (ERR-18)", async () => {
  let attempts: number | undefined;
  const before = (service: string) => {
    if (attempts === undefined || service !== "dynamodb") return;
    attempts++;
    if (attempts % 4 !== 0) throw awsFailure("ThrottlingException", "throttled");
  };
  const world = await testWorld({ hooks: () => ({ before }) });
  const as = await (await world.tenant()).dashboard();
  attempts = 0;
  const start = world.clock.now();
  expect((await world.call("POST /api/v1/lists", { as, body: { name: "Readers" } })).status).toBe(503);
  expect(attempts).toBeGreaterThan(4);
  expect(world.clock.now() - start).toBeLessThanOrEqual(3_000);
});

test("a throttle of a second stays hidden from the client (ERR-18)", async () => {
  const world = await testWorld();
  const { sdk } = await world.tenant();
  world.dynamodb.limit({ maximum: 0 });
  void world.clock.sleep(1_000).then(() => world.dynamodb.limit(undefined));
  expect((await world.call(UPSERT, { as: sdk, body })).status).toBe(200);
});
