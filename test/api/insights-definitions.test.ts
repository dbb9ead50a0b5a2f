// Conversion definitions: which events count, and what they are worth (CNV).
import { expect, it } from "vitest";
import { HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { eventsOf } from "../../shared/store/events/history.ts";
import { recordConversion } from "../../shared/store/insights/attribution.ts";
import { conversionDefinitions } from "../../shared/store/insights/conversions.ts";
import { withBuyers } from "../support/conversions.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = async (people?: number) => withBuyers(await withTenant(), people);

/** A workspace in which nobody was sent anything. */
const empty = shared(async (own) => withBuyers(await own.withTenant(), 0));

const definitionsOf = async ({ call }: Awaited<ReturnType<typeof setting>>) =>
  (await call("GET /api/v1/insights/config")).body.definitions;

it("conversion definitions are listed by their events, with a window of a week (CNV-1, CNV-2, CNV-3)", async () => {
  const found = await setting(0);
  expect(await definitionsOf(found)).toEqual([]);

  await found.define({ event_name: "signup", value_property: undefined });
  await found.define();

  expect(await definitionsOf(found)).toEqual([
    { event_name: "purchase", value_property: "cents", window_seconds: 604_800 },
    { event_name: "signup", value_property: null, window_seconds: 604_800 },
  ]);
});

it("a definition of the same event replaces the one before (CNV-4)", async () => {
  const found = await setting(0);
  await found.define();

  await found.define({ window_seconds: 60, value_property: "amount" });

  expect(await definitionsOf(found)).toEqual([
    { event_name: "purchase", value_property: "amount", window_seconds: 60 },
  ]);
});

it("a definition is removed by its event, once (CNV-5)", async () => {
  const { call, define } = await setting(0);
  await define();
  const remove = async (query: string) => (await call(`DELETE /api/v1/insights/config${query}`)).status;

  expect(await remove("?event_name=purchase")).toBe(204);

  expect(await remove("?event_name=purchase")).toBe(404);
});

it("a definition with a property that no event can have is refused with 422 (CNV-2)", async () => {
  const { define } = await empty();

  expect((await define({ value_property: "🎉".repeat(257) })).status).toBe(422);
});

it("the value of a definition may be in any property that an event can have (CNV-2, EVT-6)", async () => {
  const { define } = await empty();

  expect((await define({ value_property: "🎉".repeat(256) })).status).toBe(204);
});

it("a workspace has 100 conversion definitions at most, each of which can still be replaced and removed (CNV-4)", async () => {
  const { call, define } = await setting(0);
  for (let n = 0; n < 100; n++) expect((await define({ event_name: `event-${n}` })).status).toBe(204);

  expect(await define({ event_name: "one more" })).toMatchObject({ status: 429, body: { code: "QUOTA_EXCEEDED" } });
  expect((await define({ event_name: "event-7", window_seconds: 60 })).status).toBe(204);
  await call("DELETE /api/v1/insights/config?event_name=event-7");
  expect((await define({ event_name: "one more" })).status).toBe(204);
});

it.each([
  ["a number in a text", "700", 0],
  ["a list of one number", [700], 0],
  ["half a cent", 699.5, 700],
  ["more than any sum of money", 1e40, 0],
  ["larger than a stored number can be", -1e300, 0],
])(
  "the value of a conversion that is %s counts in whole cents: %j is %i (CNV-2, D-ATTRIB)",
  async (_, cents, revenue) => {
    const { ids, define, campaign, buy, funnel } = await setting(1);
    await define();
    const { id } = await campaign();
    await buy(ids[0]!, undefined, { properties: { cents } });

    expect(await funnel(id)).toMatchObject({ conversions: 1, revenue_cents: revenue });
  },
);

it("a conversion that moves after its definition changed takes with it what it was credited with (ISG-3, CNV-4, AMB-97)", async () => {
  const { world, ids, define, campaign, buy, funnel, summary } = await setting(1);
  await define();
  const first = await campaign();
  await world.advance(HOUR);
  // The clock of the shop is ahead, so that the second message is sent before what is received earlier.
  const occurred_at = timestamp(world.clock.now() + 50 * SECOND);
  await buy(ids[0]!, undefined, { occurred_at, properties: { cents: 700, points: 5 } });
  await define({ value_property: "points" });
  const second = await campaign();
  await world.advance(HOUR);

  expect(await funnel(first.id)).toMatchObject({ conversions: 0, last_touch_revenue_cents: 0 });
  expect(await funnel(second.id)).toMatchObject({ conversions: 1, last_touch_revenue_cents: 5 });
  expect(await summary("channel")).toMatchObject([{ conversions: 1, revenue_cents: 5 }]);
});

it("a purchase of more than any sum of money leaves those after it counted (CNV-2, D-ATTRIB)", async () => {
  const { ids, define, campaign, buy, funnel } = await setting(1);
  await define();
  const { id } = await campaign();
  for (const cents of [1e40, 700]) await buy(ids[0]!, cents);

  expect(await funnel(id)).toMatchObject({ conversions: 2, revenue_cents: 700 });
});

it("purchases of one person that are counted at the same moment make one converted subscriber (ISG-1, D-ATTRIB)", async () => {
  const { world, tenant, ids, define, campaign, funnel } = await setting(1);
  const { id } = await campaign();
  await world.advance(MINUTE);
  const events = Array.from({ length: 6 }, (_, n) => {
    const occurred_at = timestamp(world.clock.now() - n);
    return { event_name: "purchase", subscriber_id: ids[0], properties: { cents: 100 }, occurred_at };
  });
  await world.call("POST /v1/events", { as: tenant.server, body: { events } });
  await world.settle();
  await define();
  const [definition] = await conversionDefinitions(tenant.store);
  const stored = await eventsOf(tenant.store, ids[0]!, { event_name: "purchase" });
  await Promise.all(stored.map((event) => recordConversion(tenant.store, ids[0]!, event, definition!)));

  expect(await funnel(id)).toMatchObject({ converted: 1, conversions: 6, revenue_cents: 600 });
});
