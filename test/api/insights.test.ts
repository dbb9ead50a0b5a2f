// Insights: conversions and their attribution, funnels and sums (ISG, CNV, CRP).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { withBuyers } from "../support/conversions.ts";
import { NOTHING_LATE } from "../support/late.ts";
import { send } from "../support/people.ts";
import { addPhone, openChannels, spoil } from "../support/reached.ts";
import { UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = async (people?: number) => withBuyers(await withTenant(), people);

/** A workspace in which nobody was sent anything. */
const empty = shared(async (own) => withBuyers(await own.withTenant(), 0));

describe("funnel and summary", () => {
  const nothing = {
    ...{ ...NOTHING_LATE, failed: 0 },
    sent: 0,
    delivered: 0,
    opened: 0,
    opened_human: 0,
    clicked: 0,
    clicked_human: 0,
    converted: 0,
    conversions: 0,
    last_touch_revenue_cents: 0,
    revenue_cents: 0,
  };

  it("a funnel counts subscribers at each stage, and their revenue (ISG-1, CRP-2)", async () => {
    const { ids, define, campaign, react, buy, funnel } = await setting();
    await define();
    const { id, jobs } = await campaign();
    for (const who of ids.slice(0, 3)) await react(jobs[0]!, who, "inapp_impression");
    await react(jobs[0]!, ids[0]!, "inapp_click");
    await buy(ids[0]!, 1_250);
    await buy(ids[0]!, 250);
    await buy(ids[1]!);

    expect(await funnel(id)).toEqual({
      ...nothing,
      sent: 4,
      delivered: 4,
      opened: 3,
      opened_human: 3,
      clicked: 1,
      clicked_human: 1,
      converted: 2,
      conversions: 3,
      last_touch_revenue_cents: 1_500,
      revenue_cents: 1_500,
      cost: expect.objectContaining({ provider_dollars: 0, unpriced: [] }),
    });
  });

  it("the funnel of a campaign that there is not is empty (ISG-1)", async () => {
    const { funnel } = await empty();

    expect(await funnel(UNKNOWN)).toEqual({
      ...nothing,
      cost: expect.objectContaining({ dollars: 0, write_units: 0 }),
    });
  });

  it("only events within the window after the touch count, its end included (D-ATTRIB)", async () => {
    const { world, ids, define, campaign, buy, funnel } = await setting();
    await define({ window_seconds: 3_600 });
    const { id } = await campaign();
    const at = world.clock.now();
    await world.advance(HOUR + 5 * SECOND);
    await buy(ids[0]!, 100, { occurred_at: timestamp(at + HOUR) });
    await buy(ids[1]!, 100, { occurred_at: timestamp(at + HOUR + SECOND) });

    expect(await funnel(id)).toMatchObject({ converted: 1, revenue_cents: 100 });
  });

  it("a repeated event counts once; an event without a definition does not count (D-ATTRIB, CNV-4)", async () => {
    const { world, tenant, ids, define, campaign, buy, funnel, summary } = await setting();
    await define();
    const { id } = await campaign();
    for (let n = 0; n < 3; n++) await buy(ids[0]!, 100, { idempotency_key: "order-1" });
    await world.call("POST /v1/events", { as: tenant.server, body: { event_name: "visit", subscriber_id: ids[1] } });
    await world.advance(DAY);

    expect(await funnel(id)).toMatchObject({ converted: 1, revenue_cents: 100 });
    expect(await summary("campaign")).toMatchObject([{ source_id: id, conversions: 1, revenue_cents: 100 }]);
  });

  it("a summary has the source with the most revenue first, and of equal revenue the one with more conversions (ISG-3)", async () => {
    const { world, ids, define, campaign, buy, summary } = await setting();
    await define();
    const sold: string[] = [];
    for (const [n, prices] of [[800], [900], [400, 400]].entries()) {
      sold.push((await campaign()).id);
      for (const [i, price] of prices.entries()) await buy(ids[n + i]!, price);
      await world.advance(HOUR);
    }

    const sources = (await summary("campaign")).map(({ source_id }: { source_id: string }) => source_id);
    expect(sources).toEqual([sold[1], sold[2], sold[0]]);
  });

  it("a conversion counts for the last touch alone in `conversions`, for every source in `converted` (ISG-3, AMB-53, AMB-97)", async () => {
    const { world, ids, channel, define, campaign, buy, funnel, summary } = await setting();
    await define();
    const first = await campaign();
    await world.advance(HOUR);
    const second = await campaign();
    await buy(ids[0]!, 700);

    expect(await summary("campaign")).toMatchObject([{ source_id: second.id, conversions: 1, revenue_cents: 700 }]);
    expect(await summary("channel")).toMatchObject([
      { source_id: channel, source: { id: channel, name: "In-app" }, conversions: 1, revenue_cents: 700 },
    ]);
    expect(await summary("journey")).toEqual([]);
    for (const { id } of [first, second]) expect(await funnel(id)).toMatchObject({ converted: 1, revenue_cents: 700 });
    expect(await funnel(first.id)).toMatchObject({ conversions: 0, last_touch_revenue_cents: 0 });
    expect(await funnel(second.id)).toMatchObject({ conversions: 1, last_touch_revenue_cents: 700 });
  });

  it("a conversion counts for the last message that arrived, not for one after it that failed (ISG-3, AMB-97)", async () => {
    const { world, tenant, ids, define, campaign, buy, funnel, summary } = await setting();
    const { ios = "" } = await openChannels(world, tenant, "ios-push");
    await addPhone(world, tenant, ids[0]!, "ios");
    await define();
    const { id } = await campaign();
    await world.advance(HOUR);
    await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });
    const failed = await send(world, tenant, { subscriberIds: [ids[0]], channel_ids: [ios] });
    expect(failed.job.counts).toMatchObject({ delivered: 0, failed: 1 });

    await buy(ids[0]!, 700);

    expect(await funnel(id)).toMatchObject({ conversions: 1, last_touch_revenue_cents: 700 });
    expect(await summary("campaign")).toMatchObject([{ source_id: id, conversions: 1, revenue_cents: 700 }]);
  });

  it("a conversion moves with its revenue to a touch before it that becomes known after it (ISG-3, AMB-97)", async () => {
    const { world, ids, define, campaign, buy, funnel, summary } = await setting();
    await define();
    const first = await campaign();
    await world.advance(HOUR);
    // The clock of the shop is ahead, so that the second message is sent before what is received earlier.
    await buy(ids[0]!, 700, { occurred_at: timestamp(world.clock.now() + 50 * SECOND) });
    expect(await funnel(first.id)).toMatchObject({ conversions: 1, last_touch_revenue_cents: 700 });
    const second = await campaign();
    await world.advance(HOUR);

    expect(await funnel(first.id)).toMatchObject({ converted: 1, conversions: 0, last_touch_revenue_cents: 0 });
    expect(await funnel(second.id)).toMatchObject({ converted: 1, conversions: 1, last_touch_revenue_cents: 700 });
    expect(await summary("campaign")).toMatchObject([{ source_id: second.id, conversions: 1, revenue_cents: 700 }]);
    expect(await summary("channel")).toMatchObject([{ conversions: 1, revenue_cents: 700 }]);
  });

  it("a conversion counts for a campaign however many sends came after its message (D-ATTRIB)", async () => {
    const { world, tenant, ids, channel, define, campaign, buy, funnel, call } = await setting(1);
    await define();
    const first = await campaign([undefined], { holdout_percentage: 0 });
    for (let n = 0; n < 45; n++) await send(world, tenant, { subscriberIds: ids, channel_ids: [channel] });
    await world.advance(SECOND);
    const last = await campaign();
    await buy(ids[0]!, 100);

    const lift = (await call(`GET /api/v1/insights/lift?job_id=${first.jobs[0]}`)).body;
    expect(lift.treated).toMatchObject({ size: 1, converters: 1 });
    expect(await funnel(first.id)).toMatchObject({ converted: 1, revenue_cents: 100, conversions: 0 });
    expect(await funnel(last.id)).toMatchObject({ converted: 1, revenue_cents: 100, conversions: 1 });
  });

  it("a conversion that comes twice counts once for each of many sends (D-ATTRIB)", async () => {
    const { world, tenant, ids, channel, define, campaign, buy, funnel } = await setting(1);
    await define();
    const first = await campaign();
    for (let n = 0; n < 45; n++) await send(world, tenant, { subscriberIds: ids, channel_ids: [channel] });
    await buy(ids[0]!, 100);
    await world.advance(HOUR);

    expect(await funnel(first.id)).toMatchObject({ converted: 1, revenue_cents: 100 });
  });

  it("events of an anonymous id count for the subscriber it belongs to (IDN-3, D-ATTRIB)", async () => {
    const { world, tenant, ids, define, campaign, buy, funnel } = await setting();
    await define();
    const { id } = await campaign();
    const body = { anonymous_id: "anon-1", subscriber_id: ids[0] };
    await world.call("POST /v1/events/identify", { as: tenant.sdk, body });
    await buy({ anonymous: "anon-1" }, 300);

    expect(await funnel(id)).toMatchObject({ converted: 1, revenue_cents: 300 });
  });

  it("of two channels of one type a conversion counts for the one that was named first, which its send went by (ISG-3, AMB-97)", async () => {
    const { world, tenant, call, ids, define, buy, summary } = await setting(2);
    await define();
    const open = async (name: string) => {
      const { sms = "" } = await openChannels(world, tenant, "sms");
      await call(`PATCH /api/v1/channels/${sms}`, { name });
      return sms;
    };
    const pair = [await open("Berlin"), await open("Oslo")];
    for (const [n, id] of ids.entries()) {
      await tenant.upsert({ external_id: `p${n}`, attributes: { phone: `+491511234567${n}` } });
      await send(world, tenant, { subscriberIds: [id], channel_ids: n === 0 ? pair : pair.toReversed() });
      await buy(id, 100);
    }

    const credited = (await summary("channel")).map(({ source_id }: { source_id: string }) => source_id);
    expect(credited.sort()).toEqual(pair.sort());
  });

  it("what is bought after its channel was deleted still counts for that channel (ISG-3, AMB-97)", async () => {
    const { call, ids, channel, define, campaign, buy, summary } = await setting();
    await define();
    await campaign();
    await call(`DELETE /api/v1/channels/${channel}?force=true`);
    await buy(ids[0]!, 300);

    expect(await summary("channel")).toMatchObject([{ source_id: channel, conversions: 1, revenue_cents: 300 }]);
  });

  it("one workspace's conversions are not another's (GEN-8)", async () => {
    const { world, ids, define, campaign, buy } = await setting();
    await define();
    const { id } = await campaign();
    await buy(ids[0]!, 100);
    const as = await (await world.tenant()).dashboard();
    const query = `source_type=campaign&source_id=${id}`;
    const other = await world.call(`GET /api/v1/insights/funnel?${query}`, { as });

    expect(other.body).toMatchObject({ sent: 0, converted: 0 });
    expect((await world.call("GET /api/v1/insights/summary?group_by=campaign", { as })).body.rows).toEqual([]);
  });
});
