// The funnel of a journey. Its sends are jobs of their own: they are summed by day, so a funnel reads a few rows.
import { describe, expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { NOTHING_LATE } from "../support/late.ts";
import { openChannels, outboxOf } from "../support/reached.ts";
import { spent } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

describe("funnel and summary of a journey", () => {
  it("every send counts, also several to one subscriber; a conversion counts once (ISG-1, ISG-3, D-INTJOBS)", async () => {
    const { world, tenant, call, send, active, person, track } = await journeySetting(await fresh());
    await call("POST /api/v1/insights/config", { event_name: "bought", value_property: "cents" });
    const id = await active(
      graphOf({
        first: send("One", "pause"),
        pause: { delay: { duration: "1h", next: "second" } },
        second: send("Two"),
      }),
    );
    const people = [await person("ada"), await person("bob"), await person("eve")];
    for (const who of ["ada", "bob", "eve"]) await track(who, "signed_up");
    await world.advance(2 * HOUR);
    const report = (job_id: string, subscriber_id: string, interaction: string) =>
      world.call("POST /api/v1/notifications/interactions", {
        as: tenant.sdk,
        body: { job_id, subscriber_id, interaction, platform: "ios", occurred_at: timestamp(world.clock.now()) },
      });
    const inbox = (await world.call(`GET /v1/in-app/messages?subscriber_id=${people[0]}`, { as: tenant.sdk })).body
      .messages;
    for (const { notification_id } of inbox) {
      await report(notification_id, people[0]!, "inapp_impression");
      await report(notification_id, people[0]!, "inapp_impression");
    }
    await report(inbox[0].notification_id, people[0]!, "inapp_click");
    await track("ada", "bought", { properties: { cents: 900 } });
    const funnel = async (query = "") =>
      (await call(`GET /api/v1/insights/funnel?source_type=journey&source_id=${id}${query}`)).body;
    expect(await funnel()).toEqual({
      ...{ ...NOTHING_LATE, failed: 0 },
      sent: 6,
      delivered: 6,
      opened: 2,
      opened_human: 2,
      clicked: 1,
      clicked_human: 1,
      converted: 1,
      conversions: 1,
      last_touch_revenue_cents: 900,
      revenue_cents: 900,
      cost: expect.objectContaining({ provider_dollars: 0, unpriced: [] }),
    });
    expect((await call("GET /api/v1/insights/summary?group_by=journey")).body.rows).toEqual([
      {
        source_id: id,
        source: { id, name: "Welcome" },
        conversions: 1,
        revenue_cents: 900,
        last_touch_revenue_cents: 900,
      },
    ]);
    await world.advance(40 * DAY);
    expect(await funnel()).toMatchObject({ sent: 0, converted: 0 });
    expect(await funnel(`&start=${timestamp(world.clock.now() - 50 * DAY)}`)).toMatchObject({ sent: 6, converted: 1 });
  });

  it("it says what its sends cost, each at the prices of its dispatch (F10)", async () => {
    const { world, tenant, call, active, track } = await journeySetting(await fresh());
    const { sms = "" } = await openChannels(world, tenant, "sms");
    const id = await active(
      graphOf({ only: { send: { channel_ids: [sms], content: { title: "Hello", body: "b" } } } }),
    );
    const greet = async (external_id: string, phone: string) => {
      const body = { external_id, attributes: { phone } };
      await tenant.upsert(body);
      await track(external_id, "signed_up");
    };
    const price = (price_per_message: number) => call(`PATCH /api/v1/channels/${sms}`, { price_per_message });
    const cost = async () => (await call(`GET /api/v1/insights/funnel?source_type=journey&source_id=${id}`)).body.cost;
    await price(0.08);
    await greet("ada", "+4915112345670");
    await price(0.02);
    await greet("bob", "+4915112345671");
    const sent = await cost();
    expect(sent).toMatchObject({ provider_dollars: 0.1, unpriced: [] });
    const jobs = (await outboxOf(world)).map(({ job_id }) => job_id);
    const each = await Promise.all(jobs.map(async (job) => (await call(`GET /api/v1/notifications/${job}`)).body.cost));
    expect(each).toHaveLength(2);
    expect(sent.dollars).toBeCloseTo(each[0].dollars + each[1].dollars, 5);
    expect(Math.abs(sent.write_units - each[0].write_units - each[1].write_units)).toBeLessThanOrEqual(1);
    await call(`PATCH /api/v1/channels/${sms}`, { price_per_message: null });
    await greet("eve", "+4915112345672");
    expect(await cost()).toMatchObject({ provider_dollars: 0.1, unpriced: ["sms"] });
  });

  it("its price does not grow with the number of sends (ISG-1)", async () => {
    const { world, call, send, active, person, track } = await journeySetting(await fresh());
    const id = await active(graphOf({ only: send("Hello") }));
    const read = async () => {
      const { requests } = await spent(world, () =>
        call(`GET /api/v1/insights/funnel?source_type=journey&source_id=${id}`),
      );
      return requests;
    };
    await person("p0");
    await track("p0", "signed_up");
    // The first call of an environment also reads keys and secrets.
    await read();
    const few = await read();
    for (let n = 1; n < 12; n++) {
      await person(`p${n}`);
      await track(`p${n}`, "signed_up");
    }
    expect(await read()).toBe(few);
  });
});
