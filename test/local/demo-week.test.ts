// The demo's week of history: every page of the console has something to show. In CI alone: it takes
// more than a second.
import { expect, it } from "vitest";
import { prepareDemo, welcome } from "../../local/demo.ts";
import { fillDemo, WEEK_MS } from "../../local/demo-week.ts";
import { UNDISTURBED } from "../../local/faults.ts";
import { openState } from "../../local/state.ts";
import { openTenancy } from "../../local/tenancy.ts";
import { START, testWorld } from "../support/world.ts";

it.skipIf(!process.env.CI)(
  "the demo has a campaign with conversions on both sides and a lift that is no chance, people in a journey, segments, a list and a banner (CON-6)",
  async () => {
    const world = await testWorld();
    const tenancy = openTenancy(world.depsFor(UNDISTURBED));
    const demo = await prepareDemo(tenancy, openState(world.database));
    world.dynamodb.resetMeter();
    await fillDemo({ service: world, tenancy, demo });
    // What a start takes, as the time of a processor cannot be told in a test.
    expect(world.dynamodb.meter().requests).toBeLessThan(6_000);
    expect(world.clock.now()).toBe(START + WEEK_MS);
    const addresses = { url: "http://x", aws: undefined, folder: ":memory:", variables: undefined };
    const told = (quiet: Awaited<ReturnType<typeof tenancy.quietHours>>) => welcome(addresses, demo, quiet);
    expect(told(await tenancy.quietHours(demo.tenant_id))).toMatch(/^ {2}quiet hours +22:00 to 07:00: /m);
    expect(told(null)).not.toContain("quiet hours");
    const as = { authorization: `Bearer ${await tenancy.issueToken({ tenant_id: demo.tenant_id, role: "owner" })}` };
    const get = async (path: string) => (await world.call(`GET /api/v1/${path}`, { as })).body;
    const { items: campaigns } = await get("campaigns");
    expect(campaigns.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
      ["Winter preview", "draft"],
      ["Autumn sale", "completed"],
    ]);
    const report = await get(`campaigns/${campaigns[1].id}/report?start=2026-11-01T00:00:00Z`);
    expect([report.delivered, report.opened, report.converted].every((count: number) => count > 0)).toBe(true);
    const { treated, holdout, significant } = await get(`insights/lift?job_id=${campaigns[1].messages[0].job_id}`);
    expect(treated.size + holdout.size).toBe(96);
    expect(significant).toBe(true);
    expect(holdout.size).toBeGreaterThan(0);
    const { journeys } = await get("journeys");
    const { runs } = await get(`journeys/${journeys[0].id}/stats`);
    expect(runs.active + runs.completed).toBe(48);
    const { segments } = await get("segments");
    expect(segments.every(({ count }: { count: number }) => count > 0)).toBe(true);
    const [banner] = (await get("in-app/experiences")).items;
    expect(banner.status).toBe("live");
    expect((await get(`in-app/experiences/${banner.id}/stats`)).impressions).toBeGreaterThan(0);
    const [webhook] = (await get("webhooks")).items;
    const { items: deliveries } = await get(`webhooks/${webhook.id}/deliveries`);
    expect(deliveries.length).toBeGreaterThan(0);
    expect(deliveries.every(({ outcome }: { outcome: string }) => outcome === "delivered")).toBe(true);
  },
  240_000,
);
