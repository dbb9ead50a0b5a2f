// Figures over time (RDA-10): buckets agree with the jobs, funnels and conversions that they are of.
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { withBuyers } from "../support/conversions.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

type Bucket = Record<string, number | null> & { at: string; group: string | null };

const setting = async (into: Parameters<typeof withBuyers>[0]) => {
  const found = await withBuyers(into);
  const series = async (query = ""): Promise<Bucket[]> =>
    (await found.call(`GET /api/v1/insights/series${query}`)).body.buckets;
  /** One message to one of the buyers, which tells rather than sells. */
  const tell = async (...subscriberIds: string[]) => {
    const body = { subscriberIds, title: "t", body: "b", category: "transactional" };
    expect((await found.call("POST /api/v1/notifications", body)).status).toBe(201);
    await found.world.settle();
  };
  return { ...found, series, tell };
};

/** A bucket in which nothing happened. */
const nothing = {
  sent: 0,
  delivered: 0,
  failed: 0,
  uncertain: null,
  skipped: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
  opened: 0,
  opened_human: 0,
  clicked: 0,
  clicked_human: 0,
  converted: null,
  revenue_cents: null,
  conversions: 0,
  last_touch_revenue_cents: 0,
};

/** A campaign and a transactional send, which are opened and clicked a day later. */
const sold = shared(async ({ withTenant }) => {
  const shop = await setting(await withTenant());
  const { world, define, campaign, tell, react, buy } = shop;
  const [ada, bob] = shop.ids as [string, string];
  const today = () => ({ at: `${timestamp(world.clock.now()).slice(0, 10)}T00:00:00.000Z` });
  await define();
  const { id, jobs } = await campaign();
  await tell(ada, UNKNOWN);
  const first = today();
  await world.advance(DAY);
  const second = today();
  await react(jobs[0]!, ada, "inapp_impression");
  await react(jobs[0]!, ada, "inapp_click");
  await react(jobs[0]!, ada, "inapp_click");
  await react(jobs[0]!, bob, "inapp_impression");
  await buy(bob, 700);
  return { ...shop, id, first, second };
});

const opened = { opened: 2, opened_human: 2, clicked: 1, clicked_human: 1 };
const bought = { conversions: 1, last_touch_revenue_cents: 700 };

it("a series has sends, opens and clicks on their own days, and conversions on that of their send (RDA-10)", async () => {
  const { series, first, second } = await sold();

  expect(await series()).toEqual([
    { ...nothing, ...first, group: null, sent: 5, delivered: 5, skipped: 1, ...bought },
    { ...nothing, ...second, group: null, ...opened },
  ]);
});

it("a series by category has a bucket for each category of a day (RDA-10)", async () => {
  const { series, first, second } = await sold();

  expect(await series("?group_by=category")).toEqual([
    { ...nothing, ...first, group: "marketing", sent: 4, delivered: 4, ...bought },
    { ...nothing, ...first, group: "transactional", sent: 1, delivered: 1, skipped: 1 },
    { ...nothing, ...second, group: "marketing", ...opened },
  ]);
});

it("a series by channel has no figures that are of a send as a whole (RDA-10)", async () => {
  const { series, first, second } = await sold();
  const ofChannel = { ...nothing, sent: null, skipped: null, group: "in_app" };

  expect(await series("?group_by=channel")).toEqual([
    { ...ofChannel, ...first, delivered: 5, ...bought },
    { ...ofChannel, ...second, ...opened },
  ]);
});

it("a series of one campaign has its converted subscribers and their revenue (RDA-10)", async () => {
  const { series, id, first, second } = await sold();
  const ofCampaign = { ...nothing, group: null, uncertain: 0, converted: 0, revenue_cents: 0 };

  expect(await series(`?source_type=campaign&source_id=${id}`)).toEqual([
    { ...ofCampaign, ...first, sent: 4, delivered: 4, ...bought, converted: 1, revenue_cents: 700 },
    { ...ofCampaign, ...second, ...opened },
  ]);
});

