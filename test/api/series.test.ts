// Figures over time (RDA-10): buckets agree with the jobs, funnels and conversions that they are of.
import { expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { withBuyers } from "../support/conversions.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

type Bucket = Record<string, number | null> & { at: string; group: string | null };

const setting = async () => {
  const found = await withBuyers(await withTenant());
  const series = async (query = ""): Promise<Bucket[]> =>
    (await found.call(`GET /api/v1/insights/series${query}`)).body.buckets;
  return { ...found, series };
};

const nothing = {
  sent: 0,
  delivered: 0,
  failed: 0,
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

it("by day, by category and by channel: sends, opens and clicks on their own days, conversions on that of their send (RDA-10)", async () => {
  const { world, ids, define, campaign, react, buy, call, series } = await setting();
  await define();
  const { id, jobs } = await campaign();
  const unknown = "00000000-0000-4000-8000-000000000000";
  const transactional = { subscriberIds: [ids[0], unknown], title: "t", body: "b", category: "transactional" };
  expect((await call("POST /api/v1/notifications", transactional)).status).toBe(201);
  await world.settle();
  const first = timestamp(world.clock.now()).slice(0, 10);
  await world.advance(DAY);
  const second = timestamp(world.clock.now()).slice(0, 10);
  await react(jobs[0]!, ids[0]!, "inapp_impression");
  await react(jobs[0]!, ids[0]!, "inapp_click");
  await react(jobs[0]!, ids[0]!, "inapp_click");
  await react(jobs[0]!, ids[1]!, "inapp_impression");
  await buy(ids[1]!, 700);
  const midnight = (day: string) => `${day}T00:00:00.000Z`;
  const opened = { opened: 2, opened_human: 2, clicked: 1, clicked_human: 1 };
  const bought = { conversions: 1, last_touch_revenue_cents: 700 };
  expect(await series()).toEqual([
    { ...nothing, at: midnight(first), group: null, sent: 5, delivered: 5, skipped: 1, ...bought },
    { ...nothing, at: midnight(second), group: null, ...opened },
  ]);
  expect(await series("?group_by=category")).toEqual([
    { ...nothing, at: midnight(first), group: "marketing", sent: 4, delivered: 4, ...bought },
    { ...nothing, at: midnight(first), group: "transactional", sent: 1, delivered: 1, skipped: 1 },
    { ...nothing, at: midnight(second), group: "marketing", ...opened },
  ]);
  const ofChannel = { ...nothing, sent: null, failed: null, skipped: null, group: "in_app" };
  expect(await series("?group_by=channel")).toEqual([
    { ...ofChannel, at: midnight(first), delivered: 5, ...bought },
    { ...ofChannel, at: midnight(second), ...opened },
  ]);
  const ofSource = { ...nothing, converted: 0, revenue_cents: 0 };
  expect(await series(`?source_type=campaign&source_id=${id}`)).toEqual([
    {
      ...ofSource,
      at: midnight(first),
      group: null,
      sent: 4,
      delivered: 4,
      ...bought,
      converted: 1,
      revenue_cents: 700,
    },
    { ...ofSource, at: midnight(second), group: null, ...opened },
  ]);
  const hours = await series("?interval=hour");
  expect(hours.map(({ delivered, opened: seen, sent }) => [delivered, seen, sent])).toEqual([
    [5, 0, null],
    [0, 2, null],
  ]);
  expect(hours[0]!.at.slice(0, 10)).toBe(first);
  expect(await series(`?start=${timestamp(world.clock.now())}`)).toHaveLength(1);
  expect(await series(`?end=${timestamp(world.clock.now() - 3 * DAY)}`)).toEqual([]);
  expect(await series(`?interval=hour&start=${timestamp(world.clock.now() - HOUR)}`)).toHaveLength(1);
  expect(await series(`?source_type=campaign&source_id=${unknown}`)).toEqual([]);
});

it("a late event counts on its day for the touch before it; the series of a workspace are its own (RDA-10, D-ATTRIB)", async () => {
  const { world, tenant, ids, define, campaign, buy, call, series } = await setting();
  await define();
  await campaign();
  const bought = timestamp(world.clock.now() + HOUR);
  await world.advance(2 * HOUR);
  const order = { idempotency_key: "order", occurred_at: bought };
  await buy(ids[0]!, 100, order);
  expect(await series("?group_by=category")).toMatchObject([
    { group: "marketing", conversions: 1, last_touch_revenue_cents: 100 },
  ]);
  const later = { subscriberIds: [ids[0]], title: "t", body: "b", category: "transactional" };
  await call("POST /api/v1/notifications", later);
  await world.settle();
  await buy(ids[0]!, 30);
  const found = await series("?group_by=category");
  expect(found.map(({ group, conversions, last_touch_revenue_cents: cents }) => [group, conversions, cents])).toEqual([
    ["marketing", 1, 100],
    ["transactional", 1, 30],
  ]);
  const as = await (await world.tenant()).dashboard();
  expect((await world.call("GET /api/v1/insights/series", { as })).body.buckets).toEqual([]);
  expect((await world.call("GET /api/v1/insights/series", { as: tenant.server })).status).toBe(401);
});

it("a journey's messages by the day of their dispatch (RDA-10)", async () => {
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

it("refuses parameters that exclude each other, and windows that are too long (RDA-10)", async () => {
  const { call } = await setting();
  const id = "00000000-0000-4000-8000-000000000000";
  for (const [query, field] of [
    ["group_by=source", "group_by"],
    ["interval=week", "interval"],
    ["interval=hour&group_by=channel", "group_by"],
    ["source_type=campaign", "source_id"],
    [`source_id=${id}`, "source_type"],
    [`source_type=campaign&source_id=${id}&group_by=channel`, "group_by"],
    [`source_type=campaign&source_id=${id}&interval=hour`, "interval"],
    ["start=2025-01-01T00:00:00Z&end=2026-03-01T00:00:00Z", "start"],
    ["interval=hour&start=2026-01-01T00:00:00Z&end=2026-03-01T00:00:00Z", "start"],
    ["start=2026-03-01T00:00:00Z&end=2026-01-01T00:00:00Z", "end"],
  ] as const) {
    const { status, body } = await call(`GET /api/v1/insights/series?${query}`);
    expect([status, Object.keys(body.error?.fields ?? body.fields ?? {})], query).toEqual([422, [field]]);
  }
});
