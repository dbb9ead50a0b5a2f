// Test sends (RDA-9): who gets them, how they are marked, and that nothing counts them.
import { expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { addPeople, inboxOf, send } from "../support/people.ts";
import { addPhone, ledgerOf, openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const ROUTE = "POST /api/v1/notifications/test";
const night = { start: "00:00", end: "23:59", timezone_mode: "workspace" };

it("a test send goes to test subscribers and to the caller's own address, marked, and no report counts it (RDA-9)", async () => {
  const { world, tenant } = await withTenant();
  await openChannels(world, tenant, "ios-push", "email", "sms");
  const { call } = tenant;
  const [ada, bob] = (await addPeople(world, tenant, 3, (n) => ({
    email: `p${n}@example.com`,
    attributes: { first_name: ["Ada", "Bob", "Eve"][n]!, phone: "+4915112345678" },
  }))) as [string, string];
  await addPhone(world, tenant, ada, "ios");
  const consent = { channel: "sms", status: "opted_out" };
  await tenant.upsert({ external_id: "p0", consent });
  const caps = [{ category: "marketing", max: 1, per: "day" }];
  const settings = { test_subscriber_ids: [ada], quiet_hours: night, frequency_caps: caps };
  expect((await call("PATCH /api/v1/workspace", settings)).body).toMatchObject({ test_subscriber_ids: [ada] });
  const before = (await call("GET /api/v1/billing")).body.usage;

  const content = {
    title: "Hello {{ subscriber.first_name }}",
    body: '<a href="https://shop.example.com/x">Go</a>',
    by_channel: { email: { subject: "Mail for {{ subscriber.first_name }}" }, sms: { body: "SMS" } },
  };
  const sent = await call(ROUTE, { content });
  expect([sent.status, sent.body.deliveries]).toEqual([
    200,
    expect.arrayContaining([
      { subscriber_id: ada, channel: "ios", state: "sent", reason: null },
      { subscriber_id: ada, channel: "email", state: "sent", reason: null },
      { subscriber_id: ada, channel: "sms", state: "skipped", reason: "no_consent" },
      { subscriber_id: ada, channel: "in_app", state: "sent", reason: null },
      { subscriber_id: null, channel: "email", state: "sent", reason: null },
    ]),
  ]);
  expect(sent.body.deliveries).toHaveLength(5);
  const outbox = await outboxOf(world);
  expect(outbox.map(({ channel, title }) => `${channel} ${title}`).sort()).toEqual([
    "email [Test] Mail for Ada",
    "email [Test] Mail for Ada",
    "ios [Test] Hello Ada",
  ]);
  const mails = outbox.filter(({ channel }) => channel === "email").map(({ payload }) => String(payload));
  expect(mails.filter((mail) => /\/c\/|\/o\//.test(mail))).toEqual([]);
  expect(mails.filter((mail) => /List-Unsubscribe:/i.test(mail))).toHaveLength(1);
  const [message] = await inboxOf(world, tenant, ada);
  expect(message.content).toMatchObject({ title: "[Test] Hello Ada" });

  const report = {
    job_id: message.notification_id,
    interaction: "tapped",
    platform: "ios",
    occurred_at: new Date(world.clock.now()).toISOString(),
    subscriber_id: ada,
  };
  const reported = await world.call("POST /api/v1/notifications/interactions", { as: tenant.sdk, body: report });
  expect(reported.status).toBe(202);
  await world.settle();
  expect((await call("GET /api/v1/notifications")).body.items).toEqual([]);
  expect((await call("GET /api/v1/activity")).body.items).toEqual([]);
  expect(await ledgerOf(tenant, ada)).toEqual([]);
  expect((await call("GET /api/v1/billing")).body.usage).toEqual(before);
  expect((await call(`GET /api/v1/subscribers/${ada}/timeline?kinds=message`)).body.items).toEqual([]);

  const variant_b = { title: "B for {{ subscriber.first_name }}", body: "b" };
  const other = { title: "A", body: "a", variant_b, variant: "b", as_subscriber_id: bob, to: ["me"] };
  expect((await call(ROUTE, other)).body.deliveries).toHaveLength(1);
  expect((await outboxOf(world)).at(-1)).toMatchObject({ channel: "email", title: "[Test] B for Bob" });

  // The test was no message of the day: the cap leaves room for a real one.
  await call("PATCH /api/v1/workspace", { quiet_hours: null });
  const channels = (await call("GET /api/v1/channels")).body.channels as { id: string; type: string }[];
  const inApp = channels.find(({ type }) => type === "in_app")!.id;
  const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [inApp] });
  expect(job.counts).toMatchObject({ delivered: 1 });
  expect((await call("GET /api/v1/audit")).body.items).toContainEqual(
    expect.objectContaining({ action: "tests.testNotifications", outcome: "ok" }),
  );
});

it("a test send reaches nobody else, and is refused more than 20 times an hour (RDA-9)", async () => {
  const { world, tenant } = await withTenant();
  const stranger = await world.tenant();
  const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
  const [foreign] = (await addPeople(world, stranger, 1)) as [string];
  const call = async (route: string, body: object, role?: "viewer") =>
    world.call(route, { as: await tenant.dashboard(role), body });
  const said = { title: "t", body: "b" };
  for (const id of [foreign, world.ids.uuid()])
    expect((await call("PATCH /api/v1/workspace", { test_subscriber_ids: [ada, id] })).status).toBe(422);
  expect((await call(ROUTE, said)).body).toMatchObject({ fields: { to: expect.any(String) } });
  await call("PATCH /api/v1/workspace", { test_subscriber_ids: [ada] });
  for (const refused of [
    { to: [bob] },
    { to: [foreign] },
    { as_subscriber_id: foreign },
    { variant: "b" },
    { target: { type: "all" } },
  ])
    expect((await call(ROUTE, { ...said, ...refused })).status).toBe(422);
  expect((await call(ROUTE, said, "viewer")).status).toBe(403);
  const statuses = await Promise.all(Array.from({ length: 22 }, async () => (await call(ROUTE, said)).status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  await world.advance(HOUR);
  const erased = await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  expect(erased.status).toBeLessThan(300);
  expect((await call(ROUTE, said)).body.deliveries).toEqual([
    { subscriber_id: ada, channel: "in_app", state: "skipped", reason: "erased" },
  ]);
});
