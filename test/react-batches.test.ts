// The worker of the table's stream gets the same records twice, in halves and one by one: what follows is the same.
import { expect, it } from "vitest";
import type { Hooks } from "../local/aws/index.ts";
import { membersOf, segmentOf } from "./support/segments.ts";
import { type TestWorld, testWorld } from "./support/world.ts";

interface Batch {
  Records: { dynamodb: { Keys: { pk: { S: string } } } }[];
}

/** How often each of the things that follow from writes happened. */
async function outcomes(deliver: (records: Batch["Records"]) => Batch["Records"][]): Promise<object> {
  const world: TestWorld = await testWorld();
  const { invoke } = world.host;
  world.host.invoke = async (name: string, event: unknown) => {
    if (name !== "react") return invoke(name, event);
    for (const Records of deliver((event as Batch).Records)) await invoke(name, { Records });
    return null;
  };
  const tenant = await world.tenant();
  const call = async (route: string, body?: object) => (await tenant.call(route, body)).body;
  const segment = await segmentOf(world, tenant, { attribute: { plan: { $eq: "gold" } } });
  const { id: list } = await call("POST /api/v1/lists", { name: "All" });
  const subscribers: string[] = [];
  for (let n = 0; n < 3; n++) {
    const body = { external_id: `s${n}`, attributes: { plan: n === 0 ? "gold" : "tin" } };
    subscribers.push(await tenant.upsert(body));
  }
  await call(`POST /api/v1/lists/${list}/subscribers`, { subscriber_ids: subscribers });
  const message = { title: "t", body: "b" };
  const now = await call("POST /api/v1/notifications", { target: { type: "all" }, ...message });
  const scheduled_at = new Date(world.clock.now() + 600_000).toISOString();
  await call("POST /api/v1/notifications", { subscriberIds: subscribers.slice(1), scheduled_at, ...message });
  await world.settle();
  await world.advance(660_000);
  const jobs = await call("GET /api/v1/notifications");
  const inboxes = await Promise.all(
    subscribers.map(
      async (id) =>
        (await world.call(`GET /v1/in-app/messages?subscriber_id=${id}`, { as: tenant.sdk })).body.messages.length,
    ),
  );
  expect(now.id).toEqual(expect.any(String));
  return {
    inboxes,
    jobs: JSON.stringify(jobs)
      .match(/"(sent|delivered)":\d+/g)
      ?.sort(),
    members: await membersOf(tenant, segment),
    used: (await call("GET /api/v1/billing")).usage,
    dead: world.sqs.depth("fan-out-dead").visible,
  };
}

it("what follows from a write happens once, whether a batch comes once, twice, in halves or one by one (D-NTF-STATE)", async () => {
  const whole = await outcomes((records) => [records]);
  expect(whole).toMatchObject({ inboxes: [1, 2, 2], members: ["s0"], used: { sends: 5 }, dead: 0 });
  expect(await outcomes((records) => [records, records])).toEqual(whole);
  expect(
    await outcomes((records) => {
      const half = Math.ceil(records.length / 2);
      return [records, records.slice(0, half), records.slice(half)];
    }),
  ).toEqual(whole);
  expect(await outcomes((records) => records.map((record) => [record]))).toEqual(whole);
});

it("what follows from a write follows where something else that follows from it fails (D-HEALTH)", async () => {
  const isDown = (input: Record<string, unknown>) => String(input.QueueUrl).endsWith("/segment");
  const before: Hooks["before"] = (service, _operation, input) => {
    if (service === "sqs" && isDown(input)) throw new Error("The queue is not there.");
  };
  const world = await testWorld({ hooks: (name) => (name === "react" ? { before } : {}) });
  const tenant = await world.tenant();
  await segmentOf(world, tenant, { attribute: { plan: { $eq: "gold" } } });
  const body = { external_id: "ada", attributes: { plan: "gold" } };
  await tenant.upsert(body);
  await world.settle();
  const failed = world.logs.filter(({ message }) => message === "a batch of the stream failed");
  expect(failed.length).toBeGreaterThan(0);
  const { body: learnt } = await tenant.call("GET /api/v1/segments/attribute-keys");
  expect(JSON.stringify(learnt)).toContain('"plan"');
  await world.close();
});
