// What a send costs is estimated before it (F10): the estimate is held against the operations that are metered.
import { expect, it } from "vitest";
import { equip, fill } from "../../bench/people.ts";
import { costOfMonth } from "../../shared/rules/cost.ts";
import { openChannels } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const MINUTE_MS = 60_000;

it.each([
  ["in-app", 10_000],
  ["push", 2_000],
])(
  "F10 the preview of a send by %s to %d is within a tenth of what the send takes",
  { timeout: 300_000 },
  async (channel, people) => {
    const { world, tenant } = await withTenant();
    const channels = channel === "push" ? Object.values(await openChannels(world, tenant, "ios-push")) : undefined;
    const ids = await fill(world, tenant, people);
    if (channels) await equip(world, tenant, ids);
    const as = await tenant.dashboard();
    const body = { title: "Hello", body: "World", target: { type: "all" }, ...(channels && { channel_ids: channels }) };
    const { cost } = (await world.call("POST /api/v1/notifications/preview", { as, body })).body;
    world.dynamodb.resetMeter();
    world.sqs.resetMeter();
    const { id } = (await world.call("POST /api/v1/notifications", { as, body })).body;
    await world.settle();
    await world.advance(10 * MINUTE_MS);
    const { status, counts } = (await world.call(`GET /api/v1/notifications/${id}`, { as })).body;
    expect([status, counts.delivered]).toEqual(["completed", people]);
    const { wcu, rcu } = world.dynamodb.meter();
    const { sent } = world.sqs.meter();
    const within = (estimate: number, metered: number) => Math.abs(estimate - metered) / metered;
    expect(within(cost.write_units, wcu)).toBeLessThan(0.1);
    expect(within(cost.read_units, rcu)).toBeLessThan(0.1);
    expect(Math.abs(cost.queue_messages - sent)).toBeLessThan(people / 100);
    expect(cost.dollars).toBeCloseTo(cost.service_dollars + cost.provider_dollars, 6);
  },
);

it("F10 a month at rest costs what the deployment says, and streams are by far the largest part of one in use", () => {
  const rest = costOfMonth({ subscribers: 0, sends: 0, events: 0, streams: 0 }, 21);
  expect(rest.reduce((sum, [, dollars]) => sum + dollars, 0)).toBeCloseTo(12.86, 2);
  const busy = new Map(costOfMonth({ subscribers: 100_000, sends: 1e6, events: 1e7, streams: 10_000 }, 21));
  expect(busy.get("live streams")).toBeGreaterThan(49_000);
});
