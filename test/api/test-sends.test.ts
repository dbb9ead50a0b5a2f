// Test sends (RDA-9): who gets them, how they are marked, and that nothing counts them.
import { describe, expect, it } from "vitest";
import { HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { withBuyers } from "../support/conversions.ts";
import { addPeople, inboxOf, send } from "../support/people.ts";
import { ledgerOf, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { testSend, withTester } from "../support/test-sends.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = async () => withTester(await withTenant());

it("a test send goes to the test subscribers by every channel, and to the caller's own address (RDA-9)", async () => {
  const { tenant, ada } = await setting();
  await tenant.upsert({ external_id: "p0", consent: { channel: "sms", status: "opted_out" } });

  const { body } = await testSend(tenant);

  expect(body.deliveries).toHaveLength(5);
  expect(body.deliveries).toEqual(
    expect.arrayContaining([
      { subscriber_id: ada, channel: "ios", state: "sent", reason: null },
      { subscriber_id: ada, channel: "email", state: "sent", reason: null },
      { subscriber_id: ada, channel: "sms", state: "skipped", reason: "no_consent" },
      { subscriber_id: ada, channel: "in_app", state: "sent", reason: null },
      { subscriber_id: null, channel: "email", state: "sent", reason: null },
    ]),
  );
});

it("a test whose inbox cannot be written says so, and what became of it elsewhere (RDA-9)", async () => {
  const { world, tenant, ada } = await setting();
  await spoil(world, { channel: "aws:dynamodb", operation: "TransactWriteItems" });

  const { status, body } = await testSend(tenant);

  expect(status).toBe(200);
  expect(body.deliveries).toEqual(
    expect.arrayContaining([
      { subscriber_id: ada, channel: "in_app", state: "unknown", reason: "delivery_unconfirmed" },
      { subscriber_id: ada, channel: "ios", state: "sent", reason: null },
    ]),
  );
});

it("a test is marked in the title and the subject, and rendered for its recipient (RDA-9)", async () => {
  const { world, tenant, ada } = await setting();
  const subject = "Mail for {{ subscriber.first_name }}";

  await testSend(tenant, {
    content: { title: "Hello {{ subscriber.first_name }}", body: "b", by_channel: { email: { subject } } },
  });

  const sent = (await outboxOf(world)).filter(({ channel }) => channel !== "sms");
  expect(sent.map(({ channel, title }) => `${channel} ${title}`).sort()).toEqual([
    "email [Test] Mail for Ada",
    "email [Test] Mail for Ada",
    "ios [Test] Hello Ada",
  ]);
  const [message] = await inboxOf(world, tenant, ada);
  expect(message.content.title).toBe("[Test] Hello Ada");
});

it("the links of a test mail are not tracked, and only a subscriber's can be unsubscribed from (RDA-9)", async () => {
  const { world, tenant } = await setting();

  await testSend(tenant, { content: { title: "t", body: '<a href="https://shop.example.com/x">Go</a>' } });

  const mails = (await outboxOf(world, "?channel=email")).map(({ payload }) => String(payload));

  expect(mails).toHaveLength(2);
  expect(mails.filter((mail) => /\/c\/|\/o\//.test(mail))).toEqual([]);
  expect(mails.filter((mail) => /List-Unsubscribe:/i.test(mail))).toHaveLength(1);
});

it("a test mail to oneself has the footer of the preview (RDA-9)", async () => {
  const { world, tenant, configure } = await setting();
  const content = { title: "t", body: "b" };
  await configure({ sender_name: "Tidepool" });

  await testSend(tenant, { content, to: ["me"] });

  const preview = { content, category: "marketing", channels: ["email"] };
  const [shown] = (await tenant.call("POST /api/v1/templates/preview", preview)).body.renderings;
  const [sent] = await outboxOf(world, "?channel=email");
  expect(shown.body).toBe("b\n\n-- \nTidepool\nUnsubscribe: https://recipient.invalid/");
  expect(sent?.body).toBe(shown.html);
});

it("no list, report, ledger or bill knows of a test, even if a phone reports a tap on it (RDA-9)", async () => {
  const { world, tenant, ada } = await setting();
  const { call } = tenant;
  const usage = async () => (await call("GET /api/v1/billing")).body.usage;
  const before = await usage();
  await testSend(tenant);
  const [{ notification_id: job_id }] = await inboxOf(world, tenant, ada);
  const occurred_at = timestamp(world.clock.now());

  const body = { job_id, interaction: "tapped", platform: "ios", occurred_at, subscriber_id: ada };
  const reported = await world.call("POST /api/v1/notifications/interactions", { as: tenant.sdk, body });
  await world.settle();

  expect(reported.status).toBe(202);
  expect((await call("GET /api/v1/notifications")).body.items).toEqual([]);
  expect((await call("GET /api/v1/activity")).body.items).toEqual([]);
  expect((await call(`GET /api/v1/subscribers/${ada}/timeline?kinds=message`)).body.items).toEqual([]);
  expect(await ledgerOf(tenant, ada)).toEqual([]);
  expect(await usage()).toEqual(before);
});

it("what is bought after a test counts for the campaign before it (RDA-9, AMB-97)", async () => {
  const { world, tenant, ids, channel, define, campaign, buy, summary } = await withBuyers(await withTenant(), 1);
  await define();
  const { id } = await campaign();
  await tenant.call("PATCH /api/v1/workspace", { test_subscriber_ids: ids });
  await world.advance(HOUR);
  expect((await testSend(tenant, { channel_ids: [channel] })).status).toBe(200);
  await buy(ids[0]!, 100);

  expect(await summary("campaign")).toMatchObject([{ source_id: id, conversions: 1, revenue_cents: 100 }]);
});

it("a test shows the variant and the person that it is asked for (RDA-9)", async () => {
  const { world, tenant, bob } = await setting();
  const variant_b = { title: "B for {{ subscriber.first_name }}", body: "b" };

  const { body } = await testSend(tenant, { variant_b, variant: "b", as_subscriber_id: bob, to: ["me"] });

  expect(body.deliveries).toHaveLength(1);
  expect(await outboxOf(world)).toMatchObject([{ channel: "email", title: "[Test] B for Bob" }]);
});

it("a test is sent in quiet hours, and is no message of the day for a frequency cap (RDA-9)", async () => {
  const { world, tenant, channels, ada, configure } = await setting();
  const quiet_hours = { start: "00:00", end: "23:59", timezone_mode: "workspace" };
  await configure({ quiet_hours, frequency_caps: [{ category: "marketing", max: 1, per: "day" }] });

  await testSend(tenant);
  expect(await outboxOf(world, "?channel=ios")).toHaveLength(1);

  await configure({ quiet_hours: null });
  const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [channels.ios] });
  expect(job.counts).toMatchObject({ delivered: 1 });
});

it("a test by the chat app sends the approved template, filled for its recipient (RDA-9, AMB-90)", async () => {
  const { world, tenant } = await setting();
  const { chat_app = "" } = await openChannels(world, tenant, "chat_app");
  const templates = `/api/v1/channels/${chat_app}/chat-app-templates`;
  const { id } = (await tenant.call(`POST ${templates}`, { name: "Shipped", body: "{{1}}, {{2}} is on its way." }))
    .body;
  for (const action of ["submit", "refresh"]) await tenant.call(`POST ${templates}/${id}/${action}`);
  const template = {
    chat_app_template_id: id,
    chat_app_parameters: ["{{ subscriber.first_name }}", "{{ data.order }}"],
  };

  const { body } = await testSend(tenant, { channel_ids: [chat_app], data: { order: "A-1" }, ...template });

  expect(body.deliveries).toMatchObject([{ channel: "chat_app", state: "sent" }]);
  expect(await outboxOf(world)).toMatchObject([{ title: "shipped", body: "Ada, A-1 is on its way." }]);
});

it("a test of a saved template sends its texts, marked (RDA-9)", async () => {
  const { world, tenant } = await setting();
  const saved = { name: "Welcome", content: { title: "Hi {{ subscriber.first_name }}", body: "b" } };
  const { id } = (await tenant.call("POST /api/v1/templates", saved)).body;

  await testSend(tenant, { content: undefined, template_id: id, to: ["me"] });

  expect(await outboxOf(world)).toMatchObject([{ channel: "email", title: "[Test] Hi" }]);
});

it("a test of a mail of a topic links to the preferences of its subscriber (RDA-9)", async () => {
  const { world, tenant, channels } = await setting();
  await tenant.call("POST /api/v1/topics", { key: "news", name: "News" });

  const { status } = await testSend(tenant, { channel_ids: [channels.email], topic: "news" });

  expect(status).toBe(200);
  const mails = (await outboxOf(world, "?channel=email")).map(({ payload }) => String(payload));
  expect(mails.filter((mail) => mail.includes("/p/"))).toHaveLength(1);
});

it("a test send is in the audit trail (RDA-9)", async () => {
  const { tenant } = await setting();

  await testSend(tenant);

  const { items } = (await tenant.call("GET /api/v1/audit")).body;

  expect(items).toContainEqual(expect.objectContaining({ action: "tests.testNotifications", outcome: "ok" }));
});

it("a test skips a test subscriber who was erased (RDA-9)", async () => {
  const { tenant, ada } = await setting();
  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);

  const { body } = await testSend(tenant);

  expect(body.deliveries).toContainEqual({ subscriber_id: ada, channel: "in_app", state: "skipped", reason: "erased" });
});

it("the 21st test of an hour in a workspace is refused with 429, and no other workspace's (RDA-9, GEN-8)", async () => {
  const { world, tenant } = await setting();
  const statusOfOne = async () => (await testSend(tenant, { to: ["me"] })).status;

  const statuses = await Promise.all(Array.from({ length: 22 }, statusOfOne));
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  expect((await testSend(await world.tenant(), { to: ["me"] })).status).toBe(200);

  await world.advance(HOUR);
  expect(await statusOfOne()).toBe(200);
});

describe("refusals with 422", () => {
  /** Ids of people who may not be tested on: one who is no test subscriber, one of another workspace. */
  const strangers = shared(async ({ withTenant }) => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    const [foreign] = (await addPeople(world, await world.tenant(), 1)) as [string];
    const appoint = (...test_subscriber_ids: string[]) =>
      tenant.call("PATCH /api/v1/workspace", { test_subscriber_ids });
    return { world, tenant, ada, bob, foreign, appoint };
  });

  it.each<[what: string, body: (ids: { bob: string; foreign: string }) => object]>([
    ["to a subscriber who is no test subscriber", ({ bob }) => ({ to: [bob] })],
    ["to a subscriber of another workspace", ({ foreign }) => ({ to: [foreign] })],
    ["rendered for a subscriber of another workspace", ({ foreign }) => ({ as_subscriber_id: foreign })],
    ["of a variant that the content does not have", () => ({ variant: "b" })],
    ["to a target", () => ({ target: { type: "all" } })],
  ])("a test send %s is refused (RDA-9)", async (_, body) => {
    const { tenant, ada, appoint, ...ids } = await strangers();
    await appoint(ada);

    expect((await testSend(tenant, body(ids))).status).toBe(422);
  });

  it("a test send names `to` where the workspace has no test subscribers and the caller no way to get it (RDA-9)", async () => {
    const { tenant } = await withTenant();

    expect((await testSend(tenant)).body.fields).toEqual({ to: expect.any(String) });
  });

  it("nobody who is unknown to the workspace becomes a test subscriber (RDA-9)", async () => {
    const { world, ada, foreign, appoint } = await strangers();

    expect((await appoint(ada, foreign)).status).toBe(422);
    expect((await appoint(ada, world.ids.uuid())).status).toBe(422);
  });
});

it("the settings that GET returned are taken back where one of the test subscribers was erased (RDA-9, AMB-115)", async () => {
  const { tenant, ada, bob, configure } = await setting();
  await configure({ test_subscriber_ids: [ada, bob] });
  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);

  await configure((await tenant.call("GET /api/v1/workspace")).body);
});
