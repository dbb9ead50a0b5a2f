// Bare dates in rules and filters are days of the workspace's zone, wherever a rule is judged (AMB-137).
import { beforeEach, expect, it } from "vitest";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
let setting: Awaited<ReturnType<typeof journeySetting>>;

// 19 April 2024 begins in Berlin at 22:00 UTC of the day before.
const DAY = "2024-04-19";
const inBerlin = "2024-04-18T22:30:00Z";

beforeEach(async () => {
  setting = await journeySetting(await fresh());
  await setting.call("PATCH /api/v1/workspace", { timezone: "Europe/Berlin" });
});

const countOf = async (rule: object, is_dynamic: boolean) => {
  const { world, call } = setting;
  const { id } = (await call("POST /api/v1/segments", { name: `${is_dynamic}`, rule, is_dynamic })).body;
  await world.settle();
  return { id, count: (await call(`GET /api/v1/segments/${id}`)).body.count };
};

it.each([true, false])("a segment judges a day in the workspace's zone (dynamic: %s) (AMB-137)", async (is_dynamic) => {
  await setting.person("ada", { seen: inBerlin });
  const { count } = await countOf({ attribute: { seen: { $eq: DAY } } }, is_dynamic);

  expect(count).toBe(1);
});

it("a dynamic segment follows a change by the workspace's zone (AMB-137)", async () => {
  const { world, call, person } = setting;
  await person("ada", { seen: "2020-01-01" });
  const { id } = await countOf({ attribute: { seen: { $gte: DAY } } }, true);
  await person("ada", { seen: inBerlin });
  await world.settle();

  expect((await call(`GET /api/v1/segments/${id}`)).body.count).toBe(1);
});

it.each([
  ["dynamic segment are those of the workspace's new zone", true, 0],
  ["static segment stay as they were when the workspace's zone changes", false, 1],
])("the members of a %s (AMB-137)", async (_, is_dynamic, count) => {
  const { world, call, person } = setting;
  await person("ada", { seen: inBerlin });
  const { id } = await countOf({ attribute: { seen: { $gte: DAY } } }, is_dynamic);
  await call("PATCH /api/v1/workspace", { timezone: "UTC" });
  await world.settle();

  expect((await call(`GET /api/v1/segments/${id}`)).body.count).toBe(count);
});

it("a zone that the segments cannot be told of stays as it was, so the call may be repeated (AMB-137)", async () => {
  const { world, call } = setting;
  const { body: before } = await call("GET /api/v1/workspace");
  await world.call("POST /_local/faults", { body: { channel: "aws:sqs" } });

  const { status } = await call("PATCH /api/v1/workspace", { timezone: "Asia/Tokyo" });

  await world.call("DELETE /_local/faults");
  expect(status).toBe(503);
  expect((await call("GET /api/v1/workspace")).body.timezone).toBe(before.timezone);
});

it("rules that are kept with a new zone of the workspace are read with no zone of before (AMB-137)", async () => {
  const reads = requests({ of: "segment", operation: "GetItem", naming: "TENANT#" });
  setting = await journeySetting(await fresh({ hooks: reads.hooks }));
  const { world, call, person } = setting;
  await countOf({ attribute: { seen: { $gte: DAY } } }, true);
  const isConsistent: unknown[] = [];
  reads.each(({ ConsistentRead }) => isConsistent.push(ConsistentRead));
  await call("PATCH /api/v1/workspace", { timezone: "UTC" });

  await person("ada", { seen: inBerlin });
  await world.settle();

  expect(isConsistent).not.toEqual([]);
  expect(isConsistent).not.toContain(false);
});

it.each([
  ["at once", false],
  ["once the segments follow it", true],
])("a new zone of the workspace holds for the next change of a person, %s (AMB-137)", async (_, isFollowed) => {
  const { world, call, person } = setting;
  const { id } = await countOf({ attribute: { seen: { $gte: DAY } } }, true);
  await person("bob", { seen: inBerlin });
  await world.settle();
  await call("PATCH /api/v1/workspace", { timezone: "UTC" });
  if (isFollowed) await world.settle();
  await person("ada", { seen: inBerlin });
  await world.settle();

  expect((await call(`GET /api/v1/segments/${id}`)).body.count).toBe(0);
});

it("an event's property is a day of the workspace's zone (AMB-137)", async () => {
  const { track, person } = setting;
  await person("ada");
  await track("ada", "booked", { properties: { arrives: inBerlin } });
  const rule = { event: { name: "booked", where: { arrives: { $eq: DAY } } } };

  expect((await countOf(rule, true)).count).toBe(1);
});

it("a preview of a rule counts by the workspace's zone (AMB-137)", async () => {
  const { call, person } = setting;
  await person("ada", { seen: inBerlin });
  const preview = await call("POST /api/v1/segments/preview", { attribute: { seen: { $eq: DAY } } });

  expect(preview.body.estimated_count).toBe(1);
});

it("an explanation of a membership judges by the workspace's zone (AMB-137)", async () => {
  const { call, person } = setting;
  const subscriber = await person("ada", { seen: inBerlin });
  const { id } = await countOf({ attribute: { seen: { $eq: DAY } } }, true);
  const { body } = await call(`GET /api/v1/segments/${id}/members/${subscriber}`);

  expect(body.reasons).toMatchObject([{ path: "attribute.seen", matched: true }]);
});

it("a branch of a journey judges by the workspace's zone (AMB-137)", async () => {
  const { world, active, person, track, runs } = setting;
  const asks = branch({ attribute: { seen: { $eq: DAY } } }, "stays", "leaves");
  const id = await active(graphOf({ asks, stays: { delay: { duration: "1d", next: "leaves" } }, leaves: "exit" }));
  await person("ada", { seen: inBerlin });
  await track("ada", "signed_up");
  await world.settle();

  expect(await runs(id)).toMatchObject([{ status: "active" }]);
});

it("the filters of a send judge by the workspace's zone (AMB-137)", async () => {
  const { call, person } = setting;
  await person("ada", { seen: inBerlin });
  const filters = { subscriber_filters: { seen: { $eq: DAY } } };
  const body = { target: { type: "all" }, title: "A", body: "a", ...filters };
  const preview = await call("POST /api/v1/notifications/preview", body);
  const sent = await call("POST /api/v1/notifications", body);

  expect([preview.body.counts.sent, sent.body.sent]).toEqual([1, 1]);
});

it("a time without a zone is by the clock of the workspace (AMB-137)", async () => {
  const { person } = setting;
  await person("ada", { seen: "2024-04-19 00:30:00" });
  await person("bob", { seen: "never" });

  expect((await countOf({ attribute: { seen: { $gte: "2024-04-18T22:30:00Z" } } }, true)).count).toBe(1);
  expect((await countOf({ attribute: { seen: { $gt: "2024-04-18T22:30:00Z" } } }, false)).count).toBe(0);
});

it("an e-mail address is found in any case (AMB-128)", async () => {
  await setting.tenant.upsert({ external_id: "ada", email: "Ada@Example.com" });
  const rule = { attribute: { email: { $in: ["ada@example.com"] } } };

  expect((await setting.call("POST /api/v1/segments/preview", rule)).body.estimated_count).toBe(1);
});
