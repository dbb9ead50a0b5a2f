// Conversions of visitors who are identified later: none is lost, at any time and with any number of events (IDN-2).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { chunksOf } from "../../shared/rules/chunks.ts";
import { withBuyers } from "../support/conversions.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting() {
  const buyers = await withBuyers(await withTenant(), 1);
  const { world, tenant, ids } = buyers;
  const identify = async () => {
    const body = { anonymous_id: "visitor", subscriber_id: ids[0]! };
    await world.call("POST /v1/events/identify", { as: tenant.server, body });
    await world.settle();
  };
  return { ...buyers, identify };
}

it.each([
  ["a second", SECOND],
  ["ten minutes", 10 * MINUTE],
  ["a day", DAY],
  ["ten days", 10 * DAY],
])("a purchase of a visitor counts who is identified %s later (IDN-2)", async (_, later) => {
  const { world, define, campaign, buy, identify, funnel } = await setting();
  await define({ window_seconds: HOUR / SECOND });
  const { id } = await campaign();
  await world.advance(MINUTE);
  await buy({ anonymous: "visitor" }, 700);
  await world.advance(later);
  await identify();
  await world.advance(20 * MINUTE);

  expect(await funnel(id)).toMatchObject({ converted: 1, revenue_cents: 700 });
});

it.each([
  ["250 newer ones of the same visitor, one after the other", 250, SECOND],
  ["250 newer ones of the same visitor, at one instant", 250, 0],
  ["199 newer ones, which fill a page with it", 199, SECOND],
])("a purchase counts behind %s (IDN-2)", async (_, count, apart) => {
  const { world, tenant, define, campaign, buy, identify, funnel } = await setting();
  await define({ window_seconds: HOUR / SECOND });
  const { id } = await campaign();
  await world.advance(MINUTE);
  await buy({ anonymous: "visitor" }, 700);
  await world.advance(2 * HOUR);
  const newer = Array.from({ length: count }, (_, n) => ({
    event_name: "purchase",
    anonymous_id: "visitor",
    properties: { cents: 1 },
    occurred_at: timestamp(world.clock.now() - n * apart),
  }));
  for (const events of chunksOf(newer, 50))
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
  await world.settle();
  await identify();
  await world.advance(20 * MINUTE);

  expect(await funnel(id)).toMatchObject({ converted: 1, revenue_cents: 700 });
});
