// Lift of a holdout, and the heatmap of deliveries (ISG).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { bucket } from "../../shared/rules/split.ts";
import { withBuyers } from "../support/conversions.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = async (people?: number) => withBuyers(await withTenant(), people);

describe("lift", () => {
  it("the lift of a send compares those treated with those held out, everyone assigned counted (ISG-6, ISG-7, ISG-8, ISG-9, AMB-97)", async () => {
    const { call, ids, define, campaign, buy } = await setting(80);
    const { jobs } = await campaign([undefined], { holdout_percentage: 50 });
    const job = jobs[0]!;
    const heldOut = ids.filter((id) => bucket("holdout", job, id) < 5_000);
    const treated = ids.filter((id) => !heldOut.includes(id));
    const lift = async () => (await call(`GET /api/v1/insights/lift?job_id=${job}`)).body;
    expect(await lift()).toMatchObject({ conversion_configured: false, window_days: 7, lift_percentage_points: 0 });
    await define({ window_seconds: 100_000 });
    await define({ event_name: "browse", window_seconds: 3_600 });
    for (const who of treated.slice(0, 3)) await buy(who, 100);
    await buy(treated[0]!, 50);
    await buy(heldOut[0]!, 30);
    const found = await lift();
    const rates = [3 / treated.length, 1 / heldOut.length] as const;
    expect(found).toMatchObject({
      job_id: job,
      job: { id: job, name: "c" },
      treated: { size: treated.length, converters: 3, conversion_rate: rates[0], revenue_cents: 350 },
      holdout: { size: heldOut.length, converters: 1, conversion_rate: rates[1], revenue_cents: 30 },
      window_days: 2,
      conversion_configured: true,
      significant: false,
    });
    expect(found.lift_percentage_points).toBeCloseTo((rates[0] - rates[1]) * 100, 9);
    expect(found.ci_low).toBeLessThan(found.lift_percentage_points);
    expect(found.ci_high).toBeGreaterThan(found.lift_percentage_points);
    expect((await call(`GET /api/v1/insights/lift?job_id=${UNKNOWN}`)).status).toBe(404);
  });
});

it("who is skipped only when the message goes out is among those treated (ISG-7, D-ATTRIB)", async () => {
  const { call, campaign } = await setting(4);
  await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 1, per: "week" }] });
  await campaign();
  const { jobs } = await campaign();

  expect((await call(`GET /api/v1/insights/lift?job_id=${jobs[0]}`)).body.treated.size).toBe(4);
});

it("a conversion that comes when the rows of inboxes are gone counts on neither side of its lift (ISG-6, AMB-110)", async () => {
  const { world, call, ids, define, campaign, buy } = await setting(8);
  const { jobs } = await campaign([undefined], { holdout_percentage: 50 });
  await define({ window_seconds: (120 * DAY) / SECOND });
  await world.advance(93 * DAY);
  for (const who of ids) await buy(who);

  expect((await call(`GET /api/v1/insights/lift?job_id=${jobs[0]}`)).body).toMatchObject({
    treated: { converters: 0 },
    holdout: { converters: 0 },
  });
});

it("a message of an inbox counts for conversions when the inbox shows it no more (D-ATTRIB, INB-4)", async () => {
  const { world, ids, define, campaign, buy, funnel } = await setting(1);
  const { id } = await campaign();
  await define({ window_seconds: (60 * DAY) / SECOND });
  await world.advance(40 * DAY);
  await buy(ids[0]!, 700);

  expect(await funnel(id, `&start=${timestamp(world.clock.now() - 50 * DAY)}`)).toMatchObject({ converted: 1 });
});

describe("heatmap", () => {
  it("the heatmap is by weekday and hour in UTC, empty cells left out, days capped (ISG-4, ISG-5, AMB-56)", async () => {
    const { world, call, ids, campaign, react } = await setting();
    const { jobs } = await campaign();
    await react(jobs[0]!, ids[0]!, "inapp_impression");
    await world.advance(2 * DAY + 3 * HOUR);
    await react(jobs[0]!, ids[1]!, "inapp_impression");
    const heatmap = async (query = "") => (await call(`GET /api/v1/insights/heatmap${query}`)).body;

    expect(await heatmap()).toEqual({
      window_days: 90,
      cells: [
        { weekday: 0, hour: 15, delivered: 0, opened: 1 },
        { weekday: 5, hour: 12, delivered: 4, opened: 1 },
      ],
    });
    expect((await heatmap("?days=2")).cells).toHaveLength(1);
    expect((await heatmap("?days=3")).cells).toHaveLength(2);
    expect((await heatmap("?days=5000")).window_days).toBe(365);
  });
});