it("a series of one campaign ends with the day in which its window ends (RDA-10)", async () => {
  const { series, id, first } = await sold();

  const buckets = await series(`?source_type=campaign&source_id=${id}&end=${first.at.slice(0, 10)}T23:00:00Z`);
  expect(buckets.map(({ at }) => at)).toEqual([first.at]);
});

it("a series of one campaign has who converts again among the converted of a day, unless it has them on an earlier day (RDA-10, ISG-1)", async () => {
  const { world, ids, define, campaign, buy, series } = await setting(await withTenant());
  await define();
  const { id } = await campaign([undefined, timestamp(world.clock.now() + 9 * DAY)]);
  await buy(ids[0]!, 100);
  await world.advance(9 * DAY + HOUR);
  for (const who of ids.slice(0, 2)) await buy(who, 100);
  const converted = async (start: number) =>
    (await series(`?source_type=campaign&source_id=${id}&start=${timestamp(start)}`)).map((bucket) => bucket.converted);

  expect(await converted(world.clock.now() - 10 * DAY)).toEqual([1, 1]);
  expect(await converted(world.clock.now() - DAY)).toEqual([2]);
});

it("a series by hour has deliveries and opens, and no sends (RDA-10)", async () => {
  const { series, first } = await sold();

  const hours = await series("?interval=hour");

  expect(hours).toMatchObject([
    { delivered: 5, opened: 0, sent: null },
    { delivered: 0, opened: 2, sent: null },
  ]);
  expect(hours[0]!.at.slice(0, 10)).toBe(first.at.slice(0, 10));
});

it("an opening that is reported within two days counts in its hour, an older one in that of its report (RDA-10)", async () => {
  const { world, ids, call, campaign, react } = await withBuyers(await withTenant(), 2);
  const { jobs } = await campaign();
  await world.advance(3 * DAY);
  const ago = (hours: number) => timestamp(world.clock.now() - hours * HOUR);
  const hoursAgo = [47, 49];
  for (const [n, hours] of hoursAgo.entries())
    await react(jobs[0]!, ids[n]!, "inapp_impression", { occurred_at: ago(hours) });
  await world.settle();

  const { buckets } = (await call(`GET /api/v1/insights/series?interval=hour&start=${ago(71)}`)).body;

  expect(buckets).toMatchObject([
    { at: ago(47), opened: 1 },
    { at: ago(0), opened: 1 },
  ]);
});

it.each([
  ["from today", "?start=2026-11-21T12:00:00Z", 1],
  ["until three days ago", "?end=2026-11-18T12:00:00Z", 0],
  ["of the last hour", "?interval=hour&start=2026-11-21T11:30:00Z", 1],
  ["of a part of an hour", "?interval=hour&start=2026-11-20T12:30:00Z&end=2026-11-20T12:40:00Z", 1],
  ["of 366 days", "?start=2025-11-20T12:00:00Z&end=2026-11-21T12:00:00Z", 2],
  ["of a campaign that does not exist", `?source_type=campaign&source_id=${UNKNOWN}`, 0],
])("a series %s has the buckets of that alone (RDA-10)", async (_, query, buckets) => {
  const { series } = await sold();

  expect(await series(query)).toHaveLength(buckets);
});

it("a workspace sees nothing of another's series (RDA-10)", async () => {
  const { world } = await sold();
  const other = await world.tenant();

  expect((await other.call("GET /api/v1/insights/series")).body.buckets).toEqual([]);
});

describe("conversions in a series", () => {
  it("an event that arrives late counts on its own day for the message before it (RDA-10, D-ATTRIB)", async () => {
    const { world, ids, define, campaign, buy, series } = await setting(await withTenant());
    await define();
    await campaign();
    const occurred_at = timestamp(world.clock.now() + HOUR);
    await world.advance(2 * HOUR);

    await buy(ids[0]!, 100, { idempotency_key: "order", occurred_at });

    expect(await series("?group_by=category")).toMatchObject([
      { group: "marketing", conversions: 1, last_touch_revenue_cents: 100 },
    ]);
  });

  it("a conversion counts for the category of the last message before it (RDA-10, D-ATTRIB)", async () => {
    const { world, ids, define, campaign, buy, series, tell } = await setting(await withTenant());
    await define();
    await campaign();
    await world.advance(HOUR);
    await tell(ids[0]!);

    await buy(ids[0]!, 30);

    expect(await series("?group_by=category")).toMatchObject([
      { group: "marketing", conversions: 0, last_touch_revenue_cents: 0 },
      { group: "transactional", conversions: 1, last_touch_revenue_cents: 30 },
    ]);
  });
});

