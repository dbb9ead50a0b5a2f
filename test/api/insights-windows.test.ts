// The window of a funnel: which sends it chooses, and that it counts who converted once (ISG-1, ISG-10).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { type AddedCredit, onMoreDays } from "../../shared/store/insights/credits.ts";
import { withBuyers } from "../support/conversions.ts";
import { addPhone, openChannels, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = async () => withBuyers(await withTenant());

it("a subscriber of two messages of one campaign converts once (ISG-1)", async () => {
  const { world, ids, define, campaign, buy, funnel } = await setting();
  await define();
  const { id } = await campaign([undefined, timestamp(world.clock.now() + HOUR)]);
  await world.advance(2 * HOUR);
  await buy(ids[0]!, 100);

  expect(await funnel(id)).toMatchObject({ sent: 8, converted: 1, revenue_cents: 100 });
});

it("a conversion after two messages of one campaign counts in a window that the newer one alone is in (ISG-1, ISG-10)", async () => {
  const { world, ids, define, campaign, buy, funnel } = await setting();
  await define();
  const { id } = await campaign([undefined, timestamp(world.clock.now() + DAY)]);
  await world.advance(DAY + HOUR);
  await buy(ids[0]!, 100);

  const today = timestamp(world.clock.now() - 2 * HOUR);
  expect(await funnel(id, `&start=${today}`)).toMatchObject({ sent: 4, converted: 1, revenue_cents: 100 });
});

it("a conversion after messages of three days counts once in every window that one of them is in (ISG-1, ISG-10)", async () => {
  const { world, ids, define, campaign, buy, funnel } = await setting();
  await define();
  const begun = world.clock.now();
  const { id } = await campaign([undefined, timestamp(begun + DAY), timestamp(begun + 2 * DAY)]);
  await world.advance(2 * DAY + HOUR);
  await buy(ids[0]!, 100);

  const within = (from: number, to: number) =>
    funnel(id, `&start=${timestamp(begun + from * DAY - HOUR)}&end=${timestamp(begun + to * DAY + HOUR)}`);
  const once = { converted: 1, revenue_cents: 100 };
  expect(await within(0, 0)).toMatchObject({ sent: 4, ...once });
  expect(await within(1, 1)).toMatchObject({ sent: 4, ...once });
  expect(await within(0, 1)).toMatchObject({ sent: 8, ...once });
  expect(await within(0, 2)).toMatchObject({ sent: 12, ...once });
});

it("what failed of a campaign counts in the windows in which it was dispatched, however late it failed (CRP-1, AMB-123)", async () => {
  const { world, tenant, ids, call } = await setting();
  const { ios } = await openChannels(world, tenant, "ios-push");
  await addPhone(world, tenant, ids[0]!, "ios");
  await spoil(world, { channel: "ios", outcome: "transient", times: 4 });
  const content = { title: "t", body: "b" };
  const { id } = (await call("POST /api/v1/campaigns", { name: "c", content, channel_ids: [ios] })).body;
  await call(`POST /api/v1/campaigns/${id}/release`);
  const between = timestamp(world.clock.now() + 10 * MINUTE);
  await world.advance(HOUR);

  const report = async (query: string) => (await call(`GET /api/v1/campaigns/${id}/report?${query}`)).body;
  expect(await report(`end=${between}`)).toMatchObject({ sent: 1, failed: 1 });
  expect(await report(`start=${between}`)).toMatchObject({ sent: 0, failed: 0, fail_reasons: {} });
});

it("a purchase that came late counts its subscriber in the window of an older message that counted nobody (ISG-1, ISG-10)", async () => {
  const { world, ids, define, campaign, buy, funnel } = await setting();
  await define();
  const begun = world.clock.now();
  const { id } = await campaign([undefined, timestamp(begun + 20 * DAY)]);
  await world.advance(20 * DAY + HOUR);
  await buy(ids[0]!, 100);
  await buy(ids[0]!, 50, { occurred_at: timestamp(begun + HOUR) });

  expect(await funnel(id, `&end=${timestamp(begun + DAY)}`)).toMatchObject({
    sent: 4,
    converted: 1,
    revenue_cents: 50,
  });
  expect(await funnel(id)).toMatchObject({ sent: 8, converted: 1, revenue_cents: 150 });
});

it("who converted before a window of insights and converts again after a message in it is among its converted (ISG-1, ISG-10)", async () => {
  const { world, ids, define, campaign, buy, funnel } = await setting();
  await define();
  const first = timestamp(world.clock.now());
  const { id } = await campaign([undefined, timestamp(world.clock.now() + 40 * DAY)]);
  await buy(ids[0]!, 100);
  await world.advance(40 * DAY + HOUR);
  await buy(ids[0]!, 200);

  expect(await funnel(id)).toMatchObject({ sent: 4, converted: 1, revenue_cents: 200 });
  expect(await funnel(id, `&start=${first}`)).toMatchObject({ sent: 8, converted: 1, revenue_cents: 300 });
});

it("who converted before and after a purchase that came late is once among the converted of a window (ISG-1, ISG-10)", async () => {
  const { world, ids, define, campaign, buy, funnel } = await setting();
  await define();
  const begun = world.clock.now();
  const { id } = await campaign([undefined, timestamp(begun + 20 * DAY)]);
  await world.advance(20 * DAY + HOUR);
  await buy(ids[0]!, 100);
  await buy(ids[0]!, 100, { occurred_at: timestamp(begun + HOUR) });
  await buy(ids[0]!, 100);

  const today = timestamp(world.clock.now() - 2 * HOUR);
  expect(await funnel(id)).toMatchObject({ sent: 8, converted: 1, revenue_cents: 300 });
  expect(await funnel(id, `&start=${today}`)).toMatchObject({ sent: 4, converted: 1, revenue_cents: 200 });
});

it("the window chooses sends, by default of the last 30 days, and what came of them counts, also after its end (ISG-10)", async () => {
  const { world, ids, define, campaign, buy, funnel, summary } = await setting();
  await define({ window_seconds: 90 * 86_400 });
  const { id } = await campaign();
  await world.advance(HOUR);
  const sent = timestamp(world.clock.now());
  await buy(ids[0]!, 100);
  await world.advance(3 * DAY);
  await buy(ids[1]!, 10);
  const counted = { conversions: 2, last_touch_revenue_cents: 110 };
  expect(await summary("campaign", `&end=${sent}`)).toMatchObject([{ source_id: id, revenue_cents: 110, ...counted }]);
  expect(await summary("campaign", `&start=${timestamp(world.clock.now() - DAY)}`)).toEqual([]);
  const all = { sent: 4, converted: 2, revenue_cents: 110, ...counted };
  expect(await funnel(id, `&end=${sent}`)).toMatchObject(all);
  expect(await funnel(id)).toMatchObject(all);
  await world.advance(40 * DAY);
  expect(await summary("campaign")).toEqual([]);
  expect(await funnel(id)).toMatchObject({ sent: 0, converted: 0, conversions: 0 });
});

/** What a window of these days adds up, of rows by day, as a day leaves out what a day before it in the window says. */
function sumOf(rows: readonly AddedCredit[], days: readonly string[]): number {
  const within = rows.filter(({ credit }) => days.includes(credit.day));
  const added = within.flatMap(({ add }) => Object.entries(add));
  return added.reduce((sum, [name, n]) => {
    const [total, before] = name.split("_of|");
    if (total !== "revenue") return sum;
    if (before === undefined) return sum + n;
    return days.includes(before) ? sum - n : sum;
  }, 0);
}

it.each([
  [0, 1, 2, 3],
  [3, 2, 1, 0],
  [0, 3, 1, 2],
  [0, 3, 2, 1],
  [1, 3, 0, 2],
  [2, 0, 3, 1],
])(
  "a conversion after sends of four days, which become known in the order %i %i %i %i, counts once in every window that has one of them (ISG-1, ISG-10)",
  (...order) => {
    const days = [1, 2, 3, 4].map((day) => `2026-11-0${day}`);
    const known: string[] = [];
    const rows: AddedCredit[] = [];
    for (const i of order) {
      const credit = { group: "campaign", id: "c", day: days[i]! } as const;
      rows.push(...onMoreDays("revenue", 500, [credit], known));
      known.push(credit.day);
    }
    const windows = days.flatMap((_, from) => days.slice(from).map((__, n) => days.slice(from, from + n + 1)));

    expect(windows.map((window) => sumOf(rows, window))).toEqual(windows.map(() => 500));
  },
);
