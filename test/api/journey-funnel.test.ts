// The funnel of a journey. Its sends are jobs of their own: they are summed by day, so a funnel reads a few rows.
import { describe, expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { NOTHING_LATE } from "../support/late.ts";
import { inboxOf } from "../support/people.ts";
import { openChannels, outboxOf } from "../support/reached.ts";
import { spent } from "../support/spending.ts";
import type { Tenant } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const makers = worlds();
const { fresh } = makers;

/** The funnel of a journey. */
const funnelOf = async ({ call }: Pick<Tenant, "call">, id: string, query = "") =>
  (await call(`GET /api/v1/insights/funnel?source_type=journey&source_id=${id}${query}`)).body;

describe("a journey that sent two messages to each of three people, of whom one reacts and buys", () => {
  const bought = async (of: ReturnType<typeof worlds>) => {
    const { world, tenant, call, send, active, person, track } = await journeySetting(await of.fresh());
    await call("POST /api/v1/insights/config", { event_name: "bought", value_property: "cents" });
    const pause = { delay: { duration: "1h", next: "second" } };
    const id = await active(graphOf({ first: send("One", "pause"), pause, second: send("Two") }));
    const ada = await person("ada");
    for (const who of ["bob", "eve"]) await person(who);
    for (const who of ["ada", "bob", "eve"]) await track(who, "signed_up");
    await world.advance(2 * HOUR);
    const occurred_at = timestamp(world.clock.now());
    const report = (job_id: string, interaction: string) =>
      world.call("POST /api/v1/notifications/interactions", {
        as: tenant.sdk,
        body: { job_id, subscriber_id: ada, interaction, platform: "ios", occurred_at },
      });
    const [last, first] = await inboxOf(world, tenant, ada);
    for (const { notification_id } of [first, last]) {
      await report(notification_id, "inapp_impression");
      await report(notification_id, "inapp_impression");
    }
    await report(last.notification_id, "inapp_click");
    await track("ada", "bought", { properties: { cents: 900 } });
    return { world, tenant, call, id };
  };
  const atOnce = shared(bought);

  it("the funnel of a journey counts each of its sends, and a conversion once (ISG-1, ISG-3, D-INTJOBS)", async () => {
    const { tenant, id } = await atOnce();

    expect(await funnelOf(tenant, id)).toEqual({
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
  });

  it("the summary by journey has its conversions and its revenue (ISG-3)", async () => {
    const { call, id } = await atOnce();

    expect((await call("GET /api/v1/insights/summary?group_by=journey")).body.rows).toEqual([
      {
        source_id: id,
        source: { id, name: "Welcome" },
        conversions: 1,
        revenue_cents: 900,
        last_touch_revenue_cents: 900,
      },
    ]);
  });

  it("the funnel of a journey is of the last 30 days, unless a start is given (ISG-1)", async () => {
    const { world, tenant, id } = await bought(makers);

    await world.advance(40 * DAY);

    expect(await funnelOf(tenant, id)).toMatchObject({ sent: 0, converted: 0 });
    const start = timestamp(world.clock.now() - 50 * DAY);
    expect(await funnelOf(tenant, id, `&start=${start}`)).toMatchObject({ sent: 6, converted: 1 });
  });
});

it("messages of two journeys that end together count for each of them (ISG-1, D-INTJOBS)", async () => {
  const { tenant, send, active, person, track } = await journeySetting(await fresh());
  const journeys = [await active(graphOf({ only: send("One") })), await active(graphOf({ only: send("Two") }))];
  await person("ada");

  await track("ada", "signed_up");

  for (const id of journeys) expect(await funnelOf(tenant, id)).toMatchObject({ sent: 1, delivered: 1 });
});

describe("what a journey's funnel says of money", () => {
  /** A journey of one text message, at the prices that are set while it runs. */
  async function pricedJourney() {
    const { world, tenant, call, active, track } = await journeySetting(await fresh());
    const { sms = "" } = await openChannels(world, tenant, "sms");
    const id = await active(
      graphOf({ only: { send: { channel_ids: [sms], content: { title: "Hello", body: "b" } } } }),
    );
    const greetAt = async (price_per_message: number | null, external_id: string, phone: string) => {
      await call(`PATCH /api/v1/channels/${sms}`, { price_per_message });
      await tenant.upsert({ external_id, attributes: { phone } });
      await track(external_id, "signed_up");
    };
    const cost = async () => (await funnelOf(tenant, id)).cost;
    return { world, call, greetAt, cost };
  }

  it("the funnel of a journey sums what its sends cost, each at the price of its dispatch (F10)", async () => {
    const { world, call, greetAt, cost } = await pricedJourney();
    await greetAt(0.08, "ada", "+4915112345670");
    await greetAt(0.02, "bob", "+4915112345671");

    const { dollars, write_units, ...rest } = await cost();

    expect(rest).toMatchObject({ provider_dollars: 0.1, unpriced: [] });
    const sum = { dollars: 0, write_units: 0 };
    for (const { job_id } of await outboxOf(world)) {
      const { body } = await call(`GET /api/v1/notifications/${job_id}`);
      sum.dollars += body.cost.dollars;
      sum.write_units += body.cost.write_units;
    }
    expect(dollars).toBeCloseTo(sum.dollars, 5);
    expect(Math.abs(write_units - sum.write_units)).toBeLessThanOrEqual(1);
  });

  it("the funnel of a journey names the channels that had no price (F10)", async () => {
    const { greetAt, cost } = await pricedJourney();

    await greetAt(null, "eve", "+4915112345672");

    expect(await cost()).toMatchObject({ provider_dollars: 0, unpriced: ["sms"] });
  });

  it("the requests that the funnel of a journey takes do not grow with its sends (ISG-1)", async () => {
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