it("a conversion that moves to a message of the next day moves in a series too (RDA-10, AMB-97)", async () => {
  const { world, ids, define, campaign, buy, series } = await setting(await withTenant());
  await define();
  await world.advance(12 * HOUR - 2 * MINUTE);
  await campaign();
  await world.advance(100 * SECOND);
  // The clock of the shop is ahead: the next day begins before what is received earlier.
  await buy(ids[0]!, 700, { occurred_at: timestamp(world.clock.now() + 50 * SECOND) });
  await world.advance(30 * SECOND);
  await campaign();
  await world.advance(HOUR);

  expect(await series()).toMatchObject([{ conversions: 0, last_touch_revenue_cents: 0 }, bought]);
});

it("a message to one is in the series of its day once, while its counters settle (RDA-10)", async () => {
  const { world, ids, series, tell } = await setting(await withTenant());
  await tell(ids[0]!);

  for (let quarter = 0; quarter < 8; quarter++) {
    expect(await series()).toMatchObject([{ sent: 1, delivered: 1 }]);
    await world.advance(13 * MINUTE);
  }
});

it("a series of a journey has its messages on the day that they were sent (RDA-10)", async () => {
  const { world, call, send, active, person, track } = await journeySetting(await fresh());
  const id = await active(graphOf({ first: send("One") }));
  for (const who of ["ada", "bob"]) {
    await person(who);
    await track(who, "signed_up");
    await world.advance(DAY);
  }

  const buckets = (await call(`GET /api/v1/insights/series?source_type=journey&source_id=${id}`)).body.buckets;

  const sent = { sent: 1, delivered: 1, failed: 0, skipped: null };

  expect(buckets).toMatchObject([sent, sent]);
  expect(buckets[0].at < buckets[1].at).toBe(true);
});

it.each([
  ["hours by channel", "interval=hour&group_by=channel", "group_by"],
  ["a type of source without its id", "source_type=campaign", "source_id"],
  ["the id of a source without its type", `source_id=${UNKNOWN}`, "source_type"],
  ["a source by channel", `source_type=campaign&source_id=${UNKNOWN}&group_by=channel`, "group_by"],
  ["a source by hour", `source_type=campaign&source_id=${UNKNOWN}&interval=hour`, "interval"],
  ["days of more than a year", "start=2025-01-01T00:00:00Z&end=2026-03-01T00:00:00Z", "start"],
  ["hours of two months", "interval=hour&start=2026-01-01T00:00:00Z&end=2026-03-01T00:00:00Z", "start"],
])("a series of %s is refused with 422 (RDA-10)", async (_, query, field) => {
  const { call } = await sold();

  const { status, body } = await call(`GET /api/v1/insights/series?${query}`);

  expect(status).toBe(422);
  expect(Object.keys(body.fields)).toEqual([field]);
});

it("the list of campaigns has the opens of each by the days since its dispatch (RDA-10)", async () => {
  const { world, ids, campaign, react, call } = await setting(await withTenant());
  const { jobs } = await campaign();
  await react(jobs[0]!, ids[0]!, "inapp_impression");
  await world.advance(2 * DAY);
  await react(jobs[0]!, ids[1]!, "inapp_impression");
  await react(jobs[0]!, ids[2]!, "inapp_click");
  const [listed] = (await call("GET /api/v1/campaigns?results=true")).body.items;
  expect(listed.results).toMatchObject({ opened_human: 3, opened_by_day: [1, 0, 2] });
});
