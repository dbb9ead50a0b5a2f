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

const NOTHING = { impressions: 0, clicks: 0, dismissals: 0, ctr: 0 };

it("the statistics of an experience count reports and subscribers, with the rates by impressions (INX-41, INS-1, INS-2)", async () => {
  const { world, tenant } = await withTenant();
  const [ada, bob, eve] = await addPeople(world, tenant, 3);
  const id = await draft(tenant);
  const { notification_id: job } = await take(world, tenant, id, "publish");

  for (const subscriber_id of [ada, ada, bob, bob, eve])
    await report(world, tenant, job, "inapp_impression", { subscriber_id });
  for (const subscriber_id of [ada, bob]) await report(world, tenant, job, "inapp_click", { subscriber_id });
  await report(world, tenant, job, "inapp_dismiss", { subscriber_id: eve });
  await report(world, tenant, job, "tapped");

  expect((await stats(tenant, id)).body).toEqual({
    experience_id: id,
    status: "live",
    impressions: 5,
    unique_reach: 3,
    clicks: 2,
    dismissals: 1,
    ctr: 0.4,
    dismiss_rate: 0.2,
  });
});

it("the statistics of an experience stay when it has ended (INX-41)", async () => {
  const { world, tenant } = await withTenant();
  const id = await draft(tenant);
  const { notification_id: job } = await take(world, tenant, id, "publish");
  await report(world, tenant, job, "inapp_impression");
  const { body } = await stats(tenant, id);

  await take(world, tenant, id, "end");

  expect((await stats(tenant, id)).body).toEqual({ ...body, status: "ended" });
});

it("the statistics of a draft are zero, rates included (INS-2)", async () => {
  const { tenant } = await withTenant();
  const id = await draft(tenant);

  const whole = { ...NOTHING, unique_reach: 0, dismiss_rate: 0 };
  expect((await stats(tenant, id)).body).toEqual({ experience_id: id, status: "draft", ...whole });
});

it("the rates of an experience without impressions are 0, also with a click (INS-2)", async () => {
  const { world, tenant } = await withTenant();
  const id = await draft(tenant);
  const { notification_id: job } = await take(world, tenant, id, "publish");

  await report(world, tenant, job, "inapp_click");

  expect((await stats(tenant, id)).body).toMatchObject({ clicks: 1, ctr: 0, dismiss_rate: 0 });
});

it("the statistics of an experience with a B arm are split before anything is reported (INS-3)", async () => {
  const { tenant } = await withTenant();
  const id = await draft(tenant, { variant_b: { title: "B", body: "b" } });

  expect((await stats(tenant, id)).body.by_variant).toEqual([
    { variant_id: "a", ...NOTHING },
    { variant_id: "b", ...NOTHING },
  ]);
});

it("each arm of an experience counts the reports of its recipients (INS-3, ABH-3)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 12);
  const id = await draft(tenant, { variant_b: { title: "B", body: "b" } });
  const { notification_id: job } = await take(world, tenant, id, "publish");
  const reached = { a: 0, b: 0 };

  for (const subscriber_id of people) {
    const [{ content }] = await inboxOf(world, tenant, subscriber_id);
    const arm: "a" | "b" = content.variant_id;
    reached[arm]++;
    await report(world, tenant, job, "inapp_impression", { subscriber_id, variant_id: arm });
    if (arm === "b") await report(world, tenant, job, "inapp_click", { subscriber_id, variant_id: arm });
  }

  expect(Math.min(reached.a, reached.b)).toBeGreaterThan(0);
  const { body } = await stats(tenant, id);
  expect(body).toMatchObject({ impressions: 12, unique_reach: 12, clicks: reached.b });
  expect(body.by_variant).toEqual([
    { variant_id: "a", impressions: reached.a, clicks: 0, dismissals: 0, ctr: 0 },
    { variant_id: "b", impressions: reached.b, clicks: reached.b, dismissals: 0, ctr: 1 },
  ]);
});
