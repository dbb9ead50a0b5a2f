// Statistics of experiences (INX-41, INS-1 to INS-3): reported interactions, by arm where there are two.
import { expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { draft, take } from "../support/experiences.ts";
import { addPeople, inboxOf } from "../support/people.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const stats = async (tenant: Tenant, id: string) => tenant.call(`GET /api/v1/in-app/experiences/${id}/stats`);

let reports = 0;
/** Each report has a time of its own: otherwise it would be a repeat (AMB-106). */
const report = (world: TestWorld, tenant: Tenant, job_id: string, interaction: string, more: object = {}) =>
  world.call("POST /api/v1/notifications/interactions", {
    as: tenant.sdk,
    body: { job_id, interaction, platform: "ios", occurred_at: new Date(START - ++reports * SECOND), ...more },
  });

it("counts reports and subscribers, with the rates by impressions (INX-41, INS-1, INS-2)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 3);
  const id = await draft(tenant);
  const { notification_id: job } = await take(world, tenant, id, "publish");
  for (const subscriber_id of [people[0], people[0], people[1], people[1], people[2]])
    await report(world, tenant, job, "inapp_impression", { subscriber_id });
  for (const subscriber_id of [people[0], people[1]])
    await report(world, tenant, job, "inapp_click", { subscriber_id });
  await report(world, tenant, job, "inapp_dismiss", { subscriber_id: people[2] });
  await report(world, tenant, job, "tapped");
  const { status, body } = await stats(tenant, id);
  expect([status, body]).toEqual([
    200,
    {
      experience_id: id,
      status: "live",
      impressions: 5,
      unique_reach: 3,
      clicks: 2,
      dismissals: 1,
      ctr: 0.4,
      dismiss_rate: 0.2,
    },
  ]);
  await take(world, tenant, id, "end");
  expect((await stats(tenant, id)).body).toEqual({ ...body, status: "ended" });
});

it("without impressions both shares are 0, and only an A/B experience is split (INS-2, INS-3)", async () => {
  const { world, tenant } = await withTenant();
  const nothing = { impressions: 0, clicks: 0, dismissals: 0, ctr: 0 };
  const plain = await draft(tenant);
  expect((await stats(tenant, plain)).body).toEqual({
    experience_id: plain,
    status: "draft",
    unique_reach: 0,
    dismiss_rate: 0,
    ...nothing,
  });
  const split = await draft(tenant, { variant_b: { title: "B", body: "b" } });
  const arms = [
    { variant_id: "a", ...nothing },
    { variant_id: "b", ...nothing },
  ];
  expect((await stats(tenant, split)).body.by_variant).toEqual(arms);
  const { notification_id } = await take(world, tenant, split, "publish");
  await report(world, tenant, notification_id, "inapp_click");
  expect((await stats(tenant, split)).body).toMatchObject({ clicks: 1, ctr: 0, dismiss_rate: 0 });
});

it("each arm counts the reports of its recipients (INS-3, ABH-3)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 12);
  const id = await draft(tenant, { variant_b: { title: "B", body: "b" } });
  const { notification_id: job } = await take(world, tenant, id, "publish");
  const seen = { a: 0, b: 0 };
  for (const subscriber_id of people) {
    const [{ content }] = await inboxOf(world, tenant, subscriber_id);
    const arm: "a" | "b" = content.variant_id;
    seen[arm]++;
    await report(world, tenant, job, "inapp_impression", { subscriber_id, variant_id: arm });
    if (arm === "b") await report(world, tenant, job, "inapp_click", { subscriber_id, variant_id: arm });
  }
  expect(Math.min(seen.a, seen.b)).toBeGreaterThan(0);
  const { body } = await stats(tenant, id);
  expect(body).toMatchObject({ impressions: 12, unique_reach: 12, clicks: seen.b });
  expect(body.by_variant).toEqual([
    { variant_id: "a", impressions: seen.a, clicks: 0, dismissals: 0, ctr: 0 },
    { variant_id: "b", impressions: seen.b, clicks: seen.b, dismissals: 0, ctr: 1 },
  ]);
});
