// The demo's week of history: every page of the console has something to show. In CI alone: it takes
// more than a second.
import { beforeAll, describe, expect, it } from "vitest";
import { prepareDemo, welcome } from "../../local/demo.ts";
import { fillDemo, WEEK_MS } from "../../local/demo-week.ts";
import { UNDISTURBED } from "../../local/faults.ts";
import { openState } from "../../local/state.ts";
import { openTenancy } from "../../local/tenancy.ts";
import { START, testWorld } from "../support/world.ts";

/** A week of the demo, which its tests read. */
async function demoWeek() {
  const world = await testWorld();
  const tenancy = openTenancy(world.depsFor(UNDISTURBED));
  const demo = await prepareDemo(tenancy, openState(world.database));
  world.dynamodb.resetMeter();
  await fillDemo({ service: world, tenancy, demo });
  const requests = world.dynamodb.meter().requests;
  const as = { authorization: `Bearer ${await tenancy.issueToken({ tenant_id: demo.tenant_id, role: "owner" })}` };
  const get = async (path: string) => (await world.call(`GET /api/v1/${path}`, { as })).body;
  const { items: campaigns } = await get("campaigns");
  const quiet = await tenancy.quietHours(demo.tenant_id);
  return { world, demo, requests, get, campaigns, quiet };
}

describe.skipIf(!process.env.CI)("the demo", () => {
  let week: Awaited<ReturnType<typeof demoWeek>>;
  beforeAll(async () => {
    week = await demoWeek();
  }, 240_000);

  it("is filled by a bounded number of requests: the time of a processor cannot be told in a test (CON-6)", () => {
    expect(week.requests).toBeLessThan(6_000);
  });

  it("ends a week after it began (CON-6)", () => {
    expect(week.world.clock.now()).toBe(START + WEEK_MS);
  });

  it("says its quiet hours where it has some (CON-6)", () => {
    const addresses = { url: "http://x", aws: undefined, folder: ":memory:", variables: undefined };

    expect(welcome(addresses, week.demo, week.quiet)).toMatch(/^ {2}quiet hours +22:00 to 07:00: /m);
    expect(welcome(addresses, week.demo, null)).not.toContain("quiet hours");
  });

  it("has a campaign that is over and one to go on with (CON-6)", () => {
    expect(week.campaigns.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
      ["Winter preview", "draft"],
      ["Autumn sale", "completed"],
    ]);
  });

  it("has deliveries, opens and conversions in a campaign's report (CON-6)", async () => {
    const report = await week.get(`campaigns/${week.campaigns[1].id}/report?start=2026-11-01T00:00:00Z`);

    expect([report.delivered, report.opened, report.converted].every((count: number) => count > 0)).toBe(true);
  });

  it("has a lift that is no chance (CON-6)", async () => {
    const [{ job_id }] = week.campaigns[1].messages;
    const { treated, holdout, significant } = await week.get(`insights/lift?job_id=${job_id}`);

    expect(treated.size + holdout.size).toBe(96);
    expect(holdout.size).toBeGreaterThan(0);
    expect(significant).toBe(true);
  });

  it("has people in a journey and behind its end (CON-6)", async () => {
    const { journeys } = await week.get("journeys");
    const { runs } = await week.get(`journeys/${journeys[0].id}/stats`);

    expect(runs.active + runs.completed).toBe(48);
  });

  it("has people in each of its segments (CON-6)", async () => {
    const { segments } = await week.get("segments");

    expect(segments.every(({ count }: { count: number }) => count > 0)).toBe(true);
  });

  it("has a banner that is live and was seen (CON-6)", async () => {
    const [banner] = (await week.get("in-app/experiences")).items;
    const { impressions } = await week.get(`in-app/experiences/${banner.id}/stats`);

    expect(banner.status).toBe("live");
    expect(impressions).toBeGreaterThan(0);
  });

  it("has a webhook whose deliveries all arrived (CON-6)", async () => {
    const [webhook] = (await week.get("webhooks")).items;
    const { items } = await week.get(`webhooks/${webhook.id}/deliveries`);

    expect(items.length).toBeGreaterThan(0);
    expect(items.every(({ outcome }: { outcome: string }) => outcome === "delivered")).toBe(true);
  });
});
